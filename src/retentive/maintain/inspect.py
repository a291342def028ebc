"""Looking through what a space says of itself, and mending what is safe: each trouble knows its own remedy.

Safe is what follows from the rows without a guess: a vector from its text, a link from its other end, a use that has
not happened yet. What a person has to decide is named with what to do, and left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from retentive.embedders.protocol import Embedder, checked_vectors
from retentive.indexing import index_terms, language_of, passage
from retentive.maintain.forget import everything, journal_lines
from retentive.maintain.reembed import TARGET_SETTING
from retentive.stores.protocol import SpaceStore
from retentive.types import Access, Memory
from retentive.writing import Author, entry

SLACK: Final = timedelta(minutes=5)
"""How far ahead of our clock, or behind the line before, a moment may lie before we say so."""
SHOWN: Final = 3

Mend = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is not as it should be: what to do about it, and how to mend it where that is safe."""

    what: str
    remedy: str
    serious: bool = False
    mend: Mend | None = None


def inspect(store: SpaceStore, now: datetime, author: Author | None = None) -> list[Trouble]:
    """Look through memories, links, journal and settings; only with an author can anything be mended."""
    memories = {memory.id: memory for memory in everything(store)}
    author = author or Author(store.path, now)
    found = [*_links(memories, store, author), *_evidence(memories, store), *_clocks(memories, store, now)]
    return [*found, *_moves(store), *_books(memories, store)]


def complete(store: SpaceStore, lacking: list[Memory], embedder: Embedder) -> str:
    """Give memories the vectors and terms that they lack, from their texts."""
    vectors = checked_vectors(embedder, [passage(memory) for memory in lacking])
    with store.transaction() as tx:
        for memory, vector in zip(lacking, vectors, strict=True):
            if (now := tx.get(memory.id)) is not None:
                tx.replace(now, vector, index_terms(now, language_of(tx)))
    return f"{len(lacking)} memories got their vector and index terms anew, from their texts."


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


# Supersession and evidence


def _links(memories: dict[str, Memory], store: SpaceStore, author: Author) -> Iterator[Trouble]:
    one_sided = [memory for memory in memories.values() if _unheard(memory, memories)]
    if one_sided:
        yield Trouble(
            f"{len(one_sided)} memories are superseded by one that does not name them: "
            f"{_named([memory.id for memory in one_sided])}.",
            "`retentive doctor --repair` lets the newer ones name them, so that the chain can be walked both ways.",
            mend=lambda: _linked(one_sided, store, author),
        )
    timeless = [memory.id for memory in memories.values() if memory.superseded_by and memory.superseded_at is None]
    if timeless:
        yield Trouble(
            f"{len(timeless)} memories name a successor, and no moment since when: {_named(timeless)}.",
            "They are still recalled. Supersede them again, or update them.",
        )


def _unheard(memory: Memory, memories: dict[str, Memory]) -> bool:
    successor = memories.get(memory.superseded_by or "")
    return successor is not None and memory.id not in successor.supersedes


def _linked(one_sided: list[Memory], store: SpaceStore, author: Author) -> str:
    with store.transaction() as tx:
        for memory in one_sided:
            successor = tx.get(memory.superseded_by or "")
            if successor is not None and memory.id not in successor.supersedes:
                changed = successor.changed(supersedes=(*successor.supersedes, memory.id))
                tx.replace(changed)
                tx.journal(entry("update", changed, author, before=successor, reason=f"it supersedes {memory.id}"))
    return f"{len(one_sided)} links of supersession were closed."


def _evidence(memories: dict[str, Memory], store: SpaceStore) -> Iterator[Trouble]:
    """Conclusions whose evidence was erased here; what nobody ever stored (a document's name) is not missed."""
    missing = {name for memory in memories.values() for name in memory.derived_from if name not in memories}
    erased = {name for name in missing if any(line.action == "erase" for line in store.read_journal(name))}
    orphans = [
        memory.id
        for memory in memories.values()
        if memory.derived_from and set(memory.derived_from) <= erased and memory.retrievable
    ]
    if orphans:
        yield Trouble(
            f"{len(orphans)} conclusions have lost all their evidence to erasure: {_named(orphans)}.",
            "Read them (`retentive reflect --shaken`); forget those that should not stand alone.",
        )


# Clocks


def _clocks(memories: dict[str, Memory], store: SpaceStore, now: datetime) -> Iterator[Trouble]:
    ahead = now + SLACK
    used = [memory for memory in memories.values() if memory.access.last_at and memory.access.last_at > ahead]
    if used:
        yield Trouble(
            f"{len(used)} memories were used in the future: {_named([memory.id for memory in used])}.",
            "A clock was wrong. `retentive doctor --repair` moves those uses to now.",
            mend=lambda: _pulled_back(used, store, now),
        )
    learnt = [memory.id for memory in memories.values() if memory.recorded_at > ahead and memory.created_at <= ahead]
    if learnt:
        yield Trouble(
            f"{len(learnt)} memories were recorded in the future: {_named(learnt)}.",
            "A clock was wrong when they were written, or is wrong now. Nothing ranks by it.",
        )
    yield from _journal_clock(store, ahead)


def _pulled_back(used: list[Memory], store: SpaceStore, now: datetime) -> str:
    with store.transaction() as tx:
        current = [found for memory in used if (found := tx.get(memory.id)) is not None]
        tx.set_access({memory.id: _not_after(memory, now) for memory in current})
    return f"The uses of {len(used)} memories were moved from the future to now."


def _not_after(memory: Memory, now: datetime) -> Access:
    access = memory.access
    last = None if access.last_at is None else min(access.last_at, now)
    pending = None if access.pending_at is None else min(access.pending_at, now)
    return replace(access, last_at=last, recent=tuple(min(at, now) for at in access.recent), pending_at=pending)


def _journal_clock(store: SpaceStore, ahead: datetime) -> Iterator[Trouble]:
    """The journal is written in order: a moment far before the line above it tells of a clock that was put back."""
    latest, back, future = None, 0, 0
    for line in journal_lines(store):
        back += latest is not None and line.at < latest - SLACK
        future += line.at > ahead
        latest = line.at if latest is None else max(latest, line.at)
    if future:
        yield Trouble(
            f"{future} journal lines are dated in the future.", "Set the clock; what was done keeps its order."
        )
    if back and not future:
        yield Trouble(
            f"{back} journal lines are dated before lines that were written earlier.",
            "A clock was put back at some time. Order is by sequence; nothing needs to be done.",
        )


# What is under way, and what is about nothing


def _moves(store: SpaceStore) -> Iterator[Trouble]:
    target = store.setting(TARGET_SETTING)
    if target is not None:
        name = target.get("id") if isinstance(target, dict) else target
        yield Trouble(
            f"A move to embedder {name!r} is under way or was interrupted; recalls use the old one until it is done.",
            f"Finish it: retentive maintain --re-embed --embedder {name} --space {store.path}.",
        )


def _books(memories: dict[str, Memory], store: SpaceStore) -> Iterator[Trouble]:
    stray = [job.id for job in store.jobs() if job.memories and not set(job.memories) & memories.keys()]
    if stray:
        yield Trouble(
            f"{len(stray)} jobs are about memories that are not there: {_named(stray)}.",
            "`retentive doctor --repair` drops them.",
            mend=lambda: _dropped(stray, store),
        )


def _dropped(stray: list[str], store: SpaceStore) -> str:
    with store.transaction() as tx:
        count = sum(tx.drop_job(job_id) for job_id in stray)
    return f"{count} jobs about nothing were dropped."
