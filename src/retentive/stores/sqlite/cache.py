"""What one process keeps of a space in memory: the numbers of every row, side by side, derived from the database.

The database is the only truth. Every read compares the clock (two integers) with the one this cache was caught up to
and fetches only the rows that changed since, whoever changed them. A place, the index into the arrays, is given in the
order of row numbers and belongs to one row for as long as the cache lives; an erased row leaves its place dead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.database import Database, Row
from retentive.stores.sqlite.ids import Ids
from retentive.stores.sqlite.lexical import LexicalIndex
from retentive.stores.sqlite.vectors import VectorRows
from retentive.types import RowIds

Places: TypeAlias = NDArray[np.int64]

EVER = np.iinfo(np.int64).max  # an end that was not set
NEVER = np.iinfo(np.int64).min  # a beginning that was not set
REMEMBERED = 256  # answers kept until the content changes
CHUNK = 20_000  # rows fetched at a time while building
DEAD_SHARE = 4  # rebuild when more than one place in this many is dead
# The numbers kept, with what stands for an absent value. `cached_columns` in queries.sql has them in the order of
# FETCHED.
ARRAYS: dict[str, tuple[str, int]] = {
    "row": ("i8", 0),
    "created": ("i8", 0),
    "kind": ("i4", 0),
    "importance": ("f8", 0),
    "trust": ("f8", 0),
    "pinned": ("?", 0),
    "permanent": ("?", 0),
    "valid_from": ("i8", NEVER),
    "valid_until": ("i8", EVER),
    "superseded": ("i8", EVER),
    "suppressed": ("i8", EVER),
    "session": ("i4", 0),
    "speaker": ("i4", 0),
    "used": ("i8", NEVER),
    "count": ("f8", 0),
}
FETCHED = (
    *("row", "id", "created", "kind", "importance", "trust", "pinned", "permanent", "valid_from", "valid_until"),
    *("superseded", "suppressed", "session", "speaker", "recurs", "used", "count", "vector", "terms"),
)


class Codes:
    """Small integers for strings that repeat: kinds, sessions."""

    def __init__(self) -> None:
        self._names: list[str | None] = []
        self._codes: dict[str | None, int] = {}
        self._table: NDArray[Any] = np.empty(0, dtype=object)  # the names again, to look many up at once

    def encode(self, names: Iterable[str | None]) -> list[int]:
        """Return the codes of some names, new ones where needed."""
        return [self._code(name) for name in names]

    def decode(self, codes: NDArray[np.int32]) -> tuple[str | None, ...]:
        """Return the names of some codes."""
        if len(self._table) != len(self._names):
            self._table = np.array(self._names, dtype=object)
        names: list[str | None] = self._table[codes].tolist() if len(codes) else []
        return tuple(names)

    def find(self, names: Iterable[str]) -> list[int]:
        """Return the codes of those names that occur."""
        return [self._codes[name] for name in names if name in self._codes]

    def _code(self, name: str | None) -> int:
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self._names)
            self._names.append(name)
        return code


class Cache:
    """The derived columns of one space. Not for two threads at once: its owner holds a lock."""

    def __init__(self) -> None:
        self._reset(None)

    def _reset(self, clock: tuple[int, int] | None) -> None:
        self.clock = clock
        self.size = 0
        self.alive: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._alive: NDArray[np.bool_] = self.alive
        self._arrays: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, (kind, _) in ARRAYS.items()}
        self._views: dict[str, NDArray[Any]] = dict(self._arrays)
        self.kinds, self.sessions, self.speakers = Codes(), Codes(), Codes()
        self.recurs: dict[int, str] = {}
        self.ids, self.vectors, self.lexical = Ids(), VectorRows(), LexicalIndex()
        self.forget_content()

    def forget_content(self) -> None:
        """Forget answers that were remembered: the texts, tags or entities they came from have changed."""
        self.remembered: dict[object, Any] = {}

    def remember(self, key: object, value: Any) -> None:
        """Keep an answer until the content changes; the number kept is bounded."""
        if len(self.remembered) >= REMEMBERED:
            self.remembered.clear()
        self.remembered[key] = value

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Return an array cut to the places in use."""
        try:
            return self.__dict__["_views"][name]  # type: ignore[no-any-return] # the values of _views are arrays
        except KeyError:
            raise AttributeError(name) from None

    def sync(self, database: Database) -> None:
        """Catch up with the database; call inside a read transaction, so that what follows sees the same state."""
        change, generation = clock = database.rows("clock")[0]
        if clock == self.clock:
            return
        seen, built = self.clock or (EVER, 0)
        if generation != built or change < seen or not self._catch_up(database, seen):
            self._rebuild(database)
        if (self.size - int(self.alive.sum())) * DEAD_SHARE > self.size > DEAD_SHARE:
            self._rebuild(database)
        self.clock = (change, generation)

    def _rebuild(self, database: Database) -> None:
        self._reset(None)
        last = 0
        while rows := database.rows("cached_from", (last, CHUNK)):
            self._append(rows)
            last = rows[-1][0]

    def _catch_up(self, database: Database, since: int) -> bool:
        """Fetch what changed since; False where it does not fit what is here and only building anew will do."""
        erased = database.rows("erased_since", (since,))
        changed = database.rows("cached_since", (since,))
        newest = int(self.row[-1]) if self.size else 0
        if changed and not self.vectors.fits(changed[0][-2]):
            return False  # everything was erased, and another embedder began
        if erased:
            gone = self.places(np.array(erased, dtype=np.int64)[:, 0])
            self._alive[gone] = False
            self.lexical.drop(gone)
        if known := [row for row in changed if row[0] <= newest]:
            places = self.places(np.array([row[0] for row in known], dtype=np.int64))
            if len(places) != len(known):
                return False
            self._write(places, known)
        if new := [row for row in changed if row[0] > newest]:
            self._append(new)
        if changed or erased:
            self.forget_content()
        if accessed := database.rows("accessed_since", (since,)):
            self._write_accesses(accessed)
        return True

    def _append(self, rows: list[Row]) -> None:
        """Give places to new rows, which come in the order of their numbers."""
        first, self.size = self.size, self.size + len(rows)
        if self.size > len(self._alive):
            self._grow(max(2 * len(self._alive), self.size, 16))
        self._alive[first : self.size] = True
        self.alive = self._alive[: self.size]
        self._views = {name: array[: self.size] for name, array in self._arrays.items()}
        places = np.arange(first, self.size)
        self._write(places, rows)

    def _grow(self, capacity: int) -> None:
        for name, array in (*self._arrays.items(), ("alive", self._alive)):
            grown = np.zeros(capacity, dtype=array.dtype)
            grown[: len(array)] = array
            self._arrays[name] = grown
        self._alive = self._arrays.pop("alive")

    def _write(self, places: Places, rows: list[Row]) -> None:
        fetched = dict(zip(FETCHED, zip(*rows, strict=True), strict=True))
        for name, codes in (("kind", self.kinds), ("session", self.sessions), ("speaker", self.speakers)):
            fetched[name] = tuple(codes.encode(fetched[name]))
        for name, (_, absent) in ARRAYS.items():
            values = fetched[name]
            self._arrays[name][places] = [absent if value is None else value for value in values]
        for place, rule in zip(places.tolist(), fetched["recurs"], strict=True):
            if rule is not None:
                self.recurs[place] = rule
            else:
                self.recurs.pop(place, None)
        self.ids.put(places, list(fetched["id"]), len(self._alive))
        self.vectors.put(places, list(fetched["vector"]), len(self._alive))
        self.lexical.put(places, fetched["terms"])

    def _write_accesses(self, rows: list[Row]) -> None:
        numbers, used, counts = zip(*rows, strict=True)
        known, places = self.find(np.array(numbers, dtype=np.int64))
        self.used[places] = np.array([NEVER if moment is None else moment for moment in used], dtype=np.int64)[known]
        self.count[places] = np.array(counts, dtype=np.float64)[known]

    def find(self, rows: RowIds) -> tuple[NDArray[np.bool_], Places]:
        """Return which of the rows are here and alive, and the places of those, in the order given."""
        if not self.size:
            return np.zeros(len(rows), dtype=np.bool_), np.empty(0, dtype=np.int64)
        guesses = np.minimum(np.searchsorted(self.row, rows), self.size - 1)
        known = (self.row[guesses] == rows) & self.alive[guesses]
        return known, guesses[known]

    def places(self, rows: RowIds) -> Places:
        """Return the places of those rows that are here, in the order given."""
        return self.find(rows)[1]

    def id_ranks(self, places: Places) -> Places:
        """Return numbers that order the places as their ids do."""
        return self.ids.ranks(places)

    def smallest_ids(self, places: Places, limit: int) -> Places:
        """Return the indices of the smallest ids into ``places``."""
        return self.ids.smallest(places, limit)
