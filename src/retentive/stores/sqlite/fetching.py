"""Vectors by row, from the database: of a large space they are nowhere else."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.errors import StoreCorrupt
from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.rows import carray
from retentive.types import Vectors

Places: TypeAlias = NDArray[np.int64]
CHUNK = 4_096  # rows


def fetch_vectors(database: Database, cache: Cache, places: Places) -> Vectors:
    """Return the vectors of some living places, in their order; inside the snapshot that the cache caught up with."""
    if len(places) <= CHUNK:
        return _fetched(database, cache, places)
    found = np.empty((len(places), cache.vectors.dimension), dtype=np.float32)
    for first in range(0, len(places), CHUNK):
        found[first : first + CHUNK] = _fetched(database, cache, places[first : first + CHUNK])
    return found


def _fetched(database: Database, cache: Cache, places: Places) -> Vectors:
    dimension = cache.vectors.dimension
    blobs = [blob for (blob,) in database.rows("vectors_by_row", (carray(cache.row[places]),))]
    if len(blobs) != len(places) or not set(map(len, blobs)) <= {4 * dimension}:
        raise StoreCorrupt("A memory has no vector, or one of another length; look at it with `retentive doctor`.")
    return np.frombuffer(bytearray().join(blobs), dtype="<f4").reshape(len(blobs), dimension)
