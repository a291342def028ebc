"""Freshness, importance and counts: the checks printed in the contract, and the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retentive.scoring.counts import decayed_count, frequency
from retentive.scoring.freshness import (
    CUSTOM_TAU_DAYS,
    access_boost,
    effective_freshness,
    freshness,
    tau_for,
    unclamped_strength,
)
from retentive.scoring.importance import clamped_feedback, decayed_importance, importance_half_life


@pytest.mark.parametrize(
    ("days", "value"), [(30, 0.891), (90, 0.707), (180, 0.5), (360, 0.25), (540, 0.125), (720, 0.0625)]
)
def test_freshness_printed(days: float, value: float) -> None:
    """The freshness checks of the contract, at a half-life of 180 days."""
    assert float(freshness(days, 180.0, floor=0.0)) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(("count", "value"), [(1, 1.693), (5, 2.792), (10, 3.398), (100, 5.615)])
def test_boost_printed(count: float, value: float) -> None:
    """The boost checks of the contract."""
    assert float(access_boost(count)) == pytest.approx(value, abs=5e-4)


def test_worked_examples_printed() -> None:
    """The worked examples of the contract: an old fact in use beats a young one nobody asked for."""
    assert float(freshness(200, tau_for("fact"))) == pytest.approx(0.4629, abs=5e-5)
    assert float(access_boost(7)) == pytest.approx(3.0794, abs=5e-5)
    facts = 0.015 * effective_freshness([200.0, 10.0], tau_for("fact"), [7.0, 0.0])
    np.testing.assert_allclose(facts, [0.02138, 0.01443], atol=5e-6)
    preferences = effective_freshness([120.0, 270.0, 270.0], tau_for("preference"), [8.0, 8.0, 0.0])
    np.testing.assert_allclose(preferences, [1.2688, 0.3997, 0.125], atol=5e-5)


def test_tau_of_a_kind() -> None:
    """An override wins over the table, and a user's own kind has the custom half-life."""
    assert tau_for("event") == 30.0
    assert tau_for("event", {"event": 2.0}) == 2.0
    assert tau_for("recipe") == CUSTOM_TAU_DAYS == 90.0
    assert tau_for("recipe", {"recipe": 5.0, "fact": 1.0}) == 5.0


def test_tau_refused() -> None:
    """A half-life of 0 days is refused by the kind it was given for."""
    with pytest.raises(ValueError, match=r"tau_days of 'fact' .* got 0"):
        tau_for("fact", {"fact": 0})


def test_permanent_skips_decay() -> None:
    """A permanent memory has the boost alone, at any age; its neighbour decays as ever."""
    fresh = effective_freshness([1e9, 90.0], 90.0, [3.0, 0.0], permanent=[True, False])
    np.testing.assert_allclose(fresh, [1.0 + math.log(4.0), 0.5])


def test_the_floor_clamps_before_the_boost() -> None:
    """A memory far beyond its half-life still earns by being used."""
    assert float(effective_freshness(1e9, 90.0, 5.0)) == pytest.approx(0.1 * (1 + math.log(6.0)))


def test_an_occurrence_lifts_before_the_boost() -> None:
    """Within a week of its day a recurring memory is fresh again; distance counts on both sides; NaN does not recur."""
    distances = [7.0, -7.0, 0.0, 200.0, math.nan, math.inf]
    fresh = effective_freshness(1e9, 90.0, 1.0, occurrence_distance_days=distances)
    boost = 1.0 + math.log(2.0)
    np.testing.assert_allclose(fresh, boost * np.array([0.5, 0.5, 1.0, 0.1, 0.1, 0.1]))


def test_an_occurrence_never_lowers() -> None:
    """A young memory far from its day keeps its freshness."""
    assert float(effective_freshness(0.0, 90.0, 0.0, occurrence_distance_days=100.0)) == 1.0


def test_strength_has_no_floor() -> None:
    """Pruning sees what freshness hides, and a used memory is stronger than the limit of 0.1."""
    strength = unclamped_strength([720.0, 720.0], 90.0, [0.0, 1e12], 1.0)
    np.testing.assert_allclose(strength, [2.0**-8, 2.0**-8 * (1 + math.log1p(1e12))])
    assert strength[0] < 0.1 < strength[1]


def test_edges_are_finite() -> None:
    """Zero, future and huge ages and counts give finite numbers."""
    ages, counts = np.array([0.0, -1e9, 1e9, 1e300]), np.array([0.0, -3.0, 1e18, 1e300])
    for values in (
        effective_freshness(ages, 30.0, counts),
        unclamped_strength(ages, 30.0, counts),
        decayed_importance(counts, ages, 90.0),
        decayed_count(counts, ages),
        frequency(counts),
    ):
        assert np.all(np.isfinite(values))
        assert np.all(values >= 0.0)


def test_nothing_in_nothing_out() -> None:
    """No candidates, no values."""
    for values in (
        effective_freshness([], 30.0, [], permanent=[], occurrence_distance_days=[]),
        unclamped_strength([], 30.0, []),
        decayed_importance([], [], 90.0),
        clamped_feedback([], "good"),
        decayed_count([], []),
        frequency([]),
    ):
        assert values.shape == (0,)


@pytest.mark.parametrize(("floor", "k"), [(-0.1, 1.0), (1.1, 1.0), (math.nan, 1.0), (0.1, -1.0), (0.1, math.inf)])
def test_freshness_parameters_refused(floor: float, k: float) -> None:
    """A floor outside [0, 1] or a negative boost is refused."""
    with pytest.raises(ValueError, match=r"floor must|k must"):
        effective_freshness(1.0, 90.0, 0.0, floor=floor, k=k)


def test_importance_halves_by_kind() -> None:
    """Each kind by its own half-life; a user's own kind by 90 days."""
    assert importance_half_life("procedure") == 135.0
    assert importance_half_life("recipe") == 90.0
    np.testing.assert_allclose(decayed_importance(0.8, [0.0, -5.0, 180.0, 1e9], 180.0), [0.8, 0.8, 0.4, 0.1])


def test_importance_below_the_floor_reads_as_the_floor() -> None:
    """The floor of the formula holds whatever was stated."""
    assert float(decayed_importance(0.02, 0.0, 90.0)) == 0.1


@pytest.mark.parametrize(("verdict", "value"), [("used", 0.42), ("good", 0.42), ("bad", 0.38)])
def test_feedback_moves_by_five_percent(verdict: str, value: float) -> None:
    """Up for used and good, down for bad."""
    assert float(clamped_feedback(0.4, verdict)) == pytest.approx(value)


def test_feedback_stays_within_its_bounds() -> None:
    """A thousand verdicts end at the bound."""
    up = down = np.array([0.3])
    for _ in range(1_000):
        up, down = clamped_feedback(up, "good"), clamped_feedback(down, "bad")
    assert (float(up[0]), float(down[0])) == (1.0, 0.05)


def test_feedback_outside_the_bounds_does_not_jump() -> None:
    """An importance stated below the bound is not doubled by one verdict, and not lowered further."""
    assert float(clamped_feedback(0.02, "good")) == pytest.approx(0.021)
    assert float(clamped_feedback(0.02, "bad")) == 0.02
    assert float(clamped_feedback(0.0, "good")) == 0.0


def test_feedback_refused() -> None:
    """An unknown verdict lists the known ones; crossed bounds and a step beyond 1 are named."""
    with pytest.raises(ValueError, match="used, good, bad, got 'great'"):
        clamped_feedback(0.5, "great")
    with pytest.raises(ValueError, match=r"lo=0\.9, hi=0\.1"):
        clamped_feedback(0.5, "good", lo=0.9, hi=0.1)
    with pytest.raises(ValueError, match=r"step .* got 1\.5"):
        clamped_feedback(0.5, "good", step=1.5)


def test_a_runaway_count_decays() -> None:
    """A million recalls fade to one in under four years, and a rate of 1 keeps them."""
    assert float(decayed_count(1e6, 1_375.0)) < 1.0
    assert float(decayed_count(1e6, 1_375.0, rate=1.0)) == 1e6


@pytest.mark.parametrize("rate", [0.0, 1.01, -1.0, math.nan])
def test_rate_refused(rate: float) -> None:
    """A rate outside (0, 1] is named in the error."""
    with pytest.raises(ValueError, match=f"got {rate!r}"):
        decayed_count(1.0, 1.0, rate)
