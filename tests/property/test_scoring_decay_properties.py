"""Decay, freshness, importance and counts: bounded, monotone, independent of order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.scoring.arrays import FloatArray
from retentive.scoring.counts import decayed_count, frequency
from retentive.scoring.decay import ebbinghaus, half_life, hourly_base, power_law
from retentive.scoring.freshness import access_boost, effective_freshness, freshness, unclamped_strength
from retentive.scoring.importance import clamped_feedback, decayed_importance

ages = st.floats(-1e9, 1e9)
counts = st.floats(0.0, 1e9)
positive = st.floats(1e-3, 1e6)
shares = st.floats(0.0, 1.0)
columns = st.lists(ages, min_size=0, max_size=12)
Curve = Callable[[FloatArray, float, float], FloatArray]

CURVES: dict[str, Curve] = {
    "half_life": lambda age, h, n: half_life(age, h),
    "hourly_base": lambda age, h, n: hourly_base(age, 1.0 / (1.0 + h)),
    "ebbinghaus": ebbinghaus,
    "freshness": lambda age, h, n: freshness(age, h),
    "effective_freshness": effective_freshness,
    "unclamped_strength": unclamped_strength,
    "decayed_importance": lambda age, h, n: decayed_importance(0.8, age, h),
    "decayed_count": lambda age, h, n: decayed_count(n, age),
    "power_law": lambda age, h, n: power_law(age.reshape(-1, 1)),
}
GROWING_WITH_USE = ["ebbinghaus", "effective_freshness", "unclamped_strength", "decayed_count"]
BOUNDED_BY_ONE = ["half_life", "hourly_base", "ebbinghaus", "freshness", "decayed_importance", "power_law"]


@pytest.mark.parametrize("name", CURVES)
@given(column=columns, h=positive, n=counts)
def test_no_age_raises_a_score(name: str, column: list[float], h: float, n: float) -> None:
    """Older is never worth more, and nothing is negative or not a number."""
    values = CURVES[name](np.sort(np.array(column)), h, n)
    assert values.shape == (len(column),)
    assert np.all(np.isfinite(values))
    assert np.all(values >= 0.0)
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[:-1]))


@pytest.mark.parametrize("name", BOUNDED_BY_ONE)
@given(column=columns, h=positive, n=counts)
def test_bounded(name: str, column: list[float], h: float, n: float) -> None:
    """Recency-like values lie in [0, 1]."""
    assert np.all(CURVES[name](np.array(column), h, n) <= 1.0)


@pytest.mark.parametrize("name", GROWING_WITH_USE)
@given(age=ages, h=positive, pair=st.tuples(counts, counts))
def test_use_never_lowers_a_score(name: str, age: float, h: float, pair: tuple[float, float]) -> None:
    """More accesses are never worth less."""
    less, more = (CURVES[name](np.array([age]), h, n)[0] for n in sorted(pair))
    assert less <= more * (1.0 + 1e-12)


@pytest.mark.parametrize("name", CURVES)
@given(column=columns, h=positive, n=counts, seed=st.integers(0, 2**32 - 1))
def test_independent_of_order(name: str, column: list[float], h: float, n: float, seed: int) -> None:
    """A candidate's value does not depend on its place among the others."""
    order = np.random.default_rng(seed).permutation(len(column))
    values = CURVES[name](np.array(column), h, n)
    shuffled = CURVES[name](np.array(column)[order], h, n)
    np.testing.assert_allclose(shuffled, values[order], rtol=1e-12, atol=0)


@given(h=positive, times=st.integers(0, 40))
def test_a_half_life_halves(h: float, times: int) -> None:
    """After k half-lives 2^-k is left."""
    assert float(half_life(h * times, h)) == pytest.approx(2.0**-times)


@given(row=st.lists(st.floats(0.0, 1e6), min_size=1, max_size=20), extra=st.floats(0.0, 1e6), pad=st.integers(0, 5))
def test_power_law_counts_accesses(row: list[float], extra: float, pad: int) -> None:
    """Another access never hurts, order and padding never matter."""
    value = power_law([row])[0]
    assert power_law([[*row, extra]])[0] >= value
    assert power_law([[*reversed(row), *[np.nan] * pad]])[0] == value


@given(age=ages, tau=positive, n=counts, distance=st.floats(-1e6, 1e6), permanent=st.booleans())
def test_effective_freshness_is_framed(age: float, tau: float, n: float, distance: float, permanent: bool) -> None:
    """Between floor and one, times the boost; permanent is the upper end; an occurrence only lifts."""
    plain = float(effective_freshness(age, tau, n))
    lifted = float(effective_freshness(age, tau, n, occurrence_distance_days=distance, permanent=permanent))
    boost = float(access_boost(n))
    assert 0.1 * boost <= plain <= lifted <= boost
    assert not permanent or lifted == boost


@given(importance=shares, dormant=ages, h=positive, floor=shares)
def test_importance_is_framed(importance: float, dormant: float, h: float, floor: float) -> None:
    """Never under the floor, never over the larger of floor and stated."""
    value = float(decayed_importance(importance, dormant, h, floor))
    assert floor <= value <= max(floor, importance)


@given(importance=shares, verdict=st.sampled_from(["used", "good", "bad"]))
def test_feedback_moves_at_most_five_percent(importance: float, verdict: str) -> None:
    """In the verdict's direction, by at most 5 % of the value, and never out of [0.05, 1]."""
    moved = float(clamped_feedback(importance, verdict))
    assert abs(moved - importance) <= 0.05 * importance + 1e-12
    assert moved <= importance if verdict == "bad" else moved >= importance
    assert min(importance, 0.05) <= moved <= 1.0


@given(first=counts, second=counts)
def test_frequency_is_bounded_and_monotone(first: float, second: float) -> None:
    """In [0, 1], and never lower for more."""
    low, high = frequency(sorted([first, second]))
    assert 0.0 <= low <= high <= 1.0


@given(n=counts, days=st.floats(0.0, 1e4), more=st.floats(0.0, 1e4))
def test_count_decay_composes(n: float, days: float, more: float) -> None:
    """Decaying twice, as lazy application does, is decaying once for the sum."""
    twice = float(decayed_count(decayed_count(n, days), more))
    assert twice == pytest.approx(float(decayed_count(n, days + more)), rel=1e-6, abs=1e-290)
