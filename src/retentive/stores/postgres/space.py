"""One space of the PostgreSQL store: who may ask is settled here, what is asked is answered in `reading`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from retentive.errors import RetentiveError
from retentive.stores.postgres import cleaning
from retentive.stores.postgres.connections import Connections
from retentive.stores.postgres.links import READ, Link, head_of
from retentive.stores.postgres.reading import Reading
from retentive.stores.postgres.rows import Row
from retentive.stores.postgres.transaction import written
from retentive.stores.protocol import Cursor, Transaction
from retentive.types import (
    AskedCue,
    Columns,
    Finding,
    Floats,
    Found,
    Gate,
    Job,
    JobState,
    JournalEntry,
    Json,
    LedgerEntry,
    Memory,
    RowIds,
    Vectors,
)

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class PostgresSpace:
    """A `SpaceStore` on a PostgreSQL server. A handle: it holds nothing but its path."""

    def __init__(self, path: str, connections: Connections) -> None:
        self.path = path
        self._connections = connections
        self._pinned = threading.local()

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin writing; waits for other writers, then `StoreBusy`."""
        return written(self._connections, self.path)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread read one state for a while, over one connection."""
        if getattr(self._pinned, "reading", None) is not None:
            yield
            return
        with self._connections.lent(self._begun) as (link, reading):
            self._pinned.reading = reading
            try:
                yield
            finally:
                self._pinned.reading = None
            link.end()

    def _begun(self, connection: Connection[Any]) -> tuple[Link, Reading]:
        link = self._connections.link(connection, self.path)
        return link, Reading(link, head_of(link.begin(READ), self.path))

    def _read(self, ask: Callable[[Reading], T]) -> T:
        """Ask inside the snapshot of this thread, or inside one of its own."""
        pinned: Reading | None = getattr(self._pinned, "reading", None)
        if pinned is not None:
            with self._connections.translated():
                return ask(pinned)

        def work(link: Link, head: Row | None) -> T:
            return ask(Reading(link, head_of(head, self.path)))

        return self._connections.inside(self.path, READ, work)

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids."""
        return self._read(lambda reading: reading.get(ids))

    def page(self, gate: Gate, *, limit: int, after: Cursor | None = None) -> list[Memory]:
        """List memories that pass the gate, newest first."""
        return self._read(lambda reading: reading.page(gate, limit, after))

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""
        return self._read(lambda reading: reading.count(gate))

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine."""
        return self._read(lambda reading: reading.nearest(vector, gate, limit))

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25."""
        return self._read(lambda reading: reading.matching(terms, gate, limit))

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities."""
        return self._read(lambda reading: reading.mentioning(entities, gate, limit))

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        return self._read(lambda reading: reading.within(start, end, gate, limit))

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently."""
        return self._read(lambda reading: reading.recent(gate, limit))

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance."""
        return self._read(lambda reading: reading.important(gate, limit))

    def columns(self, rows: RowIds, *, history: bool = False) -> Columns:
        """Return the numbers of these rows."""
        return self._read(lambda reading: reading.columns(rows, history=history))

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows."""
        return self._read(lambda reading: reading.memories(rows))

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        return self._read(lambda reading: reading.texts(rows))

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session."""
        return self._read(lambda reading: reading.neighbours(rows, gate, reach))

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the exact BM25 of these rows."""
        return self._read(lambda reading: reading.term_scores(terms, rows))

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf."""
        return self._read(lambda reading: reading.term_weights(terms))

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""
        return self._read(lambda reading: reading.known_entities(keys))

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away."""
        return self._read(lambda reading: reading.entity_links(keys, limit))

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the current unit vectors of these memories."""
        return self._read(lambda reading: reading.vectors(ids))

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that were derived from any of these."""
        return self._read(lambda reading: reading.derived(ids))

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        return self._read(lambda reading: reading.setting(name))

    def settings(self) -> dict[str, Json]:
        """Return all settings."""
        return self._read(lambda reading: reading.settings())

    def last_line(self) -> int:
        """Return a number that grows with the journal."""
        return self._read(lambda reading: reading.last_line())

    def read_journal(
        self, memory_id: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> list[JournalEntry]:
        """Return journal lines in writing order."""
        return self._read(lambda reading: reading.read_journal(memory_id, after, limit))

    def findings(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[Finding]:
        """Return findings, newest first."""
        return self._read(lambda reading: reading.findings(kind, status, about, limit, after))

    def read_ledger(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[LedgerEntry]:
        """Return recalls, newest first."""
        return self._read(lambda reading: reading.read_ledger(since, policy, limit, after))

    def asked_since(self, since: datetime, policy: str, limit: int) -> list[AskedCue]:
        """Return the cues of the recalls under a policy since a moment, newest first."""
        return self._read(lambda reading: reading.asked_since(since, policy, limit))

    def recall_entry(self, recall_id: str) -> LedgerEntry | None:
        """Return one recall by its id."""
        return self._read(lambda reading: reading.recall_entry(recall_id))

    def jobs(self, *, state: JobState | None = None, kind: str | None = None, limit: int | None = None) -> list[Job]:
        """Return the jobs of a state or a kind."""
        return self._read(lambda reading: reading.jobs(state, kind, limit))

    def cleanse(self) -> tuple[str, ...]:
        """Remove the versions of rows that erasing left, where that goes quickly; say where copies may still be."""
        try:
            with self._connections.apart(patient=False) as connection:
                return cleaning.scrub(connection, self._connections.terms.schema).remains
        except RetentiveError:  # it took too long, or somebody kept a table: what was erased is erased
            return cleaning.UNSURE

    def close(self) -> None:
        """Do nothing: connections belong to the store, and a handle holds nothing."""
