"""Reading one space of the in-memory store: every answer is worked out from scratch, in the open."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import Protocol

import numpy as np

from retentive.stores.memory_jobs import listed_jobs
from retentive.stores.memory_state import State, newest_first, passes
from retentive.stores.protocol import Cursor, Transaction
from retentive.stores.ranking import bm25, cosines, distinct, idf
from retentive.stores.values import (
    as_vector,
    micros,
    seconds,
)
from retentive.types import (
    ACCESS_HISTORY,
    AskedCue,
    Columns,
    Finding,
    Floats,
    Found,
    Gate,
    Job,
    JobState,
    JournalEntry,
    Json,
    LedgerEntry,
    Memory,
    RowIds,
    Vectors,
)


class States(Protocol):
    """What a space asks of the store that holds its state."""

    def state(self, space: str) -> State:
        """Return the committed state of a space."""

    def writing(self, space: str) -> AbstractContextManager[Transaction]:
        """Begin writing."""


class MemorySpace:
    """A `SpaceStore` in dictionaries. A handle: the state belongs to the store, so that dropping a space drops it."""

    def __init__(self, path: str, states: States) -> None:
        self.path = path
        self._states = states
        self._pinned = threading.local()

    @property
    def _state(self) -> State:
        pinned: State | None = getattr(self._pinned, "state", None)
        return self._states.state(self.path) if pinned is None else pinned

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread read one state for a while: states never change, so it is kept in mind."""
        outer = getattr(self._pinned, "state", None)
        self._pinned.state = self._state
        try:
            yield
        finally:
            self._pinned.state = outer

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin writing."""
        return self._states.writing(self.path)

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids."""
        state = self._state
        return {key: state.memories[state.rows[key]] for key in ids if key in state.rows}

    def page(self, gate: Gate, *, limit: int, after: Cursor | None = None) -> list[Memory]:
        """List memories that pass the gate, newest first."""
        listed = sorted((memory for _, memory in self._gated(self._state, gate)), key=newest_first)
        if after is not None:
            behind = (-micros(after.created_at), after.id)
            listed = [memory for memory in listed if newest_first(memory) > behind]
        return listed[: max(limit, 0)]

    def count(self, gate: Gate) -> int:
        """Count the memories that pass the gate."""
        return sum(1 for _ in self._gated(self._state, gate))

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine."""
        state = self._state
        vector = as_vector(vector, state.dimension(state.vectors))
        rows = [row for row, _ in self._gated(state, gate)]
        if not rows:
            return _found({}, state, limit, gated=0)
        scores = cosines(np.stack([state.vectors[row] for row in rows]), vector)
        return _found(dict(zip(rows, scores.tolist(), strict=True)), state, limit, gated=len(rows))

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25."""
        state = self._state
        gated = [row for row, _ in self._gated(state, gate)]
        return _found(_bm25(state, terms, gated), state, limit, gated=len(gated))

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities."""
        state = self._state
        gated = dict(self._gated(state, gate))
        scores: dict[int, float] = {}
        for key in distinct(entities):
            for row, memory in gated.items():
                if key in memory.entities:
                    scores[row] = scores.get(row, 0.0) + 1 / math.log(1 + state.mentions[key])
        return _found(scores, state, limit, gated=len(gated))

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        state = self._state
        gated = dict(self._gated(state, gate))
        first, last = micros(start), micros(end)
        scores = {}
        for row, memory in gated.items():
            created = micros(memory.created_at)
            if first <= created < last:
                scores[row] = 1 - float(abs(2 * created - first - last)) / float(last - first)
        return _found(scores, state, limit, gated=len(gated))

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used or created most recently."""
        return self._by(_last_use, gate, limit)

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance."""
        return self._by(lambda memory: memory.importance, gate, limit)

    def _by(self, score: Callable[[Memory], float], gate: Gate, limit: int) -> Found:
        state = self._state
        scores = {row: score(memory) for row, memory in self._gated(state, gate)}
        return _found(scores, state, limit, gated=len(scores))

    def columns(self, rows: RowIds, *, history: bool = False) -> Columns:
        """Return the numbers of these rows."""
        state = self._state
        known = [row for row in rows.tolist() if row in state.memories]
        memories = [state.memories[row] for row in known]
        return Columns(
            rows=np.array(known, dtype=np.int64),
            ids=tuple(memory.id for memory in memories),
            kinds=tuple(memory.kind for memory in memories),
            vectors=_stack([state.vectors[row] for row in known], state.dimension(state.vectors)),
            created=_floats(seconds(memory.created_at) for memory in memories),
            last_access=_floats(_seconds_or_nan(memory.access.last_at) for memory in memories),
            count=_floats(memory.access.count for memory in memories),
            importance=_floats(memory.importance for memory in memories),
            trust=_floats(memory.trust for memory in memories),
            permanent=np.array([memory.permanent for memory in memories], dtype=np.bool_),
            sessions=tuple(memory.session for memory in memories),
            speakers=tuple(memory.speaker for memory in memories),
            recurs=tuple(memory.recurs for memory in memories),
            history=_history(memories) if history else None,
        )

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows."""
        state = self._state
        return [state.memories[row] for row in rows.tolist() if row in state.memories]

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        state = self._state
        return {row: state.memories[row].text for row in rows.tolist() if row in state.memories}

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session as (row, neighbour, offset)."""
        state = self._state
        gated = dict(self._gated(state, gate))
        found: list[tuple[int, int, int]] = []
        for row in rows.tolist():
            memory = state.memories.get(row)
            if memory is None:
                continue
            session = [other for other in gated if gated[other].session == memory.session is not None]
            place = _said(row, memory)
            before = sorted((other for other in session if _said(other, gated[other]) < place), key=_order(gated))
            behind = sorted((other for other in session if _said(other, gated[other]) > place), key=_order(gated))
            found += [(row, other, -offset) for offset, other in enumerate(reversed(before), 1) if offset <= reach]
            found += [(row, other, offset) for offset, other in enumerate(behind, 1) if offset <= reach]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the exact BM25 of these rows."""
        state = self._state
        scores = _bm25(state, terms, [row for row in rows.tolist() if row in state.terms])
        return _floats(scores.get(row, 0.0) for row in rows.tolist())

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's BM25 idf."""
        state = self._state
        return _floats(idf(len(state.terms), state.having[term]) for term in terms)

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that some memory mentions."""
        return frozenset(key for key in keys if self._state.mentions[key])

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away, by the number of shared memories (then by key)."""
        given = set(keys)
        shared: Counter[str] = Counter()
        for memory in self._state.memories.values():
            if given & set(memory.entities):
                shared.update(set(memory.entities) - given)
        best = sorted(shared.items(), key=lambda link: (-link[1], link[0]))[: max(limit, 0)]
        return {key: float(count) for key, count in best}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the current vectors of these memories."""
        state = self._state
        return {key: state.vectors[state.rows[key]] for key in ids if key in state.rows}

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that were derived from any of these."""
        wanted = set(ids)
        found = [memory for memory in self._state.memories.values() if wanted & set(memory.derived_from)]
        return sorted(found, key=newest_first)

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        return self._state.setting(name)

    def settings(self) -> dict[str, Json]:
        """Return all settings."""
        state = self._state
        return {name: state.setting(name) for name in sorted(state.settings)}

    def last_line(self) -> int:
        """Return the number of the journal's last line."""
        return len(self._state.journal)

    def read_journal(
        self, memory_id: str | None = None, *, after: int = 0, limit: int | None = None
    ) -> list[JournalEntry]:
        """Return journal lines in writing order."""
        lines = [
            line
            for line in self._state.journal
            if line.sequence > after and (memory_id is None or line.memory_id == memory_id)
        ]
        return lines if limit is None else lines[: max(limit, 0)]

    def findings(
        self,
        *,
        kind: str | None = None,
        status: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[Finding]:
        """Return findings, newest first."""
        found = [
            finding
            for finding in self._state.findings.values()
            if (kind is None or finding.kind == kind)
            and (status is None or finding.status == status)
            and (about is None or about in {finding.memory_id, finding.other_id})
        ]
        found.sort(key=lambda finding: (-micros(finding.at), finding.id))
        if after is not None:
            seen = (-micros(after.created_at), after.id)
            found = [finding for finding in found if (-micros(finding.at), finding.id) > seen]
        return found if limit is None else found[: max(limit, 0)]

    def read_ledger(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int | None = None,
        after: Cursor | None = None,
    ) -> list[LedgerEntry]:
        """Return recalls, newest first."""
        entries = [
            entry
            for entry in self._state.recalls(after)
            if (since is None or entry.at >= since) and (policy is None or entry.policy == policy)
        ]
        return entries if limit is None else entries[: max(limit, 0)]

    def asked_since(self, since: datetime, policy: str, limit: int) -> list[AskedCue]:
        """Return the cues of the recalls under a policy since a moment, newest first."""
        entries = self.read_ledger(since=since, policy=policy, limit=limit)
        return [AskedCue(entry.id, entry.cue, entry.cue_vector) for entry in entries]

    def recall_entry(self, recall_id: str) -> LedgerEntry | None:
        """Return one recall by its id."""
        return self._state.ledger.get(recall_id)

    def jobs(self, *, state: JobState | None = None, kind: str | None = None, limit: int | None = None) -> list[Job]:
        """Return the jobs of a state or a kind."""
        return listed_jobs(self._state, state, kind, limit)

    def scrub(self) -> bool:
        """Do nothing: there is no file."""
        return True

    def close(self) -> None:
        """Do nothing: closing must not lose what only memory holds."""

    def _gated(self, state: State, gate: Gate) -> Iterator[tuple[int, Memory]]:
        return ((row, memory) for row, memory in state.memories.items() if passes(memory, gate))


def _found(scores: Mapping[int, float], state: State, limit: int, *, gated: int) -> Found:
    """Rank the scored rows; a gated row without a score counts as 0 in ``low``, ``high`` and ``mean``."""
    best = sorted(scores, key=lambda row: (-scores[row], *newest_first(state.memories[row])))[: max(limit, 0)]
    population = [*scores.values(), *([0.0] if len(scores) < gated else [])]
    return Found(
        rows=np.array(best, dtype=np.int64),
        scores=_floats(scores[row] for row in best),
        scanned=len(scores),
        low=min(population, default=0.0),
        high=max(population, default=0.0),
        mean=sum(scores.values()) / gated if gated else 0.0,
    )


def _bm25(state: State, terms: Sequence[str], rows: Iterable[int]) -> dict[int, float]:
    """Score the rows that have any of the terms; a term asked for twice counts once."""
    wanted = distinct(terms)
    weights = [idf(len(state.terms), state.having[term]) for term in wanted]
    scores = {}
    for row in rows:
        counts = [state.terms[row][term] for term in wanted]
        if any(counts):
            scores[row] = bm25(weights, counts, state.terms[row].total(), state.mean_length)
    return scores


def _last_use(memory: Memory) -> float:
    return max(seconds(memory.created_at), seconds(memory.access.last_at or memory.created_at))


def _said(row: int, memory: Memory) -> tuple[int, int]:
    """Order within a session: by creation; turns of one moment stay as they were written."""
    return (micros(memory.created_at), row)


def _order(gated: Mapping[int, Memory]) -> Callable[[int], tuple[int, int]]:
    return lambda row: _said(row, gated[row])


def _seconds_or_nan(moment: datetime | None) -> float:
    return math.nan if moment is None else seconds(moment)


def _floats(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)


def _stack(vectors: Sequence[Vectors], dimension: int | None) -> Vectors:
    return np.stack(vectors) if vectors else np.empty((0, dimension or 0), dtype=np.float32)


def _history(memories: Sequence[Memory]) -> Floats:
    """Return the access moments, newest last, padded with NaN behind."""
    history = np.full((len(memories), ACCESS_HISTORY), math.nan)
    for place, memory in enumerate(memories):
        moments = memory.access.recent[-ACCESS_HISTORY:]
        history[place, : len(moments)] = [seconds(moment) for moment in moments]
    return history
