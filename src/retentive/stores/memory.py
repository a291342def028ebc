"""The reference: a store in plain dictionaries, slow where that keeps it obviously right. Also what ":memory:" means.

A committed state is never changed: a transaction works on a copy and its end swaps the copy in. So a reader needs no
lock, sees a state whole, and a rollback is simply not swapping.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from retentive.errors import InvalidInput, NotFound, StoreBusy
from retentive.stores.memory_jobs import MemoryJobs, without
from retentive.stores.memory_space import MemorySpace
from retentive.stores.memory_state import State, newest_first
from retentive.stores.protocol import Transaction
from retentive.stores.ranking import distinct
from retentive.stores.values import (
    as_vector,
    finding_body,
    plain_json,
    require_entry,
    require_memory,
    require_storable,
    to_json,
)
from retentive.types import (
    Access,
    Finding,
    JournalEntry,
    Json,
    LedgerEntry,
    Memory,
    Vectors,
)


class MemoryTransaction(MemoryJobs):
    """A `Transaction` over a private copy of the state."""

    def __init__(self, path: str, state: State) -> None:
        self._path = path
        self._kept: State | None = state

    @property
    def _state(self) -> State:
        if self._kept is None:
            raise InvalidInput("This transaction has ended; begin another one with `with space.transaction() as tx:`.")
        return self._kept

    def end(self) -> None:
        """Refuse everything from now on."""
        self._kept = None

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as it stands, retrievable or not."""
        row = self._state.rows.get(memory_id)
        return None if row is None else self._state.memories[row]

    def expect(self, ids: Sequence[str]) -> None:
        """Do nothing: asking for each costs no trip."""

    def holders(self, key: str) -> list[Memory]:
        """Return the retrievable memories with this key, newest first."""
        held = [memory for memory in self._state.memories.values() if memory.key == key and memory.retrievable]
        return sorted(held, key=newest_first)

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory."""
        state = self._state
        require_memory(memory, self._path)
        if memory.id in state.rows:
            raise InvalidInput(f"A memory with id {memory.id!r} exists already; replace it instead.", value=memory.id)
        kept = replace(memory, metadata=plain_json(memory.metadata, "metadata"))
        vector = as_vector(vector, state.dimension(state.vectors))
        state.last_row += 1
        row = state.last_row
        state.rows[memory.id] = row
        state.memories[row] = kept
        state.vectors[row] = vector
        state.terms[row] = Counter(terms)

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite every field but the access state."""
        state = self._state
        require_memory(memory, self._path)
        row = state.rows.get(memory.id)
        if row is None:
            raise NotFound(f"There is no memory {memory.id!r} in {self._path!r} to replace.", id=memory.id)
        access = state.memories[row].access
        kept = replace(memory, access=access, metadata=plain_json(memory.metadata, "metadata"))
        if vector is not None:
            state.vectors[row] = as_vector(vector, state.dimension(state.vectors))
            state.staged.pop(row, None)
        state.memories[row] = kept
        if terms is not None:
            state.terms[row] = Counter(terms)

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite the access state of these memories."""
        state = self._state
        for memory_id, access in accesses.items():
            row = state.rows.get(memory_id)
            if row is not None:
                state.memories[row] = replace(state.memories[row], access=access)

    def unstaged(self, limit: int) -> list[Memory]:
        """Return memories without a staged vector, oldest row first."""
        state = self._state
        return [memory for row, memory in sorted(state.memories.items()) if row not in state.staged][: max(limit, 0)]

    def stage_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep the next embedder's vectors beside the current ones."""
        state = self._state
        for memory_id, vector in vectors.items():
            row = state.rows.get(memory_id)
            if row is not None:
                state.staged[row] = as_vector(vector, state.dimension(state.staged))

    def switch_vectors(self) -> None:
        """Make the staged vectors the current ones."""
        state = self._state
        missing = len(state.memories) - len(state.staged)
        if missing:
            raise InvalidInput(f"{missing} memories have no staged vector yet; stage them first.", missing=missing)
        state.vectors, state.staged = state.staged, {}

    def discard_staged(self) -> None:
        """Forget all staged vectors."""
        self._state.staged.clear()

    def erase(self, memory_id: str) -> bool:
        """Remove a memory with everything written of it; its journal lines stay as tombstones."""
        state = self._state
        row = state.rows.pop(memory_id, None)
        state.findings = {
            key: finding
            for key, finding in state.findings.items()
            if memory_id not in {finding.memory_id, finding.other_id}
        }
        state.jobs = without(state.jobs, memory_id)
        state.journal = [_tombstone(line) if line.memory_id == memory_id else line for line in state.journal]
        if row is None:
            return False
        for table in (state.memories, state.vectors, state.staged, state.terms):
            table.pop(row, None)
        return True

    def redact(self, *, lines: Sequence[int] = (), recalls: Sequence[str] = ()) -> None:
        """Empty journal lines and the questions of recalls."""
        state = self._state
        state.journal = [_tombstone(line) if line.sequence in lines else line for line in state.journal]
        for recall_id in recalls:
            if recall_id in state.ledger:
                state.ledger[recall_id] = replace(state.ledger[recall_id], cue="", cue_vector=None)

    def journal(self, entry: JournalEntry) -> None:
        """Append to the journal."""
        state = self._state
        require_entry(entry)
        before = None if entry.before is None else plain_json(entry.before, "before")
        after = None if entry.after is None else plain_json(entry.after, "after")
        state.last_sequence += 1
        state.journal.append(replace(entry, before=before, after=after, sequence=state.last_sequence))

    def last_line(self) -> int:
        """Return the number of the journal's last line."""
        return len(self._state.journal)

    def put_finding(self, finding: Finding) -> None:
        """Keep a finding, in the place of one with its id."""
        finding_body(finding)
        self._state.findings[finding.id] = replace(finding, detail=plain_json(finding.detail, "detail"))

    def finding(self, finding_id: str) -> Finding | None:
        """Return a finding as it stands."""
        return self._state.findings.get(finding_id)

    def log_recall(self, entry: LedgerEntry) -> None:
        """Append a recall to the ledger."""
        require_entry(entry)
        if entry.id in self._state.ledger:
            raise InvalidInput(f"A recall with id {entry.id!r} is in the ledger already.", value=entry.id)
        cue_vector = None if entry.cue_vector is None else as_vector(entry.cue_vector, None)
        self._state.ledger[entry.id] = replace(entry, cue_vector=cue_vector)

    def log_feedback(self, recall_id: str, used: Sequence[str], outcome: str | None) -> bool:
        """Note on a recall what was used and how it went."""
        require_storable([("outcome", outcome), *(("used", text) for text in used)])
        entry = self._state.ledger.get(recall_id)
        if entry is None:
            return False
        together = tuple(distinct([*entry.used, *used]))
        self._state.ledger[recall_id] = replace(entry, used=together, outcome=outcome or entry.outcome)
        return True

    def trim_ledger(self, *, before: datetime, keep: int) -> int:
        """Drop old ledger entries, and the oldest beyond ``keep``."""
        state = self._state
        young = [entry for entry in state.recalls() if entry.at >= before][: max(keep, 0)]
        dropped = len(state.ledger) - len(young)
        kept = {entry.id for entry in young}
        state.ledger = {key: entry for key, entry in state.ledger.items() if key in kept}
        return dropped

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        return self._state.setting(name)

    def set_setting(self, name: str, value: Json) -> None:
        """Keep a setting; None removes it."""
        require_storable([("setting", name)])
        if value is None:
            self._state.settings.pop(name, None)
        else:
            self._state.settings[name] = to_json(value, name)


def _tombstone(line: JournalEntry) -> JournalEntry:
    return replace(line, reason="", before=None, after=None)


class MemoryStore:
    """A `Store` that keeps everything in this process and loses it with the process."""

    def __init__(self, *, busy_timeout: float = 5.0) -> None:
        self._busy_timeout = busy_timeout
        self._states: dict[str, State] = {}
        self._writers: dict[str, threading.Lock] = {}
        self._certificates: list[dict[str, Json]] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "<MemoryStore>"

    def open(self, space: str, *, create: bool = True) -> MemorySpace:
        """Return one space."""
        require_storable([("space", space)])
        with self._lock:
            if create:
                self._states.setdefault(space, State())
        self.state(space)
        return MemorySpace(space, self)

    def spaces(self) -> list[str]:
        """List the spaces."""
        with self._lock:
            return sorted(self._states)

    def drop(self, space: str) -> bool:
        """Remove a space, after a transaction that is under way."""
        if space not in self._states:
            return False
        with self._alone(space), self._lock:
            return self._states.pop(space, None) is not None

    def certify(self, certificate: Mapping[str, Json]) -> None:
        """Keep what was done to a whole space, as long as the store is there."""
        with self._lock:
            self._certificates.append(dict(certificate))

    def certificates(self) -> list[dict[str, Json]]:
        """Return what was done to whole spaces."""
        with self._lock:
            return [dict(certificate) for certificate in self._certificates]

    def close(self) -> None:
        """Do nothing: what only memory holds ends with the store itself."""

    def check(self, space: str) -> list[str]:
        """Return nothing: dictionaries do not rot."""
        self.state(space)
        return []

    def state(self, space: str) -> State:
        """Return the committed state of a space."""
        state = self._states.get(space)
        if state is None:
            raise NotFound(f"There is no space {space!r}.", space=space)
        return state

    @contextmanager
    def writing(self, space: str) -> Iterator[Transaction]:
        """Give out a transaction, and swap its state in when the block ends well."""
        with self._alone(space):
            state = self.state(space).copy()
            transaction = MemoryTransaction(space, state)
            try:
                yield transaction
            finally:
                transaction.end()
            with self._lock:
                self._states[space] = state

    @contextmanager
    def _alone(self, space: str) -> Iterator[None]:
        with self._lock:
            writer = self._writers.setdefault(space, threading.Lock())
        if not writer.acquire(timeout=self._busy_timeout):
            raise StoreBusy(
                f"Space {space!r} was being written for more than {self._busy_timeout:g} s; try again, "
                "and do not begin a transaction inside another one.",
                space=space,
            )
        try:
            yield
        finally:
            writer.release()
