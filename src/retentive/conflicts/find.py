"""Which memories a new one denies or repeats: a bounded look at its nearest neighbours, read text by text.

What is written down as it was said (an episode, a turn of a session) is a record: it is neither merged nor retired, for
what was said stays said. What is looked at is one vector search and the few rows it finds, whatever the size of the
space; a batch that is as large as an import is not looked through at all (`Space.find_conflicts` does that afterwards).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import numpy as np

from retentive.conflicts.decide import EXCLUDED, OTHER_NUMBER, OTHER_VALUE, Ruling, judge
from retentive.conflicts.settings import Noticing
from retentive.stores.protocol import SpaceStore
from retentive.text.claims import read
from retentive.text.wording import said
from retentive.types import Gate, Memory, Vectors

NEAREST: Final = 12  # neighbours read for a new memory
NAMED: Final = 8  # … and so many more that name the same, where the text says that something changed
ONE_MOMENT: Final = timedelta(minutes=1)  # clocks of several machines, and waiting for a lock
LARGEST_BATCH: Final = 256  # statements; more of them are an import
RECORDS: Final = frozenset(("episode", "reflection"))
"""Kinds that are no statements: what was said, and what was concluded."""

Reference = str | int
"""A memory by its id, or by its place in the batch that is being written."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A conflict between a new memory and another one."""

    other: Reference
    ruling: Ruling
    outdated: bool = False  # the new memory is the older of the two: what it says is denied by the other
    held_back: bool = False  # never applied without being asked, however sure


@dataclass(frozen=True, slots=True)
class Notice:
    """What was noticed about one new memory."""

    repeats: Reference | None = None
    denials: tuple[Denial, ...] = ()


NOTHING: Final = Notice()


def is_statement(memory: Memory) -> bool:
    """Whether a memory states something, and is not the record of a turn."""
    return memory.kind not in RECORDS and (memory.session is None or bool(memory.derived_from))


def notice(
    store: SpaceStore, drafts: Sequence[Memory], vectors: Sequence[Vectors] | Vectors, noticing: Noticing, gate: Gate
) -> list[Notice]:
    """Return what is noticed about each of several new memories, in their order."""
    stated = [place for place, draft in enumerate(drafts) if is_statement(draft)]
    found = [NOTHING] * len(drafts)
    if noticing.idle or not stated or len(stated) > LARGEST_BATCH:
        return found
    with store.snapshot():
        for place in stated:
            told = (
                drafts[place].created_at < drafts[place].recorded_at
            )  # later than it was said: what is known may deny it
            known = _known(store, drafts[place], vectors[place], gate, both_ways=told)
            before = [(at, drafts[at]) for at in _nearest_of(stated, vectors, place)]
            found[place] = noticed(drafts[place], [*known, *before], noticing)
    return found


def _known(
    store: SpaceStore, draft: Memory, vector: Vectors, gate: Gate, *, both_ways: bool
) -> list[tuple[Reference, Memory]]:
    """Return the memories worth a closer look: of the nearest, and of those that name the same where something is said
    to change, the ones whose words alone repeat or deny something. Most have none, and no row is read but its text.
    """
    rows = store.nearest(vector, gate, NEAREST).rows
    if draft.entities and _changes(draft.text):
        rows = np.unique(np.concatenate([rows, store.mentioning(draft.entities, gate, NAMED).rows]))
    mine, texts = said(draft.text), store.texts(rows)
    likely = [
        row
        for row in rows.tolist()
        if row in texts
        and (
            said(texts[row]) == mine
            or judge(draft.text, texts[row]) is not None
            or (both_ways and judge(texts[row], draft.text) is not None)
        )
    ]
    if not likely:
        return []
    found = store.memories(np.array(likely, dtype=np.int64))
    return [(memory.id, memory) for memory in found if is_statement(memory)]


def _changes(text: str) -> bool:
    return any(claim.denied or claim.outgoing or claim.assigned for claim in read(text).claims)


def _nearest_of(stated: Sequence[int], vectors: Sequence[Vectors] | Vectors, place: int) -> list[int]:
    """Return which of the statements before it in the batch are nearest to one."""
    before = [at for at in stated if at < place]
    if len(before) <= NEAREST:
        return before
    order = np.argsort(-(np.stack([vectors[at] for at in before]) @ vectors[place]), kind="stable")
    return [before[at] for at in order[:NEAREST].tolist()]


def noticed(draft: Memory, others: Sequence[tuple[Reference, Memory]], noticing: Noticing) -> Notice:
    """Read a memory beside others: what it repeats, else what it denies or is denied by."""
    if noticing.repetitions == "merge" and not draft.id:
        for reference, other in others:
            if repeats(draft, other):
                return Notice(repeats=reference)
    if noticing.mode == "off":
        return NOTHING
    denials = (_denial(draft, reference, other) for reference, other in others)
    return Notice(denials=tuple(denial for denial in denials if denial is not None))


def repeats(draft: Memory, other: Memory) -> bool:
    """Whether a saying adds nothing to a memory: the same words, and no field of its own that would be lost."""
    return (
        said(draft.text) == said(other.text)
        and bool(said(draft.text))
        and (draft.kind, draft.speaker, draft.recurs, draft.trust)
        == (other.kind, other.speaker, other.recurs, other.trust)
        and (draft.valid_from, draft.valid_until) == (other.valid_from, other.valid_until)
        and draft.key in {None, other.key}
        and not draft.supersedes
        and (draft.created_at >= other.created_at or _at_once(draft, other))
        and draft.pinned <= other.pinned
        and draft.permanent <= other.permanent
        and set(draft.tags) <= set(other.tags)
        and all(name in other.metadata and other.metadata[name] == value for name, value in draft.metadata.items())
    )


def _at_once(draft: Memory, other: Memory) -> bool:
    """Whether two were said now, by writers of which the one with the earlier clock came second."""
    said_now = draft.created_at == draft.recorded_at and other.created_at == other.recorded_at
    return said_now and other.created_at - draft.created_at <= ONE_MOMENT


def _denial(draft: Memory, reference: Reference, other: Memory) -> Denial | None:
    """Read two memories in the order in which they were said."""
    if not _comparable(draft, other):
        return None
    outdated = draft.created_at < other.created_at
    newer, older = (other, draft) if outdated else (draft, other)
    ruling = judge(newer.text, older.text)
    if ruling is None or (
        "event" in {draft.kind, other.kind} and ruling.reason in {EXCLUDED, OTHER_NUMBER, OTHER_VALUE}
    ):
        return None
    if draft.tags and other.tags and not set(draft.tags) & set(other.tags):
        ruling = replace(
            ruling, confidence=round(ruling.confidence * 0.7, 3)
        )  # filed apart: another part of the matter
    filed = (
        bool(draft.id) and not draft.derived_from
    )  # who gives ids keeps the books; what was extracted has them by rule
    return Denial(reference, ruling, outdated, filed or held_back(newer, older))


def _comparable(draft: Memory, other: Memory) -> bool:
    """Whether two memories can be about one matter: of one speaker, not under two keys, true at one time."""
    apart = draft.key is not None and other.key is not None
    early, late = sorted((draft, other), key=lambda memory: memory.valid_from or memory.created_at)
    over = early.valid_until is not None and late.valid_from is not None and early.valid_until <= late.valid_from
    return draft.speaker == other.speaker and not apart and other.id not in draft.supersedes and not over


def held_back(newer: Memory, older: Memory) -> bool:
    """Whether only a person may retire a memory: it was pinned or made permanent, or the newer is trusted less."""
    return older.pinned or older.permanent or newer.trust < older.trust


def look_again(
    store: SpaceStore, memory: Memory, vector: Vectors, noticing: Noticing, gate: Gate
) -> tuple[Denial, ...]:
    """Return the conflicts of a memory that is there already, whatever is done about new ones."""
    others = [(name, other) for name, other in _known(store, memory, vector, gate, both_ways=True) if name != memory.id]
    return noticed(memory, others, replace(noticing, mode="list", repetitions="keep")).denials
