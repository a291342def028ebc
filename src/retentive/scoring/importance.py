"""Importance: how a memory's stated weight fades while nobody asks for it, and how feedback moves it."""

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
    require_positive,
    require_within,
)

IMPORTANCE_HALF_LIFE_DAYS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "entity": 180.0,
        "fact": 180.0,
        "decision": 90.0,
        "preference": 90.0,
        "procedure": 135.0,
        "reflection": 135.0,
        "event": 90.0,
        "relation": 90.0,
        "episode": 90.0,
    }
)
CUSTOM_IMPORTANCE_HALF_LIFE_DAYS: Final = 90.0
IMPORTANCE_FLOOR: Final = 0.1
FEEDBACK_DIRECTION: Final[Mapping[str, float]] = MappingProxyType({"used": 1.0, "good": 1.0, "bad": -1.0})


def importance_half_life(kind: str) -> float:
    """The half-life of a kind's importance in days; 90 for a user's own kind."""
    return IMPORTANCE_HALF_LIFE_DAYS.get(kind, CUSTOM_IMPORTANCE_HALF_LIFE_DAYS)


def decayed_importance(
    importance: ArrayLike,
    dormant_days: ArrayLike,
    half_life_days: ArrayLike,
    floor: float = IMPORTANCE_FLOOR,
) -> FloatArray:
    """``max(floor, importance · 2^(-dormant/h))``, in [floor, 1] for an importance in [0, 1].

    ``dormant_days`` runs from the later of creation and last access. The floor holds for every memory, so one whose
    importance was stated below it is read as the floor.
    """
    require_positive("half_life_days", half_life_days)
    require_within("floor", floor, 0.0, 1.0)
    return np.maximum(floor, non_negative(importance) * halving(dormant_days, half_life_days))


def clamped_feedback(
    importance: ArrayLike, verdict: str, step: float = 0.05, lo: float = 0.05, hi: float = 1.0
) -> FloatArray:
    """``importance · (1 ± step)`` kept within [lo, hi]: ``used`` and ``good`` raise it, ``bad`` lowers it.

    No call moves a value by more than ``step`` of itself. That promise comes first: an importance stated outside
    [lo, hi] is not pulled to the bound, it is only never pushed further out.
    """
    if verdict not in FEEDBACK_DIRECTION:
        raise ValueError(f"verdict must be one of {', '.join(FEEDBACK_DIRECTION)}, got {verdict!r}")
    require_within("step", step, 0.0, 1.0)
    if not lo <= hi:
        raise ValueError(f"lo must not exceed hi, got lo={lo!r}, hi={hi!r}")
    stated = non_negative(importance)
    moved = stated * (1.0 + FEEDBACK_DIRECTION[verdict] * step)
    return floats(np.clip(moved, np.minimum(lo, stated), np.maximum(hi, stated)))
