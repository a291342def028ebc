"""The vector arm: a small space's vectors in one matrix, scanned; a large one's as codes, the best scored exactly.

The matrix multiplies in float32, whose last bits depend on how a product is summed. So it only narrows down: whatever
may be among the best, and whatever may be the least, is scored in float64 row by row, and the answer is exact.

Of a space that does not fit, RAM holds codes (`vectors_codes`) and a sample for what is usual (`vectors_sample`). The
vectors stay where they are, in the database, and the few that are wanted are fetched by row: always those of the
snapshot that is read, nothing to write twice, to punch out after an erasure, or to share between processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.errors import InvalidInput, StoreCorrupt
from retentive.stores.ranking import cosines
from retentive.stores.sqlite.vectors_codes import VectorCodes
from retentive.stores.sqlite.vectors_sample import VectorSample
from retentive.types import Floats, RowIds, Vectors

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Fetch: TypeAlias = Callable[[Places], Vectors]
Parts: TypeAlias = dict[str, NDArray[Any]]

ROUNDING = 1.2e-7  # per dimension: twice the worst error of a float32 product of unit vectors
SPARSE = 4  # gather rows where fewer than one in this many is wanted
MATRIX_BYTES = 16 << 20  # the largest matrix kept in RAM: 16,384 vectors of 256 numbers
CODED_FROM = 1_024  # but fewer rows than this are never coded, however long
DEPTH = 384  # rows fetched and scored exactly
DEPTH_SHARE = 2  # and this many for each one asked for
FEW = 512  # rows that pass: no need for codes, all are scored
LEAST_SAMPLE = 128  # members of the sample that must pass before it speaks for those that pass
SPREAD_SAMPLE = 256  # else so many of those that pass are fetched, evenly spread
CHECKED = 4_096  # vectors compared at a time
HOT = 2_048  # vectors fetched lately that are kept: the same recall asks for their columns


class VectorRows:
    """The vectors of a cache, by place."""

    def __init__(self) -> None:
        self._matrix: Vectors = np.empty((0, 0), dtype=np.float32)
        self._codes: VectorCodes | None = None
        self._sample: VectorSample
        self._rows: RowIds = np.empty(0, dtype=np.int64)  # of the matrix, for the sample it may become
        self._hot_places = np.full(HOT, -1, dtype=np.int64)
        self._hot: Vectors = np.empty((0, 0), dtype=np.float32)

    @property
    def dimension(self) -> int:
        """How long the vectors are; 0 before the first."""
        return self._codes.dimension if self._codes else int(self._matrix.shape[1])

    @property
    def coded(self) -> bool:
        """Whether the vectors themselves are left in the database."""
        return self._codes is not None

    def put(self, places: Places, rows: RowIds, blobs: list[bytes], capacity: int) -> None:
        """Set the vectors of some places."""
        size = len(blobs[0])
        if size % 4 or any(len(blob) != size for blob in blobs):
            raise StoreCorrupt("The vectors of a space differ in length; look at it with `retentive doctor`.")
        values = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
        if self._codes is None:
            self._put_whole(places, rows, values, capacity)
            if int(places.max()) >= max(CODED_FROM, MATRIX_BYTES // size):
                self._encode()
        else:
            self._codes.reserve(capacity)
            self._codes.put(places, values)
            self._sample.put(places, rows, values)
            self._hot_places[places % HOT] = -1

    def _put_whole(self, places: Places, rows: RowIds, values: Vectors, capacity: int) -> None:
        if capacity > len(self._matrix):
            grown = np.zeros((capacity, values.shape[1]), dtype=np.float32)
            if self.dimension:
                grown[: len(self._matrix)] = self._matrix
            self._matrix = grown
            self._rows = np.concatenate((self._rows, np.zeros(capacity - len(self._rows), dtype=np.int64)))
        self._matrix[places] = values
        self._rows[places] = rows

    def _encode(self) -> None:
        """Turn the matrix into codes: it has grown too large."""
        held = np.flatnonzero(self._rows)
        vectors = self._matrix[held]
        self._codes = VectorCodes.of(vectors)
        self._codes.reserve(len(self._matrix))
        self._codes.put(held, vectors)
        self._sample = VectorSample(vectors.shape[1])
        self._sample.put(held, self._rows[held], vectors)
        self._matrix, self._rows = np.empty((0, 0), dtype=np.float32), np.empty(0, dtype=np.int64)
        self._hot = np.zeros((HOT, vectors.shape[1]), dtype=np.float32)

    def drop(self, places: Places) -> None:
        """Leave nothing of some places."""
        if self._codes is None:
            self._matrix[places] = 0
            return
        self._codes.drop(places)
        self._sample.drop(places)
        self._hot_places[places % HOT] = -1
        self._hot[places % HOT] = 0

    def fits(self, blob: bytes) -> bool:
        """Say whether a stored vector is as long as those that are here."""
        return not self.dimension or len(blob) == 4 * self.dimension

    def at(self, places: Places, fetch: Fetch) -> Vectors:
        """Return a copy of the vectors of some places."""
        if self._codes is None:
            vectors: Vectors = self._matrix[places]
            return vectors
        slots = places % HOT
        missing = np.flatnonzero(self._hot_places.take(slots) != places)
        if not len(missing):
            return self._hot.take(slots, axis=0)
        wanted, free = places[missing], slots[missing]
        fetched = fetch(wanted)
        found = fetched
        if len(missing) < len(places):
            found = self._hot.take(slots, axis=0)
            found[missing] = fetched
        self._hot_places[free], self._hot[free] = wanted, fetched
        return found

    def differ(self, places: Places, fetch: Fetch) -> bool:
        """Say whether what is kept of some living places is not what their vectors give."""
        for first in range(0, len(places), CHECKED):
            part = places[first : first + CHECKED]
            vectors = fetch(part)
            if self._codes is None:
                same = np.array_equal(self._matrix[part], vectors)
            else:
                same = self._codes.agree(part, vectors)
            if not same:
                return True
        return False

    def nearest(
        self, vector: Vectors, mask: Mask, count: int, limit: int, fetch: Fetch
    ) -> tuple[Places, Floats, float, float]:
        """Return places that hold the ``limit`` best of the ``count`` in the mask, scores, the least and the mean."""
        if len(vector) != self.dimension:
            raise InvalidInput(
                f"A vector of {len(vector)} numbers was given; this space holds vectors of {self.dimension}.",
                value=len(vector),
            )
        if self._codes is None:
            return self._nearest_whole(vector, np.flatnonzero(mask), limit)
        depth = max(DEPTH, DEPTH_SHARE * limit)
        if count <= max(FEW, depth):
            return self._nearest_whole(vector, np.flatnonzero(mask), limit, fetch)
        places = self._codes.best(vector, mask, count, depth)
        near, exact, low, _ = _narrowed(self.at(places, fetch), vector, limit)
        usual = self._usual(vector, mask, count, fetch)
        return places[near], exact, min(low, float(usual.min())), float(usual.mean())

    def _nearest_whole(
        self, vector: Vectors, places: Places, limit: int, fetch: Fetch | None = None
    ) -> tuple[Places, Floats, float, float]:
        rows = self._gathered(places) if fetch is None else fetch(places)
        near, exact, low, mean = _narrowed(rows, vector, limit)
        return places[near], exact, low, mean

    def _gathered(self, places: Places) -> Vectors:
        """Return the rows of the matrix, without a copy where it is wanted whole."""
        return self._matrix[: len(places)] if len(places) == places[-1] + 1 else self._matrix[places]

    def _usual(self, vector: Vectors, mask: Mask, count: int, fetch: Fetch) -> Floats:
        """Return the cosines of rows that stand for all in the mask."""
        scores = self._sample.scores(vector, mask)
        if len(scores) >= LEAST_SAMPLE:
            return scores
        places = np.flatnonzero(mask)
        return cosines(fetch(places[:: max(1, count // SPREAD_SAMPLE)]), vector)

    def arrays(self, size: int) -> Parts:
        """Return what it takes to come back; a matrix is not worth it."""
        if self._codes is None:
            return {}
        codes = {f"codes.{name}": part for name, part in self._codes.arrays(size).items()}
        return codes | {f"sample.{name}": part for name, part in self._sample.arrays().items()}

    @classmethod
    def from_arrays(cls, arrays: Parts, capacity: int) -> VectorRows:
        """Come back."""
        vectors = cls()
        codes = {name.removeprefix("codes."): part for name, part in arrays.items() if name.startswith("codes.")}
        sample = {name.removeprefix("sample."): part for name, part in arrays.items() if name.startswith("sample.")}
        vectors._codes = VectorCodes.from_arrays(codes, capacity)  # ours
        vectors._sample = VectorSample.from_arrays(sample)  # ours
        vectors._hot = np.zeros((HOT, vectors.dimension), dtype=np.float32)  # ours
        return vectors


def _narrowed(rows: Vectors, vector: Vectors, limit: int) -> tuple[Places, Floats, float, float]:
    """Return the indices of rows that hold the ``limit`` best, exact scores, the least of all rows and the mean."""
    rough = np.vecdot(rows, vector)
    margin = ROUNDING * len(vector)
    wanted = min(max(limit, 1), len(rough))
    bar = np.partition(rough, len(rough) - wanted)[len(rough) - wanted]
    near = np.flatnonzero(rough >= bar - margin)
    far = np.flatnonzero(rough <= rough.min() + margin)
    low = float(cosines(rows[far], vector).min())
    return near, cosines(rows[near], vector), low, float(rough.mean(dtype=np.float64))
