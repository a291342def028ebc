"""Writing an export: a part file that grows line by line, and takes the target's name only when it is whole.

The journal comes before the memories. Whoever writes to the space meanwhile appends to the journal, so one look behind
the last line copied tells whether everything copied since still belongs together; if not, the export begins again, and
in the end it holds the writers off. What is interrupted leaves its part file, from which ``resume`` goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

from retentive.errors import InvalidInput, RetentiveError, StoreFull
from retentive.indexing import EMBEDDER_SETTING, identity_of
from retentive.once import NOT_EXPORTED
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.transfer.lines import DamagedExport, Header, checked_line, dumped, end_record
from retentive.transfer.past import memories_as_known
from retentive.transfer.records import finding_record, journal_record, ledger_record, memory_record, read_memory
from retentive.types import Gate, JournalEntry, Memory

BATCH: Final = 1_000
ATTEMPTS: Final = 4
"""How often an export begins before the last attempt holds the writers off."""

Progress = Callable[[int, int], None]


def part_of(target: Path) -> Path:
    """Return where an export is kept until it is whole."""
    return target.with_name(target.name + ".part")


def export_space(
    store: SpaceStore,
    target: Path,
    *,
    progress: Progress | None = None,
    resume: bool = False,
    gate: Gate | None = None,
) -> int:
    """Write a space to a file and return how many memories it holds; an existing file is replaced only by a whole one.

    ``gate`` narrows it to the memories that pass, as they were known then, without journal, findings and recalls.
    ``resume`` goes on from the part file of an interrupted export where the space was not written to since.
    """
    target = Path(target)
    if target.is_dir():
        raise InvalidInput(f"{str(target)!r} is a folder; name a file in it, e.g. {str(target / 'space.jsonl')!r}.")
    try:
        count = _export(store, part_of(target), progress or _silent, gate, resume=resume)
        part_of(target).replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    return count


def _silent(_done: int, _total: int) -> None:
    pass


def _unwritable(target: Path, error: OSError) -> RetentiveError:
    kind = StoreFull if error.errno == 28 else RetentiveError  # ENOSPC
    return kind(
        f"{str(target)!r} cannot be written: {error.strerror}. Give another path or make room, then export again.",
        path=str(target),
    )


def _export(store: SpaceStore, part: Path, progress: Progress, gate: Gate | None, *, resume: bool) -> int:
    for attempt in range(1, ATTEMPTS + 1):
        alone: AbstractContextManager[Any] = store.transaction() if attempt == ATTEMPTS else nullcontext()
        with alone, Part(part, resume=resume and attempt == 1) as out:
            sequence = _last_line(store) if gate else _write_story(store, out)
            count = _write_memories(store, out, progress, gate)
            if gate is None:
                _write_books(store, out)
            if not store.read_journal(after=sequence, limit=1):
                out.finish()
                return count
    raise AssertionError("unreachable: a transaction keeps every writer out")


def _write_story(store: SpaceStore, out: Part) -> int:
    """Write the header, settings and the journal; return the last sequence copied."""
    out.write(_header(store, _everything()))
    for name, value in sorted(store.settings().items()):
        if name != EMBEDDER_SETTING and not name.startswith(
            NOT_EXPORTED
        ):  # who was answered twice is nobody else's matter
            out.write({"type": "setting", "name": name, "value": value})
    sequence = 0
    for entry in journal_lines(store):
        out.write(journal_record(entry))
        sequence = entry.sequence
    return sequence


def _last_line(store: SpaceStore) -> int:
    return max((entry.sequence for entry in journal_lines(store)), default=0)


def _write_books(store: SpaceStore, out: Part) -> None:
    for finding in reversed(store.findings()):
        out.write(finding_record(finding))
    for recall in reversed(store.read_ledger()):
        out.write(ledger_record(recall))


def _header(store: SpaceStore, gate: Gate) -> dict[str, Any]:
    return Header(store.path, identity_of(store.setting(EMBEDDER_SETTING)), store.count(gate)).as_record()


def _write_memories(store: SpaceStore, out: Part, progress: Progress, gate: Gate | None) -> int:
    known_at = None if gate is None else gate.known_at
    if gate is not None:
        out.write(_header(store, gate))
    chosen = gate or _everything()
    total = store.count(chosen)
    count, after = out.kept_memories(store.path) if gate is None else (0, None)
    progress(count, total)
    while page := store.page(chosen, limit=BATCH, after=after):
        vectors = store.vectors([memory.id for memory in page])
        for memory, then in zip(page, memories_as_known(page, store, known_at), strict=True):
            vector = vectors.get(memory.id) if then.text == memory.text else None  # another text, another vector
            out.write(memory_record(then, vector))
        count, after = count + len(page), _cursor(page[-1])
        progress(count, max(total, count))
    return count


def _everything() -> Gate:
    return Gate(true_at=datetime.now(UTC), hidden=True)


def _cursor(memory: Memory) -> Cursor:
    return Cursor(memory.created_at, memory.id)


def journal_lines(store: SpaceStore) -> Iterator[JournalEntry]:
    """Yield the whole journal, a batch at a time."""
    after = 0
    while batch := store.read_journal(after=after, limit=BATCH):
        yield from batch
        after = batch[-1].sequence


class Part:
    """A part file. While resuming it compares what is written with what is there, and writes from the first difference.

    So a resumed export is trusted only as far as the space still says the same; what was left half-written is cut off.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._path = path
        self._digest = sha256()
        self._lines = 0
        known = os.O_RDWR | os.O_CREAT | (0 if resume else os.O_TRUNC) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(path, known, 0o600), "r+b")  # memories are private: not for other users
        self._comparing = resume

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def write(self, record: dict[str, Any]) -> None:
        """Append a record, or step over it where the part file has it already."""
        self._put(dumped(record))

    def _put(self, line: bytes) -> None:
        if self._comparing:
            place = self._file.tell()
            self._comparing = self._file.read(len(line)) == line
            if not self._comparing:
                self._cut(place)
        if not self._comparing:
            self._file.write(line)
        self._digest.update(line)
        self._lines += 1

    def _cut(self, place: int) -> None:
        self._file.seek(place)
        self._file.truncate()

    def kept_memories(self, space: str) -> tuple[int, Cursor | None]:
        """Step over the memories that an interrupted export wrote whole; return how many, and the place behind them."""
        count, cursor = 0, None
        while self._comparing:
            place = self._file.tell()
            raw = self._file.readline()
            memory = self._memory(raw, space)
            if memory is None:
                self._comparing = False
                self._cut(place)
                break
            self._digest.update(raw)
            self._lines += 1
            count, cursor = count + 1, _cursor(memory)
        return count, cursor

    def _memory(self, raw: bytes, space: str) -> Memory | None:
        """Read a line of the part file; None where it is the end, damaged, or of another type."""
        try:
            line = checked_line(self._path, self._lines + 1, raw)
            return read_memory(line.record(), space)[0] if line.kind == "memory" else None
        except (DamagedExport, ValueError):
            return None

    def finish(self) -> None:
        """Write the last line and bring everything to the disk."""
        self._comparing = False
        self._file.write(dumped(end_record(self._digest.hexdigest(), self._lines)))
        self._file.truncate()
        self._file.flush()
        os.fsync(self._file.fileno())
