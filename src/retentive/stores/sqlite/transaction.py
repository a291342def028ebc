"""Writing one space: everything between BEGIN IMMEDIATE and COMMIT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from retentive.errors import InvalidInput, NotFound, StoreCorrupt
from retentive.stores.ranking import distinct
from retentive.stores.sqlite import rows
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.jobs import SqliteJobs
from retentive.stores.sqlite.tokens import document
from retentive.stores.values import (
    as_vector,
    canonical,
    finding_body,
    finding_of,
    micros,
    require_entry,
    require_memory,
    require_storable,
    storable,
    to_json,
)
from retentive.types import NEVER_READ, Access, Finding, JournalEntry, Json, LedgerEntry, Memory, Vectors

FLOAT = 4  # bytes


class SqliteTransaction(SqliteJobs):
    """A `Transaction` on the writing connection. Counts its changes and writes the clock once, at its end."""

    def __init__(self, database: Database, path: str) -> None:
        self._path = path
        self._open: Database | None = database
        self._change: int
        self._generation: int
        (self._change, self._generation) = self._began = database.rows("clock")[0]
        self.erased = False
        self._dimensions: dict[str, int] = {}
        self._line: int | None = None  # of the journal; once known, it grows by what is written here alone

    @property
    def _database(self) -> Database:
        if self._open is None:
            raise InvalidInput("This transaction has ended; begin another one with `with space.transaction() as tx:`.")
        return self._open

    def finish(self) -> None:
        """Write the clock; the caller commits."""
        if (self._change, self._generation) != self._began:
            self._database.run("set_clock", (self._change, self._generation))

    def end(self) -> None:
        """Refuse everything from now on."""
        self._open = None

    def _next(self) -> int:
        self._change += 1
        return self._change

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it stands, retrievable or not."""
        found = self._database.rows("memory_by_id", (memory_id,)) if storable(memory_id) else []
        return rows.decode(self._path, found[0]) if found else None

    def expect(self, ids: Sequence[str]) -> None:
        """Do nothing: asking for each costs no trip."""

    def holders(self, key: str) -> list[Memory]:
        """Return the retrievable memories with this key, newest first."""
        found = self._database.rows("holders", (key,)) if storable(key) else []
        return [rows.decode(self._path, row) for row in found]

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory."""
        database = self._database
        require_memory(memory, self._path)
        vector = as_vector(vector, self._dimension("some_vector_size"))
        try:
            database.run("insert_memory", rows.encode(memory, self._change + 1))
        except StoreCorrupt:  # a rule of the schema: most likely that ids are unique
            if database.value("row_of", (memory.id,)) is None:
                raise
            taken = f"A memory with id {memory.id!r} exists already; replace it instead."
            raise InvalidInput(taken, value=memory.id) from None
        self._next()
        row = database.last_row()
        database.run("set_vector", (row, rows.blob(vector)))
        database.run("insert_terms", (row, self._change, document(terms)))
        self._index(row, memory)
        if memory.access != NEVER_READ:
            database.run("set_access", rows.encode_access(memory.id, self._change, memory.access))

    def _index(self, row: int, memory: Memory) -> None:
        if memory.tags:
            self._database.run_many("insert_tag", [(row, tag) for tag in distinct(memory.tags)])
        if memory.entities:
            self._database.run_many("insert_entity", [(row, entity) for entity in distinct(memory.entities)])
        if memory.metadata:
            values = [(row, name, canonical(value)) for name, value in memory.metadata.items()]
            self._database.run_many("insert_metadata", values)

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite every field but the access state."""
        database = self._database
        require_memory(memory, self._path)
        if vector is not None:
            vector = as_vector(vector, self._dimension("some_vector_size"))
        encoded = rows.encode(memory, self._change + 1)
        found = database.rows("indexed_of", (memory.id,))
        if not found:
            raise NotFound(f"There is no memory {memory.id!r} in {self._path!r} to replace.", id=memory.id)
        row, *indexed = found[0]
        database.run("replace_memory", encoded)
        self._next()
        if indexed != list(encoded[22:25]):
            for statement in ("delete_tags", "delete_entities", "delete_metadata"):
                database.run(statement, (row,))
            self._index(row, memory)
        if vector is not None:
            database.run("set_vector", (row, rows.blob(vector)))
            database.run("unstage_vector", (row,))
        if terms is not None:
            database.run("replace_terms", (row, self._change, document(terms)))

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite the access state of these memories."""
        encoded = [
            rows.encode_access(memory_id, self._next(), access)
            for memory_id, access in accesses.items()
            if storable(memory_id)
        ]
        self._database.run_many("set_access", encoded)

    def unstaged(self, limit: int) -> list[Memory]:
        """Return memories without a staged vector, oldest row first."""
        return [rows.decode(self._path, row) for row in self._database.rows("unstaged", (max(limit, 0),))]

    def stage_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep the next embedder's vectors beside the current ones."""
        for memory_id, vector in vectors.items():
            row = self._database.value("row_of", (memory_id,)) if storable(memory_id) else None
            if row is not None:
                staged = as_vector(vector, self._dimension("some_staged_size"))
                self._database.run("stage_vector", (row, rows.blob(staged)))

    def switch_vectors(self) -> None:
        """Make the staged vectors the current ones."""
        missing = self._database.value("count_unstaged")
        if missing:
            raise InvalidInput(f"{missing} memories have no staged vector yet; stage them first.", missing=missing)
        self._dimensions.clear()
        self._database.run("switch_vectors")
        self._database.run("discard_staged")
        self._generation += 1

    def discard_staged(self) -> None:
        """Forget all staged vectors."""
        self._dimensions.clear()
        self._database.run("discard_staged")

    def erase(self, memory_id: str) -> bool:
        """Remove a memory with everything written of it; its journal lines stay as tombstones."""
        if not storable(memory_id):
            return False
        self._database.run("redact_journal", (memory_id,))
        self._database.run("erase_findings", (memory_id,))
        self._database.run("drop_jobs_about", (memory_id,))
        self.erased = True
        row = self._database.value("row_of", (memory_id,))
        if row is None:
            return False
        self._dimensions.clear()  # it may have been the last one
        self._database.run("erase_memory", (row,))
        self._database.run("note_erasure", (self._next(), row))
        return True

    def redact(self, *, lines: Sequence[int] = (), recalls: Sequence[str] = ()) -> None:
        """Empty journal lines and the questions of recalls."""
        self._database.run_many("redact_line", [(line,) for line in lines])
        self._database.run_many("redact_recall", [(recall_id,) for recall_id in recalls if storable(recall_id)])
        self.erased |= bool(lines or recalls)

    def journal(self, entry: JournalEntry) -> None:
        """Append to the journal."""
        require_entry(entry)
        self._database.run("insert_journal", rows.encode_line(entry))
        self._line = self._database.last_row()

    def last_line(self) -> int:
        """Return the number of the journal's last line."""
        if self._line is None:
            self._line = int(self._database.value("last_line"))
        return self._line

    def put_finding(self, finding: Finding) -> None:
        """Keep a finding, in the place of one with its id."""
        body = finding_body(finding)
        place = (finding.id, micros(finding.at), finding.kind, finding.status, finding.memory_id, finding.other_id)
        self._database.run("put_finding", (*place, body))

    def finding(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands."""
        found = self._database.rows("finding_by_id", (finding_id,)) if storable(finding_id) else []
        return finding_of(found[0]) if found else None

    def log_recall(self, entry: LedgerEntry) -> None:
        """Append a recall to the ledger."""
        require_entry(entry)
        cue_vector = None if entry.cue_vector is None else as_vector(entry.cue_vector, None)
        try:
            self._database.run("insert_recall", rows.encode_recall(entry, cue_vector))
        except StoreCorrupt:  # as in `insert`
            if not self._database.rows("recall_by_id", (entry.id,)):
                raise
            raise InvalidInput(f"A recall with id {entry.id!r} is in the ledger already.", value=entry.id) from None

    def log_feedback(self, recall_id: str, used: Sequence[str], outcome: str | None) -> bool:
        """Note on a recall what was used and how it went."""
        require_storable([("outcome", outcome), *(("used", text) for text in used)])
        found = self._database.rows("recall_by_id", (recall_id,)) if storable(recall_id) else []
        if not found:
            return False
        together = distinct([*rows.decode_recall(found[0]).used, *used])
        self._database.run("note_feedback", (recall_id, to_json(together, "used"), outcome or None))
        return True

    def trim_ledger(self, *, before: datetime, keep: int) -> int:
        """Drop old ledger entries, and the oldest beyond ``keep``."""
        self._database.run("drop_old_recalls", (micros(before),))
        dropped = self._database.changes()
        self._database.run("drop_surplus_recalls", (max(keep, 0),))
        return dropped + self._database.changes()

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        value: Json = rows.decode_json(self._database.value("setting", (name,)) if storable(name) else None)
        return value

    def set_setting(self, name: str, value: Json) -> None:
        """Keep a setting; None removes it."""
        require_storable([("setting", name)])
        if value is None:
            self._database.run("drop_setting", (name,))
        else:
            self._database.run("set_setting", (name, to_json(value, name)))

    def _dimension(self, statement: str) -> int | None:
        known = self._dimensions.get(statement)
        if known is None and (size := self._database.value(statement)) is not None:
            known = self._dimensions[statement] = int(size) // FLOAT
        return known
