"""Combination: from normalised signals to one score per candidate."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import FloatArray, floats

LARGEST_TERM: Final = 1e300
"""Partial results are clipped here: finite signals then never meet as ``inf - inf`` or ``inf · 0``."""


def weighted_sum(columns: ArrayLike, weights: ArrayLike) -> FloatArray:
    """``Σ w_i · s_i`` per candidate; ``columns`` is signals by candidates.

    Added signal by signal, from the first to the last, never through BLAS: the contributions shown to a user, added in
    the same order, give exactly this score, and a candidate's score does not depend on its position in the column.
    """
    rows, factors = _signals(columns), floats(weights)
    if factors.shape != (rows.shape[0],):
        raise ValueError(f"weights must hold one number per signal ({rows.shape[0]}), got shape {factors.shape!r}")
    total = np.zeros(rows.shape[1])
    with np.errstate(over="ignore", under="ignore"):
        for row, factor in zip(rows, factors, strict=True):
            total += np.clip(factor * row, -LARGEST_TERM, LARGEST_TERM)
    return total


def product(columns: ArrayLike) -> FloatArray:
    """``Π s_i`` per candidate; ``columns`` is signals by candidates, multiplied from the first to the last."""
    rows = _signals(columns)
    total = np.ones(rows.shape[1])
    with np.errstate(over="ignore", under="ignore"):
        for row in rows:
            total = np.clip(total * row, -LARGEST_TERM, LARGEST_TERM)
    return total


def _signals(columns: ArrayLike) -> FloatArray:
    rows = floats(columns)
    if rows.ndim != 2:
        raise ValueError(f"columns must be signals by candidates (2-D), got shape {rows.shape!r}")
    return rows
