"""What every scoring function does to its inputs: float64 arrays, ages that never run backwards, checked constants.

A function of this package takes scalars or arrays of one shape (they broadcast) and returns a float64 array of that
shape. Nothing here reads a clock; ages and distances are arguments.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def floats(values: ArrayLike) -> FloatArray:
    """``values`` as float64, in whatever shape they came."""
    return np.asarray(values, dtype=np.float64)


def non_negative(values: ArrayLike) -> FloatArray:
    """``max(0, values)``: an age from a clock that ran backwards is 0, and so is a negative count."""
    return np.maximum(floats(values), 0.0)


def halving(age: ArrayLike, half_life: ArrayLike) -> FloatArray:
    """``2^(-max(0, age)/half_life)`` in [0, 1], unchecked; an age too large for a float64 is worth 0, not a warning."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp2(-non_negative(age) / floats(half_life))


def require_positive(name: str, value: ArrayLike) -> None:
    """Refuse ``value`` unless every entry is a finite number above 0."""
    entries = floats(value)
    if not np.all(np.isfinite(entries) & (entries > 0.0)):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


def require_within(name: str, value: float, low: float, high: float) -> None:
    """Refuse ``value`` unless ``low <= value <= high`` (NaN is never within)."""
    if not low <= value <= high:
        raise ValueError(f"{name} must lie within [{low:g}, {high:g}], got {value!r}")


def require_not_negative(name: str, value: float) -> None:
    """Refuse ``value`` unless it is a finite number of at least 0."""
    if not (np.isfinite(value) and value >= 0.0):
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
