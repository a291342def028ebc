"""A fixed sample of vectors, kept whole: what "usual" is in a space too large to look at every vector."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.types import Floats, RowIds, Vectors

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

MOST = 1_024  # vectors; from half as many upwards
MOST_BYTES = 8 << 20  # but no more than this, for very long vectors
LEAST = 512
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: neighbouring rows fall far apart


class VectorSample:
    """Every row whose hashed number lies below a bar that sinks as the space grows: any process picks the same rows."""

    def __init__(self, dimension: int) -> None:
        self._most = max(LEAST * 2, min(MOST, MOST_BYTES // (4 * dimension)))
        self._level = 0
        self._places = np.empty(0, dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._vectors: Vectors = np.empty((0, dimension), dtype=np.float32)

    def put(self, places: Places, rows: RowIds, vectors: Vectors) -> None:
        """Take in those of some rows that belong to the sample."""
        hashes = rows.astype(np.uint64) * MULTIPLIER
        chosen = self._within(hashes)
        if not chosen.any():
            return
        kept = ~np.isin(self._places, places[chosen])
        self._places = np.concatenate((self._places[kept], places[chosen]))
        self._hashes = np.concatenate((self._hashes[kept], hashes[chosen]))
        self._vectors = np.concatenate((self._vectors[kept], vectors[chosen]))
        while len(self._places) > self._most:
            self._level += 1
            self._keep(self._within(self._hashes))

    def drop(self, places: Places) -> None:
        """Leave nothing of some places."""
        gone = np.isin(self._places, places)
        if gone.any():
            self._keep(~gone)

    def scores(self, vector: Vectors, mask: Mask) -> Floats:
        """Return the cosines of those members that are in the mask."""
        scores: Floats = np.vecdot(self._vectors, vector)[mask[self._places]].astype(np.float64)
        return scores

    def _within(self, hashes: NDArray[np.uint64]) -> Mask:
        if not self._level:
            return np.ones(len(hashes), dtype=np.bool_)
        within: Mask = hashes >> np.uint64(64 - self._level) == 0
        return within

    def _keep(self, mask: Mask) -> None:
        self._places, self._hashes, self._vectors = self._places[mask], self._hashes[mask], self._vectors[mask]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it takes to come back."""
        parts: dict[str, NDArray[Any]] = {"places": self._places, "hashes": self._hashes, "vectors": self._vectors}
        return {**parts, "level": np.array([self._level], dtype=np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> VectorSample:
        """Come back."""
        vectors = arrays["vectors"]
        sample = cls(vectors.shape[1])
        sample._level = int(arrays["level"][0])  # ours
        sample._places, sample._hashes, sample._vectors = arrays["places"], arrays["hashes"], vectors  # ours
        return sample
