"""A gate as a mask over the places of a cache: numbers from the arrays, tags and metadata from indexes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.cache import EVER, Cache
from retentive.stores.sqlite.database import Database
from retentive.stores.values import canonical, micros, storable
from retentive.types import Gate

Mask: TypeAlias = NDArray[np.bool_]


def passing(cache: Cache, database: Database, gate: Gate) -> Mask:
    """Return which places pass; one recall asks several channels the same gate, so the last answer is remembered."""
    last = cache.remembered.get("gate")
    if last is not None and last[0] is gate:
        mask: Mask = last[1]
        return mask
    mask = cache.alive.copy()
    if gate.kinds is not None:
        mask &= np.isin(cache.kind, cache.kinds.find(gate.kinds))
    if gate.pinned is not None:
        mask &= cache.pinned == gate.pinned
    _narrow_by_time(mask, cache, gate)
    if not gate.hidden:
        _narrow_to_visible(mask, cache, gate)
    _narrow_by_index(mask, cache, database, gate)
    cache.remember("gate", (gate, mask))
    return mask


def _narrow_by_time(mask: Mask, cache: Cache, gate: Gate) -> None:
    if gate.since is not None:
        mask &= cache.created >= micros(gate.since)
    if gate.until is not None:
        mask &= cache.created < micros(gate.until)
    if gate.known_at is not None:
        mask &= cache.created <= micros(gate.known_at)


def _narrow_to_visible(mask: Mask, cache: Cache, gate: Gate) -> None:
    """Keep what holds at `true_at` and was neither superseded nor suppressed as far as known then."""
    asked = micros(gate.true_at)
    mask &= cache.valid_from <= asked
    mask &= asked < cache.valid_until
    known = EVER - 1 if gate.known_at is None else micros(gate.known_at)
    mask &= cache.superseded > known
    mask &= cache.suppressed > known


def _narrow_by_index(mask: Mask, cache: Cache, database: Database, gate: Gate) -> None:
    for tag in gate.tags:
        mask &= _having(cache, database, "rows_with_tag", (tag,))
    for name, value in gate.where.items():
        mask &= _having(cache, database, "rows_with_metadata", (name, canonical(value)))


def _having(cache: Cache, database: Database, statement: str, bindings: tuple[Any, ...]) -> Mask:
    mask = np.zeros(cache.size, dtype=np.bool_)
    mask[cache.places(row_numbers(cache, database, statement, bindings))] = True
    return mask


def row_numbers(cache: Cache, database: Database, statement: str, bindings: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the rows an index lists, remembered until the content changes; nothing stored equals a broken string."""
    key = (statement, bindings)
    rows: NDArray[np.int64] | None = cache.remembered.get(key)
    if rows is None:
        listed = database.rows(statement, bindings) if all(map(storable, bindings)) else []
        rows = np.fromiter((row for (row,) in listed), dtype=np.int64, count=len(listed))
        cache.remember(key, rows)
    return rows
