"""Freshness: the multiplicative family, where age and use scale a base score instead of adding to it.

Age runs from creation, in days. The floor clamps before the boost, so an old memory that is used keeps earning.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
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
    require_within,
)

TAU_DAYS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "fact": 180.0,
        "preference": 90.0,
        "event": 30.0,
        "entity": 365.0,
        "relation": 180.0,
        "decision": 90.0,
        "procedure": 135.0,
        "reflection": 180.0,
        "episode": 30.0,
    }
)
CUSTOM_TAU_DAYS: Final = 90.0
FRESHNESS_FLOOR: Final = 0.1
OCCURRENCE_HALF_LIFE_DAYS: Final = 7.0


def tau_for(kind: str, overrides: Mapping[str, float] | None = None) -> float:
    """The half-life of a kind's freshness in days: the override, else the table, else 90 for a user's own kind."""
    tau = (overrides or {}).get(kind, TAU_DAYS.get(kind, CUSTOM_TAU_DAYS))
    require_positive(f"tau_days of {kind!r}", tau)
    return float(tau)


def freshness(age_days: ArrayLike, tau_days: ArrayLike, floor: float = FRESHNESS_FLOOR) -> FloatArray:
    """``max(2^(-age/τ), floor)`` in [floor, 1]; ``tau_days`` may hold one τ per candidate."""
    require_positive("tau_days", tau_days)
    require_within("floor", floor, 0.0, 1.0)
    return np.maximum(halving(age_days, tau_days), floor)


def access_boost(count: ArrayLike, k: float = 1.0) -> FloatArray:
    """``1 + k·ln(1 + n)``, at least 1: each access adds less than the one before."""
    require_not_negative("k", k)
    return floats(1.0 + k * np.log1p(non_negative(count)))


def effective_freshness(
    age_days: ArrayLike,
    tau_days: ArrayLike,
    count: ArrayLike,
    *,
    k: float = 1.0,
    floor: float = FRESHNESS_FLOOR,
    permanent: ArrayLike | None = None,
    occurrence_distance_days: ArrayLike | None = None,
) -> FloatArray:
    """``fresh · (1 + k·ln(1 + n))``, at least ``floor``; the access boost alone where ``permanent`` is true.

    ``occurrence_distance_days`` is the distance to the nearest occurrence of a recurring memory, NaN where it does not
    recur; there ``fresh = max(fresh, 2^(-|days|/7))``, before the boost.
    """
    fresh = freshness(age_days, tau_days, floor)
    if occurrence_distance_days is not None:
        near = halving(np.abs(floats(occurrence_distance_days)), OCCURRENCE_HALF_LIFE_DAYS)
        fresh = np.fmax(fresh, near)  # fmax prefers a number to NaN: a memory that does not recur keeps its freshness
    boost = access_boost(count, k)
    if permanent is None:
        return fresh * boost
    return np.where(np.asarray(permanent, dtype=np.bool_), boost, fresh * boost)


def unclamped_strength(age_days: ArrayLike, tau_days: ArrayLike, count: ArrayLike, k: float = 1.0) -> FloatArray:
    """``2^(-age/τ) · (1 + k·ln(1 + n))``, at least 0: what pruning compares with its limit, without the floor."""
    require_positive("tau_days", tau_days)
    return halving(age_days, tau_days) * access_boost(count, k)
