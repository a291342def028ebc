"""Evidence: for every candidate, the numbers that signals read. Exact, whatever channel found the candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from retentive.embedders.protocol import Calibrated
from retentive.recall.channels import Finding, scores_of
from retentive.recall.context import Beside, best_margins
from retentive.recall.cue import Cue
from retentive.recall.late import LateInteraction
from retentive.recall.request import Question, Tools
from retentive.recall.stance import ROLES
from retentive.scoring.normalise import band, scaled
from retentive.scoring.signals import Pool
from retentive.stores.protocol import SpaceStore
from retentive.stores.ranking import ascending
from retentive.text.speech import spoken
from retentive.types import Columns, Floats, RowIds, Vectors

LATE_TEXTS: Final = 64  # texts read for late interaction: the best by the cheap evidence
CONTEXT_SEEDS: Final = 40  # candidates whose neighbours in the conversation join the candidates
DEFAULT_BAND: Final = (0.0, 1.0)  # for an embedder that was never calibrated
LATE_BAND: Final = (0.45, 0.85)  # late interaction: what unrelated questions reach at most, and clear answers
BM25_CEILING: Final = 2.2  # k1 + 1: what one term can give at most, in units of its idf


@dataclass(frozen=True, slots=True)
class Evidence:
    """The candidates as a `Pool` for the signals, with what is asked of them afterwards."""

    pool: Pool
    relevance: Floats  # 0..1, absolute: comparable between recalls
    texts: Mapping[int, str] = field(default_factory=dict)  # position → text, of the candidates that were read
    beside: Beside = field(default_factory=Beside.nothing)

    @property
    def columns(self) -> Columns:
        """The candidates' numbers."""
        return self.pool.columns


def gather(question: Question, cue: Cue, finding: Finding, store: SpaceStore, tools: Tools) -> Evidence:
    """Measure every candidate of the finding, and of its surroundings where the policy looks at those."""
    return _Gathering(question, cue, finding, store, tools).evidence()


class _Gathering:
    """One recall's evidence in the making."""

    def __init__(self, question: Question, cue: Cue, finding: Finding, store: SpaceStore, tools: Tools) -> None:
        self.question, self.cue, self.finding = question, cue, finding
        self.store, self.tools = store, tools
        self.policy = question.policy
        self.weights = question.policy.weights
        self.beside = Beside.nothing()
        self.asked: RowIds = np.empty(0, dtype=np.int64)

    def evidence(self) -> Evidence:
        method = self.policy.fusion.method
        fused = self.finding.fused(self.policy.fusion.rank_constant) if method == "rrf" else {}
        pool = self._measured(self._columns(self._admitted(fused)))
        if self.policy.sources.neighbours and len(pool.columns):
            pool = self._with_neighbours(pool)
        if fused:
            pool = replace(pool, fused=np.array([fused.get(row, 0.0) for row in pool.columns.rows.tolist()]))
        texts: dict[int, str] = {}
        if {"late", "context"} & set(self.weights) and len(pool.columns):
            pool, texts = self._with_texts(pool)
        return Evidence(pool, _relevance(pool), texts, self.beside)

    def _admitted(self, fused: Mapping[int, float]) -> RowIds:
        """With rank fusion the fused list is the candidate list, over-fetched; without, everything found is."""
        rows = self.finding.rows
        if not fused or self.finding.whole_space:
            return rows
        sources = self.policy.sources
        size = max(sources.pool, int(np.ceil(self.policy.selection.limit * sources.over_fetch)))
        best = sorted(fused, key=lambda row: -fused[row])[:size]
        return np.array(best, dtype=np.int64)

    def _columns(self, rows: RowIds) -> Columns:
        recency = self.policy.signals.get("recency")
        history = recency is not None and recency.options.get("decay_by") == "power_law"
        return self.store.columns(rows, history=history)

    def _measured(self, columns: Columns) -> Pool:
        nothing = np.zeros(len(columns))
        entity = scores_of(self.finding.of("entity"), columns.rows) if "entity" in self.weights else nothing
        return Pool(
            columns=columns,
            now=self.question.now.timestamp(),
            cosine=_cosines(columns.vectors, self.cue.parts),
            lexical=self._lexical(columns.rows),
            fused=nothing,
            entity=entity,
            late=nothing,
            context=nothing,
            speaker=self._speaker(columns),
            window=self._window(columns),
            session=self.question.session,
            mean_cosine=max((found.mean for found in self.finding.of("vector")), default=0.0),
            invert_recency=self.cue.about_past and self.policy.modifiers.past_intent == "invert",
            bounds=self._bounds,
            bands=self._bands,
        )

    def _lexical(self, rows: RowIds) -> Floats:
        wanted = "lexical" in self.weights or self.policy.selection.floor_on == "relevance"
        asked = [terms for terms in self.cue.terms if terms] if wanted else []
        scores = [self.store.term_scores(terms, rows) for terms in asked]
        return np.max(scores, axis=0) if scores else np.zeros(len(rows))

    def _speaker(self, columns: Columns) -> Floats:
        asked = {name: float(self.cue.asks_about(name)) for name in set(columns.speakers)}
        return np.array([asked[name] for name in columns.speakers], dtype=np.float64)

    def _window(self, columns: Columns) -> Floats:
        if self.cue.window is None:
            return np.zeros(len(columns))
        start, end = (moment.timestamp() for moment in self.cue.window)
        return ((columns.created >= start) & (columns.created < end)).astype(np.float64)

    @cached_property
    def _bounds(self) -> dict[str, tuple[float, float]]:
        """The least and greatest score over all gated rows: what "population" normalises over."""
        bounds = {}
        for channel, name in (("vector", "similarity"), ("lexical", "lexical")):
            if found := self.finding.of(channel):
                bounds[name] = (min(f.low for f in found), max(f.high for f in found))
        return bounds

    @cached_property
    def _bands(self) -> dict[str, tuple[float, float]]:
        """Absolute scales: the embedder's calibrated cosines, and BM25 up to the most any text could score."""
        embedder = self.tools.embedder
        cosines = embedder.band if isinstance(embedder, Calibrated) else DEFAULT_BAND
        sums = [float(self.store.term_weights(terms).sum()) for terms in self.cue.terms if terms]
        return {"similarity": cosines, "lexical": (0.0, max(sums, default=0.0) * BM25_CEILING or 1.0)}

    # The surroundings

    def _with_neighbours(self, pool: Pool) -> Pool:
        """Bring the turns beside the strongest candidates in as candidates of their own."""
        self._look_beside(pool.columns.rows[_best(self._first_score(pool), CONTEXT_SEEDS)])
        others = ascending(self.beside.others)
        extra = others[~np.isin(others, pool.columns.rows, assume_unique=True)]
        return _joined(pool, self._measured(self._columns(extra))) if len(extra) else pool

    def _look_beside(self, rows: RowIds) -> None:
        """Learn who stands beside these, but for those already asked about."""
        rows = rows[~np.isin(rows, self.asked, assume_unique=True)]
        self.asked = np.concatenate([self.asked, rows])
        if len(rows):
            found = self.store.neighbours(rows, self.question.gate, self.policy.sources.neighbours)
            self.beside = self.beside.with_pairs(found)

    def _with_texts(self, pool: Pool) -> tuple[Pool, dict[int, str]]:
        """Read the best candidates' texts once: for late interaction, and to see which turns were questions."""
        share = self.weights.get("context", 0.0)
        cheap = self._first_score(pool)
        margins = best_margins(pool.columns.rows, cheap, self._usual(pool) * self._completion, self.beside, {})
        order = _best(cheap + share * margins + self._spoken(pool), LATE_TEXTS)
        read = self.store.texts(pool.columns.rows[order])
        rows = pool.columns.rows[order].tolist()
        texts = {int(i): read[row] for i, row in zip(order, rows, strict=True) if row in read}
        if "late" in self.weights and self.tools.windows is not None and texts:
            asked = LateInteraction(self.tools.windows, self.cue.utterance, self.store, self.tools.language)
            said = [spoken(text, pool.columns.speakers[i]) for i, text in texts.items()]
            pool = replace(pool, late=_late(len(pool.columns), texts, asked.scores(said)))
        return (self._with_context(pool, order, texts) if share else pool), texts

    def _with_context(self, pool: Pool, order: RowIds, texts: Mapping[int, str]) -> Pool:
        """Note the best neighbour of each. A question lifts the turn behind it between people only: what an assistant
        writes is always the answer to something.
        """
        self._look_beside(pool.columns.rows[order])
        own = self._said(pool) + self.weights.get("late", 0.0) * pool.late
        people = said_by_people(pool, texts)
        usual = self._usual(pool) + self.weights.get("late", 0.0) * float(pool.late.min(initial=1.0))
        return replace(pool, context=best_margins(pool.columns.rows, own, usual, self.beside, people))

    # Scores on the way: who deserves a closer look

    def _said(self, pool: Pool) -> Floats:
        """Score by similarity and words alone."""
        total = np.zeros(len(pool.columns))
        for name, raw in (("similarity", pool.cosine), ("lexical", pool.lexical)):
            total = total + self.weights.get(name, 0.0) * scaled(raw, *pool.bands[name])
        return total

    def _spoken(self, pool: Pool) -> Floats:
        return self.weights.get("speaker", 0.0) * pool.speaker

    def _first_score(self, pool: Pool) -> Floats:
        """Score cheaply, on the scale that late interaction will complete."""
        return self._said(pool) * self._completion

    @cached_property
    def _completion(self) -> float:
        cheap = self.weights.get("similarity", 0.0) + self.weights.get("lexical", 0.0)
        return (cheap + self.weights.get("late", 0.0)) / cheap if cheap else 1.0

    def _usual(self, pool: Pool) -> float:
        """What a random memory of the space scores by similarity; words it shares with the cue as good as never."""
        low, high = pool.bands["similarity"]
        return self.weights.get("similarity", 0.0) * (pool.mean_cosine - low) / (high - low)


def said_by_people(pool: Pool, texts: Mapping[int, str]) -> dict[int, str]:
    """Return those of the texts that were said by people rather than by an assistant."""
    return {i: text for i, text in texts.items() if (pool.columns.speakers[i] or "").casefold() not in ROLES}


def _best(scores: Floats, size: int) -> RowIds:
    return np.argsort(-scores, kind="stable")[:size].astype(np.int64)


def _cosines(vectors: Vectors, parts: Vectors) -> Floats:
    """Exact cosines: of a cue in several parts, the part that fits best (the whole lies between them, nearest to none).

    Row by row and not through BLAS, whose last bits depend on a row's place in the matrix: equal vectors must tie.
    """
    if not len(vectors):
        return np.zeros(0)
    rows = vectors.astype(np.float64)
    best: Floats = np.max([np.einsum("ij,j->i", rows, part) for part in parts.astype(np.float64)], axis=0)
    return best


def _late(size: int, texts: Mapping[int, str], scores: Floats) -> Floats:
    """Those not read get the mean of the lowest quarter: near what a random text scores, so nobody jumps ahead."""
    rest = float(np.sort(scores)[: max(1, len(scores) // 4)].mean())
    late = np.full(size, rest)
    late[list(texts)] = scores
    return late


def _relevance(pool: Pool) -> Floats:
    """How much a candidate has to do with the cue on an absolute scale: the best of four kinds of evidence.

    Meaning, words shared, a passage that meets the cue's words one by one (a long text's cosine may be poor), a name.
    """
    meaning = band(pool.cosine, *pool.bands["similarity"])
    words = band(pool.lexical, *pool.bands["lexical"])
    passage = band(pool.late, *LATE_BAND)
    best: Floats = np.max([meaning, words, passage, pool.entity], axis=0)
    return best


def _joined(first: Pool, second: Pool) -> Pool:
    """Put two pools of one recall one behind the other."""
    one, two = first.columns, second.columns
    history = None if one.history is None or two.history is None else np.vstack([one.history, two.history])
    columns = Columns(
        rows=np.concatenate([one.rows, two.rows]),
        ids=one.ids + two.ids,
        kinds=one.kinds + two.kinds,
        vectors=np.vstack([one.vectors, two.vectors]),
        created=np.concatenate([one.created, two.created]),
        last_access=np.concatenate([one.last_access, two.last_access]),
        count=np.concatenate([one.count, two.count]),
        importance=np.concatenate([one.importance, two.importance]),
        trust=np.concatenate([one.trust, two.trust]),
        permanent=np.concatenate([one.permanent, two.permanent]),
        sessions=one.sessions + two.sessions,
        speakers=one.speakers + two.speakers,
        recurs=one.recurs + two.recurs,
        history=history,
    )
    names = ("cosine", "lexical", "fused", "entity", "late", "context", "speaker", "window")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    return replace(first, columns=columns, **arrays)
