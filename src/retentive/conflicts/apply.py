"""Carrying out what was noticed, in the transaction of the write; everything is looked at again as it stands there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, Protocol

from retentive.conflicts.decide import Ruling
from retentive.conflicts.find import Denial, Notice, repeats
from retentive.conflicts.settings import Noticing
from retentive.recall.reinforce import read
from retentive.stores.protocol import Transaction
from retentive.types import Finding, FindingKind, Json, Memory, Vectors
from retentive.writing import FLAT_IMPORTANCE, Author, content, entry, supersede

REPEAT: Final = "repeat"
RAISED: Final = "importance_before"  # in a repetition's detail: what its greater importance took the place of


class Insert(Protocol):
    """Writes a memory that retires others, each for a reason."""

    def __call__(self, memory: Memory, vector: Vectors, *, why: Mapping[str, str]) -> Memory:
        """Return the memory as it was written."""


def finding_id(kind: FindingKind, *parts: str) -> str:
    """Return the id of a finding: the same for the same memories, so that what was dismissed is not found again."""
    return hashlib.blake2b("\0".join((kind, *parts)).encode(), digest_size=8).hexdigest()


def admit(
    tx: Transaction,
    draft: Memory,
    vector: Vectors,
    notice: Notice,
    kept: Sequence[Memory],
    noticing: Noticing,
    author: Author,
    insert: Insert,
) -> Memory:
    """Write a new memory with what it retires; or, where it only repeats, reinforce what it repeats."""

    def standing(reference: str | int) -> Memory | None:
        memory = tx.get(kept[reference].id if isinstance(reference, int) else reference)
        return memory if memory is not None and memory.retrievable else None

    if notice.repeats is not None:
        known = standing(notice.repeats)
        if known is not None and repeats(draft, known):
            return _reinforced(tx, known, draft, author)
    found = [(denial, other) for denial in notice.denials if (other := standing(denial.other)) is not None]
    sure = [denial for denial, _ in found if _applies(denial, noticing)]
    retires = {other.id: why(denial.ruling) for denial, other in found if denial in sure and not denial.outdated}
    memory = insert(draft.changed(supersedes=(*draft.supersedes, *retires)), vector, why=retires)
    for denial, other in found:
        newer, older = (other, memory) if denial.outdated else (memory, other)
        note(tx, newer, older, denial.ruling, "applied" if denial in sure else "open", author)
        if denial in sure and denial.outdated and memory.superseded_at is None:
            memory = retire(tx, older, newer, why(denial.ruling), author)
    return memory


def _applies(denial: Denial, noticing: Noticing) -> bool:
    return noticing.mode == "apply" and not denial.held_back and denial.ruling.confidence >= noticing.apply_from


def why(ruling: Ruling) -> str:
    """Say why a memory is retired, as the journal keeps it."""
    return f"conflict ({ruling.confidence:g}): {ruling.reason}"


def note(
    tx: Transaction,
    newer: Memory,
    older: Memory,
    ruling: Ruling,
    status: Literal["applied", "open"],
    author: Author,
) -> Finding:
    """Keep a conflict; one that was decided before stays as it was decided."""
    key = finding_id("conflict", *sorted((newer.id, older.id)))
    known = tx.finding(key)
    if known is not None:
        return known
    decided = author.now if status == "applied" else None
    found = Finding(key, author.now, "conflict", newer.id, older.id, ruling.confidence, ruling.reason, status, decided)
    tx.put_finding(found)
    return found


def retire(tx: Transaction, older: Memory, newer: Memory, reason: str, author: Author) -> Memory:
    """Retire a memory that stands already in favour of another that does; return it as it stands then."""
    heir = newer.changed(supersedes=(*(name for name in newer.supersedes if name != older.id), older.id))
    tx.replace(heir)
    tx.journal(entry("update", heir, author, before=newer, reason=f"it supersedes {older.id}"))
    supersede(tx, older, newer, author, reason)
    return tx.get(older.id) or older


# The same thing said again


def _reinforced(tx: Transaction, known: Memory, draft: Memory, author: Author) -> Memory:
    """Count a saying as a use of what it repeats, and keep what it says differently."""
    tx.set_access({known.id: read(known.access, author.now)})
    detail = _differing(draft, known)
    raised = known
    if draft.importance > known.importance and draft.importance != FLAT_IMPORTANCE:
        detail[RAISED] = known.importance
        raised = known.changed(importance=draft.importance)
        tx.replace(raised)
    ordinal = str(len(_said_before(tx, known, draft)))
    key = finding_id("repetition", known.id, draft.created_at.isoformat(), draft.text, ordinal)
    tx.put_finding(
        Finding(key, author.now, "repetition", known.id, status="applied", decided_at=author.now, detail=detail)
    )
    line = entry(REPEAT, raised, author, before=known, reason=f"said again (repetition {key})")
    tx.journal(line if raised is not known else replace(line, before=None, after=None))
    return tx.get(known.id) or raised


def _said_before(tx: Transaction, known: Memory, draft: Memory) -> list[str]:
    """Return the ids that sayings of this moment have taken already."""
    taken: list[str] = []
    while True:
        key = finding_id("repetition", known.id, draft.created_at.isoformat(), draft.text, str(len(taken)))
        if tx.finding(key) is None:
            return taken
        taken.append(key)


def _differing(draft: Memory, known: Memory) -> dict[str, Json]:
    """Return what a saying has otherwise than the memory it repeats; the rest is there already."""
    mine, theirs = content(draft), content(known)
    own: dict[str, Any] = {name: value for name, value in mine.items() if value != theirs[name]}
    state = ("id", "entities", "superseded_at", "superseded_by", "supersedes", "suppressed_at", "updated_at")
    return {name: value for name, value in own.items() if name not in state}
