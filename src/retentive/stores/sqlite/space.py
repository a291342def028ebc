"""One space of the SQLite store: what is asked is answered in `reading`, who may ask when is settled beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from retentive.stores.protocol import Cursor
from retentive.stores.sqlite import rows as mapping
from retentive.stores.sqlite.connections import Connections
from retentive.stores.sqlite.jobs import listed_jobs
from retentive.stores.sqlite.reading import Reading
from retentive.stores.values import behind, finding_of, micros, storable, to_json
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

EVERYTHING = -1  # SQLite's LIMIT for no limit


class SqliteSpace(Connections):
    """A `SpaceStore` on one SQLite file."""

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids."""
        with self._snapshot() as reader:
            found = [row for key in ids if storable(key) for row in reader.rows("memory_by_id", (key,))]
        return {row[1]: mapping.decode(self.path, row) for row in found}

    def page(self, gate: Gate, *, limit: int, after: Cursor | None = None) -> list[Memory]:
        """List memories that pass the gate, newest first."""
        with self._reading() as reading:
            return reading.page(gate, limit, after)

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""
        with self._reading() as reading:
            return reading.count(gate)

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine."""
        with self._reading() as reading:
            return reading.nearest(vector, gate, limit)

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25."""
        with self._reading() as reading:
            return reading.matching(terms, gate, limit)

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities."""
        with self._reading() as reading:
            return reading.mentioning(entities, gate, limit)

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        with self._reading() as reading:
            return reading.within(start, end, gate, limit)

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently."""
        with self._reading() as reading:
            return reading.recent(gate, limit)

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance."""
        with self._reading() as reading:
            return reading.important(gate, limit)

    def columns(self, rows: RowIds, *, history: bool = False) -> Columns:
        """Return the numbers of these rows."""
        with self._reading() as reading:
            return reading.columns(rows, history=history)

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows."""
        with self._snapshot() as reader:
            return Reading(self.path, reader, self._cache).memories(rows)

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        with self._snapshot() as reader:
            return Reading(self.path, reader, self._cache).texts(rows)

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session."""
        with self._reading() as reading:
            return reading.neighbours(rows, gate, reach)

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the exact BM25 of these rows."""
        with self._reading() as reading:
            return reading.term_scores(terms, rows)

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf."""
        with self._reading() as reading:
            return reading.term_weights(terms)

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""
        with self._reading() as reading:
            return reading.known_entities(keys)

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away."""
        with self._reading() as reading:
            return reading.entity_links(keys, limit)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the current vectors of these memories."""
        with self._snapshot() as reader:
            found = [row for key in ids if storable(key) for row in reader.rows("vector_by_id", (key,))]
        return {key: mapping.unblob(vector) for key, vector in found}

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that were derived from any of these."""
        wanted = to_json([key for key in ids if storable(key)], "ids")
        with self._statement() as reader:
            found = reader.rows("derived_from_any", (wanted,))
        return [mapping.decode(self.path, row) for row in found]

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        with self._statement() as reader:
            value: Json = mapping.decode_json(reader.value("setting", (name,)) if storable(name) else None)
        return value

    def settings(self) -> dict[str, Json]:
        """Return all settings."""
        with self._statement() as reader:
            return {name: mapping.decode_json(value) for name, value in reader.rows("settings")}

    def last_line(self) -> int:
        """Return the number of the journal's last line."""
        with self._statement() as reader:
            return int(reader.value("last_line"))

    def read_journal(
        self, memory_id: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> list[JournalEntry]:
        """Return journal lines in writing order."""
        most = EVERYTHING if limit is None else max(limit, 0)
        with self._statement() as reader:
            if memory_id is None:
                lines = reader.rows("journal_of_all", (after, most))
            else:
                lines = reader.rows("journal_of_one", (after, memory_id, most)) if storable(memory_id) else []
        return [mapping.decode_line(line) for line in lines]

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
        if not all(word is None or storable(word) for word in (kind, status, about)):
            return []
        asked = (kind, status, EVERYTHING if limit is None else max(limit, 0), *behind(after))
        with self._snapshot() as reader:
            if about is None:
                return [finding_of(row) for row in reader.rows("findings", asked)]
            return [finding_of(row) for row in reader.rows("findings_about", (*asked, about))]

    def read_ledger(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[LedgerEntry]:
        """Return recalls, newest first."""
        most = EVERYTHING if limit is None else max(limit, 0)
        start = None if since is None else micros(since)
        with self._statement() as reader:
            known = policy is None or storable(policy)
            recalls = reader.rows("recalls", (start, policy, most, *behind(after))) if known else []
        return [mapping.decode_recall(recall) for recall in recalls]

    def asked_since(self, since: datetime, policy: str, limit: int) -> list[AskedCue]:
        """Return the cues of the recalls under a policy since a moment, newest first."""
        with self._statement() as reader:
            bindings = (micros(since), policy, max(limit, 0))
            asked = reader.rows("asked_since", bindings) if storable(policy) else []
        return [AskedCue(key, cue, None if raw is None else mapping.unblob(raw)) for key, cue, raw in asked]

    def recall_entry(self, recall_id: str) -> LedgerEntry | None:
        """Return one recall by its id."""
        with self._statement() as reader:
            found = reader.rows("recall_by_id", (recall_id,)) if storable(recall_id) else []
        return mapping.decode_recall(found[0]) if found else None

    def jobs(self, *, state: JobState | None = None, kind: str | None = None, limit: int | None = None) -> list[Job]:
        """Return the jobs of a state or a kind."""
        with self._snapshot() as reader:
            return listed_jobs(reader, state, kind, limit)
