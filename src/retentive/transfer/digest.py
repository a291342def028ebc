"""The digest of a space: over all that a move carries, in one order, whatever store it lies in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from retentive.once import MOVED
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.transfer.lines import dumped
from retentive.transfer.records import finding_record, journal_record, ledger_record, memory_record
from retentive.transfer.writing import BATCH, journal_lines
from retentive.types import Gate, Job, JournalEntry


def digest_of(space: SpaceStore) -> str:
    """Return the SHA-256 over settings, journal, memories with vectors and accesses, findings, recalls and jobs."""
    digest = sha256()
    for record in _records(space):
        digest.update(dumped(record))
    return digest.hexdigest()


def _records(space: SpaceStore) -> Iterator[Mapping[str, Any]]:
    for name, value in sorted(space.settings().items()):
        if not name.startswith(MOVED):
            yield {"type": "setting", "name": name, "value": value}
    yield from map(journal_record, journal_lines(space))
    yield from _memories(space)
    yield from map(finding_record, space.findings())
    yield from map(ledger_record, space.read_ledger())
    yield from map(_job_record, space.jobs())


def _memories(space: SpaceStore) -> Iterator[Mapping[str, Any]]:
    gate, after = Gate(true_at=datetime.now(UTC), hidden=True), None
    while page := space.page(gate, limit=BATCH, after=after):
        vectors = space.vectors([memory.id for memory in page])
        yield from (memory_record(memory, vectors.get(memory.id)) for memory in page)
        after = Cursor(page[-1].created_at, page[-1].id)


def _job_record(job: Job) -> dict[str, Any]:
    moments = {"created_at": job.created_at.isoformat(), "due_at": job.due_at.isoformat()}
    plain = {name: getattr(job, name) for name in ("id", "kind", "state", "attempts", "lease", "error")}
    return {"type": "job", **plain, **moments, "memories": list(job.memories), "payload": dict(job.payload)}


def told(space: SpaceStore) -> bool:
    """Say whether anything was ever written to a space."""
    return bool(space.read_journal(limit=1))


def is_emptied(ours: JournalEntry, theirs: JournalEntry) -> bool:
    """Say whether a line of a copy is still the source's: the same, or the same before the source emptied it."""
    if journal_record(ours) == journal_record(theirs):
        return True
    bare = not ours.reason and ours.before is None and ours.after is None
    return bare and _who(ours) == _who(theirs)


def _who(line: JournalEntry) -> tuple[object, ...]:
    return line.at, line.action, line.memory_id, line.actor
