"""What people do about what was noticed: look at it, accept or dismiss a conflict, take a repetition apart again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from retentive.conflicts.apply import RAISED, note, retire, why
from retentive.conflicts.decide import Ruling
from retentive.conflicts.find import Denial, is_statement, look_again
from retentive.conflicts.settings import Noticing
from retentive.embedders.protocol import checked_vectors
from retentive.errors import InvalidInput, NotFound, unknown_name
from retentive.indexing import passage
from retentive.keeping import Keeper, Progress
from retentive.once import done_before, note_done, once_of
from retentive.pages import Listed, Walk, checked_size
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.types import Draft, Finding, Gate, JournalEntry, Json, Memory
from retentive.writing import Author, checked_id, entry, memory_of

STATES: Final = ("open", "applied", "accepted", "dismissed")
_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories of which the newer denies the older, as far as could be read."""

    id: str
    newer: Memory
    older: Memory
    confidence: float
    reason: str
    status: str
    at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Repetition:
    """A saying that was not kept beside the memory it repeats; ``said`` is what it had otherwise."""

    id: str
    memory: Memory
    said: Mapping[str, Json]
    status: str
    at: datetime
    separated: str | None = None  # the memory it became again


def list_conflicts(store: SpaceStore, status: str | None, limit: int, cursor: str | None = None) -> Listed[Conflict]:
    """Return a page of conflicts with both memories, newest first; without a status, whatever became of them."""
    if status is not None and status not in STATES:
        raise unknown_name("status of a conflict", status, STATES)
    walk = Walk("conflicts", store.path, status=status)
    after, more = walk.begin(cursor), checked_size(limit) + 1
    with store.snapshot():
        page = walk.page(store.findings(kind="conflict", status=status, limit=more, after=after), limit, _place)
        return Listed(_conflicts(store, page), page.cursor)


def _place(finding: Finding) -> Cursor:
    return Cursor(finding.at, finding.id)


def _conflicts(store: SpaceStore, findings: Iterable[Finding]) -> Iterable[Conflict]:
    found = list(findings)
    sides = {name for finding in found for name in (finding.memory_id, finding.other_id) if name}
    memories = store.get(sorted(sides))
    for finding in found:
        newer, older = memories.get(finding.memory_id), memories.get(finding.other_id or "")
        if newer is not None and older is not None:
            yield _conflict(finding, newer, older)


def _conflict(finding: Finding, newer: Memory, older: Memory) -> Conflict:
    return Conflict(
        finding.id,
        newer,
        older,
        finding.confidence,
        finding.reason,
        finding.status,
        finding.at,
        finding.decided_at,
    )


def accept(store: SpaceStore, conflict_id: str, author: Author, reason: str, once: str | None = None) -> Conflict:
    """Retire the older memory of a conflict in favour of the newer."""
    asked = once_of(once, "accept", conflict_id, reason)
    with store.transaction() as tx:
        finding, newer, older = _found(tx, conflict_id, store.path)
        if done_before(asked, tx) is not None:
            return _conflict(finding, newer, older)
        if finding.status in {"applied", "accepted"}:
            raise InvalidInput(f"Conflict {conflict_id!r} is {finding.status} already.", id=conflict_id)
        for memory in (newer, older):
            if not memory.retrievable:
                gone = "superseded" if memory.superseded_at else "hidden"
                raise InvalidInput(
                    f"Conflict {conflict_id!r} is settled: memory {memory.id!r} is {gone} already. Dismiss it.",
                    id=conflict_id,
                )
        told = why(Ruling(finding.confidence, finding.reason)) + (f"; accepted: {reason}" if reason else "; accepted")
        older = retire(tx, older, newer, told, author)
        decided = replace(finding, status="accepted", decided_at=author.now)
        tx.put_finding(decided)
        note_done(asked, tx, [conflict_id], author.now)
        return _conflict(decided, tx.get(newer.id) or newer, older)


def dismiss(store: SpaceStore, conflict_id: str, author: Author, reason: str, once: str | None = None) -> Conflict:
    """Say that two memories do not deny one another; where one was retired for it, bring it back."""
    asked = once_of(once, "dismiss", conflict_id, reason)
    with store.transaction() as tx:
        finding, newer, older = _found(tx, conflict_id, store.path)
        if done_before(asked, tx) is not None:
            return _conflict(finding, newer, older)
        if finding.status == "dismissed":
            raise InvalidInput(f"Conflict {conflict_id!r} is dismissed already.", id=conflict_id)
        if finding.status in {"applied", "accepted"}:
            newer, older = _brought_back(tx, newer, older, author, reason)
        else:
            line = entry(
                "dismiss", newer, author, reason=f"no conflict with {older.id}{': ' if reason else ''}{reason}"
            )
            tx.journal(replace(line, after=None))
        decided = replace(finding, status="dismissed", decided_at=author.now)
        tx.put_finding(decided)
        note_done(asked, tx, [conflict_id], author.now)
        return _conflict(decided, newer, older)


def _found(tx: Transaction, conflict_id: str, path: str) -> tuple[Finding, Memory, Memory]:
    finding = tx.finding(checked_id(conflict_id))
    if finding is None or finding.kind != "conflict" or finding.other_id is None:
        raise NotFound(f"No conflict {conflict_id!r} in space {path!r}; `retentive conflicts list` shows them.")
    newer, older = tx.get(finding.memory_id), tx.get(finding.other_id)
    if newer is None or older is None:
        raise NotFound(f"A memory of conflict {conflict_id!r} is not in space {path!r} any more.", id=conflict_id)
    return finding, newer, older


def _brought_back(tx: Transaction, newer: Memory, older: Memory, author: Author, reason: str) -> tuple[Memory, Memory]:
    """Undo a supersession, unless something else has retired the memory or holds its key since."""
    if older.superseded_by != newer.id:
        return newer, older
    others = [held.id for held in tx.holders(older.key) if held.id != older.id] if older.key else []
    if others:
        raise InvalidInput(
            f"Memory {older.id!r} cannot come back: {others[0]!r} holds its key {older.key!r} now. Give one of them "
            "another key first.",
            id=older.id,
        )
    told = f"conflict with {newer.id} dismissed{': ' if reason else ''}{reason}"
    back = older.changed(superseded_at=None, superseded_by=None)
    tx.replace(back)
    tx.journal(entry("restore", back, author, before=older, reason=told))
    alone = newer.changed(supersedes=tuple(name for name in newer.supersedes if name != older.id))
    tx.replace(alone)
    tx.journal(entry("update", alone, author, before=newer, reason=f"conflict with {older.id} dismissed"))
    return alone, back


def find_conflicts(keeper: Keeper, noticing: Noticing, limit: int, progress: Progress | None = None) -> list[Conflict]:
    """Look through what is there already, newest first, and list what conflicts: after an import, or an upgrade.

    Nothing is retired. ``limit`` is how many memories are looked at.
    """
    gate = Gate(true_at=keeper.author.now)
    total, looked, after = min(checked_size(limit), keeper.store.count(gate)), 0, None
    found: list[Finding] = []
    while looked < total and (page := keeper.store.page(gate, limit=min(_PAGE, total - looked), after=after)):
        after = Cursor(page[-1].created_at, page[-1].id)
        seen = [(memory, denial) for memory in page for denial in _denials(keeper, memory, noticing, gate)]
        found += _noted(keeper, seen) if seen else []
        looked += len(page)
        if progress is not None:
            progress(looked, total)
    return list(
        _conflicts(keeper.store, {finding.id: finding for finding in found if finding.status == "open"}.values())
    )


def _denials(keeper: Keeper, memory: Memory, noticing: Noticing, gate: Gate) -> tuple[Denial, ...]:
    vectors = keeper.store.vectors([memory.id]) if is_statement(memory) else {}
    return look_again(keeper.store, memory, vectors[memory.id], noticing, gate) if vectors else ()


def _noted(keeper: Keeper, seen: Iterable[tuple[Memory, Denial]]) -> list[Finding]:
    found = []
    with keeper.store.transaction() as tx:
        for memory, denial in seen:
            one, other = tx.get(memory.id), tx.get(str(denial.other))
            if one is None or other is None or not (one.retrievable and other.retrievable):
                continue
            newer, older = (other, one) if denial.outdated else (one, other)
            found.append(note(tx, newer, older, denial.ruling, "open", keeper.author))
        tx.journal(JournalEntry(keeper.author.now, "find_conflicts", "", keeper.author.actor, f"{len(found)} noted"))
    return found


# Repetitions


def list_repetitions(store: SpaceStore, about: str | None, limit: int, cursor: str | None = None) -> Listed[Repetition]:
    """Return a page of the sayings that only reinforced a memory, newest first: all of them, or those of one memory."""
    walk = Walk("repetitions", store.path, memory=about)
    after, more = walk.begin(cursor), checked_size(limit) + 1
    with store.snapshot():
        found = walk.page(store.findings(kind="repetition", about=about, limit=more, after=after), limit, _place)
        memories = store.get(sorted({finding.memory_id for finding in found}))
    kept = ((finding, memories.get(finding.memory_id)) for finding in found)
    return Listed((_repetition(finding, memory) for finding, memory in kept if memory is not None), found.cursor)


def _repetition(finding: Finding, memory: Memory) -> Repetition:
    said = {name: value for name, value in finding.detail.items() if name != RAISED}
    return Repetition(finding.id, memory, said, finding.status, finding.at, finding.other_id)


def separate(keeper: Keeper, repetition_id: str, reason: str, once: str | None = None) -> Memory:
    """Keep a saying beside the memory that it was taken for a repetition of."""
    asked = once_of(once, "separate", repetition_id, reason)
    keeper.check_embedder()
    known = {finding.id: finding for finding in keeper.store.findings(kind="repetition")}
    finding = known.get(checked_id(repetition_id))
    if finding is None:
        path = keeper.store.path
        raise NotFound(f"No repetition {repetition_id!r} in space {path!r}; `retentive repetitions list` shows them.")
    kept = keeper.get(finding.memory_id, touch=False)
    saying = _saying(finding, kept, keeper.author)
    vector = checked_vectors(keeper.embedder, [passage(saying)])[0]
    with keeper.store.transaction() as tx:
        if (done := done_before(asked, tx)) is not None:
            return keeper.get(done[0], touch=False)
        current = tx.finding(repetition_id)
        if current is None or current.status != "applied":
            gone = "separated" if current is not None and current.status == "undone" else "erased"
            raise InvalidInput(f"Repetition {repetition_id!r} was {gone} already.", id=repetition_id)
        keeper.stamp(tx)
        memory = keeper.insert(tx, saying, vector)
        _lowered(tx, current, keeper.author)
        tx.put_finding(replace(current, status="undone", decided_at=keeper.author.now, other_id=memory.id))
        told = f"repetition {repetition_id} is kept beside it as {memory.id}{': ' if reason else ''}{reason}"
        tx.journal(replace(entry("separate", kept, keeper.author, reason=told), after=None))
        note_done(asked, tx, [memory.id], keeper.author.now)
    return memory


def _saying(finding: Finding, kept: Memory, author: Author) -> Memory:
    """Return what was said as a memory of its own: what it had otherwise, and else what it shared."""
    own: dict[str, Any] = {name: value for name, value in finding.detail.items() if name != RAISED}
    times = {name: datetime.fromisoformat(str(own.pop(name))) for name in ("created_at", "recorded_at") if name in own}
    shared = {name: getattr(kept, name) for name in ("kind", "importance", "tags", "metadata", "source", "speaker")}
    shared |= {name: getattr(kept, name) for name in ("session", "derived_from", "recurs", "trust", "text")}
    spans = {"valid_from": kept.valid_from, "valid_until": kept.valid_until}
    draft = Draft(**{**shared, **spans, **own, "at": times.get("created_at", kept.created_at), "id": None})
    kinds = {*author.kinds, draft.kind}  # it was registered when it was said
    memory = memory_of(draft, replace(author, kinds=kinds))
    return memory.changed(recorded_at=times.get("recorded_at", kept.recorded_at))


def _lowered(tx: Transaction, finding: Finding, author: Author) -> None:
    """Give a memory the importance back that it had before this repetition raised it."""
    before, kept = finding.detail.get(RAISED), tx.get(finding.memory_id)
    if not isinstance(before, int | float) or kept is None or kept.importance <= before:
        return
    lowered = kept.changed(importance=float(before))
    tx.replace(lowered)
    tx.journal(entry("update", lowered, author, before=kept, reason=f"repetition {finding.id} was separated"))
