"""Weights that follow feedback: off by default, bounded, explained, undoable, given up where they do harm."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive import Retentive, Space, policies
from retentive.adaptive.book import ANSWERS_KEPT, RECENT
from retentive.adaptive.decide import (
    BOUND,
    HISTORY,
    LIMIT,
    STEP,
    Learnt,
    Noted,
    Seen,
    learn,
    learn_from_ghost,
    undone,
)
from retentive.errors import InvalidInput
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
OWN = {"recency": 1.0, "importance": 1.0, "similarity": 1.0}


def seen(name: str, recency: float, importance: float, similarity: float) -> Seen:
    return Seen(name, {"recency": recency, "importance": importance, "similarity": similarity})


def noted(*shown: Seen, ghosts: tuple[Seen, ...] = ()) -> Noted:
    return Noted("r1", 0.0, "roof price", "blend", OWN, shown, ghosts)


NEWER, HEAVIER = seen("newer", 1.0, 0.0, 0.5), seen("heavier", 0.0, 0.9, 0.5)


def test_used_from_below_moves_weights() -> None:
    """The signal in which the used one leads gains, the one in which it lags loses, the tie stays; the sum stays."""
    known = learn(Learnt("blend", OWN), noted(NEWER, HEAVIER), ["heavier"], 1.0)
    bent = known.bent()
    assert bent["importance"] > bent["similarity"] > bent["recency"]
    assert sum(bent.values()) == pytest.approx(3.0)
    assert known.moves[0].why == "heavier was used though 1 stood above it"


@pytest.mark.parametrize("used", [["newer"], ["newer", "heavier"], [], ["a stranger"]])
def test_what_was_right_teaches_nothing(used: list[str]) -> None:
    """Used from the top, used together, or nothing of it used: no weight moves."""
    known = learn(Learnt("blend", OWN), noted(NEWER, HEAVIER), used, 1.0)
    assert known.bent() == OWN
    assert not known.moves


def test_a_ghost_teaches() -> None:
    """What was cut and then used after all says the same as one used from below."""
    known = learn_from_ghost(Learnt("blend", OWN), noted(NEWER, ghosts=(HEAVIER,)), ["heavier"], 1.0)
    assert known.bent()["importance"] > 1 > known.bent()["recency"]
    assert "cut from an answer" in known.moves[0].why
    assert learn_from_ghost(known, noted(NEWER), ["heavier"], 1.0) is known


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 6), min_size=1, max_size=60))
def test_no_life_bends_a_weight_beyond_its_bounds(life: list[tuple[float, ...]]) -> None:
    """Whatever happens, in whatever order: each step, all steps together, and the history are bounded."""
    known = Learnt("blend", OWN)
    for moment, values in enumerate(life):
        answer = noted(seen("a", *values[:3]), seen("b", *values[3:]))
        known = learn(known, answer, ["b"], float(moment))
        assert all(abs(shift) <= LIMIT + 1e-12 for shift in known.shifts.values())
        assert sum(known.bent().values()) == pytest.approx(3.0)
    assert all(abs(amount) <= STEP for move in known.moves for amount in move.moved.values())
    assert len(known.moves) <= HISTORY


def test_what_is_learnt_fades() -> None:
    """Answers that teach nothing pull the weights back to the policy."""
    known = learn(Learnt("blend", OWN), noted(NEWER, HEAVIER), ["heavier"], 1.0)
    before = known.shifts["importance"]
    for _ in range(300):
        known = learn(known, noted(HEAVIER, NEWER), ["heavier"], 1.0)
    assert 0 < known.shifts["importance"] < before / 10


def test_what_does_harm_is_given_up() -> None:
    """Where the policy's own order would have stood better for a while, half of what was learnt goes."""
    known = replace(Learnt("blend", OWN), shifts={"importance": LIMIT, "recency": -LIMIT, "similarity": 0.0})
    third = seen("third", 0.0, 0.95, 0.0)
    wrong = noted(NEWER, third, HEAVIER)  # nothing to learn from; but by the bent weights it would have stood last
    before = known
    for _ in range(50):
        before, known = known, learn(known, wrong, ["newer"], 1.0)
        assert known.lead >= -BOUND
        if known.shifts["importance"] < 0.9 * before.shifts["importance"]:
            break
    assert known.shifts["importance"] == pytest.approx(before.shifts["importance"] / 2, rel=0.02)
    assert known.lead == 0.0


def test_undone_is_as_before() -> None:
    """Steps are taken back one by one, or all at once; more than there were is no error."""
    first = learn(Learnt("blend", OWN), noted(NEWER, HEAVIER), ["heavier"], 1.0)
    second = learn(first, noted(NEWER, HEAVIER), ["heavier"], 2.0)
    assert undone(second, 1).shifts == first.shifts
    assert undone(second, 2).bent() == OWN
    assert undone(second, 9).bent() == OWN
    assert undone(second, 0) is second


# Through the façade


def opened(location: str | Path = ":memory:") -> Retentive:
    return Retentive(location, embedder=HashEmbedder(), policy="blend", clock=lambda: NOW)


def lived(space: Space) -> dict[str, str]:
    """Keep notes on the roof: what weighs more is older."""
    ids = {}
    for number in range(9):
        at = NOW - timedelta(days=3 * number)
        ids[f"n{number}"] = space.remember(
            f"the roof, note {number}", importance=0.1 + 0.05 * number, at=at, id=f"n{number}"
        ).id
    return ids


def use_last(space: Space, cue: str = "the roof") -> None:
    recall = space.recall(cue)
    recall.feedback(used=[recall[-1].memory.id])


def test_off_until_switched_on() -> None:
    """Feedback alone bends nothing and keeps nothing; switched on it does; another space is not touched."""
    with opened() as memories:
        ann, ben = memories.space("ann"), memories.space("ben")
        for space in (ann, ben):
            lived(space)
        use_last(ann)
        assert ann.policy_in_force() == policies.blend
        assert ann.store.setting(RECENT) is None
        assert not ann.adaptation().on
        ann.adapt()
        assert ann.recall("the roof").trace.habits == ("adapts to feedback; nothing learnt yet",)
        use_last(ann)
        bent = ann.policy_in_force()
        assert bent.name == "blend"
        assert bent.weights != policies.blend.weights
        assert sum(bent.weights.values()) == pytest.approx(3.0)
        assert ben.policy_in_force() == policies.blend
        assert ann.recall("the roof", policy="blend").policy == policies.blend
        explained = ann.recall("the roof").explain()
        assert "adapted over 1 answers" in explained
        assert "was used though 4 stood above it" in explained


def test_it_outlives_a_restart_and_can_be_stopped(tmp_path: Path) -> None:
    """What was learnt lies in the space; undo, reset and stop each do what they say."""
    with opened(tmp_path) as memories:
        space = memories.space("ann")
        lived(space)
        space.adapt()
        use_last(space)
        use_last(space, "roof note")
        learnt = space.policy_in_force()
    with opened(tmp_path) as memories:
        space = memories.space("ann")
        assert space.policy_in_force() == learnt
        before, after = space.adaptation().learnt, space.adapt(undo=1).learnt
        assert before is not None
        assert after is not None
        assert after.moves == before.moves[:-1]
        assert after.shifts == before.moves[-1].before
        space.adapt(on=False)
        assert space.policy_in_force() == policies.blend
        assert space.store.setting(RECENT) is None
        space.adapt()
        assert space.policy_in_force() != policies.blend
        space.adapt(reset=True)
        assert space.policy_in_force() == policies.blend
        assert space.adaptation().as_dict() == {"on": True, "learnt": None}
        space.adapt(on=False)
        assert space.store.setting("policy") is None


def test_the_same_feedback_twice_teaches_once() -> None:
    """A second `feedback` that names the same memory is no second mistake; a bad outcome teaches nothing."""
    with opened() as memories:
        space = memories.space("ann")
        lived(space)
        space.adapt()
        recall = space.recall("the roof")
        last = recall[-1].memory.id
        recall.feedback(used=[last], outcome="bad")
        assert space.policy_in_force() == policies.blend
        recall.feedback(used=[last])
        once = space.policy_in_force()
        recall.feedback(used=[last])
        assert space.policy_in_force() == once
        space.recall("the roof", touch=False).feedback(used=[last])
        assert space.policy_in_force() == once


def test_a_near_miss_found_by_asking_again() -> None:
    """Cut from one answer, found and used soon after by asking for the same with room for more."""
    with opened() as memories:
        space = memories.space("ann")
        lived(space)
        space.adapt()
        first = {hit.memory.id for hit in space.recall("the roof", limit=2)}
        again = space.recall("the roof once more", limit=9)
        missed = next(hit.memory.id for hit in again if hit.memory.id not in first)
        again.feedback(used=[missed])
        known = space.adaptation().learnt
        assert known is not None
        assert any("cut from an answer" in move.why for move in known.moves)
        space.adapt(reset=True)
        space.recall("the roof", limit=2)
        later = space.recall("the roof once more", limit=9, now=NOW + timedelta(hours=2))
        later.feedback(used=[missed])
        known = space.adaptation().learnt
        assert known is not None
        assert not any("cut from an answer" in move.why for move in known.moves)


def test_what_is_kept_for_feedback_is_bounded() -> None:
    """The latest answers only; feedback on an older one moves importance as ever, and no weight."""
    with opened() as memories:
        space = memories.space("ann")
        lived(space)
        space.adapt()
        oldest = space.recall("the roof")
        for number in range(ANSWERS_KEPT):
            space.recall(f"the roof, please {number}")
        kept = space.store.setting(RECENT)
        assert isinstance(kept, list)
        assert len(kept) == ANSWERS_KEPT
        oldest.feedback(used=[oldest[-1].memory.id])
        assert space.policy_in_force() == policies.blend


def test_another_policy_is_another_matter() -> None:
    """What was learnt about one is not applied to the next; one without weights to bend is refused, or left alone."""
    with opened() as memories:
        space = memories.space("ann")
        lived(space)
        space.adapt()
        use_last(space)
        space.apply_policy("support")
        assert space.policy_in_force() == policies.support
        use_last(space)
        assert space.policy_in_force().weights != policies.support.weights
        space.apply_policy("freshness")
        assert space.policy_in_force() == policies.freshness
        assert len(space.recall("the roof"))
        with pytest.raises(InvalidInput, match="'freshness' has no weights that could adapt"):
            space.adapt()


def test_factors_are_what_the_bounds_say() -> None:
    """The documented factor of four."""
    assert math.exp(LIMIT) == pytest.approx(4.0)
