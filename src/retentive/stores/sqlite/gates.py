"""A gate as a mask over the places of a cache: numbers from the arrays, tags and metadata from indexes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.cache import EVER, Cache
from retentive.stores.sqlite.database import Database, Row
from retentive.stores.sqlite.rows import carray
from retentive.stores.values import canonical, micros, storable
from retentive.types import Gate

Mask: TypeAlias = NDArray[np.bool_]

AMONG = {  # the same, asked of some rows alone
    "rows_with_tag": "rows_with_tag_among",
    "rows_with_metadata": "rows_with_metadata_among",
    "rows_with_entity": "rows_with_entity_among",
}


@dataclass(frozen=True)
class Passed:
    """Which places pass a gate, in the three forms that are asked for."""

    mask: Mask

    @cached_property
    def count(self) -> int:
        """How many pass."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Those that pass, in order."""
        return np.flatnonzero(self.mask)

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of those that pass, without a copy where that is all."""
        return column if self.count == len(column) else column[self.places]


def passing(cache: Cache, database: Database, gate: Gate) -> Mask:
    """Return which places pass."""
    return passed(cache, database, gate).mask


def passed(cache: Cache, database: Database, gate: Gate) -> Passed:
    """Return what passes; one recall asks several channels the same gate, so the last answer is remembered."""
    last = cache.remembered.get("gate")
    if last is not None and last[0] is gate:
        answer: Passed = last[1]
        return answer
    mask = cache.alive.copy() if gate.hidden else _visible(cache, gate)
    if gate.kinds is not None:
        mask &= np.isin(cache.kind, cache.kinds.find(gate.kinds))
    if gate.pinned is not None:
        mask &= cache.pinned if gate.pinned else ~cache.pinned
    if gate.ids is not None:
        mask &= _named(cache, database, gate.ids)
    _narrow_by_time(mask, cache, gate)
    _narrow_by_index(mask, cache, database, gate)
    answer = Passed(mask)
    cache.remember("gate", (gate, answer))
    return answer


def _narrow_by_time(mask: Mask, cache: Cache, gate: Gate) -> None:
    if gate.since is not None:
        mask &= cache.created >= micros(gate.since)
    if gate.until is not None:
        mask &= cache.created < micros(gate.until)
    if gate.known_at is not None:
        mask &= cache.created <= micros(gate.known_at)


def _visible(cache: Cache, gate: Gate) -> Mask:
    """Return what holds at `true_at` and was neither superseded nor suppressed as far as known then.

    Most rows have no such times: only those that have are looked at.
    """
    mask = cache.settled.copy()
    places = np.flatnonzero(cache.timed)
    if len(places):
        asked = micros(gate.true_at)
        known = EVER - 1 if gate.known_at is None else micros(gate.known_at)
        holds = (cache.valid_from[places] <= asked) & (asked < cache.valid_until[places])
        mask[places] = holds & (cache.superseded[places] > known) & (cache.suppressed[places] > known)
    return mask


def _narrow_by_index(mask: Mask, cache: Cache, database: Database, gate: Gate) -> None:
    for tag in gate.tags:
        mask &= _having(cache, database, "rows_with_tag", (tag,))
    for name, value in gate.where.items():
        mask &= _having(cache, database, "rows_with_metadata", (name, canonical(value)))


def _named(cache: Cache, database: Database, ids: Iterable[str]) -> Mask:
    rows = _numbers([row for name in ids if storable(name) for row in database.rows("row_of", (name,))])
    mask = np.zeros(cache.size, dtype=np.bool_)
    mask[cache.places(np.sort(rows))] = True
    return mask


def _having(cache: Cache, database: Database, statement: str, bindings: tuple[Any, ...]) -> Mask:
    mask = np.zeros(cache.size, dtype=np.bool_)
    mask[cache.places(row_numbers(cache, database, statement, bindings))] = True
    return mask


def row_numbers(cache: Cache, database: Database, statement: str, bindings: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the rows an index lists, remembered, and put right for rows that changed since; nothing stored equals a
    broken string.
    """
    key = (statement, bindings)
    if not all(map(storable, bindings)):
        return np.empty(0, dtype=np.int64)
    moves, rows = _remembered(cache, key)
    changed = None if rows is None else cache.changed_since(moves)
    if rows is None or changed is None or (len(changed) and statement not in AMONG):
        rows = _numbers(database.rows(statement, bindings))
    elif len(changed):
        kept = np.delete(rows, np.flatnonzero(np.isin(rows, changed)))
        having = _numbers(database.rows(AMONG[statement], (*bindings, carray(changed))))
        rows = np.sort(np.concatenate((kept, having)))
    cache.remember(key, (cache.moves, rows))
    return rows


def _numbers(listed: list[Row]) -> NDArray[np.int64]:
    return np.fromiter((row for (row,) in listed), dtype=np.int64, count=len(listed))


def _remembered(cache: Cache, key: object) -> tuple[int, NDArray[np.int64] | None]:
    held: tuple[int, NDArray[np.int64] | None] = cache.remembered.get(key, (0, None))
    return held
