"""Decay: the checks printed in the contract, and the edges: zero, huge, future, empty, refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from retentive.scoring.arrays import FloatArray
from retentive.scoring.decay import (
    ACCESSES_KEPT,
    SHORTEST_ACCESS_AGE_DAYS,
    constant,
    ebbinghaus,
    half_life,
    hourly_base,
    power_law,
)

EDGES = [0.0, -1.0, -1e9, 1e-300, 1.0, 1e9, 1e300, math.inf]
CURVES: dict[str, Callable[[list[float]], FloatArray]] = {
    "half_life": lambda ages: half_life(ages, 7.0),
    "half_life_tiny": lambda ages: half_life(ages, 1e-300),
    "hourly_base": hourly_base,
    "ebbinghaus": lambda ages: ebbinghaus(ages, 7.0, 3.0),
    "constant": constant,
    "power_law": lambda ages: power_law(np.reshape(ages, (-1, 1))),
}


@pytest.mark.parametrize(
    ("base", "hours", "value"),
    [(0.995, 24, 0.8867), (0.995, 168, 0.4308), (0.995, 720, 0.0271), (0.99, 24, 0.7857), (0.99, 168, 0.1848)],
)
def test_hourly_base_printed(base: float, hours: float, value: float) -> None:
    """The hourly checks of the contract."""
    assert float(hourly_base(hours, base)) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(("days", "value"), [(1, 0.906), (7, 0.5), (14, 0.25), (30, 0.0513)])
def test_half_life_printed(days: float, value: float) -> None:
    """The half-life checks of the contract, at 168 hours."""
    assert float(half_life(24.0 * days, 168.0)) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("name", CURVES)
def test_edges_stay_within_zero_and_one(name: str) -> None:
    """Zero, future, huge and infinite ages all give a number in [0, 1]."""
    values = CURVES[name](EDGES)
    assert np.all((values >= 0.0) & (values <= 1.0))


@pytest.mark.parametrize("name", CURVES)
def test_the_future_is_now(name: str) -> None:
    """A clock that ran backwards raises no score."""
    future, now = CURVES[name]([-5.0, 0.0])
    assert future == now


@pytest.mark.parametrize("name", CURVES)
def test_no_candidates(name: str) -> None:
    """No ages, no values."""
    assert CURVES[name]([]).shape == (0,)


def test_half_life_of_its_own_per_candidate() -> None:
    """An array of half-lives applies entry by entry."""
    np.testing.assert_array_equal(half_life([7.0, 7.0], [7.0, 3.5]), [0.5, 0.25])


def test_ebbinghaus_without_gain_or_recalls_is_the_half_life() -> None:
    """Nothing to stretch by."""
    plain = half_life([1.0, 9.0], 7.0)
    np.testing.assert_array_equal(ebbinghaus([1.0, 9.0], 7.0, [50.0, 3.0], gain=0.0), plain)
    np.testing.assert_array_equal(ebbinghaus([1.0, 9.0], 7.0, [0.0, -4.0]), plain)


def test_power_law_by_hand() -> None:
    """One access a day ago is 0.5; two, one and four days ago, are 1.5/2.5."""
    nan = math.nan
    np.testing.assert_allclose(power_law([[1.0, nan], [4.0, 1.0], [nan, nan]]), [0.5, 0.6, 0.0], atol=1e-15)


def test_power_law_is_the_logistic_of_the_activation() -> None:
    """S/(1 + S) is what logistic(ln S) says."""
    ages = [0.5, 3.0, 40.0]
    activation = math.log(sum(age**-0.7 for age in ages))
    assert float(power_law([ages], 0.7)[0]) == pytest.approx(1 / (1 + math.exp(-activation)), abs=1e-12)


def test_power_law_clamps_at_one_second() -> None:
    """An access at this very moment counts as one of a second ago."""
    now, second = power_law([[0.0], [SHORTEST_ACCESS_AGE_DAYS]])
    assert now == second == pytest.approx(0.9966, abs=1e-4)


def test_power_law_keeps_the_latest_accesses() -> None:
    """Beyond sixteen the oldest accesses do not count."""
    latest = [float(age) for age in range(1, ACCESSES_KEPT + 1)]
    assert power_law([[999.0, *latest]]) == power_law([latest])


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_half_life_refused(value: float) -> None:
    """A half-life that is none is named in the error."""
    with pytest.raises(ValueError, match=f"half_life must be a finite number above 0, got {value!r}"):
        half_life(1.0, value)
    with pytest.raises(ValueError, match="half_life"):
        ebbinghaus(1.0, [7.0, value], 0.0)


@pytest.mark.parametrize("base", [0.0, 1.0, -0.5, 1.5, math.nan])
def test_base_refused(base: float) -> None:
    """A base outside (0, 1) is named in the error."""
    with pytest.raises(ValueError, match=f"strictly between 0 and 1, got {base!r}"):
        hourly_base(1.0, base)


def test_other_parameters_refused() -> None:
    """A negative gain, a flat power and a flat list of access ages are refused."""
    with pytest.raises(ValueError, match=r"gain .* got -0\.5"):
        ebbinghaus(1.0, 7.0, 1.0, gain=-0.5)
    with pytest.raises(ValueError, match=r"d must .* got 0\.0"):
        power_law([[1.0]], d=0.0)
    with pytest.raises(ValueError, match=r"2-D.*\(2,\)"):
        power_law([1.0, 2.0])
