"""Meeting rows of others: what was met is noted, what is ours is kept up, and what is written becomes ours."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from retentive.embedders.protocol import checked_vectors
from retentive.indexing import passage
from retentive.integrations.met import FIRST, Met, Pool, Population
from retentive.integrations.mirror import Item, MirrorSpace, MirrorTransaction
from retentive.integrations.rows import Row, memory_of_row
from retentive.opening import system_clock
from retentive.stores.memory_state import passes
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.stores.values import storable
from retentive.types import Access, Gate, Memory, RowIds, Vectors

if TYPE_CHECKING:
    from retentive.integrations.listing import Listing
    from retentive.integrations.searched import SearchedStore

SAMPLE: Final = 512
"""Rows of a tenant by which it is judged what is usual there."""
SAMPLE_SERVES: Final = 300.0
"""Seconds for which a sample of a large tenant serves; one that is all there is, as long as nothing changed."""


class MeetingSpace(MirrorSpace):
    """The part of a searched space that meets rows and writes them; the channels are in `search_space`."""

    def __init__(self, store: SearchedStore, path: str, inner: SpaceStore) -> None:
        super().__init__(store, path, inner)
        self.born = system_clock()  # as old are rows that say no time
        self._rows = store
        self._tenant = store.value(path)
        self._pool = Pool()
        self._met: set[str] = set()  # by id: seen since the window began
        self._since: float | None = None
        self._stamp: object = None
        self._usual: Population | None = None
        self._sampled = 0.0
        self._listed: Listing | None = None
        self._begun = False
        self._counted_at = (-1, 0)
        self._version = 0  # changes whenever something of ours did

    # ---- the time for which what was seen serves --------------------------------------------------------------------

    def look(self) -> None:
        """Begin a new window where the last is over; the first time, take over the rows that carry a record."""
        now = time.monotonic()
        over = self._since is None or now - self._since >= self._store.max_age
        if not over or getattr(self._held, "snapshot", False):
            return
        stamp = self._store.stamp()
        if self._since is None or stamp is None or stamp != self._stamp:
            self._met = set()
            self._outdated(now)
        self._since, self._stamp = now, stamp
        if not self._begun:
            self._begun = True
            self._note_rows(list(self._rows.recorded(self._tenant)))

    def _outdated(self, now: float) -> None:
        """Throw the sample away where it may say no longer what is usual."""
        if self._usual is not None and (self._usual.complete or now - self._sampled > SAMPLE_SERVES):
            self._usual = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Look once; what was met serves to the end. Rows of others cannot be held still."""
        self.look()
        outer = getattr(self._held, "snapshot", False)
        if not outer:
            self._held.seen = {}
        self._held.snapshot = True
        try:
            yield
        finally:
            self._held.snapshot = outer

    @property
    def _seen(self) -> dict[str, int]:
        """By term: how many rows with it this recall has found, where that is more than the sample says."""
        if not hasattr(self._held, "seen"):
            self._held.seen = {}
        return cast("dict[str, int]", self._held.seen)

    @property
    def ours(self) -> int:
        """How many memories the sidecar holds."""
        version, rows = self._counted_at
        if version != self._version:
            rows = self._inner.count(_everyone())
            self._counted_at = (self._version, rows)
        return rows

    # ---- meeting ----------------------------------------------------------------------------------------------------

    def _population(self) -> Population:
        """Return what is usual here, by a sample that is read when it is first asked for."""
        self.look()
        usual = self._usual
        if usual is None:
            size = self._rows.size(self._tenant, self._rows.everyone)
            rows = self._rows.spread(self._tenant, size, SAMPLE)
            self._note_rows(rows)
            found = self._together([row.id for row in rows])
            usual = self._usual = Population(max(size, len(found)), found)
            self._sampled = time.monotonic()
        return usual

    def _together(self, ids: Sequence[str]) -> dict[str, Met]:
        """Return memories by id, ours and others'; ours have no number here."""
        ours, vectors = self._inner.get(ids), self._inner.vectors(ids)
        found = {key: Met(memory, vectors[key]) for key, memory in ours.items() if key in vectors}
        return found | {key: met for key in ids if key not in ours and (met := self._pool.get(key))}

    def met(self, memory_id: str) -> Met | None:
        """Return a row of others that was met."""
        return self._pool.get(memory_id)

    def again(self, met: Met) -> Met:
        """Return a row of the sample as it stands in the pool, where it may have been forgotten meanwhile."""
        return self._pool.put(met.memory, met.vector, met.row)

    def by_number(self, rows: RowIds) -> dict[int, Met]:
        """Return memories by number; those that are gone are absent."""
        columns = self._inner.columns(np.unique(rows[rows < FIRST]))
        memories = self._inner.get(columns.ids)
        found = {
            int(row): Met(memories[key], vector, int(row))
            for row, key, vector in zip(columns.rows, columns.ids, columns.vectors, strict=True)
            if key in memories
        }
        numbers = rows[rows >= FIRST].tolist()
        return found | {number: met for number in numbers if (met := self._pool.at(number))}

    def _passing(self, rows: Iterable[Row], gate: Gate) -> list[Met]:
        """Meet rows, and return those that are not ours and pass a gate."""
        ids = self._note_rows(list(rows))
        met = (self._pool.get(key) for key in ids)
        return [one for one in met if one is not None and passes(one.memory, gate)]

    def verify(self, ids: Iterable[str]) -> bool:
        """See whether these memories still lie in the other store as we know them; True where ours had to change."""
        self.look()
        before = self._version
        unseen = [key for key in dict.fromkeys(ids) if key not in self._met]
        if unseen:
            there = self.fetched(unseen)
            gone = [key for key in unseen if key not in there]
            self._pool.drop(gone)
            self._taken_over(dict.fromkeys(self._inner.get(gone)))
        return self._version != before

    def fetched(self, ids: Iterable[str]) -> dict[str, Row]:
        """Meet the rows of these memories; return them by memory's id."""
        wanted = set(ids)
        there = {row.id: row for row in self._read(wanted) if row.id in wanted}
        self._note_rows(list(there.values()))
        return there

    def _note_rows(self, rows: Sequence[Row]) -> list[str]:
        """Note rows as they are now: ours that changed are taken over, others go to the pool; return their ids."""
        new = {row.id: row for row in rows if row.id not in self._met}
        held = self._inner.get(list(new)) if new else {}
        changed = {key: Item(key, row.token, row) for key, row in new.items() if self._differs(row, held.get(key))}
        self._taken_over(changed)
        ours = {*held, *changed}
        self._pool.drop(ours)
        self._put([row for key, row in new.items() if key not in ours])
        self._met.update(set(new).difference(changed) if self._writing else new)
        return [row.id for row in rows]

    def _differs(self, row: Row, held: Memory | None) -> bool:
        """Say whether a row has to be taken over: it carries a record that is not known, or is ours and changed."""
        if held is None:
            return row.record is not None
        known = self._store.known.setdefault(self.path, {})
        if known.get(row.id) != row.token:
            if not self._store.agrees(Item(row.id, row.token, row), held):
                return True
            known[row.id] = row.token
        return False

    @property
    def _writing(self) -> bool:
        return bool(getattr(self._held, "writing", False))

    def _taken_over(self, changes: Mapping[str, Item | None]) -> None:
        """Bring the sidecar up to rows that changed; not while this thread writes: a later look does that."""
        if changes and not self._writing:
            with self._inner.transaction() as tx:
                self._take_over(tx, changes)
            self._note(changes)
            self._changed(changes)

    def _put(self, rows: Sequence[Row]) -> None:
        """Note rows of others, with their own vectors; those without one are embedded."""
        if not rows:
            return
        items = [Item(row.id, "", row) for row in rows]
        vectors = dict(self._rows.vectors_of(self.path, items))
        memories = {row.id: self._memory(row) for row in rows}
        lacking = [memories[key] for key in memories if key not in vectors]
        if lacking:
            made = checked_vectors(self._store.embedder, [passage(memory) for memory in lacking])
            vectors |= {memory.id: vector for memory, vector in zip(lacking, made, strict=True)}
        for row in rows:
            self._pool.put(
                memories[row.id],
                vectors[row.id],
                row if row.vector is not None else replace(row, vector=vectors[row.id]),
            )

    def _memory(self, row: Row, before: Memory | None = None) -> Memory:
        return memory_of_row(row, self.path, before, self._rows.keeps, self.born)

    def _as_memory(self, item: Item, before: Memory | None) -> Memory:
        """Return a row as a memory, as old as it was when it was found."""
        return self._memory(item.source, before)

    def everything(self) -> Iterator[Memory]:
        """Yield every memory: the tenant read through, without vectors, and nothing of it kept."""
        self.look()
        ours = {memory.id: memory for memory in self._inner.page(_everyone(), limit=self._inner.count(_everyone()))}
        for row in self._rows.rows(self._tenant):
            memory = ours.get(row.id)
            yield self._memory(row) if memory is None else memory

    # ---- writing ----------------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Begin writing; what is written of others' rows becomes ours first."""
        self.look()
        outer, self._held.writing = self._writing, True
        try:
            with self._inner.transaction() as inner:
                writing = SearchTransaction(self, self._rows, inner)
                yield cast("Transaction", writing)
                changes = writing.changes()
                if changes:
                    self._rows.push(self.path, changes)
        finally:
            self._held.writing = outer
        known = self._store.known.setdefault(self.path, {})
        for key, change in changes.items():
            known[key] = None
            if change.memory is None:
                del known[key]
        self._changed({*changes, *writing.adopted})

    def adopt(self, tx: Transaction, ids: Iterable[str] | None, but: Container[str]) -> list[str]:
        """Make rows ours within a transaction (None: all), but those that it changed; return their memories' ids."""
        if ids is None:
            rows = [row for row in self._rows.rows(self._tenant) if row.id not in but]
        else:
            seen, unseen = self._seen_of([key for key in ids if key not in but])
            rows = [*seen, *(row for row in self._read(unseen) if row.id in unseen)]
        items = {row.id: Item(row.id, row.token, row) for row in rows}
        self._take_over(tx, items)
        return list(items)

    def _seen_of(self, ids: Iterable[str]) -> tuple[list[Row], set[str]]:
        """Return the rows of others that were met just now, and the ids of which nothing is known."""
        met = {key: self._pool.get(key) for key in ids if key in self._met}
        rows = [one.row for one in met.values() if one is not None and one.row is not None]
        ours = self._inner.get([key for key, one in met.items() if one is None])
        return rows, set(ids).difference(ours, (row.id for row in rows))

    def _read(self, ids: Iterable[str]) -> list[Row]:
        """Return the rows of these memories, and what else has their keys."""
        keys = self._keys(ids)
        return list(self._rows.rows(self._tenant, keys)) if keys else []

    def _keys(self, ids: Iterable[str]) -> list[str]:
        """Return the keys that rows of these memories can have."""
        whole = [memory_id for memory_id in ids if storable(memory_id)]  # nothing else can be the id of a row
        return sorted({key for one in whole for key in (one, self._rows.key_of(self.path, one))})

    def _changed(self, ids: Iterable[str]) -> None:
        """Forget what was known of memories that changed."""
        ids = set(ids)
        self._version += 1
        self._pool.drop(ids)
        self._met.difference_update(ids)
        self._listed = None
        usual = self._usual
        if usual is not None and usual.complete:
            self._usual = None
        elif usual is not None:
            now = self._together([key for key in ids if key in usual.sample])
            usual = usual.without(ids.difference(now))
            usual.sample |= now
            self._usual = usual


class SearchTransaction(MirrorTransaction):
    """A `Transaction` in which a row of others becomes ours before it is changed."""

    def __init__(self, space: MeetingSpace, store: SearchedStore, inner: Transaction) -> None:
        super().__init__(store, inner)
        self._space = space
        self._asked: set[str] = set()
        self._whole = False
        self.adopted: list[str] = []

    def _reach(self, ids: Iterable[str]) -> None:
        new = [key for key in ids if key not in self._asked]
        self._asked.update(new)
        if new:
            self.adopted += self._space.adopt(self._inner, new, self._changed)

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it stands."""
        self._reach([memory_id])
        return self._inner.get(memory_id)

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory, and its row; an id that a row of others has is taken."""
        self._reach([memory.id])
        super().insert(memory, vector, terms)

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite a memory, and its row."""
        self._reach([memory.id])
        super().replace(memory, vector, terms)

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite how memories were read: those that were returned become ours."""
        self._reach(accesses)
        super().set_access(accesses)

    def erase(self, memory_id: str) -> bool:
        """Remove a memory, and its row."""
        self._reach([memory_id])
        return super().erase(memory_id)

    def unstaged(self, limit: int) -> list[Memory]:
        """Return memories without a staged vector; for that all rows become ours."""
        if not self._whole:
            self._whole = True
            self.adopted += self._space.adopt(self._inner, None, self._changed)
        return self._inner.unstaged(limit)


def _everyone() -> Gate:
    return Gate(true_at=system_clock(), hidden=True)
