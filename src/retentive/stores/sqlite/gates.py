"""A gate as a mask over the places of a cache: numbers from the arrays, tags and metadata from indexes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.database import Database, Row
from retentive.stores.sqlite.limits import EVER
from retentive.stores.sqlite.rows import carray
from retentive.stores.values import canonical, micros, storable
from retentive.types import Gate

Mask: TypeAlias = NDArray[np.bool_]

AMONG = {  # the same, asked of some rows alone
    "rows_with_tag": "rows_with_tag_among",
    "rows_with_metadata": "rows_with_metadata_among",
    "rows_with_entity": "rows_with_entity_among",
}


KEPT_GATES = 4  # a recall asks three: of its channels, of the core block, of doubts
ANY_MOMENT = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Passed:
    """Which places pass a gate, in the three forms that are asked for; and what was answered about them before."""

    mask: Mask
    answers: dict[object, Any] = field(default_factory=dict)

    @cached_property
    def count(self) -> int:
        """How many pass."""
        return int(np.count_nonzero(self.mask))

    @property
    def places(self) -> NDArray[np.int64]:
        """Those that pass, in order; as large as a column, seldom asked for, and so not kept."""
        return np.flatnonzero(self.mask)

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of those that pass, without a copy where that is all."""
        return column if self.count == len(column) else column[self.places]


def passing(cache: Cache, database: Database, gate: Gate) -> Mask:
    """Return which places pass."""
    return passed(cache, database, gate).mask


def passed(cache: Cache, database: Database, gate: Gate) -> Passed:
    """Return what passes, the same object for as long as the same rows do.

    One recall asks several channels one gate, and the next recall asks it at another moment, which matters only to
    rows that have an end or a beginning.
    """
    answer: Passed
    for asked, _, answer in cache.gates:
        if asked is gate:
            return answer
    holding = b"" if gate.hidden else _holding(cache, gate).tobytes()
    condition = (_condition(gate), holding)
    for place, (_, held, answer) in enumerate(cache.gates):
        if held == condition:
            cache.gates[place] = (gate, held, answer)
            return answer
    answer = Passed(_passing(cache, database, gate))
    cache.gates.insert(0, (gate, condition, answer))
    del cache.gates[KEPT_GATES:]
    return answer


def _condition(gate: Gate) -> tuple[object, ...]:
    """Return all of a gate but the moment; values of metadata as they are stored, where 1 is not True."""
    where = tuple((name, canonical(value)) for name, value in gate.where.items())
    return replace(gate, true_at=ANY_MOMENT, where={}), where


def _passing(cache: Cache, database: Database, gate: Gate) -> Mask:
    mask = cache.alive.copy() if gate.hidden else _visible(cache, gate)
    if gate.kinds is not None:
        mask &= np.isin(cache.kind, cache.kinds.find(gate.kinds))
    if gate.pinned is not None:
        mask &= cache.pinned if gate.pinned else ~cache.pinned
    if gate.ids is not None:
        mask &= _named(cache, database, gate.ids)
    _narrow_by_time(mask, cache, gate)
    _narrow_by_index(mask, cache, database, gate)
    return mask


def _narrow_by_time(mask: Mask, cache: Cache, gate: Gate) -> None:
    if gate.since is not None:
        mask &= cache.created >= micros(gate.since)
    if gate.until is not None:
        mask &= cache.created < micros(gate.until)
    if gate.known_at is not None:
        mask &= cache.created <= micros(gate.known_at)


def _visible(cache: Cache, gate: Gate) -> Mask:
    """Return what holds at `true_at` and was neither superseded nor suppressed as far as known then."""
    mask = cache.settled.copy()
    mask[cache.limits.places] = _holding(cache, gate)
    return mask


def _holding(cache: Cache, gate: Gate) -> Mask:
    """Say it of those rows that some time limits or hides: most have none."""
    known = EVER - 1 if gate.known_at is None else micros(gate.known_at)
    return cache.limits.holding(micros(gate.true_at), known)


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
    cache.remembered.keep(key, (cache.moves, rows), rows.nbytes)
    return rows


def _numbers(listed: list[Row]) -> NDArray[np.int64]:
    return np.fromiter((row for (row,) in listed), dtype=np.int64, count=len(listed))


def _remembered(cache: Cache, key: object) -> tuple[int, NDArray[np.int64] | None]:
    held: tuple[int, NDArray[np.int64] | None] = cache.remembered.get(key) or (0, None)
    return held
