"""Writing one space: everything between holding its row and COMMIT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime

from retentive.errors import InvalidInput, NotFound
from retentive.stores.postgres import rows
from retentive.stores.postgres.connections import Connections
from retentive.stores.postgres.fresh import Fresh, across, parted
from retentive.stores.postgres.jobs import PostgresJobs, drop_about
from retentive.stores.postgres.keys import entry_of, key_of, keys_of
from retentive.stores.postgres.lexical import counted
from retentive.stores.postgres.reading import finding, recall_entry, setting
from retentive.stores.postgres.rows import Bindings, Row
from retentive.stores.postgres.writing import Writer
from retentive.stores.protocol import Transaction
from retentive.stores.ranking import distinct
from retentive.stores.sqlite.tokens import document
from retentive.stores.values import (
    as_vector,
    micros,
    require_entry,
    require_memory,
    require_storable,
    storable,
    to_json,
)
from retentive.types import Access, Finding, JournalEntry, Json, LedgerEntry, Memory, Vectors

EXPECTED = 10_000  # ids looked for in one statement


@contextmanager
def written(connections: Connections, space: str) -> Iterator[Transaction]:
    """Give out a transaction, and commit it when the block ends well."""
    with connections.alone(space):
        writer = Writer(connections, space)
        transaction = PostgresTransaction(writer, space)
        try:
            yield transaction
            transaction.finish()
        except BaseException:
            writer.abandon()
            raise
        finally:
            transaction.end()
            writer.release()


class PostgresTransaction(PostgresJobs):
    """A `Transaction` over a `Writer`."""

    def __init__(self, writer: Writer, path: str) -> None:
        self._path = path
        self._open: Writer | None = writer
        self._head = writer.head
        self._fresh = Fresh()
        self._absent: set[str] = set()
        self._dirty = False  # something gathered could change what a memory reads like

    @property
    def _writer(self) -> Writer:
        if self._open is None:
            raise InvalidInput("This transaction has ended; begin another one with `with space.transaction() as tx:`.")
        return self._open

    def finish(self) -> None:
        """Write the space's row, and commit."""
        self._spill()
        writer = self._writer
        if writer.idle:
            writer.abandon()
            return
        head = replace(self._head, change=self._head.change + 1)
        writer.write("set_head", asdict(head))
        writer.commit()

    def end(self) -> None:
        """Refuse everything from now on."""
        self._open = None

    def _rows(self, name: str, bindings: Bindings | None = None) -> list[Row]:
        self._spill()
        self._dirty = False
        return self._writer.rows(name, bindings)

    def _value(self, name: str, bindings: Bindings | None = None) -> int | None:
        found = self._rows(name, bindings)
        return found[0][0] if found else None

    def _change(self, name: str, *many: Bindings) -> None:
        self._writer.write(name, *many)
        self._dirty = True

    def _next(self) -> int:
        self._head = replace(self._head, last_sequence=self._head.last_sequence + 1)
        return self._head.last_sequence

    # Memories

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it stands, retrievable or not."""
        if not storable(memory_id) or memory_id in self._absent:
            return None
        bindings = {"keys": [key_of(memory_id)]}
        if self._dirty or memory_id in self._fresh.ids:
            found = self._rows("memories_by_id", bindings)
        else:
            found = self._writer.rows("memories_by_id", bindings, flush=False)
        if not found:
            self._absent.add(memory_id)
            return None
        return rows.decode(self._path, found[0])

    def expect(self, ids: Sequence[str]) -> None:
        """Look for these ids in one go: asking for each of them later then costs no trip where it is not there."""
        asked = {memory_id for memory_id in ids if storable(memory_id)} - self._fresh.ids
        for some in parted(sorted(asked), EXPECTED):
            there = self._writer.rows("ids_among", {"keys": keys_of(some)}, flush=self._dirty)
            self._absent.update(set(some).difference(found for (found,) in there))

    def holders(self, key: str) -> list[Memory]:
        """Return the retrievable memories with this key, newest first."""
        if not storable(key):
            return []
        bindings = {"key": key_of(key)}
        if self._dirty or key in self._fresh.keys:
            found = self._rows("holders", bindings)
        else:
            found = self._writer.rows("holders", bindings, flush=False)
        return [rows.decode(self._path, row) for row in found]

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory."""
        writer, head, fresh = self._writer, self._head, self._fresh
        require_memory(memory, self._path)
        vector = as_vector(vector, head.dimension)
        row = head.last_row + 1
        if memory.id in fresh.ids or (
            memory.id not in self._absent and writer.rows("ids_among", {"keys": keys_of([memory.id])})
        ):
            raise InvalidInput(f"A memory with id {memory.id!r} exists already; replace it instead.", value=memory.id)
        self._absent.discard(memory.id)
        line = document(terms)
        self._head = replace(
            head,
            last_row=row,
            memories=head.memories + 1,
            terms=head.terms + len(terms),
            dimension=len(vector),
        )
        fresh.add(memory, row, vector, line)

    def _spill(self) -> None:
        """Hand what was added to the writer."""
        if fresh := self._fresh:
            self._fresh = Fresh()
            for name, many in fresh.writes():
                self._change(name, *many)

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite every field but the access state."""
        require_memory(memory, self._path)
        if vector is not None:
            vector = as_vector(vector, self._head.dimension)
        encoded = rows.encode(memory, 0)
        found = self._rows("row_of", {"id": key_of(memory.id)})
        if not found:
            raise NotFound(f"There is no memory {memory.id!r} in {self._path!r} to replace.", id=memory.id)
        row, tags, entities, metadata, line = found[0]
        self._change("replace_memory", {**encoded, "row": row})
        if (tags, entities, metadata) != (encoded["tags"], encoded["entities"], encoded["metadata"]):
            self._unmark(row, tags, metadata)
            for name, many in (
                ("insert_tags", rows.tag_rows(row, memory.tags)),
                ("insert_entities", rows.entity_rows(row, memory.entities)),
                ("insert_metadata", rows.metadata_rows(row, memory.metadata)),
            ):
                self._change(name, *([across(many)] if many else []))
        if vector is not None:
            self._change("set_vectors", across([{"row": row, "vector": vector}]))
            self._change("unstage_vector", {"row": row})
        if terms is not None:
            self._forget_terms(row, line)
            self._change("insert_terms", across([{"row": row, "terms": document(terms)}]))
            self._head = replace(self._head, terms=self._head.terms + len(terms))
            self._fresh.index(row, document(terms))

    def _unmark(self, row: int, tags: str, metadata: str) -> None:
        """Take a memory out of the indexes of tags, entities and metadata."""
        if tags != "[]":
            self._change("delete_tags", {"row": row, "keys": [key_of(tag) for tag in rows.strings(tags)]})
        if metadata != "{}":
            entries = [entry_of(name, value) for name, value in rows.decode_json(metadata).items()]
            self._change("delete_metadata", {"row": row, "keys": entries})
        self._change("delete_entities", {"row": row})

    def _forget_terms(self, row: int, line: str) -> None:
        counts = counted(line)
        self._head = replace(self._head, terms=self._head.terms - counts.total())
        if counts:
            tokens = sorted(counts)
            self._change("delete_postings", {"row": row, "tokens": tokens})
            self._change("less_vocabulary", {"tokens": tokens})
            self._change("trim_vocabulary", {"tokens": tokens})

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite the access state of these memories."""
        self._spill()
        known = {memory_id: access for memory_id, access in accesses.items() if storable(memory_id)}
        self._change("set_access", *(rows.encode_access(*item) for item in known.items()))

    def erase(self, memory_id: str) -> bool:
        """Remove a memory with everything written of it; its journal lines stay as tombstones."""
        if not storable(memory_id):
            return False
        key = key_of(memory_id)
        found = self._rows("row_of", {"id": key})
        self._change("redact_journal", {"memory": key})
        self._change("erase_findings", {"memory": key})
        drop_about(self._writer, memory_id)
        self._absent.add(memory_id)
        if not found:
            return False
        row, tags, _, metadata, line = found[0]
        self._forget_terms(row, line)
        self._unmark(row, tags, metadata)
        for table in ("terms", "access", "vector", "memory"):
            self._change(f"delete_{table}", {"row": row})
        self._change("unstage_vector", {"row": row})
        left = self._head.memories - 1
        self._head = replace(self._head, memories=left, dimension=self._head.dimension if left else None)
        return True

    def redact(self, *, lines: Sequence[int] = (), recalls: Sequence[str] = ()) -> None:
        """Empty journal lines and the questions of recalls."""
        self._spill()
        if lines:
            self._change("redact_lines", {"lines": list(lines)})
        if recalls:
            self._change("redact_recalls", {"recalls": [key_of(recall_id) for recall_id in recalls]})

    # The next embedder's vectors

    def unstaged(self, limit: int) -> list[Memory]:
        """Return memories without a staged vector, oldest row first."""
        return [rows.decode(self._path, row) for row in self._rows("unstaged", {"limit": max(limit, 0)})]

    def stage_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep the next embedder's vectors beside the current ones."""
        known = {memory_id for (memory_id,) in self._rows("ids_among", {"keys": keys_of(vectors)})}
        dimension = self._value("staged_dimension")
        for memory_id, vector in vectors.items():
            if memory_id in known:
                staged = as_vector(vector, dimension)
                dimension = len(staged)
                self._change("stage_vector", {"id": key_of(memory_id), "vector": staged})

    def switch_vectors(self) -> None:
        """Make the staged vectors the current ones."""
        missing = self._value("count_unstaged")
        if missing:
            raise InvalidInput(f"{missing} memories have no staged vector yet; stage them first.", missing=missing)
        dimension = self._value("staged_dimension")
        self._change("switch_vectors", {})
        self._change("discard_staged", {})
        self._head = replace(self._head, dimension=dimension)

    def discard_staged(self) -> None:
        """Forget all staged vectors."""
        self._change("discard_staged", {})

    # Journal, ledger, settings

    def journal(self, entry: JournalEntry) -> None:
        """Append to the journal."""
        require_entry(entry)
        _ = self._writer  # refuses where the transaction has ended
        self._fresh.journal(entry, self._next())

    def last_line(self) -> int:
        """Return a number that grows with the journal."""
        return self._head.last_sequence

    def put_finding(self, finding: Finding) -> None:
        """Keep a finding, in the place of one with its id."""
        self._writer.write("put_finding", rows.encode_finding(finding))

    def finding(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands."""
        return finding(self._writer.link(), finding_id)

    def log_recall(self, entry: LedgerEntry) -> None:
        """Append a recall to the ledger."""
        require_entry(entry)
        if recall_entry(self._writer.link(), entry.id) is not None:
            raise InvalidInput(f"A recall with id {entry.id!r} is in the ledger already.", value=entry.id)
        cue_vector = None if entry.cue_vector is None else as_vector(entry.cue_vector, None)
        self._writer.write("insert_recall", rows.encode_recall(entry, cue_vector, self._next()))

    def log_feedback(self, recall_id: str, used: Sequence[str], outcome: str | None) -> bool:
        """Note on a recall what was used and how it went."""
        require_storable([("outcome", outcome), *(("used", text) for text in used)])
        noted = recall_entry(self._writer.link(), recall_id)
        if noted is None:
            return False
        together = to_json(distinct([*noted.used, *used]), "used")
        self._writer.write("note_feedback", {"recall": key_of(recall_id), "used": together, "outcome": outcome or None})
        return True

    def trim_ledger(self, *, before: datetime, keep: int) -> int:
        """Drop old ledger entries, and the oldest beyond ``keep``."""
        ((everything, old),) = self._rows("count_recalls", {"before": micros(before)})
        surplus = max(0, everything - old - max(keep, 0))
        self._writer.write("drop_old_recalls", {"before": micros(before)})
        if surplus:
            self._writer.write("drop_surplus_recalls", {"keep": max(keep, 0)})
        return int(old + surplus)

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        return setting(self._writer.link(), name)

    def set_setting(self, name: str, value: Json) -> None:
        """Keep a setting; None removes it."""
        require_storable([("setting", name)])
        key = key_of(name)
        if value is None:
            self._writer.write("drop_setting", {"key": key})
        else:
            self._writer.write("set_setting", {"key": key, "name": name, "value": to_json(value, name)})
