"""The order of an answer over arrays: score, then newer creation, then id; without sorting what is not returned."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.cache import Cache
from retentive.types import Floats, Found

Places: TypeAlias = NDArray[np.int64]
BLOCK = 64


def found(cache: Cache, places: Places, scores: Floats | Places, limit: int, *, gated: int, unit: float = 1.0) -> Found:
    """Rank places scored in some unit; a gated row that was not scored counts as 0 in ``low``, ``high``, ``mean``."""
    low, high = (float(scores.min()) / unit, float(scores.max()) / unit) if len(scores) else (0.0, 0.0)
    if len(places) < gated:
        low, high = min(low, 0.0), max(high, 0.0)
    order = best(cache, places, scores, limit)
    mean = float(scores.sum(dtype=np.float64)) / unit / gated if gated else 0.0
    return Found(
        rows=cache.row[places[order]], scores=scores[order] / unit, scanned=len(places), low=low, high=high, mean=mean
    )


def best(cache: Cache, places: Places, scores: Floats | Places, limit: int) -> Places:
    """Return the indices of the ``limit`` best into ``places`` and ``scores``, best first."""
    chosen = _cut(cache, places, scores, min(max(limit, 0), len(places)))
    created = cache.created[places[chosen]]
    order = np.lexsort((-created, -scores[chosen]))
    chosen, created = chosen[order], created[order]
    kept = scores[chosen]
    if ((kept[1:] == kept[:-1]) & (created[1:] == created[:-1])).any():
        chosen = chosen[np.lexsort((cache.id_ranks(places[chosen]), -created, -kept))]
    return chosen


def _cut(cache: Cache, places: Places, scores: Floats | Places, limit: int) -> Places:
    """Return the indices of the ``limit`` best in any order.

    Whole imports share one moment and one importance, so thousands may tie for the last places: each tie is settled by
    the next key among the tied only.
    """
    everything = np.arange(len(scores))
    if limit == len(scores):
        return everything
    if limit == 0:
        return everything[:0]
    sure, tied = _split(scores, everything, limit)
    newer, tied = _split(cache.created[places[tied]], tied, limit - len(sure))
    first = cache.smallest_ids(places[tied], limit - len(sure) - len(newer))
    return np.concatenate((sure, newer, tied[first]))


def _split(keys: NDArray[np.float64] | NDArray[np.int64], indices: Places, limit: int) -> tuple[Places, Places]:
    """Split into the indices that are surely among the ``limit`` of greatest key, and those that tie for the rest."""
    if limit >= len(keys):
        return indices, indices[:0]
    if limit <= 0:
        return indices[:0], indices[:0]
    least = _least(keys, limit)
    return indices[keys > least], indices[keys == least]


def _least(keys: NDArray[np.float64] | NDArray[np.int64], limit: int) -> Any:
    """Return the key of the last of the ``limit`` greatest.

    The greatest of each block are a tenth of the work to part, and no more than ``limit`` blocks hold the answer: only
    keys that reach the least of those are looked at again.
    """
    blocks = len(keys) // BLOCK
    if blocks > 2 * limit:
        tops = keys[: blocks * BLOCK].reshape(blocks, BLOCK).max(axis=1)
        bar = np.partition(tops, blocks - limit)[blocks - limit]
        if bar == keys.max():
            return bar
        keys = keys[keys >= bar]
    return np.partition(keys, len(keys) - limit)[len(keys) - limit]
