"""Channels: six ways to find candidates, each able to introduce some. None of them ranks the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retentive.recall.cue import FIRST_MOMENT, LAST_MOMENT, Cue
from retentive.recall.request import Question
from retentive.recall.stages import UNWATCHED, Stages
from retentive.scoring.fusion import reciprocal_rank
from retentive.stores.protocol import SpaceStore
from retentive.types import Floats, Found, RowIds

ONE_MENTION: Final = math.log(2.0)  # `SpaceStore.mentioning` gives 1/ln(1+1) for the only row with an entity
HOP_WEIGHT: Final = 0.5  # a memory that mentions only a companion of the named entity
OPEN_SPAN: Final = timedelta(days=365)
HOP_COMPANIONS: Final = 8  # how many companions of the named entities are followed


@dataclass(frozen=True)
class Finding:
    """Everything the channels found: one list per channel and part of the cue."""

    lists: tuple[tuple[str, Found], ...]
    whole_space: bool = False

    def of(self, channel: str) -> list[Found]:
        """Return what one channel found, one entry per part of the cue."""
        return [found for name, found in self.lists if name == channel]

    @cached_property
    def rows(self) -> RowIds:
        """Every row found, each once, in order of first appearance."""
        if not self.lists:
            return np.empty(0, dtype=np.int64)
        return first_of_each(np.concatenate([found.rows for _, found in self.lists]))

    def channels_of(self, row: int) -> tuple[str, ...]:
        """Return the channels that found a row; it came in beside another one where none did."""
        found_by = dict.fromkeys(channel for channel, found in self.lists if (found.rows == row).any())
        return tuple(found_by) or ("context",)

    def fused(self, rank_constant: float) -> dict[int, float]:
        """Fuse the lists by reciprocal rank."""
        return {int(k): v for k, v in reciprocal_rank([f.rows.tolist() for _, f in self.lists], rank_constant).items()}


def first_of_each(rows: RowIds) -> RowIds:
    """Return rows without repetition, in order of first appearance."""
    return rows[firsts(rows)]


def firsts(rows: RowIds) -> NDArray[np.bool_]:
    """Say which are the first of their number; `np.unique` knows it too, in three times as long."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[order[1:]] = ordered[1:] != ordered[:-1]
    return first


def find(question: Question, cue: Cue, store: SpaceStore, stages: Stages = UNWATCHED) -> Finding:
    """Ask every channel of the policy; below ``whole_space_up_to`` memories, every memory is a candidate."""
    sources = question.policy.sources
    pool = max(sources.pool, int(np.ceil(question.policy.selection.limit * sources.over_fetch)))
    lists: list[tuple[str, Found]] = []
    whole = 0 < store.count(question.gate) <= sources.whole_space_up_to if sources.whole_space_up_to else False
    if whole:
        lists.append(("recent", store.recent(question.gate, sources.whole_space_up_to)))
    stages.ended("gate")
    for channel in sources.channels:
        lists += [(channel, found) for found in ASK[channel](question, cue, store, pool) if len(found.rows)]
        stages.ended(f"channel:{channel}")
    return Finding(tuple(lists), whole)


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
    parts = [(direct, 1.0), *([(hop, HOP_WEIGHT)] if hop else [])]
    rows = np.concatenate([found.rows for found, _ in parts])
    scores = np.concatenate([weight * np.minimum(1.0, found.scores * ONE_MENTION) for found, weight in parts])
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    first = np.flatnonzero(firsts(rows))[:pool]
    scanned = sum(found.scanned for found, _ in parts)
    return Found(rows[first], scores[first], scanned, 0.0, float(scores.max(initial=0.0)))


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
    return [store.recent(question.gate, _background(question, pool))]


def _important(question: Question, cue: Cue, store: SpaceStore, pool: int) -> list[Found]:  # noqa: ARG001 - as above
    return [store.important(question.gate, _background(question, pool))]


def _background(question: Question, pool: int) -> int:
    """Return how many the two channels that do not look at the cue may bring."""
    return question.policy.sources.background or pool


ASK: Final[dict[str, Callable[[Question, Cue, SpaceStore, int], list[Found]]]] = {
    "vector": _vector,
    "lexical": _lexical,
    "entity": _entity,
    "temporal": _temporal,
    "recent": _recent,
    "important": _important,
}


def scores_of(lists: Iterable[Found], rows: RowIds) -> Floats:
    """Return for each row the best score that any of the lists gave it, 0 where none did."""
    answer = np.zeros(len(rows))
    order = np.argsort(rows, kind="stable")
    for found in lists:
        at = np.minimum(np.searchsorted(rows, found.rows, sorter=order), len(rows) - 1)
        known = rows[order[at]] == found.rows if len(rows) else np.zeros(len(found.rows), dtype=np.bool_)
        places = order[at[known]]
        np.maximum.at(answer, places, found.scores[known])
    return answer
