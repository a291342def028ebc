"""What one process keeps of a space in memory: the numbers of every row, side by side, derived from the database.

The database is the only truth. Every read compares the clock (two integers) with the one this cache was caught up to
and fetches only the rows that changed since, whoever changed them. A place, the index into the arrays, is given in the
order of row numbers and belongs to one row for as long as the cache lives; an erased row leaves its place dead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.ranking import ascending
from retentive.stores.sqlite import derived
from retentive.stores.sqlite.codes import Codes, packed
from retentive.stores.sqlite.database import Database, Row
from retentive.stores.sqlite.ids import Ids
from retentive.stores.sqlite.lexical import LexicalIndex
from retentive.stores.sqlite.limits import EVER, NEVER, TIMES, Limits
from retentive.stores.sqlite.remembered import Remembered, SessionTurns
from retentive.stores.sqlite.vectors import VectorRows
from retentive.types import Gate, RowIds

Places: TypeAlias = NDArray[np.int64]

MOST_TOUCHES = 1_024  # write-backs after which the latest are looked for anew
CHUNK = 4_000  # rows fetched at a time while building: a few megabytes
MOST_MOVES = 64  # changes of content after which a remembered answer is asked for anew
KEPT_FROM = 2_000  # rows; a smaller space is read in less time than a file is worth
KEPT_AGAIN = 32  # keep again when more than one row in this many has changed
KEPT_EARLY = 8  # and do not wait for the close when more than one in this many has
SAMPLED = 64  # rows compared before a file is believed
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
    "session": ("i4", 0),
    "speaker": ("i4", 0),
    "used": ("i8", NEVER),
    "count": ("f8", 0),
}
FETCHED = (
    *("row", "id", "created", "kind", "importance", "trust", "pinned", "permanent", "valid_from", "valid_until"),
    *("superseded", "suppressed", "session", "speaker", "recurs", "used", "count", "vector", "terms"),
)


class Cache:
    """The derived columns of one space. Not for two threads at once: its owner holds a lock."""

    def __init__(self) -> None:
        self._reset(None)

    def _reset(self, clock: tuple[int, int] | None) -> None:
        self.clock = clock
        self.size = self.living = 0
        self.kept: int | None = None  # the change that the derived file has
        self.moved = 0  # how many changes there were since, and of the content since the beginning
        self.moves = 0
        self._moves: dict[int, Places] = {}
        self.alive: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self.settled = self.alive  # alive, and nothing ever limits or hides it
        self._alive = self._settled = self.alive
        self.limits = Limits()  # of those that are alive and not settled
        self._arrays: dict[str, NDArray[Any]] = {name: np.empty(0, kind) for name, (kind, _) in ARRAYS.items()}
        self._views: dict[str, NDArray[Any]] = dict(self._arrays)
        self.kinds, self.sessions, self.speakers = Codes(), Codes(), Codes()
        self.recurs: dict[int, str] = {}
        self.ids, self.vectors, self.lexical = Ids(), VectorRows(), LexicalIndex()
        self.forget_content()

    def forget_content(self) -> None:
        """Forget answers that were remembered."""
        self.remembered = Remembered()
        self.turns = SessionTurns()
        self._forget_gates()

    def _forget_gates(self) -> None:
        self.gates: list[tuple[Gate, object, Any]] = []  # latest first: what passed them, and is known of those
        self.touched: list[Places] = []  # whose accesses changed since

    def _note_move(self, rows: Iterable[int]) -> None:
        """Note rows whose content changed, so that answers remembered can be put right for these alone."""
        self._forget_gates()
        self.moves += 1
        self._moves[self.moves] = ascending(np.fromiter(rows, dtype=np.int64))
        self._moves.pop(self.moves - MOST_MOVES, None)

    def changed_since(self, moves: int) -> RowIds | None:
        """Return the rows whose content changed since that many moves; None where that was too long ago."""
        if moves == self.moves:
            return np.empty(0, dtype=np.int64)
        if moves + 1 not in self._moves:
            return None
        changed = ascending(np.concatenate([self._moves[move] for move in range(moves + 1, self.moves + 1)]))
        return changed if len(changed) < CHUNK else None

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Return an array cut to the places in use."""
        try:
            return self.__dict__["_views"][name]  # type: ignore[no-any-return] # the values of _views are arrays
        except KeyError:
            raise AttributeError(name) from None

    def sync(self, database: Database, space: str = "") -> str:
        """Catch up with the database; call inside a read transaction, so that what follows sees the same state.

        Returns what was there: all of it ("yes"), all but the latest changes ("part"), or nothing of use ("no").
        """
        change, generation = clock = database.rows("clock")[0]
        if clock == self.clock:
            return "yes"
        found = "part"
        if self.clock is None and change and space:
            self._load(database, space, clock)
        seen, built = self.clock or (EVER, 0)
        if generation != built or change < seen or not self._catch_up(database, seen):
            found = self._rebuild(database)
        elif self.kept is not None and seen == self.kept and self.living != database.value("count_memories"):
            found = self._rebuild(database)  # the file was of another database: one restored from a copy
        if (self.size - self.living) * DEAD_SHARE > self.size > DEAD_SHARE:
            self._rebuild(database)
        self.clock = (change, generation)
        return found

    def _rebuild(self, database: Database) -> str:
        self._reset(None)
        last = 0
        while rows := database.rows("cached_from", (last, CHUNK)):
            self._append(rows)
            last = rows[-1][0]
        self.moved = self.size
        return "no"

    def _catch_up(self, database: Database, since: int) -> bool:
        """Fetch what changed since; False where it does not fit what is here and only building anew will do."""
        erased = [row for (row,) in database.rows("erased_since", (since,))]
        changed = database.rows("cached_since", (since,))
        newest = int(self.row[-1]) if self.size else 0
        if changed and not self.vectors.fits(changed[0][-2]):
            return False  # everything was erased, and another embedder began
        if erased:
            self._drop(self.places(np.array(erased, dtype=np.int64)))
        if known := [row for row in changed if row[0] <= newest]:
            places = self.places(np.array([row[0] for row in known], dtype=np.int64))
            if len(places) != len(known):
                return False
            self._write(places, known)
        if new := [row for row in changed if row[0] > newest]:
            self._append(new)
        if changed or erased:
            self._note_move([*erased, *(row[0] for row in changed)])
        if accessed := database.rows("accessed_since", (since,)):
            self._write_accesses(accessed)
        self.moved += len(erased) + len(changed) + len(accessed)
        return True

    def _drop(self, places: Places) -> None:
        """Leave nothing of erased rows but their numbers."""
        for name, array in self._arrays.items():
            if name != "row":
                array[places] = 0
        self._alive[places] = self._settled[places] = False
        self.limits.drop(places)
        self.living -= len(places)
        for place in places.tolist():
            self.recurs.pop(place, None)
        self.ids.drop(places)
        self.vectors.drop(places)
        self.lexical.drop(places)

    def _append(self, rows: list[Row]) -> None:
        """Give places to new rows, which come in the order of their numbers."""
        first, self.size = self.size, self.size + len(rows)
        self.living += len(rows)
        if self.size > len(self._alive):
            self._grow(max(len(self._alive) + len(self._alive) // 2, self.size, 16))
        self._alive[first : self.size] = True
        self._cut()
        self._write(np.arange(first, self.size), rows)

    def _cut(self) -> None:
        """Look at the part of every array that is in use."""
        self.alive, self.settled = self._alive[: self.size], self._settled[: self.size]
        self._views = {name: array[: self.size] for name, array in self._arrays.items()}

    def _grow(self, capacity: int) -> None:
        more = {"alive": self._alive, "settled": self._settled}
        for name, array in (*self._arrays.items(), *more.items()):
            grown = np.zeros(capacity, dtype=array.dtype)
            grown[: len(array)] = array
            self._arrays[name] = grown
        self._alive, self._settled = self._arrays.pop("alive"), self._arrays.pop("settled")

    def _write(self, places: Places, rows: list[Row]) -> None:
        fetched = dict(zip(FETCHED, zip(*rows, strict=True), strict=True))
        for name, codes in (("kind", self.kinds), ("session", self.sessions), ("speaker", self.speakers)):
            fetched[name] = tuple(codes.encode(fetched[name]))
        self.turns.note(self._arrays["session"][places], places, fetched["session"])
        for name, (_, absent) in ARRAYS.items():
            values = fetched[name]
            self._arrays[name][places] = [absent if value is None else value for value in values]
        for place, rule in zip(places.tolist(), fetched["recurs"], strict=True):
            if rule is not None:
                self.recurs[place] = rule
            else:
                self.recurs.pop(place, None)
        self._settled[places] = self.limits.put(places, [fetched[name] for name in TIMES])
        self.ids.put(places, list(fetched["id"]), len(self._alive))
        numbers = self._arrays["row"][places]
        self.vectors.put(places, numbers, list(fetched["vector"]), len(self._alive))
        self.lexical.put(places, fetched["terms"])

    def _write_accesses(self, rows: list[Row]) -> None:
        numbers, used, counts = zip(*rows, strict=True)
        known, places = self.find(np.array(numbers, dtype=np.int64))
        before = self.latest(places)
        self.used[places] = np.array([NEVER if moment is None else moment for moment in used], dtype=np.int64)[known]
        self.count[places] = np.array(counts, dtype=np.float64)[known]
        if (self.latest(places) < before).any() or len(self.touched) > MOST_TOUCHES:
            self._forget_gates()  # what is known of them takes it that time only goes on
        self.touched.append(places)

    def latest(self, places: Places | slice = slice(None)) -> NDArray[np.int64]:
        """Return when some places were last used or, before that, created."""
        moments: NDArray[np.int64] = np.maximum(self.created[places], self.used[places])
        return moments

    # The derived file

    @property
    def worth_keeping(self) -> bool:
        """Whether the derived file would spare the next opening much."""
        return self.clock is not None and self.size >= KEPT_FROM and self.moved * KEPT_AGAIN > self.size

    @property
    def overdue(self) -> bool:
        """Whether it must not wait for the close: after a rebuild, or as many changes as cost a tenth of one."""
        return self.worth_keeping and self.moved * KEPT_EARLY > self.size

    def keep(self, folder: Path, space: str) -> bool:
        """Write the derived file."""
        if self.clock is None:
            return False
        change, generation = self.clock
        if not derived.save(folder, derived.Stamp(space, generation, change), self._parts()):
            return False
        self.kept, self.moved = change, 0
        return True

    def _parts(self) -> derived.Parts:
        codes = {"kind": self.kinds, "session": self.sessions, "speaker": self.speakers}
        parts: derived.Parts = {
            f"names.{name}": code.packed(self._views[name][self.alive]) for name, code in codes.items()
        }
        parts |= {f"column.{name}": array for name, array in self._views.items()}
        parts |= {"alive": self.alive, "recurs": packed(list(self.recurs.items()))}
        parts |= {f"limits.{name}": part for name, part in self.limits.arrays().items()}
        parts |= {f"ids.{name}": part for name, part in self.ids.arrays(self.size).items()}
        parts |= {f"vectors.{name}": part for name, part in self.vectors.arrays(self.size).items()}
        return parts | {f"lexical.{name}": part for name, part in self.lexical.arrays().items()}

    def _load(self, database: Database, space: str, clock: tuple[int, int]) -> None:
        """Begin from the derived file where it fits; else stay empty."""
        held = derived.load(database.file.parent, space, clock[1], clock[0])
        if held is None:
            return
        stamp, parts = held
        try:
            self._restore(parts, database)
            sound = self._agrees(database, stamp.change)
        except (KeyError, ValueError, IndexError, TypeError, AttributeError):
            sound = False
        if sound:
            self.clock, self.kept = (stamp.change, stamp.generation), stamp.change
        else:
            self._reset(None)
            derived.discard(database.file.parent)

    def _restore(self, parts: derived.Parts, database: Database) -> None:
        size = len(parts["alive"])
        capacity = derived.room(size)
        self.size, self.living = size, int(parts["alive"].sum())
        for name, (kind, _) in ARRAYS.items():
            self._arrays[name] = _roomy(parts.pop(f"column.{name}"), np.dtype(kind), size, capacity)
        flags = np.dtype(np.bool_)
        self._alive = _roomy(parts["alive"], flags, size, capacity)
        self._settled = np.zeros(capacity, dtype=flags)
        self._cut()
        self.limits = Limits.from_arrays(_of(parts, "limits."))
        self.settled[:] = self.alive
        self.settled[self.limits.places] = False
        self.kinds, self.sessions = Codes.unpacked(parts["names.kind"]), Codes.unpacked(parts["names.session"])
        self.speakers = Codes.unpacked(parts["names.speaker"])
        self.recurs = dict(json.loads(parts["recurs"].tobytes()))
        self.ids = Ids.from_arrays(_of(parts, "ids."), capacity)
        if vectors := _of(parts, "vectors."):
            self.vectors = VectorRows.from_arrays(vectors, capacity)
        else:
            self._fetch_vectors(database, capacity)
        self.lexical = LexicalIndex.from_arrays(_of(parts, "lexical."))

    def _fetch_vectors(self, database: Database, capacity: int) -> None:
        last = 0
        while listed := database.rows("vectors_from", (last, CHUNK)):
            last = listed[-1][0]
            known, places = self.find(np.array([row for row, _ in listed], dtype=np.int64))
            blobs = [blob for here, (_, blob) in zip(known.tolist(), listed, strict=True) if here]
            if blobs:
                self.vectors.put(places, self.row[places], blobs, capacity)

    def _agrees(self, database: Database, change: int) -> bool:
        """Compare what changed last before the file was written: a copied database may have the clock of another."""
        for row, memory_id, created, importance in database.rows("changed_last", (change, SAMPLED)):
            known, place = self.find(np.array([row], dtype=np.int64))
            if not known[0] or self.ids.texts(place) != (memory_id,):
                return False
            if int(self.created[place[0]]) != created or float(self.importance[place[0]]) != importance:
                return False
        return True

    def find(self, rows: RowIds) -> tuple[NDArray[np.bool_], Places]:
        """Return which of the rows are here and alive, and the places of those, in the order given."""
        if not self.size:
            return np.zeros(len(rows), dtype=np.bool_), np.empty(0, dtype=np.int64)
        first, last = int(self.row[0]), int(self.row[-1])
        if last - first == self.size - 1:  # none is missing: no need to look for them
            guesses = rows - first
            if len(rows) and (int(guesses.min()) < 0 or int(guesses.max()) >= self.size):
                within = (guesses >= 0) & (guesses < self.size)
                guesses = np.where(within, guesses, 0)
                known = within & self.alive.take(guesses)
            else:
                known = self.alive.take(guesses)
        else:
            guesses = np.minimum(np.searchsorted(self.row, rows), self.size - 1)
            known = (self.row.take(guesses) == rows) & self.alive.take(guesses)
        return known, guesses if known.all() else guesses[known]

    def places(self, rows: RowIds) -> Places:
        """Return the places of those rows that are here, in the order given."""
        return self.find(rows)[1]

    def id_ranks(self, places: Places) -> Places:
        """Return numbers that order the places as their ids do."""
        return self.ids.ranks(places)

    def smallest_ids(self, places: Places, limit: int) -> Places:
        """Return the indices of the smallest ids into ``places``."""
        return self.ids.smallest(places, limit)


def _of(parts: derived.Parts, prefix: str) -> derived.Parts:
    return {name.removeprefix(prefix): parts.pop(name) for name in list(parts) if name.startswith(prefix)}


def _roomy(array: NDArray[Any], kind: np.dtype[Any], size: int, capacity: int) -> NDArray[Any]:
    if array.dtype != kind or array.shape != (size,):
        raise ValueError("A column of the derived file has another form.")
    return derived.roomy(array, capacity)
