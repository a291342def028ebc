"""Pruning: suppress what nobody needs, a batch at a time, beside live traffic. Nothing is deleted.

A run notes how far it has come after each batch, in the batch's own transaction: one that was killed is taken up by the
next with the same rules. Every decision is made again inside the transaction that carries it out, so that a memory
which was read, pinned or named as evidence a moment ago stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.maintain.decide import REACTIVATE, SUPPRESS, PruneRules, Verdict, active, judge
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.types import Gate, Json, Memory
from retentive.writing import Author, entry

BATCH: Final = 500
PROGRESS_SETTING: Final = "prune.progress"
TAKEN_UP_WITHIN: Final = timedelta(days=1)
"""A run that stopped longer ago is begun anew: what it passed over may have ripened since."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What a run looked at, and what it suppressed (or would: ``dry_run``)."""

    looked_at: int
    pruned: tuple[Verdict, ...]
    dry_run: bool = False
    resumed: bool = False


def prune_space(
    store: SpaceStore,
    author: Author,
    rules: PruneRules,
    *,
    dry_run: bool = False,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> PruneReport:
    """Suppress every memory for which all conditions hold."""
    given: object = batch
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidInput(f"batch={batch!r} is not a whole number from 1 up.", value=batch)
    gate = _old_enough(rules, author.now)
    after = None if dry_run else _place(store, rules, author.now)
    resumed, looked, total = after is not None, 0, store.count(gate)
    pruned: list[Verdict] = []
    while page := store.page(gate, limit=batch, after=after):
        after = Cursor(page[-1].created_at, page[-1].id)
        found = _decided(store, page, rules, author.now) if dry_run else _suppressed(store, page, rules, author, after)
        pruned += [verdict for _, verdict in found]
        looked += len(page)
        if progress is not None:
            progress(looked, max(total, looked))
    if not dry_run:
        _finished(store)
    return PruneReport(looked, tuple(pruned), dry_run, resumed)


def _old_enough(rules: PruneRules, now: datetime) -> Gate:
    """Look only at what is old enough: the first condition, where the store can answer it without reading rows."""
    try:
        until = now - timedelta(days=rules.age_days)
    except OverflowError:
        until = datetime.min.replace(tzinfo=now.tzinfo)
    return Gate(true_at=now, hidden=True, until=until)


def _decided(
    store: SpaceStore, page: Iterable[Memory], rules: PruneRules, now: datetime
) -> list[tuple[Memory, Verdict]]:
    """Return what is to be suppressed: cheap conditions first, then who leans on those that are left."""
    shown = [memory for memory in page if memory.suppressed_at is None]
    likely = [memory for memory in shown if judge(memory, rules, now).prune]
    leaning = evidence(store, [memory.id for memory in likely], rules, now)
    judged = [(memory, judge(memory, rules, now, leaning[memory.id])) for memory in likely]
    return [(memory, verdict) for memory, verdict in judged if verdict.prune]


def _suppressed(
    store: SpaceStore, page: Iterable[Memory], rules: PruneRules, author: Author, after: Cursor
) -> list[tuple[Memory, Verdict]]:
    """Decide once more while nobody else writes, and carry it out; note how far this run has come."""
    likely = [memory.id for memory in page if judge(memory, rules, author.now).prune]
    with store.transaction() as tx:
        current = [memory for memory in map(tx.get, likely) if memory is not None]
        found = _decided(store, current, rules, author.now)
        _apply(tx, found, author)
        tx.set_setting(PROGRESS_SETTING, _progress(rules, author.now, after))
    return found


def evidence(store: SpaceStore, ids: Sequence[str], rules: PruneRules, now: datetime) -> Mapping[str, list[str]]:
    """Return for each id the active memories, of the kinds that count, that were derived from it."""
    leaning: dict[str, list[str]] = {memory_id: [] for memory_id in ids}
    for memory in store.derived(ids) if ids and rules.evidence_kinds else ():
        if memory.kind in rules.evidence_kinds and active(memory, now):
            for memory_id in leaning.keys() & set(memory.derived_from):
                leaning[memory_id].append(memory.id)
    return leaning


def _apply(tx: Transaction, found: Iterable[tuple[Memory, Verdict]], author: Author) -> None:
    for memory, verdict in found:
        hidden = memory.changed(suppressed_at=author.now)
        tx.replace(hidden)
        tx.journal(entry(SUPPRESS, hidden, author, before=memory, reason=f"pruned: {verdict.reason}"))


def reactivated(store: SpaceStore, tx: Transaction, memory: Memory, rules: PruneRules, author: Author) -> Memory:
    """Clear the flag that pruning set where a condition no longer holds; what a person hid stays hidden."""
    if memory.suppressed_at is None or not _was_pruned(store, memory.id):
        return memory
    leaning = evidence(store, [memory.id], rules, author.now)
    verdict = judge(memory, rules, author.now, leaning[memory.id])
    if verdict.prune:
        return memory
    shown = memory.changed(suppressed_at=None)
    tx.replace(shown)
    tx.journal(entry(REACTIVATE, shown, author, before=memory, reason=f"fetched by id: {verdict.reason}"))
    return shown


def _was_pruned(store: SpaceStore, memory_id: str) -> bool:
    """Whether the flag that stands now is pruning's, by what the journal says last of it."""
    lines = store.read_journal(memory_id)
    flags = [line.action for line in lines if line.action in {SUPPRESS, REACTIVATE, "forget"}]
    return bool(flags) and flags[-1] == SUPPRESS


# Where a run stands


def _progress(rules: PruneRules, now: datetime, after: Cursor) -> Json:
    place = [after.created_at.isoformat(), after.id]
    return {"rules": rules.as_dict(), "at": now.isoformat(), "after": place}


def _place(store: SpaceStore, rules: PruneRules, now: datetime) -> Cursor | None:
    """Return where a run with these rules stopped not long ago; None: begin at the beginning."""
    noted: Any = store.setting(PROGRESS_SETTING)
    try:
        recent = abs(now - datetime.fromisoformat(noted["at"])) <= TAKEN_UP_WITHIN
        if recent and noted["rules"] == rules.as_dict():
            return Cursor(datetime.fromisoformat(noted["after"][0]), str(noted["after"][1]))
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    return None


def _finished(store: SpaceStore) -> None:
    if store.setting(PROGRESS_SETTING) is not None:
        with store.transaction() as tx:
            tx.set_setting(PROGRESS_SETTING, None)
