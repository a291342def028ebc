"""Normalisers: how a signal's raw column becomes comparable with the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import FloatArray, floats


def minmax(x: ArrayLike, constant: float = 0.5, lo: float | None = None, hi: float | None = None) -> FloatArray:
    """``(x - lo)/(hi - lo)`` in [0, 1]; a column without spread becomes ``constant``.

    The bounds are those of ``x`` itself, the candidates of one recall, unless a population's are given; then values
    outside them are clipped. ``constant`` is 0 in the stream of Park et al. (2023) and 0.5 in the blend family. The
    result orders one recall; it must not be compared between recalls.
    """
    column = floats(x)
    if column.size == 0:
        return column.copy()
    low = float(column.min()) if lo is None else float(lo)
    high = float(column.max()) if hi is None else float(hi)
    if not high > low:
        return np.full_like(column, constant)
    return _clipped_share(column, low, high)


def band(x: ArrayLike, lo: float, hi: float) -> FloatArray:
    """``(x - lo)/(hi - lo)`` clipped to [0, 1]: a fixed band, calibrated per embedder, comparable between recalls."""
    if not lo < hi:
        raise ValueError(f"band needs lo below hi, got lo={lo!r}, hi={hi!r}")
    return _clipped_share(floats(x), float(lo), float(hi))


def scaled(x: ArrayLike, lo: float, hi: float) -> FloatArray:
    """``(x - lo)/(hi - lo)`` as it comes: the band's scale without its ends, where the best must stay apart."""
    if not lo < hi:
        raise ValueError(f"scaled needs lo below hi, got lo={lo!r}, hi={hi!r}")
    return (floats(x) - float(lo)) / (float(hi) - float(lo))


def identity(x: ArrayLike) -> FloatArray:
    """``x`` as it is."""
    return floats(x).copy()


def _clipped_share(column: FloatArray, low: float, high: float) -> FloatArray:
    """Where each value lies between ``low`` and ``high``; quartered first where the span leaves float64's range."""
    scale = 1.0 if np.isfinite(high - low) else 0.25
    clipped = np.clip(column, low, high)
    return np.clip((clipped * scale - low * scale) / (high * scale - low * scale), 0.0, 1.0)
