"""Feedback and the ledger: what was useful moves importance, a little, and is written down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Space, policies, recalling
from retentive.errors import InvalidInput, NotFound


def importance(space: Space, name: str) -> float:
    return space.get(name, touch=False).importance


@pytest.mark.parametrize(("outcome", "factor"), [(None, 1.05), ("good", 1.05), ("bad", 0.95)])
def test_feedback_moves_importance_by_five_per_cent(space: Space, outcome: str | None, factor: float) -> None:
    """Used and good raise it, bad lowers it, and only of the memories named."""
    space.remember("Tea", id="a", importance=0.4)
    space.remember("Tea too", id="b", importance=0.4)
    space.recall("Tea", policy="blend").feedback(used=["a"], outcome=outcome)
    assert importance(space, "a") == pytest.approx(0.4 * factor, abs=1e-12)
    assert importance(space, "b") == 0.4


@pytest.mark.parametrize(
    ("start", "outcome", "end"), [(1.0, "good", 1.0), (0.99, "good", 1.0), (0.05, "bad", 0.05), (0.0, "bad", 0.0)]
)
def test_feedback_stays_within_its_bounds(space: Space, start: float, outcome: str, end: float) -> None:
    """Not above 1, not pushed below 0.05."""
    space.remember("Tea", id="a", importance=start)
    space.recall("Tea", policy="blend").feedback(used=["a"], outcome=outcome)
    assert importance(space, "a") == pytest.approx(end)


def test_a_memory_named_twice_moves_once(space: Space) -> None:
    """Five per cent per call, however often a caller repeats himself."""
    space.remember("Tea", id="a", importance=0.4)
    space.recall("Tea", policy="blend").feedback(used=["a", "a", "a"])
    assert importance(space, "a") == pytest.approx(0.42)


def test_an_outcome_without_names_is_about_all_that_came_back(space: Space) -> None:
    """Without `used` the verdict falls on the hits of that recall."""
    for name in "abc":
        space.remember(f"Tea {name}", id=name, importance=0.4)
    recall = space.recall("Tea a", policy="blend", limit=2)
    recall.feedback(outcome="bad")
    moved = {name for name in "abc" if importance(space, name) != 0.4}
    assert moved == {hit.memory.id for hit in recall}
    assert len(moved) == 2


def test_feedback_is_noted_on_the_recall(space: Space) -> None:
    """The ledger gathers what was used, and keeps the last verdict."""
    space.remember("Tea", id="a")
    space.remember("Tea two", id="b")
    recall = space.recall("Tea", policy="blend")
    recall.feedback(used=["a"])
    recall.feedback(used=["b", "a"], outcome="bad")
    space.feedback(recall.id, outcome="good")
    entry = space.store.recall_entry(recall.id)
    assert entry is not None
    assert (set(entry.used), entry.outcome) == ({"a", "b"}, "good")


def test_feedback_writes_a_journal_line(space: Space) -> None:
    """Before, after and the verdict as the reason; nothing where nothing moved."""
    space.remember("Tea", id="a", importance=0.4)
    space.remember("Rice", id="b", importance=1.0)
    space.recall("Tea", policy="blend").feedback(used=["a", "b"], outcome="good")
    lines = [line for line in space.journal() if line.action == "feedback"]
    assert [(line.memory_id, line.reason) for line in lines] == [("a", "good")]
    assert lines[0].before is not None
    assert lines[0].after is not None
    assert lines[0].before["importance"] == 0.4
    assert lines[0].after["importance"] == pytest.approx(0.42)


def test_an_unknown_memory_undoes_the_whole_feedback(space: Space) -> None:
    """One wrong id: nothing moves and nothing is noted."""
    space.remember("Tea", id="a", importance=0.4)
    recall = space.recall("Tea", policy="blend")
    with pytest.raises(NotFound, match="used='nobody': no memory with this id in 'acme/alice'"):
        recall.feedback(used=["a", "nobody"])
    entry = space.store.recall_entry(recall.id)
    assert importance(space, "a") == 0.4
    assert entry is not None
    assert entry.used == ()


def test_a_recall_nobody_noted_needs_names(space: Space) -> None:
    """Feedback on an unknown recall is an error, not silence; with the memories named it still counts."""
    space.remember("Tea", id="a", importance=0.4)
    with pytest.raises(NotFound, match="No recall 'r123' is noted in space 'acme/alice'"):
        space.feedback("r123", outcome="good")
    space.feedback("r123", used=["a"])
    assert importance(space, "a") == pytest.approx(0.42)


def test_a_memory_erased_since_is_nobodys_mistake(space: Space) -> None:
    """A verdict on a whole recall reaches what is left of it."""
    space.remember("Tea one", id="a", importance=0.4)
    space.remember("Tea two", id="b", importance=0.4)
    recall = space.recall("Tea", policy="blend")
    space.forget("a", erase=True)
    recall.feedback(outcome="good")
    assert importance(space, "b") == pytest.approx(0.42)


@pytest.mark.parametrize("outcome", ["great", "", 1, True])
def test_an_unknown_verdict_is_refused(space: Space, outcome: Any) -> None:
    """There are two verdicts."""
    space.remember("Tea", id="a")
    with pytest.raises(InvalidInput, match="is neither 'good' nor 'bad'"):
        space.recall("Tea", policy="blend").feedback(outcome=outcome)


@pytest.mark.parametrize("used", ["a", [1], 5])
def test_used_is_a_list_of_ids(space: Space, used: Any) -> None:
    """A lone string would be read as letters."""
    space.remember("Tea", id="a")
    with pytest.raises(InvalidInput, match="used"):
        space.recall("Tea", policy="blend").feedback(used=used)


def test_the_ledger_has_the_recall_as_it_was_answered(space: Space) -> None:
    """Cue, policy, moment, ids and scores in their order."""
    space.remember_many([f"Tea number {n}" for n in range(9)])
    recall = space.recall("Tea number 3", policy="blend")
    entry = space.store.recall_entry(recall.id)
    assert entry is not None
    assert (entry.cue, entry.policy, entry.at) == ("Tea number 3", "blend", NOW)
    assert entry.ids == tuple(hit.memory.id for hit in recall)
    assert entry.scores == tuple(hit.score for hit in recall)


def test_an_empty_answer_is_noted_as_well(space: Space) -> None:
    """A question that found nothing is what tuning wants to know."""
    space.remember("Tea")
    recall = space.recall("zebra", policy=policies.focus)
    entry = space.store.recall_entry(recall.id)
    assert len(recall) == 0
    assert entry is not None
    assert entry.ids == ()


def test_the_same_question_at_the_same_moment_is_noted_each_time(space: Space) -> None:
    """Two recalls are two lines, with ids of their own."""
    space.remember("Tea")
    ids = [space.recall("Tea", policy="blend").id for _ in range(3)]
    assert len(set(ids)) == 3
    assert len(space.store.read_ledger()) == 3


def test_a_policy_may_keep_no_ledger(space: Space) -> None:
    """`ledger=False` notes no recall; `touch=False` of the policy moves no access."""
    memory = space.remember("Tea")
    space.recall("Tea", policy=policies.blend.replace(ledger=False))
    assert space.store.read_ledger() == []
    assert space.get(memory.id, touch=False).access.count == 1
    space.recall("Tea", policy=policies.blend.replace(name="other", touch=False))
    assert len(space.store.read_ledger()) == 1
    assert space.get(memory.id, touch=False).access.count == 1


def test_upkeep_trims_the_ledger_by_age(opening: Opening) -> None:
    """Recalls of more than a year ago are dropped, later ones stay."""
    clock = Clock()
    space = opening(clock=clock).space("a")
    space.remember("Tea")
    space.recall("first", policy="blend")
    clock.tick(days=recalling.LEDGER_DAYS + 1)
    kept = space.recall("second", policy="blend")
    assert space.maintain(pruning=False) == {"re_embedded": 0, "ledger_trimmed": 1}
    assert [entry.id for entry in space.store.read_ledger()] == [kept.id]


def test_upkeep_trims_the_ledger_by_number(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many recalls the newest stay."""
    from retentive import keeping

    monkeypatch.setattr(keeping, "LEDGER_KEPT", 3)
    clock = Clock()
    space = opening(clock=clock).space("a")
    ids = []
    for n in range(7):
        clock.tick(minutes=1)
        ids.append(space.recall(f"question {n}", policy="blend").id)
    space.remember("makes the space")
    for n in range(7):
        clock.tick(minutes=1)
        ids.append(space.recall(f"question {n}", policy="blend").id)
    assert space.maintain()["ledger_trimmed"] == 4
    assert [entry.id for entry in space.store.read_ledger()] == ids[:-4:-1]


def test_recalling_alone_keeps_the_ledger_bounded(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs to run upkeep for the ledger to stay within its limits."""
    monkeypatch.setattr(recalling, "LEDGER_KEPT", 5)
    monkeypatch.setattr(recalling, "TRIM_EVERY", 4)
    clock = Clock()
    space = opening(clock=clock).space("a")
    space.remember("Tea")
    sizes = []
    for n in range(120):
        clock.tick(minutes=1)
        space.recall(f"question {n}", policy="blend")
        sizes.append(len(space.store.read_ledger()))
    assert max(sizes) < 5 + 40
    assert min(sizes[40:]) <= 6


def test_old_recalls_go_by_recalling(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Age counts on the way as well."""
    monkeypatch.setattr(recalling, "TRIM_EVERY", 1)
    clock = Clock()
    space = opening(clock=clock).space("a")
    space.remember("Tea")
    space.recall("old", policy="blend")
    clock.now = NOW + timedelta(days=recalling.LEDGER_DAYS, seconds=1)
    space.recall("new", policy="blend")
    assert [entry.cue for entry in space.store.read_ledger()] == ["new"]
