"""Access counts: how they fade, and what they are worth as a signal."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import FloatArray, non_negative


def decayed_count(count: ArrayLike, elapsed_days: ArrayLike, rate: float = 0.99) -> FloatArray:
    """``count · rate^days``, at least 0: the stored count as it stands after ``elapsed_days``.

    Applied when read, from the stored count and its timestamp; no job ever rewrites every row. ``rate = 1`` keeps the
    count as stored.
    """
    if not 0.0 < rate <= 1.0:
        raise ValueError(f"rate must lie above 0 and at most at 1, got {rate!r}")
    with np.errstate(under="ignore"):
        return non_negative(count) * np.power(rate, non_negative(elapsed_days))


def frequency(count: ArrayLike) -> FloatArray:
    """``min(0.1·log2(1 + n), 1)`` in [0, 1]; full at 1,023 accesses."""
    return np.minimum(0.1 * np.log2(1.0 + non_negative(count)), 1.0)
