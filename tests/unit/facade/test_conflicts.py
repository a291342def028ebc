"""Conflicts on write: the sure ones applied with their reason, the others listed, both undone by a word."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Retentive, Space
from retentive.config import load_config
from retentive.conflicts.settings import Noticing
from retentive.errors import InvalidInput, NotFound
from retentive.review import Conflict


def texts(space: Space) -> list[str]:
    return sorted(memory.text for memory in space.list())


def told(space: Space, *said: str, **more: Any) -> None:
    for number, text in enumerate(said):
        space.remember(text, at=NOW + timedelta(minutes=number - 60), **more)


def only(space: Space, **asked: Any) -> Conflict:
    (found,) = space.conflicts(**asked)
    return found


def test_a_sure_conflict_retires_the_older(space: Space) -> None:
    """It is superseded at once, the journal says why and how sure, and the finding is kept as applied."""
    old = space.remember("Lives in Rome")
    new = space.remember("Lives in Oslo")
    assert texts(space) == ["Lives in Oslo"]
    assert new.supersedes == (old.id,)
    assert space.get(old.id).superseded_by == new.id
    reason = space.journal(old.id)[-1].reason
    assert reason == f"superseded by {new.id}: conflict (0.95): it states another value for the same thing"
    found = only(space, status="applied")
    assert (found.newer.id, found.older.id, found.confidence, found.decided_at) == (new.id, old.id, 0.95, found.at)
    assert space.conflicts() == []


def test_an_unsure_conflict_waits(space: Space) -> None:
    """Below the confidence asked for nothing is retired; the finding waits to be decided."""
    told(space, "Noor studies physics", "Noor studies medicine")
    assert len(texts(space)) == 2
    found = only(space)
    assert (found.newer.text, found.older.text, found.status) == (
        "Noor studies medicine",
        "Noor studies physics",
        "open",
    )
    assert 0.5 <= found.confidence < 0.9


def test_accepting_retires_the_older(space: Space) -> None:
    """What was listed is applied when somebody says so, with the reason given; it is decided once."""
    told(space, "Noor studies physics", "Noor studies medicine")
    accepted = space.accept(only(space).id, reason="asked her")
    assert texts(space) == ["Noor studies medicine"]
    assert (accepted.status, accepted.older.superseded_by, accepted.newer.supersedes) == (
        "accepted",
        accepted.newer.id,
        (accepted.older.id,),
    )
    assert space.journal(accepted.older.id)[-1].reason.endswith("accepted: asked her")
    assert [memory.id for memory in space.chain(accepted.newer.id)] == [accepted.older.id, accepted.newer.id]
    with pytest.raises(InvalidInput, match="accepted already"):
        space.accept(accepted.id)


def test_dismissing_leaves_both(space: Space) -> None:
    """A dismissed conflict is gone from the list, stays in the journal, and is not found again."""
    told(space, "Noor studies physics", "Noor studies medicine")
    dismissed = space.dismiss(only(space).id, reason="two degrees")
    assert len(texts(space)) == 2
    assert space.conflicts() == []
    assert space.journal(dismissed.newer.id)[-1].reason == f"no conflict with {dismissed.older.id}: two degrees"
    assert space.find_conflicts() == []
    with pytest.raises(InvalidInput, match="dismissed already"):
        space.dismiss(dismissed.id)


@pytest.mark.parametrize("how", ["applied", "accepted"])
def test_dismissing_brings_back(space: Space, how: str) -> None:
    """A memory that was retired for a conflict comes back when that is dismissed, whoever had decided."""
    told(space, *(("Lives in Rome", "Lives in Oslo") if how == "applied" else ("Noor studies law", "Noor studies art")))
    if how == "accepted":
        space.accept(only(space).id)
    found = only(space, status=how)
    back = space.dismiss(found.id, reason="both are true")
    assert len(texts(space)) == 2
    assert (back.older.retrievable, back.newer.supersedes, back.status) == (True, (), "dismissed")
    assert space.journal(back.older.id)[-1].action == "restore"
    assert len(space.recall(back.older.text, touch=False)) == 2


def test_a_key_taken_meanwhile_keeps_the_older_away(space: Space) -> None:
    """Two memories never hold one key: the error says who holds it."""
    told(space, "Lives in Rome", key="home")
    space.remember("No longer lives in Rome")
    space.remember("Her house is in Bonn", key="home")
    with pytest.raises(InvalidInput, match="holds its key 'home' now"):
        space.dismiss(only(space, status="applied").id)


def test_what_something_else_retired_stays_retired(space: Space) -> None:
    """Dismissing a conflict does not undo what another successor did."""
    told(space, "Lives in Rome", "Lives in Oslo")
    found = only(space, status="applied")
    with space.store.transaction() as tx:
        tx.replace(found.older.changed(superseded_by="other"))
    assert space.dismiss(found.id).older.superseded_by == "other"


def test_a_settled_conflict_is_not_accepted(space: Space) -> None:
    """Where one side was forgotten or superseded meanwhile, there is nothing to accept any more."""
    told(space, "Noor studies physics", "Noor studies medicine")
    found = only(space)
    space.forget(found.newer.id)
    with pytest.raises(InvalidInput, match="hidden already"):
        space.accept(found.id)


def test_an_unknown_conflict(space: Space) -> None:
    """An id that names no conflict, and a status that is none, are errors that say what to do."""
    space.remember("Lives in Rome")
    with pytest.raises(NotFound, match="conflicts list"):
        space.accept("nobody")
    with pytest.raises(InvalidInput, match="'opne'"):
        space.conflicts(status="opne")
    with pytest.raises(InvalidInput, match="limit=0"):
        space.conflicts(limit=0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"pinned": True}, {}),
        ({"permanent": True}, {}),
        ({"trust": 0.9}, {"trust": 0.4}),
        ({"tags": ["staging"]}, {"tags": ["production"]}),
    ],
)
def test_what_only_a_person_retires(space: Space, old: dict[str, Any], new: dict[str, Any]) -> None:
    """A pinned or permanent memory, one that is trusted more, one filed apart: listed, however sure the rule."""
    space.remember("The database is hosted on AWS", **old)
    space.remember("The database is hosted on Hetzner", **new)
    assert len(texts(space)) == 2
    assert only(space).confidence > 0.5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"key": "a"}, {"key": "b"}),
        ({"speaker": "Ann"}, {"speaker": "Ben"}),
        ({"session": "s1"}, {"session": "s2"}),
        ({"kind": "episode"}, {"kind": "episode"}),
        ({"kind": "event"}, {"kind": "event"}),
        (
            {"valid_from": NOW - timedelta(days=9), "valid_until": NOW + timedelta(days=1)},
            {"valid_from": NOW + timedelta(days=1)},
        ),
    ],
)
def test_what_is_not_compared(space: Space, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Two keys, two speakers, turns of a conversation, episodes, events, two spans: not even an unsure conflict."""
    space.remember("Lives in Rome", **old)
    space.remember("Lives in Oslo", **new)
    assert space.conflicts(status=None) == []


def test_what_was_taken_from_a_turn_is_a_statement(space: Space) -> None:
    """A memory with evidence states something, whatever session it came from."""
    turn = space.remember("So, I moved!", kind="episode", session="s1")
    told(space, "Lives in Rome")
    space.remember("Lives in Oslo", session="s1", derived_from=[turn.id])
    assert "Lives in Rome" not in texts(space)


def test_a_cancelled_event_is_retired(space: Space) -> None:
    """Events stand beside one another, but what was called off does not take place."""
    told(space, "The dinner with Paul is on Friday", kind="event")
    space.remember("The dinner with Paul on Friday is cancelled", kind="event")
    assert texts(space) == ["The dinner with Paul on Friday is cancelled"]


def test_a_backfill_does_not_retire_the_present(space: Space) -> None:
    """What was said earlier and is told later is history from the start, and the finding says which is which."""
    now = space.remember("Lives in Oslo", at=NOW)
    then = space.remember("Lives in Rome", at=NOW - timedelta(days=400))
    assert texts(space) == ["Lives in Oslo"]
    assert (then.superseded_by, then.superseded_at) == (now.id, NOW)
    assert only(space, status="applied").newer.id == now.id
    assert [memory.text for memory in space.list(as_of=NOW - timedelta(days=9))] == ["Lives in Rome"]


def test_within_one_batch(space: Space) -> None:
    """A batch is read in its own order, as if it had been told one by one."""
    kept = space.remember_many(
        ["Likes tea", "Lives in Rome", "Owns a red Vespa", "Lives in Oslo", "Sold the red Vespa"]
    )
    assert texts(space) == ["Likes tea", "Lives in Oslo", "Sold the red Vespa"]
    assert kept[3].supersedes == (kept[1].id,)


def test_a_batch_as_large_as_an_import_is_not_looked_through(opening: Opening) -> None:
    """Nothing is noticed about it on the way in; `find_conflicts` lists it afterwards and retires nothing."""
    space = opening().space("a")
    filler = [f"Shelf {number} holds box {number * 7}" for number in range(300)]
    space.remember_many([*filler, "Lives in Rome", "Lives in Oslo"])
    assert space.conflicts(status=None) == []
    steps: list[tuple[int, int]] = []
    (found,) = space.find_conflicts(limit=302, progress=lambda done, total: steps.append((done, total)))
    assert {found.newer.text, found.older.text} == {"Lives in Rome", "Lives in Oslo"}
    assert (found.status, steps[-1], len(space.list(limit=999))) == ("open", (302, 302), 302)
    assert [again.id for again in space.find_conflicts()] == [found.id]


def test_the_mode_decides(opening: Opening) -> None:
    """ "list" retires nothing however sure, "off" looks for nothing, a higher bar applies less."""
    home = opening()
    outcomes = {}
    for mode in (Noticing(), Noticing("list"), Noticing("off"), Noticing(apply_from=0.96)):
        home.noticing = mode
        space = home.space(f"{mode.mode}/{mode.apply_from}")
        told(space, "Lives in Rome", "Lives in Oslo")
        outcomes[space.path] = (len(texts(space)), len(space.conflicts()))
    assert outcomes == {"apply/0.9": (1, 0), "list/0.9": (2, 1), "off/0.9": (2, 0), "apply/0.96": (2, 1)}


def test_settings_are_checked() -> None:
    """A mode or bar that does not exist is refused by name."""
    for wrong in ({"mode": "of"}, {"repetitions": "drop"}, {"apply_from": 2}, {"apply_from": True}):
        with pytest.raises(InvalidInput):
            Noticing(**wrong)


def test_the_configuration_decides(tmp_path: Any) -> None:
    """The keys reach the engine."""
    arguments = {"store": ":memory:", "conflicts_mode": "list", "conflicts_apply_from": "0.8", "repetitions": "keep"}
    config = load_config(arguments, env={}, cwd=tmp_path)
    with Retentive(config=config) as home:
        assert home.noticing == Noticing("list", 0.8, "keep")
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        load_config({"conflicts_apply_from": 2}, env={}, cwd=tmp_path)


def test_erasing_a_memory_removes_its_findings(space: Space) -> None:
    """Nothing is left of a conflict once either side is erased."""
    told(space, "Lives in Rome", "Lives in Oslo")
    found = only(space, status="applied")
    space.forget(found.older.id, erase=True)
    assert space.conflicts(status=None) == []
    with pytest.raises(NotFound):
        space.dismiss(found.id)


def test_reasons_quote_nothing(opening: Opening) -> None:
    """What the journal of one memory says about a conflict must not outlive the erasure of the other."""
    space = opening(clock=Clock()).space("a")
    told(space, "The wifi password is hunter2", "The wifi password is correct-horse")
    new = only(space, status="applied").newer
    space.forget(new.id, erase=True)
    assert "horse" not in repr(space.journal()) + repr(space.store.findings())


def test_a_chain_goes_on_through_conflicts(space: Space) -> None:
    """Each value retires the one before; the chain walks through all, and back to the first city it is a new memory."""
    for number, city in enumerate(("Rome", "Oslo", "Bonn", "Rome")):
        space.remember(f"Lives in {city}", at=NOW + timedelta(minutes=number - 60))
    assert texts(space) == ["Lives in Rome"]
    last = space.list()[0]
    assert [memory.text[9:] for memory in space.chain(last.id)] == ["Rome", "Oslo", "Bonn", "Rome"]


def test_a_superseding_memory_inherits_nothing(space: Space) -> None:
    """Tags, importance, pins, keys and metadata of the old one stay with the old one."""
    told(space, "Lives in Rome", tags=["t"], importance=0.9, metadata={"n": 1}, source="s", kind="preference")
    new = space.remember("Lives in Oslo")
    assert new.supersedes
    assert (new.tags, new.importance, dict(new.metadata), new.source, new.kind) == ((), 0.5, {}, None, "fact")
    assert new.access.count == 0
