"""Supersession: at once, by key or by name, walkable both ways, and true to when things were said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Memory, Space
from retentive.conflicts.settings import EVERYTHING_KEPT
from retentive.errors import NotFound
from retentive.testing.fakes import HashEmbedder


@pytest.fixture(autouse=True)
def kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every text as it is told: what is read into two of them is not the matter here."""
    monkeypatch.setattr("retentive.memory.NOTICING", EVERYTHING_KEPT)


def days(n: float) -> Any:
    return NOW + timedelta(days=n)


def texts(memories: Any) -> list[str]:
    return [memory.text for memory in memories]


def said(space: Space, text: str, day: float, **more: Any) -> Memory:
    return space.remember(text, key=more.pop("key", "home"), at=days(day), **more)


def current(space: Space, as_of: Any = None) -> list[str]:
    """What recall and list agree on."""
    listed = texts(space.list(as_of=as_of))
    recalled = [hit.memory.text for hit in space.recall("lives in", policy="blend", limit=50, as_of=as_of, touch=False)]
    assert sorted(listed) == sorted(recalled)
    return sorted(listed)


def test_the_same_key_retires_the_older_at_once(space: Space) -> None:
    """Of two memories with one key only the newer is recalled; both know of each other."""
    old = said(space, "lives in Rome", 0)
    new = said(space, "lives in Oslo", 1)
    assert current(space) == ["lives in Oslo"]
    assert new.supersedes == (old.id,)
    retired = space.get(old.id)
    assert (retired.superseded_by, retired.superseded_at, retired.retrievable) == (new.id, days(1), False)


def test_another_key_another_matter(space: Space) -> None:
    """Keys are compared to the letter and within one space only."""
    said(space, "lives in Rome", 0, key="home")
    said(space, "lives in Oslo", 1, key="Home")
    assert current(space) == ["lives in Oslo", "lives in Rome"]


def test_keys_of_other_spaces_are_not_ours(opening: Opening) -> None:
    """One tenant's key retires nothing of another's."""
    home = opening()
    said(home.space("acme/alice"), "lives in Rome", 0)
    said(home.space("acme/bob"), "lives in Oslo", 1)
    assert current(home.space("acme/alice")) == ["lives in Rome"]


def test_an_explicit_successor_retires_what_it_names(space: Space) -> None:
    """`supersedes=` needs no key and may name several."""
    first, second = space.remember("lives in Rome"), space.remember("lives in a tent")
    new = space.remember("lives in Oslo", supersedes=[first.id, second.id, first.id])
    assert current(space) == ["lives in Oslo"]
    assert new.supersedes == (first.id, second.id)


def test_an_explicit_successor_counts_even_if_said_earlier(space: Space) -> None:
    """Whoever names what he supersedes means it, whatever the dates say."""
    wrong = space.remember("lives in Rome", at=days(5))
    right = space.remember("lives in Oslo", at=days(1), supersedes=[wrong.id])
    assert current(space) == ["lives in Oslo"]
    assert right.superseded_by is None


def test_the_same_with_a_key_on_both(space: Space) -> None:
    """Naming beats dating for memories of one key, too."""
    wrong = said(space, "lives in Rome", 5)
    right = said(space, "lives in Oslo", 1, supersedes=[wrong.id])
    assert current(space) == ["lives in Oslo"]
    assert right.superseded_by is None


def test_a_backfill_does_not_retire_the_present(space: Space) -> None:
    """What was said earlier but is told later is history from the start."""
    present = said(space, "lives in Oslo", 5)
    past = said(space, "lives in Rome", 1)
    assert current(space) == ["lives in Oslo"]
    assert (past.superseded_by, past.superseded_at) == (present.id, days(5))
    assert space.get(present.id).supersedes == (past.id,)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 3, 1, 2), (1, 3, 0, 2), (3, 0, 2, 1), (2, 0, 3, 1)])
def test_the_order_of_telling_does_not_change_the_story(space: Space, order: tuple[int, ...]) -> None:
    """However it was told, each day knows what held on it, and the chain reads the same from every link."""
    places = ["lives in Rome", "lives in Oslo", "lives in Bonn", "lives in Cork"]
    ids = {n: said(space, places[n], n).id for n in order}
    assert current(space) == ["lives in Cork"]
    for n, place in enumerate(places):
        assert current(space, as_of=days(n + 0.5)) == [place]
        assert texts(space.chain(ids[n])) == places


def test_a_tie_goes_to_the_one_told_later(space: Space) -> None:
    """Of two sayings of one moment, the later told holds."""
    said(space, "lives in Rome", 0)
    said(space, "lives in Oslo", 0)
    assert current(space) == ["lives in Oslo"]


def test_superseding_the_superseded_keeps_its_own_successor(space: Space) -> None:
    """A link that is set is not rewritten; the newcomer stands beside."""
    first = said(space, "lives in Rome", 0)
    second = said(space, "lives in Oslo", 1)
    third = space.remember("lives in Bonn", at=days(2), supersedes=[first.id])
    assert space.get(first.id).superseded_by == second.id
    assert third.supersedes == (first.id,)
    assert current(space) == ["lives in Bonn", "lives in Oslo"]
    assert texts(space.chain(third.id)) == ["lives in Rome", "lives in Oslo", "lives in Bonn"]


def test_a_chain_walks_both_ways_from_every_link(space: Space) -> None:
    """From any link the whole chain, oldest first; a memory without one is its own chain."""
    links = [said(space, f"lives at number {n}", n) for n in range(30)]
    for link in (links[0], links[13], links[-1]):
        assert [memory.id for memory in space.chain(link.id)] == [memory.id for memory in links]
    alone = space.remember("likes tea")
    assert [memory.id for memory in space.chain(alone.id)] == [alone.id]


def test_a_chain_of_nothing_is_not_found(space: Space) -> None:
    """An id that is not there is an error, not an empty chain."""
    with pytest.raises(NotFound, match="No memory 'nobody' in space 'acme/alice'"):
        space.chain("nobody")


def test_a_cycle_in_bad_data_ends_the_walk(space: Space) -> None:
    """Data that contradict themselves give each link once, and never a loop."""
    kept = [space.remember(f"part {n}", id=f"m{n}", at=days(n)) for n in range(3)]
    with space.store.transaction() as tx:
        for n, memory in enumerate(kept):
            around = f"m{(n + 1) % 3}"
            tx.replace(
                memory.changed(superseded_by=around, superseded_at=days(9), supersedes=(memory.id, around, "gone"))
            )
    assert [memory.id for memory in space.chain("m1")] == ["m0", "m1", "m2"]
    said(space, "lives in Rome", 1, supersedes=["m0", "m2"])
    said(space, "lives in Oslo", 0)


def test_a_cycle_of_keys_ends_a_backfill(space: Space) -> None:
    """Finding a backfill's place in a chain that runs in circles comes to an end."""
    first, second = said(space, "lives in Rome", 5), said(space, "lives in Oslo", 6)
    with space.store.transaction() as tx:
        tx.replace(second.changed(supersedes=(first.id,)))
        tx.replace(first.changed(superseded_at=days(6), superseded_by=second.id, supersedes=(second.id, first.id)))
    past = said(space, "lives in Bonn", 1)
    assert past.superseded_by == first.id


def test_the_chain_survives_an_erased_link(space: Space) -> None:
    """What remains of a chain is still given; what was erased is nowhere in it."""
    links = [said(space, f"lives at number {n}", n) for n in range(3)]
    space.forget(links[1].id, erase=True)
    assert texts(space.chain(links[0].id)) == ["lives at number 0"]
    assert current(space) == ["lives at number 2"]


def test_a_forgotten_holder_holds_no_key(space: Space) -> None:
    """A suppressed memory is not superseded: it was gone before."""
    old = said(space, "lives in Rome", 0)
    space.forget(old.id)
    new = said(space, "lives in Oslo", 1)
    assert new.supersedes == ()
    assert space.get(old.id).superseded_by is None


def test_update_hands_a_key_over(space: Space) -> None:
    """Giving a memory a key retires who held it; the chain is whole from both ends."""
    holder = said(space, "lives in Rome", 0)
    taker = space.remember("lives in Oslo", at=days(1))
    updated = space.update(taker.id, key="home")
    assert updated.supersedes == (holder.id,)
    assert current(space) == ["lives in Oslo"]
    assert texts(space.chain(holder.id)) == texts(space.chain(taker.id)) == ["lives in Rome", "lives in Oslo"]


def test_what_is_retired_takes_no_key_over(space: Space) -> None:
    """A superseded or forgotten memory that is given a key retires nobody: that would leave the key to no one."""
    holder = said(space, "lives in Rome", 0)
    gone = space.remember("lives in Oslo")
    space.forget(gone.id)
    space.update(gone.id, key="home")
    assert current(space) == ["lives in Rome"]
    assert space.get(holder.id).superseded_by is None


def test_the_journal_shows_both_sides(space: Space) -> None:
    """A supersession writes a line for each memory, with before and after; the reason names the successor."""
    old = said(space, "lives in Rome", 0)
    new = said(space, "lives in Oslo", 1)
    lines = [(line.action, line.memory_id) for line in space.journal()]
    assert lines == [("remember", old.id), ("remember", new.id), ("supersede", old.id)]
    last = space.journal(old.id)[-1]
    assert last.reason == f"superseded by {new.id}"
    assert last.before is not None
    assert last.after is not None
    assert (last.before["superseded_by"], last.after["superseded_by"]) == (None, new.id)


def test_a_superseded_memory_is_found_by_nothing(opening: Opening) -> None:
    """Whatever the cosine, words, name or date: retired is retired, under every channel and preset."""
    space = opening(clock=Clock(days(3))).space("a")
    old = said(space, "Zoe lives at E4012 in Rome", 0, importance=1.0, tags=["t"])
    said(space, "Zoe moved on", 1, tags=["t"])
    from retentive import policies

    for name in policies.names():
        for cue in ("Zoe lives at E4012 in Rome", "E4012", old.id, "home", "what happened 3 days ago?"):
            hits = space.recall(cue, policy=policies.get(name).replace(floor=None), tags=["t"], limit=50, touch=False)
            assert old.id not in [hit.memory.id for hit in hits]


def test_validity_is_a_gate_of_its_own(opening: Opening) -> None:
    """True from … until …: neither before nor from its end on, whatever was known."""
    clock = Clock(days(0))
    space = opening(clock=clock).space("a")
    said(space, "lives in Rome", 0, valid_from=days(1), valid_until=days(2))
    seen = {}
    for day in (0.0, 0.999, 1.0, 1.999, 2.0):
        clock.now = days(day)
        seen[day] = current(space)
    assert seen == {0.0: [], 0.999: [], 1.0: ["lives in Rome"], 1.999: ["lives in Rome"], 2.0: []}


def test_as_of_does_not_know_what_was_said_later(space: Space) -> None:
    """A memory is known from the moment it was said."""
    space.remember("lives in Rome", at=days(-2))
    space.remember("lives in Oslo", at=days(-1))
    assert current(space, as_of=days(-3)) == []
    assert current(space, as_of=days(-1.5)) == ["lives in Rome"]
    assert current(space, as_of=days(-1)) == ["lives in Oslo", "lives in Rome"]


def test_as_of_sees_what_was_forgotten_later(opening: Opening) -> None:
    """Forgetting is dated too."""
    clock = Clock(days(0))
    space = opening(clock=clock, embedder=HashEmbedder()).space("a")
    memory = space.remember("lives in Rome")
    clock.now = days(5)
    space.forget(memory.id)
    clock.now = days(9)
    assert current(space) == []
    assert current(space, as_of=days(4)) == ["lives in Rome"]
    assert current(space, as_of=days(6)) == []
