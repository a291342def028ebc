"""Reading an export into a space: verified whole, planned, then written a batch at a time, each line at most once.

Where a memory goes is said by the space store it is read into, never by the file. An import that was interrupted is
simply done again: what is there already with the same content is stepped over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import numpy as np

from retentive.embedders.protocol import Embedder, checked_vectors, query_vector
from retentive.embedders.protocol import identity as embedder_identity
from retentive.errors import EmbedderMismatch, InvalidInput, unknown_name
from retentive.indexing import (
    EMBEDDER_SETTING,
    LANGUAGE_SETTING,
    identity_of,
    identity_setting,
    index_terms,
    language_of,
    passage,
)
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.text.languages import checked_language
from retentive.transfer.lines import Header, Line, damaged, dumped, read_lines, verify
from retentive.transfer.records import (
    journal_record,
    memory_record,
    read_finding,
    read_journal_entry,
    read_ledger_entry,
    read_memory,
)
from retentive.transfer.writing import BATCH, Progress, journal_lines
from retentive.types import NEVER_READ, EmbedderIdentity, Finding, Gate, JournalEntry, LedgerEntry, Memory, Vectors
from retentive.writing import content

OnConflict = Literal["error", "skip", "replace"]
ON_CONFLICT: Final = ("error", "skip", "replace")
_MEND: Final = "Whatever wrote this line has to be mended; what came before it is imported and will be stepped over."
SHOWN: Final = 3
"""How many conflicts an error spells out."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did with the memories of a file."""

    source_space: str
    added: int = 0
    same: int = 0  # were there already
    skipped: int = 0  # in conflict, the space's own kept
    replaced: int = 0  # in conflict, the file's taken
    embedded: int = 0  # the file's vectors came from another embedder


def import_space(
    store: SpaceStore,
    source: Path,
    *,
    embedder: Embedder,
    progress: Progress | None = None,
    on_conflict: OnConflict = "error",
) -> int:
    """Read an export into a space and return how many memories are new in it."""
    return import_file(store, source, embedder=embedder, progress=progress, on_conflict=on_conflict).added


def import_file(
    store: SpaceStore,
    source: Path,
    *,
    embedder: Embedder,
    progress: Progress | None = None,
    on_conflict: OnConflict = "error",
) -> ImportReport:
    """Read an export into a space and say what became of each memory.

    A memory in conflict (same id with other content, erased here, or another holder of its key) is an error before
    anything is written, unless ``on_conflict`` says which side is kept.
    """
    if on_conflict not in ON_CONFLICT:
        raise unknown_name("on_conflict", on_conflict, ON_CONFLICT)
    header, lines = verify(Path(source))
    return _Import(store, Path(source), header, lines, embedder, on_conflict, progress or _silent).run()


def _silent(_done: int, _total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A memory of the file, and what stands against it in the space (nothing, its equal, or a conflict)."""

    memory: Memory
    vector: Vectors | None
    present: Memory | None = None
    conflict: str = ""


class _Import:
    """One import under way."""

    def __init__(
        self,
        store: SpaceStore,
        source: Path,
        header: Header,
        lines: int,
        embedder: Embedder,
        on_conflict: OnConflict,
        progress: Progress,
    ) -> None:
        self._store = store
        self._source = source
        self._header = header
        self._total = lines
        self._embedder = embedder
        self._identity = _identity(embedder)
        self._on_conflict = on_conflict
        self._progress = progress
        self._done = 0
        self._counts: Counter[str] = Counter()
        self._left_out: set[str] = set()  # ids whose history in the file is not ours
        self._file_ids: frozenset[str] = frozenset()
        self._known: Counter[bytes] = Counter()  # journal lines that are here already
        self._erased: frozenset[str] = frozenset()

    def run(self) -> ImportReport:
        """Do it."""
        self._check_embedder()
        self._survey()
        self._import_settings()
        self._in_batches("memory", self._read_memory, self._import_memories)
        self._in_batches("journal", read_journal_entry, self._import_journal)
        self._in_batches("finding", read_finding, self._import_findings)
        self._in_batches("recall", read_ledger_entry, self._import_recalls)
        return ImportReport(self._header.space, **self._counts)

    def _check_embedder(self) -> None:
        stored = identity_of(self._store.setting(EMBEDDER_SETTING))
        if stored is not None and stored != self._identity:
            raise EmbedderMismatch(
                f"Space {self._store.path!r} holds vectors of {stored.id!r}, not of {self._identity.id!r}. Import with "
                f"that embedder, or run `retentive maintain --re-embed` first.",
                stored=stored,
                given=self._identity,
            )

    def _survey(self) -> None:
        """Look at what the space holds; where it holds anything, find every conflict before writing."""
        erased = set()
        for entry in journal_lines(self._store):
            self._known[_fingerprint(entry)] += 1
            if entry.action == "erase":
                erased.add(entry.memory_id)
        self._erased = frozenset(erased)
        if self._on_conflict == "error" and (self._known or self._store.count(_everything())):
            self._refuse_conflicts()

    def _refuse_conflicts(self) -> None:
        self._find_ids()
        conflicts = []
        for batch in _batches(self._values("memory", self._read_memory)):
            with self._store.transaction() as transaction:
                found = (self._arrival(transaction, memory, vector) for memory, vector in batch)
                conflicts += [arrival.conflict for arrival in found if arrival.conflict]
        if conflicts:
            raise self._refusal(conflicts)

    def _refusal(self, conflicts: list[str]) -> InvalidInput:
        more = f" (and {len(conflicts) - SHOWN} more)" if len(conflicts) > SHOWN else ""
        return InvalidInput(
            f"{str(self._source)!r} disagrees with space {self._store.path!r}: {'; '.join(conflicts[:SHOWN])}{more}. "
            f"{self._counts['added']} memories were imported. `--on-conflict skip` keeps the space's side, "
            "`--on-conflict replace` takes the file's.",
            path=str(self._source),
            conflicts=conflicts,
        )

    def _find_ids(self) -> None:
        self._file_ids = frozenset(memory.id for memory, _ in self._values("memory", self._read_memory))

    def _arrival(self, transaction: Transaction, memory: Memory, vector: Vectors | None) -> _Arrival:
        present = transaction.get(memory.id)
        if present is not None:
            same = _content(present) == _content(memory)
            return _Arrival(memory, vector, present, "" if same else f"memory {memory.id!r} differs")
        if memory.id in self._erased:
            return _Arrival(memory, vector, None, f"memory {memory.id!r} was erased here")
        return _Arrival(memory, vector, None, self._other_holder(transaction, memory))

    def _other_holder(self, transaction: Transaction, memory: Memory) -> str:
        """Say who else holds the key of a current memory: one key has one current answer."""
        if memory.key is None or not memory.retrievable:
            return ""
        holders = [held.id for held in transaction.holders(memory.key)]
        if holders and not self._file_ids:
            self._find_ids()
        others = [held for held in holders if held not in self._file_ids]
        return f"key {memory.key!r} of memory {memory.id!r} is held by {others[0]!r}" if others else ""

    def _import_settings(self) -> None:
        """Take over the settings that the space has no value for."""
        with self._store.transaction() as transaction:
            ours = {EMBEDDER_SETTING}
            if transaction.setting(EMBEDDER_SETTING) is None:
                transaction.set_setting(EMBEDDER_SETTING, identity_setting(self._identity))
            else:
                ours.add(LANGUAGE_SETTING)  # what is here is indexed already, and stays as it is
            for name, value in self._values("setting", lambda record: (record.get("name"), record.get("value"))):
                if isinstance(name, str) and name not in ours and transaction.setting(name) is None:
                    transaction.set_setting(name, checked_language(value) if name == LANGUAGE_SETTING else value)
                self._advance(1)

    def _import_memories(self, batch: list[tuple[Memory, Vectors | None]]) -> None:
        batch = self._as_written(batch)
        vectors = self._vectors(batch)
        with self._store.transaction() as transaction:
            transaction.expect([memory.id for memory, _ in batch])
            for (memory, _), vector in zip(batch, vectors, strict=True):
                self._place(transaction, self._arrival(transaction, memory, vector))

    def _as_written(self, batch: list[tuple[Memory, Vectors | None]]) -> list[tuple[Memory, Vectors | None]]:
        """Put memories of one moment into the order they were first written in: turns without times have no other."""
        if len({memory.created_at for memory, _ in batch}) == len(batch):
            return batch
        first = sorted(batch, key=lambda pair: self._first_lines.get(pair[0].id, len(self._first_lines)))
        return sorted(first, key=lambda pair: pair[0].created_at, reverse=True)

    @cached_property
    def _first_lines(self) -> dict[str, int]:
        """Where in the file's journal each memory comes first; read only where a moment has several."""
        told = self._values("journal", lambda record: str(record.get("memory_id", "")))
        places: dict[str, int] = {}
        for place, name in enumerate(told):
            places.setdefault(name, place)
        return places

    def _place(self, transaction: Transaction, arrival: _Arrival) -> None:
        if arrival.conflict and self._on_conflict == "error":
            raise self._refusal([arrival.conflict])  # written by somebody else since we looked
        if arrival.conflict and self._on_conflict == "skip":
            self._left_out.add(arrival.memory.id)
            self._counts["skipped"] += 1
        elif arrival.present is not None and not arrival.conflict:
            self._counts["same"] += 1
        elif arrival.conflict:
            self._replace(transaction, arrival)
        else:
            self._insert(transaction, arrival)
            self._counts["added"] += 1

    def _insert(self, transaction: Transaction, arrival: _Arrival) -> None:
        memory = arrival.memory
        assert arrival.vector is not None  # noqa: S101 -- `_vectors` gave every one
        transaction.insert(memory, arrival.vector, index_terms(memory, language_of(transaction)))

    def _replace(self, transaction: Transaction, arrival: _Arrival) -> None:
        """Let the file's memory win, and note in the journal what it won against."""
        memory, before = arrival.memory, arrival.present
        if before is None:
            self._retire_holders(transaction, memory)
            self._insert(transaction, arrival)
        else:
            transaction.replace(memory, arrival.vector, index_terms(memory, language_of(transaction)))
            transaction.set_access({memory.id: memory.access})
        self._counts["replaced"] += 1
        transaction.journal(self._note("import", memory, before, memory))

    def _retire_holders(self, transaction: Transaction, memory: Memory) -> None:
        if memory.key is None or not memory.retrievable:
            return
        for held in transaction.holders(memory.key):
            if held.id not in self._file_ids:
                after = held.changed(superseded_at=datetime.now(UTC), superseded_by=memory.id)
                transaction.replace(after)
                transaction.journal(self._note("supersede", held, held, after))

    def _note(self, action: str, memory: Memory, before: Memory | None, after: Memory) -> JournalEntry:
        return JournalEntry(
            at=datetime.now(UTC),
            action=action,
            memory_id=memory.id,
            reason=f"import of {self._source.name}",
            before=None if before is None else content(before),
            after=content(after),
        )

    def _vectors(self, batch: list[tuple[Memory, Vectors | None]]) -> list[Vectors]:
        """Return a vector for each memory: the file's where our embedder made it, else a new one."""
        usable = self._header.embedder == self._identity
        lacking = [at for at, (_, vector) in enumerate(batch) if not (usable and self._fits(vector))]
        vectors = [vector for _, vector in batch]
        if lacking:
            fresh = checked_vectors(self._embedder, [passage(batch[at][0]) for at in lacking])
            for at, vector in zip(lacking, fresh, strict=True):
                vectors[at] = vector
        self._counts["embedded"] += len(lacking)
        return [vector for vector in vectors if vector is not None]

    def _fits(self, vector: Vectors | None) -> bool:
        """Accept a vector of our width and of unit length; anything else was not made by our embedder."""
        return vector is not None and len(vector) == self._identity.dimension and abs(np.dot(vector, vector) - 1) < 1e-3

    def _import_journal(self, batch: list[JournalEntry]) -> None:
        with self._store.transaction() as transaction:
            for entry in batch:
                if self._known[mark := _fingerprint(entry)]:
                    self._known[mark] -= 1
                elif entry.memory_id not in self._left_out:
                    transaction.journal(entry)

    def _import_findings(self, batch: list[Finding]) -> None:
        """Take over what the space has not decided itself, about memories that came along."""
        with self._store.transaction() as transaction:
            for finding in batch:
                sides = [finding.memory_id, *([finding.other_id] if finding.other_id else [])]
                known = all(name not in self._left_out and transaction.get(name) is not None for name in sides)
                if known and transaction.finding(finding.id) is None:
                    transaction.put_finding(finding)

    def _import_recalls(self, batch: list[LedgerEntry]) -> None:
        news = [self._fitting(entry) for entry in batch if self._store.recall_entry(entry.id) is None]
        with self._store.transaction() as transaction:
            for entry in news:
                transaction.log_recall(entry)

    def _fitting(self, entry: LedgerEntry) -> LedgerEntry:
        """Return a recall whose cue has a vector of our embedder, if it had any."""
        if entry.cue_vector is None or self._header.embedder == self._identity:
            return entry
        vector = query_vector(self._embedder, entry.cue) if entry.cue.strip() else None
        return replace(entry, cue_vector=vector)

    def _read_memory(self, record: Mapping[str, Any]) -> tuple[Memory, Vectors | None]:
        return read_memory(record, self._store.path)

    def _in_batches(self, kind: str, read: Callable[[Mapping[str, Any]], T], put: Callable[[list[T]], None]) -> None:
        for batch in _batches(self._values(kind, read)):
            put(batch)
            self._advance(len(batch))

    def _advance(self, lines: int) -> None:
        self._done += lines
        self._progress(self._done, self._total)

    def _values(self, kind: str, read: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        for line in read_lines(self._source):
            if line.kind == kind:
                yield self._value(line, read)

    def _value(self, line: Line, read: Callable[[Mapping[str, Any]], T]) -> T:
        try:
            return read(line.record())
        except ValueError as error:
            raise damaged(self._source, line.number, str(error), _MEND) from error


def _identity(embedder: Embedder) -> EmbedderIdentity:
    found = embedder_identity(embedder)
    return EmbedderIdentity(found.id, found.dimension, found.fingerprint)


def _everything() -> Gate:
    return Gate(true_at=datetime.now(UTC), hidden=True)


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(values)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _content(memory: Memory) -> dict[str, Any]:
    """Return what a memory says: how often it was read since is no disagreement."""
    return memory_record(memory.changed(access=NEVER_READ), None)


def _fingerprint(entry: JournalEntry) -> bytes:
    return blake2b(dumped(journal_record(entry)), digest_size=16).digest()
