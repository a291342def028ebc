"""Fusion: one number per candidate from several channels that each found some of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import FloatArray, floats, require_not_negative
from retentive.scoring.normalise import minmax

RRF_K: Final = 60.0
Key = TypeVar("Key", bound=Hashable)


def reciprocal_rank(
    ranked_lists: Sequence[Sequence[Key]], k: float = RRF_K, weights: Sequence[float] | None = None
) -> dict[Key, float]:
    """``Σ_channels w/(k + rank)``, rank from 1: reciprocal rank fusion, Cormack, Clarke & Büttcher, SIGIR 2009.

    Each list is one channel's answer, best first; a repeated key counts at its best rank. Keys come out in the order in
    which they were first met. The sum runs over the channels as given, as in :func:`reciprocal_rank_array`.
    """
    require_not_negative("k", k)
    fused: dict[Key, float] = {}
    factors = _channel_weights(weights, len(ranked_lists))
    for ranked, factor in zip(ranked_lists, factors.tolist(), strict=True):
        ranks: dict[Key, int] = {}
        for rank, key in enumerate(ranked, start=1):
            ranks.setdefault(key, rank)
        for key, rank in ranks.items():
            fused[key] = fused.get(key, 0.0) + factor / (k + rank)
    return fused


def reciprocal_rank_array(ranks: ArrayLike, k: float = RRF_K, weights: Sequence[float] | None = None) -> FloatArray:
    """The same sum over an array, channels by candidates, of ranks from 1; 0 where the channel did not find it."""
    require_not_negative("k", k)
    rows = _channels(ranks)
    strange = rows[(rows != 0.0) & ~(rows >= 1.0)]
    if strange.size:
        raise ValueError(f"ranks must be 0 (not found) or at least 1, got {float(strange[0])!r}")
    fused = np.zeros(rows.shape[1])
    for row, factor in zip(rows, _channel_weights(weights, rows.shape[0]), strict=True):
        fused += np.where(row > 0.0, factor / (k + np.maximum(row, 1.0)), 0.0)
    return fused


def score_fusion(columns: ArrayLike, weights: Sequence[float] | None, lows: ArrayLike, highs: ArrayLike) -> FloatArray:
    """``Σ_channels w · (s - lo)/(hi - lo)``, each share in [0, 1]: min-max fusion, Bruch et al., TOIS 2023.

    ``columns`` is channels by candidates of raw channel scores, NaN where the channel did not find the candidate (worth
    0). ``lows`` and ``highs`` are each channel's bounds in this query; a channel without spread, such as one that found
    a single candidate, gives all it found the full share.
    """
    rows = _channels(columns)
    low, high = _bounds("lows", lows, rows.shape[0]), _bounds("highs", highs, rows.shape[0])
    fused = np.zeros(rows.shape[1])
    for i, factor in enumerate(_channel_weights(weights, rows.shape[0])):
        found = ~np.isnan(rows[i])
        share = minmax(np.where(found, rows[i], low[i]), 1.0, float(low[i]), float(high[i]))
        fused += factor * np.where(found, share, 0.0)
    return fused


def _channels(values: ArrayLike) -> FloatArray:
    rows = floats(values)
    if rows.ndim != 2:
        raise ValueError(f"expected channels by candidates (2-D), got shape {rows.shape!r}")
    return rows


def _bounds(name: str, values: ArrayLike, channels: int) -> FloatArray:
    bounds = floats(values)
    if bounds.shape != (channels,) or not np.all(np.isfinite(bounds)):
        raise ValueError(f"{name} must hold one finite number per channel ({channels}), got {values!r}")
    return bounds


def _channel_weights(weights: Sequence[float] | None, channels: int) -> FloatArray:
    factors = np.ones(channels) if weights is None else floats(weights)
    if factors.shape != (channels,) or not np.all(np.isfinite(factors) & (factors >= 0.0)):
        raise ValueError(f"weights must hold one number of at least 0 per channel ({channels}), got {weights!r}")
    return factors
