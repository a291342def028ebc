"""Decay: what is left of a memory's recency after a given age.

Every function clamps age at 0, so a timestamp in the future is worth exactly as much as one of now, and returns values
in [0, 1] that never rise with age. Age and half-life share one unit, the caller's; only the names say which.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import (
    FloatArray,
    floats,
    halving,
    non_negative,
    require_not_negative,
    require_positive,
)

PARK_HOURLY_BASE: Final = 0.995
ACCESSES_KEPT: Final = 16
SHORTEST_ACCESS_AGE_DAYS: Final = 1.0 / 86_400.0
"""One second, in days. ``t^-d`` is unbounded at ``t = 0``; one access just now is then worth 0.9966 at ``d = 0.5``."""


def half_life(age: ArrayLike, half_life: ArrayLike) -> FloatArray:
    """``2^(-age/h)`` in [0, 1]: a true half-life, 0.5 at ``age = h``.

    ``half_life`` may be an array (one per candidate). Not ``e^(-age/h)``, which some ports call a half-life and which
    is 0.37 there.
    """
    require_positive("half_life", half_life)
    return halving(age, half_life)


def hourly_base(age_hours: ArrayLike, base: float = PARK_HOURLY_BASE) -> FloatArray:
    """``base^hours`` in [0, 1].

    0.995 is Park et al., *Generative Agents*, UIST 2023 (a half-life of 5.8 days); 0.99 is a common port of it
    (2.9 days).
    """
    if not 0.0 < base < 1.0:
        raise ValueError(f"base must lie strictly between 0 and 1, got {base!r}")
    with np.errstate(under="ignore"):
        return np.power(base, non_negative(age_hours))


def ebbinghaus(age: ArrayLike, half_life: ArrayLike, count: ArrayLike, gain: float = 0.5) -> FloatArray:
    """``2^(-age/(h·(1 + g·ln(1 + n))))`` in [0, 1]: each recall stretches the half-life.

    The forgetting curve of Ebbinghaus (1885) with a strength that grows by the logarithm of recalls, as MemoryBank
    (Zhong et al., 2024) grows it by steps. ``gain = 0`` is the plain half-life.
    """
    require_positive("half_life", half_life)
    require_not_negative("gain", gain)
    return halving(age, floats(half_life) * (1.0 + gain * np.log1p(non_negative(count))))


def power_law(access_ages: ArrayLike, d: float = 0.5) -> FloatArray:
    """``logistic(ln Σ t_j^-d)`` in [0, 1], one value per row: the base-level activation of ACT-R.

    Anderson & Schooler (1991), ``d = 0.5``. ``access_ages`` is candidates by accesses, in **days**, padded with NaN; of
    more than 16 accesses the 16 latest count. Ages are clamped to at least one second (``SHORTEST_ACCESS_AGE_DAYS``).
    One access a day ago is worth 0.5. A row of only NaN is worth 0; for a memory never accessed pass the age of its
    creation.
    """
    require_positive("d", d)
    ages = floats(access_ages)
    if ages.ndim != 2:
        raise ValueError(f"access_ages must be candidates by accesses (2-D), got shape {ages.shape!r}")
    latest = np.sort(ages, axis=1)[:, :ACCESSES_KEPT]  # NaN sorts last
    activation = np.zeros(len(ages))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        for nth in latest.T:  # one after the other: the last bit depends neither on order nor on padding
            activation += np.nan_to_num(np.maximum(nth, SHORTEST_ACCESS_AGE_DAYS) ** -d, nan=0.0, posinf=np.inf)
        return floats(1.0 / (1.0 + 1.0 / activation))  # logistic(ln S) = S/(1+S), safe at S = 0 and at S = inf


def constant(age: ArrayLike) -> FloatArray:
    """1 at every age: permanent memories, and policies without recency."""
    return np.ones_like(floats(age))
