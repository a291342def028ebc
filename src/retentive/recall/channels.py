"""Channels: six ways to find candidates, each able to introduce some. None of them ranks the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import numpy as np

from retentive.recall.cue import FIRST_MOMENT, LAST_MOMENT, Cue
from retentive.recall.request import Question
from retentive.scoring.fusion import reciprocal_rank
from retentive.stores.protocol import SpaceStore
from retentive.types import Floats, Found, RowIds

ONE_MENTION: Final = math.log(2.0)  # `SpaceStore.mentioning` gives 1/ln(1+1) for the only row with an entity
HOP_WEIGHT: Final = 0.5  # a memory that mentions only a companion of the named entity
OPEN_SPAN: Final = timedelta(days=365)
HOP_COMPANIONS: Final = 8  # how many companions of the named entities are followed


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything the channels found: one list per channel and part of the cue."""

    lists: tuple[tuple[str, Found], ...]
    whole_space: bool = False
    by_row: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def of(self, channel: str) -> list[Found]:
        """Return what one channel found, one entry per part of the cue."""
        return [found for name, found in self.lists if name == channel]

    def rows(self) -> RowIds:
        """Return every row found, each once, in order of first appearance."""
        return np.fromiter(self.by_row, dtype=np.int64, count=len(self.by_row))

    def fused(self, rank_constant: float) -> dict[int, float]:
        """Fuse the lists by reciprocal rank."""
        return {int(k): v for k, v in reciprocal_rank([f.rows.tolist() for _, f in self.lists], rank_constant).items()}


def find(question: Question, cue: Cue, store: SpaceStore) -> Finding:
    """Ask every channel of the policy; below ``whole_space_up_to`` memories, every memory is a candidate."""
    sources = question.policy.sources
    pool = max(sources.pool, int(np.ceil(question.policy.selection.limit * sources.over_fetch)))
    lists: list[tuple[str, Found]] = []
    whole = 0 < store.count(question.gate) <= sources.whole_space_up_to if sources.whole_space_up_to else False
    if whole:
        lists.append(("recent", store.recent(question.gate, sources.whole_space_up_to)))
    for channel in sources.channels:
        lists += [(channel, found) for found in _ASK[channel](question, cue, store, pool) if len(found.rows)]
    return Finding(tuple(lists), whole, _channels_by_row(lists))


def _channels_by_row(lists: Iterable[tuple[str, Found]]) -> dict[int, tuple[str, ...]]:
    by_row: dict[int, tuple[str, ...]] = {}
    for channel, found in lists:
        for row in found.rows.tolist():
            seen = by_row.get(row, ())
            if channel not in seen:
                by_row[row] = (*seen, channel)
    return by_row


def _vector(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:
    return [store.nearest(vector, question.gate, pool) for vector in cue.vectors]


def _lexical(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:
    return [store.matching(terms, question.gate, pool) for terms in cue.terms if terms]


def _entity(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:
    """Memories that mention a named entity, then those that mention its companions (one hop)."""
    if not cue.entities:
        return []
    direct = store.mentioning(cue.entities, question.gate, pool)
    companions = store.entity_links(cue.entities, HOP_COMPANIONS)
    hop = store.mentioning(list(companions), question.gate, pool) if companions else None
    return [_merged(direct, hop, pool)]


def _merged(direct: Found, hop: Found | None, pool: int) -> Found:
    """Put both on one absolute scale: 1 for a name that one memory alone mentions, little for one that is everywhere.

    A companion's mention counts half, and of the two the better counts.
    """
    scores: dict[int, float] = {}
    for found, weight in ((direct, 1.0), (hop, HOP_WEIGHT)):
        if found is not None:
            for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
                scores[row] = max(scores.get(row, 0.0), weight * min(1.0, score * ONE_MENTION))
    rows = sorted(scores, key=lambda row: -scores[row])[:pool]
    values = np.array([scores[row] for row in rows], dtype=np.float64)
    scanned = direct.scanned + (hop.scanned if hop else 0)
    return Found(np.array(rows, dtype=np.int64), values, scanned, 0.0, float(values.max(initial=0.0)))


def _temporal(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:
    """Memories of the named time; of an open span, the year beside its one end."""
    if cue.window is None:
        return []
    start, end = cue.window
    if start == FIRST_MOMENT and end - start > OPEN_SPAN:
        start = end - OPEN_SPAN
    if end == LAST_MOMENT and start < question.now:
        end = question.now
    return [store.within(start, end, question.gate, pool)]


def _recent(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:  # noqa: ARG001 - one signature
    return [store.recent(question.gate, pool)]


def _important(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:  # noqa: ARG001 - as above
    return [store.important(question.gate, pool)]


_ASK: Final[dict[str, Callable[[Question, Cue, SpaceStore, int], list[Found]]]] = {
    "vector": _vector,
    "lexical": _lexical,
    "entity": _entity,
    "temporal": _temporal,
    "recent": _recent,
    "important": _important,
}


def scores_of(found: Iterable[Found], rows: RowIds) -> Floats:
    """Return for each row the best score that any of the lists gave it, 0 where none did."""
    best: dict[int, float] = {}
    for part in found:
        for row, score in zip(part.rows.tolist(), part.scores.tolist(), strict=True):
            best[row] = max(best.get(row, score), score)
    return np.array([best.get(row, 0.0) for row in rows.tolist()], dtype=np.float64)
