"""The opt-in shared space: it fills up answers, and nothing flows the other way."""

from __future__ import annotations

from typing import Any

import pytest
from facade_making import Opening

from retentive import Retentive, Space, policies
from retentive.errors import EmbedderMismatch, InvalidInput
from retentive.testing.fakes import HashEmbedder

WIDE = policies.blend.replace(limit=5)


def texts(recall: Any) -> list[str]:
    return [hit.memory.text for hit in recall]


def state(space: Space) -> Any:
    """Everything that could have been touched."""
    store = space.store
    accesses = [(memory.id, memory.access, memory.importance) for memory in space.list(hidden=True, limit=1_000)]
    return accesses, store.read_ledger(), store.read_journal(), store.settings()


@pytest.fixture
def handbook(home: Retentive) -> Space:
    space = home.space("acme/handbook")
    space.remember_many([f"Handbook page {n} about tea" for n in range(8)])
    return space


def test_a_cold_start_is_answered_from_the_shared_space(home: Retentive, handbook: Space) -> None:
    """A tenant without memories gets the common ones, and none without opting in."""
    assert texts(home.space("acme/new").recall("tea", policy=WIDE)) == []
    shared = home.space("acme/new", shared="acme/handbook").recall("tea", policy=WIDE)
    assert len(shared) == 5
    assert {hit.memory.space for hit in shared} == {"acme/handbook"}
    assert home.spaces() == ["acme/handbook"]


def test_ones_own_come_first_and_the_limit_holds(home: Retentive, handbook: Space) -> None:
    """Shared hits only fill the places that are left."""
    mine = home.space("acme/alice", shared="acme/handbook")
    mine.remember_many(["My own tea", "My other tea"])
    recall = mine.recall("tea", policy=WIDE)
    assert [hit.memory.space for hit in recall] == ["acme/alice"] * 2 + ["acme/handbook"] * 3
    assert len(mine.recall("tea", policy=WIDE, limit=2)) == 2


def test_nothing_is_touched_there(home: Retentive, handbook: Space) -> None:
    """Not an access, not a ledger line, not importance: a thousand readers leave it as it was."""
    before = state(handbook)
    mine = home.space("acme/alice", shared="acme/handbook")
    recall = mine.recall("tea", policy=WIDE)
    recall.feedback(used=[hit.memory.id for hit in recall], outcome="good")
    mine.recall("tea", policy="operational").feedback(outcome="bad")
    assert state(handbook) == before


def test_feedback_on_a_shared_memory_is_no_error(home: Retentive, handbook: Space) -> None:
    """What was used of one's own moves, what was used of the shared space does not, and one call may name both."""
    mine = home.space("acme/alice", shared="acme/handbook")
    own = mine.remember("My own tea", importance=0.4)
    other = mine.remember("My own coffee", importance=0.4)
    recall = mine.recall("tea", policy=WIDE)
    recall.feedback(used=[recall[-1].memory.id])
    assert mine.get(own.id).importance == 0.4
    recall.feedback(used=[recall[-1].memory.id, own.id])
    assert mine.get(own.id).importance == pytest.approx(0.42)
    assert mine.get(other.id).importance == 0.4


def test_nothing_leaks_the_other_way(home: Retentive, handbook: Space) -> None:
    """What a tenant remembers is not in the shared space, nor in another tenant's answer."""
    alice = home.space("acme/alice", shared="acme/handbook")
    alice.remember("Alice's secret tea")
    bob = home.space("acme/bob", shared="acme/handbook")
    for reader in (handbook, bob):
        assert not [text for text in texts(reader.recall("secret tea", policy=WIDE, limit=50)) if "secret" in text]


def test_filters_hold_there_too(home: Retentive, handbook: Space) -> None:
    """Kinds, tags, metadata and times gate the shared space like one's own."""
    handbook.remember("Tagged tea", tags=["x"], kind="procedure")
    mine = home.space("acme/alice", shared="acme/handbook")
    assert texts(mine.recall("tea", policy=WIDE, tags=["x"])) == ["Tagged tea"]
    assert texts(mine.recall("tea", policy=WIDE, kinds=["procedure"])) == ["Tagged tea"]


def test_pinned_memories_of_both_are_in_the_core(home: Retentive, handbook: Space) -> None:
    """The core block holds what is pinned here and what is pinned for all."""
    handbook.remember("House rule", pinned=True)
    mine = home.space("acme/alice", shared="acme/handbook")
    mine.remember("My rule", pinned=True)
    assert [memory.text for memory in mine.recall("tea", policy=WIDE).core] == ["My rule", "House rule"]


def test_one_answer_has_one_budget(home: Retentive, handbook: Space) -> None:
    """Own and shared hits share the tokens; what does not fit is in one block and nothing is dropped."""
    mine = home.space("acme/alice", shared="acme/handbook")
    mine.remember_many([f"My own tea {n}, brewed with great care and patience" for n in range(3)])
    free = mine.recall("tea", policy=WIDE, touch=False)
    for budget in (120, 200, 300, 420, 2_000):
        tight = mine.recall("tea", policy=WIDE, token_budget=budget, touch=False)
        named = [hit.memory.id for hit in tight] + list(tight.compacted.ids if tight.compacted else ())
        whole = [hit.memory.id for hit in free]
        assert named in (whole, whole[:3])
        if named == whole[:3]:
            assert tight.compacted is not None or any("did not fit" in note for note in tight.trace.notes)


def test_a_shared_space_of_another_embedder_is_refused(opening: Opening) -> None:
    """Its vectors cannot be compared; that is an error with the remedy, not a wrong answer."""
    opening(embedder=HashEmbedder(32)).space("common").remember("tea")
    mine = opening().space("a", shared="common")
    mine.remember("My tea")
    with pytest.raises(EmbedderMismatch, match="Space 'common' holds vectors of embedder 'hash-32'"):
        mine.recall("tea", policy="blend")


def test_a_space_shared_with_itself_repeats_nothing(home: Retentive) -> None:
    """Its own memories are not given twice."""
    space = home.space("a", shared="a")
    space.remember("tea")
    assert texts(space.recall("tea", policy=WIDE)) == ["tea"]


def test_an_absent_shared_space_shares_nothing(home: Retentive) -> None:
    """It is not created, and the answer is one's own."""
    space = home.space("a", shared="nobody")
    space.remember("tea")
    assert texts(space.recall("tea", policy=WIDE)) == ["tea"]
    assert home.spaces() == ["a"]


def test_the_shared_path_is_checked(home: Retentive) -> None:
    """A hostile path is refused there as everywhere."""
    with pytest.raises(InvalidInput, match="segment '\\.\\.'"):
        home.space("a", shared="../b")
