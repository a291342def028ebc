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
    found = np.empty((len(places), cache.vectors.dimension), dtype=np.float32)
    for first in range(0, len(places), CHUNK):
        rows = cache.row[places[first : first + CHUNK]]
        blobs = [blob for (blob,) in database.rows("vectors_by_row", (carray(rows),))]
        if len(blobs) != len(rows) or any(len(blob) != 4 * found.shape[1] for blob in blobs):
            raise StoreCorrupt("A memory has no vector, or one of another length; look at it with `retentive doctor`.")
        found[first : first + CHUNK] = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
    return found
