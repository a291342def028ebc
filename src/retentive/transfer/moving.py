"""Moving whole stores: every space of one into another, of whatever kind, verified, while the source stays in use.

A pass compares both sides and writes what differs, so it is the copy, the catching up and the resumption in one. Passes
run beside the source's readers and writers until little changes; the last one keeps writers out, and afterwards both
sides must have the same digest. Nothing is embedded: vectors come along as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import numpy as np

from retentive.errors import InvalidInput, StoreCorrupt
from retentive.indexing import LANGUAGE_SETTING, index_terms, language_of
from retentive.maintain.reindex import re_index
from retentive.once import MOVED
from retentive.stores.protocol import Cursor, SpaceStore, Store, Transaction
from retentive.transfer.digest import digest_of, is_emptied, told
from retentive.transfer.writing import BATCH, Progress, journal_lines
from retentive.types import NEVER_READ, Access, Gate, Job, JournalEntry, Json, LedgerEntry, Memory, Vectors
from retentive.writing import Author

MARK: Final = MOVED + "from"
"""The setting by which a target knows that a move began it; its value is None, or the digest it ended with."""
PASSES: Final = 4
"""How often a space is caught up with before its writers are kept out."""
CALM: Final = 100
"""So few changes in a pass that the last one, which keeps writers out, is about as short as it will get."""

LARGEST: Final = 20
"""Batches that one moment's memories may fill before they are cut."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One space that was moved: how much is there, the digest of both sides, and how much was written for it."""

    space: str
    memories: int
    digest: str
    written: int


def move_spaces(
    source: Store, target: Store, *, spaces: Sequence[str] | None = None, progress: Progress | None = None
) -> list[Moved]:
    """Move spaces (None: all) into another store, and return what was moved; what is there already is stepped over.

    The source is only read. Interrupted, it is simply done again. A space of the target that another than such a move
    wrote is refused before anything is written to it.
    """
    chosen = sorted(set(spaces)) if spaces is not None else source.spaces()
    bar = _Bar(progress, sum(source.open(path, create=False).count(_everything()) for path in chosen))
    moved: dict[str, Moved] = {}
    while chosen:
        for path in chosen:
            moved[path] = _move(source.open(path, create=False), _opened(target, path), bar)
        # spaces that were made meanwhile
        chosen = [path for path in source.spaces() if path not in moved] if spaces is None else []
    return [moved[path] for path in sorted(moved)]


class _Bar:
    """Progress over all spaces: a memory counts once, in its space's first pass."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress: Callable[[int, int], object] = progress or (lambda _done, _total: None)
        self._done, self._total = 0, total
        self._progress(0, total)

    def advance(self, count: int) -> None:
        self._done += count
        self._progress(self._done, max(self._done, self._total))


def _everything() -> Gate:
    return Gate(true_at=datetime.now(UTC), hidden=True)


def _opened(target: Store, path: str) -> SpaceStore:
    """Open a space to move into: one that is empty or that a move made, and nobody wrote to since."""
    space = target.open(path)
    mark = space.settings().get(MARK, False)
    if mark is False and (told(space) or space.count(_everything()) or space.settings()):
        raise InvalidInput(
            f"Space {path!r} is in the target already, and no move brought it there. Drop it there, or leave it out by "
            "naming the others with --space.",
            space=path,
        )
    ended = mark.get("digest") if isinstance(mark, dict) else None
    if ended is not None and ended != digest_of(space):
        raise InvalidInput(
            f"Space {path!r} was written to in the target since it was moved there; moving again would undo that. Drop "
            "it there, or leave it out by naming the others with --space.",
            space=path,
        )
    _mark(space, None)
    return space


def _mark(space: SpaceStore, digest: str | None) -> None:
    with space.transaction() as tx:
        tx.set_setting(MARK, {"digest": digest})


def _move(source: SpaceStore, target: SpaceStore, bar: _Bar) -> Moved:
    move = _Move(source, target)
    move.check()
    written = move.catch_up(bar.advance)
    for _ in range(PASSES - 1):
        if (changed := move.catch_up()) <= CALM:
            break
        written += changed
    with source.transaction() as alone:
        written += move.catch_up(last=True)
        count, digest = source.count(_everything()), digest_of(source)
        alone.setting(MARK)  # says `StoreBusy` where the lock was lost on the way and somebody wrote
    if (target.count(_everything()), digest_of(target)) != (count, digest):
        raise StoreCorrupt(
            f"Space {source.path!r} reads differently in the target than in the source. Look at both with `retentive "
            "doctor`, drop it in the target, and move it again.",
            space=source.path,
        )
    _mark(target, digest)
    return Moved(source.path, count, digest, written)


class _Move:
    """One space on its way."""

    def __init__(self, source: SpaceStore, target: SpaceStore) -> None:
        self._source = source
        self._target = target
        self._until = 0  # the last journal line of the source that was there when a pass began
        self._written = 0

    def check(self) -> None:
        """Refuse a target whose journal is not the beginning of the source's."""
        for ours, theirs in _paired(journal_lines(self._source), journal_lines(self._target)):
            if theirs is not None and (ours is None or not is_emptied(ours, theirs)):
                raise self._another()

    def _another(self) -> InvalidInput:
        return InvalidInput(
            f"Space {self._source.path!r} has another story in the target than in the source: it was moved there from "
            "elsewhere, or somebody wrote to it. Drop it there, or leave it out by naming the others with --space.",
            space=self._source.path,
        )

    def catch_up(self, advance: Callable[[int], None] | None = None, *, last: bool = False) -> int:
        """Write what differs, and return how much that was.

        The journal is taken up to where it stood before the memories were looked at: a memory whose erasing is noted in
        the target is erased there already, and its tombstone stays as it is.
        """
        self._written = 0
        self._speak_alike()
        for entry in self._behind(self._until):
            self._until = entry.sequence
        self._copy_memories(advance, last=last)
        self._erase_vanished()
        self._copy_journal()
        self._copy_findings()
        self._copy_ledger()
        self._copy_settings_and_jobs()
        return self._written

    def _speak_alike(self) -> None:
        """Index what the target has by the source's language, which may have changed meanwhile."""
        language = language_of(self._source)
        if language_of(self._target) != language:
            with self._target.transaction() as tx:
                tx.set_setting(LANGUAGE_SETTING, language)
                self._written += re_index(self._target, tx, language, Author(self._target.path, datetime.now(UTC)))

    def _behind(self, sequence: int) -> Iterator[JournalEntry]:
        while batch := self._source.read_journal(after=sequence, limit=BATCH):
            yield from batch
            sequence = batch[-1].sequence

    # Memories

    def _copy_memories(self, advance: Callable[[int], None] | None, *, last: bool) -> None:
        for page in _whole_moments(_pages(self._source)):
            self._copy_page(page, last=last)
            if advance is not None:
                advance(len(page))

    def _copy_page(self, page: Sequence[Memory], *, last: bool) -> None:
        ids = [memory.id for memory in page]
        vectors, present, known = self._source.vectors(ids), self._target.get(ids), self._target.vectors(ids)
        differing = [
            memory
            for memory in page
            if present.get(memory.id) != memory or not _equal(known.get(memory.id), vectors.get(memory.id))
        ]
        if lacking := [memory.id for memory in differing if memory.id not in vectors]:
            if last:
                raise StoreCorrupt(
                    f"Memory {lacking[0]!r} of {self._source.path!r} has no vector; `retentive doctor --repair` gives "
                    "it one, then move again.",
                    id=lacking[0],
                )
            differing = [memory for memory in differing if memory.id in vectors]  # erased since the page was read
        if differing:
            order = _rows_of(self._source, differing)
            differing.sort(key=lambda memory: order.get(memory.id, 0))
            with self._target.transaction() as tx:
                tx.expect([memory.id for memory in differing])
                for memory in differing:
                    _put(tx, memory, present.get(memory.id), vectors[memory.id], known.get(memory.id))
            self._written += len(differing)

    def _erase_vanished(self) -> None:
        """Erase what was erased in the source since it was copied."""
        if self._target.count(_everything()) == self._source.count(_everything()):
            return
        for page in _pages(self._target):
            there = self._source.get([memory.id for memory in page])
            if gone := [memory.id for memory in page if memory.id not in there]:
                with self._target.transaction() as tx:
                    for memory_id in gone:
                        tx.erase(memory_id)
                self._written += len(gone)

    # Books

    def _copy_journal(self) -> None:
        theirs = journal_lines(self._target)
        fresh: list[JournalEntry] = []
        emptied: list[int] = []
        for ours, other in _paired(self._up_to_here(), theirs):
            if ours is None:
                raise self._another()
            if other is None:
                fresh.append(ours)
            elif not is_emptied(ours, other):
                raise self._another()
            elif (ours.reason, ours.before, ours.after) != (other.reason, other.before, other.after):
                emptied.append(other.sequence)
            if len(fresh) + len(emptied) >= BATCH:
                self._write_lines(fresh, emptied)
        self._write_lines(fresh, emptied)

    def _up_to_here(self) -> Iterator[JournalEntry]:
        for entry in self._behind(0):
            if entry.sequence > self._until:
                return
            yield entry

    def _write_lines(self, fresh: list[JournalEntry], emptied: list[int]) -> None:
        if fresh or emptied:
            with self._target.transaction() as tx:
                for entry in fresh:
                    tx.journal(entry)
                tx.redact(lines=emptied)
            self._written += len(fresh) + len(emptied)
            fresh.clear()
            emptied.clear()

    def _copy_findings(self) -> None:
        known = {finding.id: finding for finding in self._target.findings()}
        differing = [finding for finding in self._source.findings() if known.get(finding.id) != finding]
        if differing:
            with self._target.transaction() as tx:
                for finding in differing:
                    tx.put_finding(finding)
            self._written += len(differing)

    def _copy_ledger(self) -> None:
        ours = self._source.read_ledger()[::-1]
        known = {entry.id: entry for entry in self._target.read_ledger()}
        for batch in _batches([entry for entry in ours if not _same_recall(known.get(entry.id), entry)]):
            with self._target.transaction() as tx:
                for entry in batch:
                    _put_recall(tx, entry, known.get(entry.id))
            self._written += len(batch)
        if known.keys() - {entry.id for entry in ours}:  # the source let go of its oldest meanwhile
            with self._target.transaction() as tx:
                tx.trim_ledger(before=ours[0].at if ours else datetime.now(UTC), keep=len(ours))

    def _copy_settings_and_jobs(self) -> None:
        ours, theirs = _settings(self._source), _settings(self._target)
        jobs, known = self._source.jobs(), self._target.jobs()
        differing = {name: ours.get(name) for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
        if differing or jobs != known:
            with self._target.transaction() as tx:
                for name, value in differing.items():
                    tx.set_setting(name, value)
                if jobs != known:
                    _put_jobs(tx, jobs, known)
            self._written += len(differing) + (len(jobs) if jobs != known else 0)


def _settings(space: SpaceStore) -> dict[str, Json]:
    return {name: value for name, value in space.settings().items() if not name.startswith(MOVED)}


def _put(tx: Transaction, memory: Memory, present: Memory | None, vector: Vectors, known: Vectors | None) -> None:
    if present is None:
        tx.insert(memory, vector, index_terms(memory, language_of(tx)))
        return
    if present.changed(access=NEVER_READ) != memory.changed(access=NEVER_READ) or not _equal(vector, known):
        tx.replace(memory, vector, index_terms(memory, language_of(tx)))
    if present.access != memory.access:
        access: Access = memory.access
        tx.set_access({memory.id: access})


def _put_recall(tx: Transaction, entry: LedgerEntry, known: LedgerEntry | None) -> None:
    if known is None:
        tx.log_recall(entry)
        return
    if not entry.cue and known.cue:
        tx.redact(recalls=[entry.id])
    tx.log_feedback(entry.id, entry.used, entry.outcome)


def _put_jobs(tx: Transaction, jobs: Sequence[Job], known: Sequence[Job]) -> None:
    """Write the whole queue anew: the order in which jobs were put is the source's."""
    for job in known:
        tx.drop_job(job.id)
    for job in jobs:
        tx.put_job(job)


def _same_recall(one: LedgerEntry | None, other: LedgerEntry) -> bool:
    """Compare what may change of a recall after it was logged."""
    return one is not None and (one.cue, one.used, one.outcome) == (other.cue, other.used, other.outcome)


def _equal(one: Vectors | None, other: Vectors | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _pages(space: SpaceStore) -> Iterator[list[Memory]]:
    after: Cursor | None = None
    while page := space.page(_everything(), limit=BATCH, after=after):
        yield page
        after = Cursor(page[-1].created_at, page[-1].id)


def _whole_moments(pages: Iterable[list[Memory]]) -> Iterator[list[Memory]]:
    """Cut pages between moments: turns of one moment stand in the order they were written in, so they go together.

    Only a moment of very many memories is cut all the same: it must fit in memory.
    """
    held: list[Memory] = []
    for page in pages:
        held += page
        cut = next(place for place, memory in enumerate(held) if memory.created_at == held[-1].created_at)
        if cut == 0 and len(held) >= LARGEST * BATCH:
            cut = len(held)
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _rows_of(space: SpaceStore, memories: Sequence[Memory]) -> dict[str, int]:
    """Return the row of each memory: their order is the order of writing, which decides between turns of one moment."""
    ids = frozenset(memory.id for memory in memories)
    found = space.recent(Gate(true_at=datetime.now(UTC), hidden=True, ids=ids), len(ids))
    columns = space.columns(found.rows)
    return dict(zip(columns.ids, columns.rows.tolist(), strict=True))


def _batches(entries: Sequence[LedgerEntry]) -> Iterator[Sequence[LedgerEntry]]:
    for start in range(0, len(entries), BATCH):
        yield entries[start : start + BATCH]


def _paired(
    ours: Iterable[JournalEntry], theirs: Iterator[JournalEntry]
) -> Iterator[tuple[JournalEntry | None, JournalEntry | None]]:
    """Walk two journals side by side; what is appended to the second one on the way is not met."""
    ended = False
    for entry in ours:
        other = None if ended else next(theirs, None)
        ended = other is None
        yield entry, other
    if not ended and (other := next(theirs, None)) is not None:
        yield None, other
