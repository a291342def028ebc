"""How a memory fades is said by the signals themselves: at every moment what a recall would have said, and will say."""

from __future__ import annotations

from datetime import timedelta

import pytest
from facade_making import CUE, NOW, Clock, cosines

from retentive import Retentive, Space, policies
from retentive.errors import InvalidInput, NotFound


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def space(clock: Clock) -> Space:
    """One memory of ten days ago, read twice since."""
    home = Retentive(":memory:", embedder=cosines({"tea at five": 0.9}, CUE), clock=clock)
    space = home.space("acme/alice")
    space.remember("tea at five", id="tea", at=NOW - timedelta(days=10))
    for days in (6, 2):
        clock.now = NOW - timedelta(days=days)
        space.get("tea")
    clock.now = NOW
    return space


def test_curves_follow_the_readings(space: Space) -> None:
    """Recency falls until a reading lifts it; novelty never rises."""
    told = space.fading("tea", policy="retentive", ahead=timedelta(days=10), points=201)
    assert told.accesses == (NOW - timedelta(days=6), NOW - timedelta(days=2))
    assert (told.moments[0], told.moments[-1]) == (NOW - timedelta(days=10), NOW + timedelta(days=10))
    at = dict(zip(told.moments, told.curves["recency"], strict=True))
    assert at[NOW - timedelta(days=10)] == pytest.approx(1.0)
    assert at[NOW - timedelta(days=6.1)] < at[NOW - timedelta(days=5.9)]  # read in between
    assert at[NOW + timedelta(days=10)] == pytest.approx(0.5 ** (12 / 14))
    novelty = told.curves["novelty"]
    assert list(novelty) == sorted(novelty, reverse=True)
    assert told.weights == {name: policies.retentive.weights[name] for name in told.curves}


def test_the_present_is_what_a_recall_says(space: Space) -> None:
    """The point of now and a recall's signals are the same numbers."""
    told = space.fading("tea", policy="retentive", ahead=timedelta(0), points=2)
    hit = space.recall(CUE, policy="retentive", touch=False)[0]
    for name, curve in told.curves.items():
        assert curve[-1] == pytest.approx(hit.signals[name].raw, abs=1e-12)


@pytest.mark.parametrize("policy", ["freshness", "blend", "focus", "planning"])
def test_every_policy_has_its_own(space: Space, policy: str) -> None:
    """The curves are those of the policy's signals of time, none beside."""
    told = space.fading("tea", policy=policy, points=9)
    assert set(told.curves) <= set(policies.get(policy).signals)
    assert all(len(curve) == 9 for curve in told.curves.values())


def test_what_is_permanent_does_not_fade(clock: Clock) -> None:
    """Not even in a year."""
    home = Retentive(":memory:", embedder=cosines({"tea at five": 0.9}, CUE), clock=clock)
    home.space("s").remember("tea at five", id="tea", permanent=True)
    curve = home.space("s").fading("tea", policy="retentive", ahead=timedelta(days=365)).curves["recency"]
    assert set(curve) == {1.0}


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"points": 1}, InvalidInput),
        ({"ahead": timedelta(days=-1)}, InvalidInput),
        ({"policy": "blendd"}, InvalidInput),
    ],
)
def test_wrong_questions(space: Space, wrong: dict[str, object], error: type[Exception]) -> None:
    """Each names the value."""
    with pytest.raises(error):
        space.fading("tea", **wrong)  # type: ignore[arg-type]


def test_a_memory_of_another_space(space: Space) -> None:
    """It is not there."""
    with pytest.raises(NotFound):
        space._home.space("acme/bob").fading("tea")


def test_recalls_are_listed_as_they_were_answered(space: Space) -> None:
    """Newest first, without the vector; of another space none."""
    first = space.recall(CUE)
    assert [entry.id for entry in space.recalls()] == [first.id]
    assert space.recall_entry(first.id).ids == ("tea",)
    assert space.recalls()[0].cue_vector is None
    assert space.recalls(policy="blend") == []
    with pytest.raises(NotFound):
        space.recall_entry("nobody")
