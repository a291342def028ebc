"""One large space as a `SpaceStore`: rows of others are searched where they lie, and never all read.

Two parts answer together. The sidecar holds the memories that Retentive wrote or changed, those that were returned
among them, with their state: all its channels are exact. Rows that nobody here touched have no state: the other store
finds them (by vector, and by words and time where it can), more than are asked for; gates are applied to what came,
and it is asked for more until enough passed or nothing is left. Both are scored on one scale and merged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from retentive.integrations.listing import Listing
from retentive.integrations.met import FIRST, Met, Words
from retentive.integrations.rows import Row
from retentive.integrations.search_meeting import MeetingSpace
from retentive.recall.cue import FIRST_MOMENT
from retentive.stores.memory_space import MemorySpace
from retentive.stores.memory_state import State
from retentive.stores.protocol import Cursor, Transaction
from retentive.stores.ranking import cosines, distinct
from retentive.stores.values import as_vector, micros, seconds
from retentive.types import Columns, Floats, Found, Gate, Memory, RowIds, Vectors

if TYPE_CHECKING:
    from retentive.integrations.searched import Narrowing

OVER_FETCH: Final = 3
"""How many times what is asked for the other store is asked for, at first."""
LEAST: Final = 64
GROWTH: Final = 4
ROUNDS: Final = 3
COMPANIONS_READ: Final = 64
_MOMENT: Final = timedelta(microseconds=1)
_SPANS: Final = 4
"""Spans in which the newest rows are looked for, one after the other, each several times as long."""

Ask = Callable[["Narrowing", int], list[Row]]


class SearchSpace(MeetingSpace):
    """The channels of a space that is searched; see the module."""

    # ---- channels ---------------------------------------------------------------------------------------------------

    def nearest(self, vector: Vectors, gate: Gate, limit: int) -> Found:
        """Return the rows of highest cosine among ours, all of them, and those that the other store finds."""
        vector = as_vector(vector, self._population().dimension)
        ours = self._ours(lambda: self._inner.nearest(vector, gate, limit))
        others = self._others(gate, limit, lambda narrowing, k: self._rows.near(self._tenant, vector, narrowing, k))
        usual = _cosines(self._population().passing(gate), vector)
        mean = sum(usual) / len(usual) if usual else 0.0
        scored = list(zip(others, _cosines(others, vector), strict=True))
        return _merged(ours, scored, limit, usual, mean=mean)

    def matching(self, terms: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return the rows of highest BM25 among ours and those that the other store finds by words."""
        ours = self._ours(lambda: self._inner.matching(terms, gate, 2 * limit))
        others = self._others(gate, limit, self._asking(terms))
        for term in distinct(terms):
            self._seen[term] = max(self._seen.get(term, 0), sum(1 for one in others if one.terms[term]))
        words = self._words(terms)
        said = dict(zip(ours.rows(), self._said(words, np.array(ours.rows(), dtype=np.int64)), strict=True))
        mine = Ours([(row, memory, said[row]) for row, memory, _ in ours.found], ours.scanned)
        scored = [(one, score) for one in others if (score := words.score(one)) > 0]
        usual = [words.score(one) for one in self._population().passing(gate) if one.number >= FIRST]
        left = self._inner.count(gate) > ours.scanned
        return _merged(mine, scored, limit, [*usual, *([0.0] if left else [])])

    def _said(self, words: Words, rows: RowIds) -> list[float]:
        """Return the BM25 of ours by the weights that words have in all of the space; the terms are the sidecar's."""
        total = np.zeros(len(rows))
        for term, weight in zip(words.terms, words.weights, strict=True) if len(rows) else ():
            own = float(self._inner.term_weights([term])[0])
            total += self._inner.term_scores([term], rows) * (weight / own if own else 0.0)
        return total.tolist()

    def mentioning(self, entities: Sequence[str], gate: Gate, limit: int) -> Found:
        """Return rows that mention any of the entities; how rare each is, is estimated."""
        wanted = distinct(entities)
        mets = self._mentions(wanted, gate, limit)
        population = self._population()
        rows_with = {
            key: population.rows_with(sum(key in one.memory.entities for one in mets), population.mentions[key])
            for key in wanted
        }
        scored = [
            (one, sum(1 / float(np.log1p(rows_with[key])) for key in wanted if key in one.memory.entities))
            for one in mets
        ]
        return _merged(NOTHING, scored, limit, [0.0])

    def within(self, start: datetime, end: datetime, gate: Gate, limit: int) -> Found:
        """Return rows created in [start, end), nearest to the middle first."""
        ours = self._ours(lambda: self._inner.within(start, end, gate, limit))
        found = self._dated(gate, limit, _windows(start, end)) if start < end else []
        first, last = micros(start), micros(end)
        scored = [
            (one, 1 - abs(2 * created - first - last) / (last - first))
            for one in found
            if first <= (created := micros(one.memory.created_at)) < last
        ]
        return _merged(ours, scored, limit, [])

    def recent(self, gate: Gate, limit: int) -> Found:
        """Return the rows last used, or created most recently as far as rows can be asked for by their time."""
        ours = self._ours(lambda: self._inner.recent(gate, limit))
        found = self._dated(gate, limit, self._latest(gate, limit))
        usual = [_last_use(one.memory) for one in self._population().passing(gate)]
        return _merged(ours, [(one, _last_use(one.memory)) for one in found], limit, usual)

    def important(self, gate: Gate, limit: int) -> Found:
        """Return the rows of greatest importance: ours, for those of others have all the same."""
        ours = self._ours(lambda: self._inner.important(gate, limit))
        found = self._others(gate, limit, None)
        usual = [one.memory.importance for one in self._population().passing(gate)]
        return _merged(ours, [(one, one.memory.importance) for one in found], limit, usual)

    # ---- what channels find with ------------------------------------------------------------------------------------

    def _ours(self, ask: Callable[[], Found]) -> Ours:
        """Return what the sidecar finds, after a look whether the other store still has it so."""
        found = ask()
        columns = self._inner.columns(found.rows)
        for _ in range(ROUNDS):
            if not self.verify(columns.ids):
                break
            found = ask()
            columns = self._inner.columns(found.rows)
        score = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
        memories = self._inner.get(columns.ids)
        rows = zip(columns.rows.tolist(), columns.ids, strict=True)
        return Ours([(row, memories[key], score[row]) for row, key in rows if key in memories], found.scanned)

    def _others(self, gate: Gate, limit: int, ask: Ask | None) -> list[Met]:
        """Return rows of others that pass a gate: the sample's, and those found, until ``limit`` of these are there."""
        narrowing = self._rows.narrowing(gate)
        if narrowing is None or limit <= 0:
            return []
        if gate.ids is not None:
            return self._passing(self.fetched(gate.ids).values(), gate)
        population = self._population()
        passed = {one.memory.id: self.again(one) for one in population.passing(gate) if one.number >= FIRST}
        k = max(limit * OVER_FETCH, LEAST)
        while ask is not None and not population.complete:
            rows = ask(narrowing, k)
            found = self._passing(rows, gate)
            passed |= {one.memory.id: one for one in found}
            if len(found) >= limit or len(rows) < k:
                break
            k *= GROWTH
        return list(passed.values())

    def _dated(self, gate: Gate, limit: int, spans: Iterable[tuple[datetime, datetime]]) -> list[Met]:
        """Return rows by their time: of the first span that has enough."""
        found = self._others(gate, limit, None)
        narrowing = self._rows.narrowing(gate)
        if not self._rows.dated or narrowing is None or gate.ids is not None or self._population().complete:
            return found
        k, passed = max(limit * OVER_FETCH, LEAST), list[Met]()
        for start, end in spans:
            rows = self._rows.between(self._tenant, start, end, narrowing, k)
            passed = self._passing(rows, gate)
            if len(passed) >= limit or len(rows) >= k:
                break
        return list({one.memory.id: one for one in [*found, *passed]}.values())

    def _latest(self, gate: Gate, limit: int) -> list[tuple[datetime, datetime]]:
        """Return ever longer spans up to now; the first should have enough, if rows come as often as the sample's."""
        until = gate.until or gate.true_at + _MOMENT
        times = sorted((one.memory.created_at for one in self._population().passing(gate)), reverse=True)
        if not times:
            return []
        near = times[: min(len(times), 8)]
        wide = (until - near[-1]) / (len(near) * self._population().scale) * 2 * max(limit, 1)
        return [(_before(until, wide * GROWTH**step), until) for step in range(_SPANS)]

    def _asking(self, words: Sequence[str]) -> Ask:
        asked = distinct([word for word in words if word])
        return lambda narrowing, k: self._rows.worded(self._tenant, asked, narrowing, k) if asked else []

    def _mentions(self, entities: Sequence[str], gate: Gate, limit: int) -> list[Met]:
        """Return ours and others that mention any of the entities."""
        ours = self._ours(lambda: self._inner.mentioning(entities, gate, limit))
        others = self._others(gate, limit, self._asking([word for key in entities for word in key.split()]))
        met = [Met(memory, _NONE, row) for row, memory, _ in ours.found]
        return [*met, *(one for one in others if not set(entities).isdisjoint(one.memory.entities))]

    def _words(self, terms: Sequence[str]) -> Words:
        """Return how much words weigh: by how many of ours have them, of those found, and of the sample."""
        wanted = distinct(terms)
        rows = self.ours
        own = self._inner.term_weights(wanted).tolist() if wanted else []
        having = [(rows + 1) / math.exp(weight) - 0.5 for weight in own]  # the idf of `stores.ranking`, solved for n
        there = {term: n + self._seen.get(term, 0) for term, n in zip(wanted, having, strict=True)}
        return Words(self._population(), wanted, there)

    # ---- rows by number ---------------------------------------------------------------------------------------------

    def columns(self, rows: RowIds, *, history: bool = False) -> Columns:
        """Return the numbers of these rows."""
        met = self.by_number(rows)
        state = State(
            memories={number: one.memory for number, one in met.items()},
            vectors={number: one.vector for number, one in met.items()},
        )
        return MemorySpace(self.path, _Fixed(state)).columns(rows, history=history)

    def memories(self, rows: RowIds) -> list[Memory]:
        """Return the memories of these rows."""
        met = self.by_number(rows)
        return [met[number].memory for number in rows.tolist() if number in met]

    def texts(self, rows: RowIds) -> dict[int, str]:
        """Return the texts of these rows."""
        return {number: one.memory.text for number, one in self.by_number(rows).items()}

    def neighbours(self, rows: RowIds, gate: Gate, reach: int) -> RowIds:
        """Return the neighbours of each row in its session; rows of others have no session that we know."""
        return self._inner.neighbours(rows[rows < FIRST], gate, reach)

    def term_scores(self, terms: Sequence[str], rows: RowIds) -> Floats:
        """Return the BM25 of these rows, on the scale of `matching`."""
        words = self._words(terms)
        ours = rows < FIRST
        scores = np.zeros(len(rows))
        scores[ours] = self._said(words, rows[ours])
        met = self.by_number(rows[~ours])
        scores[~ours] = [words.score(met[row]) if row in met else 0.0 for row in rows[~ours].tolist()]
        return scores

    def term_weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's idf, by the sample and by what was found."""
        weights = dict(zip(distinct(terms), self._words(terms).weights, strict=True))
        return np.array([weights[term] for term in terms], dtype=np.float64)

    # ---- names ------------------------------------------------------------------------------------------------------

    def known_entities(self, keys: Sequence[str]) -> frozenset[str]:
        """Return those of the keys that a memory of ours, the sample, or a row found by these words mentions."""
        known = set(self._inner.known_entities(keys)) if keys else set()
        known |= {key for key in keys if self._population().mentions[key]}
        unknown = [key for key in keys if key not in known]
        if unknown and not self._population().complete:
            everyone = Gate(true_at=self.born, hidden=True)
            words = [word for key in unknown for word in key.split()]
            said = {key for one in self._others(everyone, LEAST, self._asking(words)) for key in one.memory.entities}
            known |= said.intersection(unknown)
        return frozenset(known)

    def entity_links(self, keys: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities one hop away, by the number of memories found that they share (then by key)."""
        given = set(keys)
        shared: Counter[str] = Counter()
        for one in self._mentions(list(keys), Gate(true_at=self.born, hidden=True), COMPANIONS_READ) if keys else ():
            shared.update(set(one.memory.entities) - given)
        best = sorted(shared.items(), key=lambda link: (-link[1], link[0]))[: max(limit, 0)]
        return {key: float(number) for key, number in best}

    # ---- by id, and all of them -------------------------------------------------------------------------------------

    def get(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Return the memories with these ids."""
        self.verify(ids)
        found = self._inner.get(ids)
        return found | {key: met.memory for key in ids if key not in found and (met := self.met(key))}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of these memories."""
        self.verify(ids)
        found = self._inner.vectors(ids)
        return found | {key: met.vector for key in ids if key not in found and (met := self.met(key))}

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories derived from any of these: ours alone say so."""
        self.verify([memory.id for memory in self._inner.derived(ids)])
        return self._inner.derived(ids)

    def page(self, gate: Gate, *, limit: int, after: Cursor | None = None) -> list[Memory]:
        """List memories, newest first; where rows of others can be among them, the tenant is read through once."""
        if self._rows.narrowing(gate) is None:
            listed = self._inner.page(gate, limit=limit, after=after)
            return self._inner.page(gate, limit=limit, after=after) if self.verify([m.id for m in listed]) else listed
        listing = self._listing(gate, again=after is None)
        keys = listing.behind(None if after is None else (-micros(after.created_at), after.id), limit)
        found = self.get(keys)
        return [found[key] for key in keys if key in found]

    def count(self, gate: Gate) -> int:
        """Count memories: by the other store's own count where that says it, else by reading the tenant through."""
        narrowing = self._rows.narrowing(gate)
        if narrowing is None:
            return self._inner.count(gate)
        if self._counted(gate, narrowing):
            alike = Gate(true_at=gate.true_at, where=gate.where, since=gate.since, until=gate.until, hidden=True)
            return self._rows.size(self._tenant, narrowing) - self._inner.count(alike) + self._inner.count(gate)
        return len(self._listing(gate, again=True))

    def _counted(self, gate: Gate, narrowing: Narrowing) -> bool:
        """Whether rows of others pass the gate if and only if they pass its narrowing."""
        told = (dict(gate.where), gate.since, gate.until) == (dict(narrowing.where), narrowing.since, narrowing.until)
        return told and gate.ids is None and gate.known_at is None and not self._population().complete

    def _listing(self, gate: Gate, *, again: bool) -> Listing:
        kept = self._listed
        if again or kept is None or kept.gate != replace(gate, true_at=kept.gate.true_at):
            kept = self._listed = Listing.of(gate, self.everything())
        return kept


_NONE: Final = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Ours:
    """What the sidecar found: rows with their memories and scores, and how many it looked at."""

    found: list[tuple[int, Memory, float]]
    scanned: int

    def rows(self) -> list[int]:
        """Return the row numbers."""
        return [row for row, _, _ in self.found]


NOTHING: Final = Ours([], 0)


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A state to read from, for the arithmetic that the in-memory store has."""

    fixed: State

    def state(self, space: str) -> State:  # noqa: ARG002 -- as the store asks
        """Return the state."""
        return self.fixed

    def writing(self, space: str) -> AbstractContextManager[Transaction]:
        """Refuse."""
        raise NotImplementedError(space)  # pragma: no cover -- only read


def _cosines(met: Sequence[Met], vector: Vectors) -> list[float]:
    return cosines(np.stack([one.vector for one in met]), vector).tolist() if met else []


def _merged(
    ours: Ours, others: Sequence[tuple[Met, float]], limit: int, usual: Sequence[float], *, mean: float = 0.0
) -> Found:
    """Rank ours and others together; ``usual`` are the scores of the sample's rows that passed the gate."""
    scored = [*ours.found, *((one.number, one.memory, score) for one, score in others)]
    scored.sort(key=lambda one: (-one[2], -micros(one[1].created_at), one[1].id))
    best = scored[: max(limit, 0)]
    population = [*usual, *(score for _, _, score in scored)]
    return Found(
        rows=np.array([row for row, _, _ in best], dtype=np.int64),
        scores=np.array([score for _, _, score in best], dtype=np.float64),
        scanned=ours.scanned + len(others),
        low=min(population, default=0.0),
        high=max(population, default=0.0),
        mean=mean,
    )


def _before(moment: datetime, span: timedelta) -> datetime:
    """Return a moment so much earlier, or the first there is."""
    try:
        return moment - span
    except OverflowError:
        return FIRST_MOMENT


def _windows(start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Return spans around the middle of a span, the last of them the whole."""
    middle, half = start + (end - start) / 2, (end - start) / 2
    return [(middle - half / part, middle + half / part) for part in (64, 16, 4)] + [(start, end)]


def _last_use(memory: Memory) -> float:
    return max(seconds(memory.created_at), seconds(memory.access.last_at or memory.created_at))
