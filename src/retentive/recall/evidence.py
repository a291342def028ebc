"""Evidence: for every candidate, the numbers that signals read. Exact, whatever channel found the candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from retentive.embedders.protocol import Calibrated
from retentive.recall.channels import Finding, scores_of
from retentive.recall.context import best_margins
from retentive.recall.cue import Cue
from retentive.recall.late import LateInteraction
from retentive.recall.request import Question, Tools
from retentive.scoring.normalise import band, scaled
from retentive.scoring.signals import Pool
from retentive.stores.protocol import SpaceStore
from retentive.types import Columns, Floats, RowIds, Vectors

LATE_TEXTS: Final = 64  # texts read for late interaction: the best by the cheap evidence
CONTEXT_SEEDS: Final = 40  # candidates whose neighbours in the conversation join the candidates
DEFAULT_BAND: Final = (0.0, 1.0)  # for an embedder that was never calibrated
BM25_CEILING: Final = 2.2  # k1 + 1: what one term can give at most, in units of its idf


@dataclass(frozen=True, slots=True)
class Evidence:
    """The candidates as a `Pool` for the signals, with what is asked of them afterwards."""

    pool: Pool
    channels: tuple[tuple[str, ...], ...]
    relevance: Floats  # 0..1, absolute: comparable between recalls
    texts: Mapping[int, str] = field(default_factory=dict)  # position → text, of the candidates that were read

    @property
    def columns(self) -> Columns:
        """The candidates' numbers."""
        return self.pool.columns


def gather(question: Question, cue: Cue, finding: Finding, store: SpaceStore, tools: Tools) -> Evidence:
    """Measure every candidate of the finding, and of its surroundings where the policy looks at those."""
    policy = question.policy
    fused = finding.fused(policy.fusion.rank_constant) if policy.fusion.method == "rrf" else {}
    pool = _measured(question, cue, finding, store, tools, _admitted(question, finding, fused))
    beside: Mapping[int, tuple[tuple[int, int], ...]] = {}
    if policy.sources.neighbours and len(pool.columns):
        seeds = _best(first_score(pool, policy.weights), CONTEXT_SEEDS)
        beside = store.neighbours(pool.columns.rows[seeds], question.gate, policy.sources.neighbours)
        pool = _with_neighbours(question, cue, finding, store, tools, pool, beside)
    if fused:
        pool = replace(pool, fused=np.array([fused.get(row, 0.0) for row in pool.columns.rows.tolist()]))
    texts: dict[int, str] = {}
    if {"late", "context"} & set(policy.signals) and len(pool.columns):
        pool, texts = _with_texts(question, cue, store, tools, pool, beside)
    found_by = tuple(finding.by_row.get(row, ("context",)) for row in pool.columns.rows.tolist())
    return Evidence(pool, found_by, _relevance(pool), texts)


def _best(scores: Floats, size: int) -> np.typing.NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")[:size].astype(np.int64)


def _admitted(question: Question, finding: Finding, fused: Mapping[int, float]) -> RowIds:
    """With rank fusion the fused list is the candidate list, over-fetched; without, everything found is."""
    rows = finding.rows()
    if not fused or finding.whole_space:
        return rows
    sources = question.policy.sources
    size = max(sources.pool, int(np.ceil(question.policy.selection.limit * sources.over_fetch)))
    best = sorted(fused, key=lambda row: -fused[row])[:size]
    return np.array(best, dtype=np.int64)


def _measured(question: Question, cue: Cue, finding: Finding, store: SpaceStore, tools: Tools, rows: RowIds) -> Pool:
    policy = question.policy
    columns = store.columns(rows, history=_reads_history(question))
    nothing = np.zeros(len(columns))
    return Pool(
        columns=columns,
        now=question.now.timestamp(),
        cosine=_cosines(columns.vectors, cue),
        lexical=_lexical(cue, store, columns.rows) if _reads_terms(question) else nothing,
        fused=nothing,
        entity=scores_of(finding.of("entity"), columns.rows) if "entity" in policy.signals else nothing,
        late=nothing,
        context=nothing,
        speaker=np.array([cue.asks_about(name) for name in columns.speakers], dtype=np.float64),
        window=_window(columns, cue),
        session=question.session,
        invert_recency=cue.about_past and policy.modifiers.past_intent == "invert",
        mean_cosine=max((found.mean for found in finding.of("vector")), default=0.0),
        bounds=_bounds(finding),
        bands={"similarity": _band(tools), "lexical": (0.0, _ceiling(cue, store))},
    )


def _reads_history(question: Question) -> bool:
    spec = question.policy.signals.get("recency")
    return spec is not None and spec.options.get("decay_by") == "power_law"


def _reads_terms(question: Question) -> bool:
    policy = question.policy
    return "lexical" in policy.signals or policy.selection.floor_on == "relevance"


def _window(columns: Columns, cue: Cue) -> Floats:
    if cue.window is None:
        return np.zeros(len(columns))
    start, end = (moment.timestamp() for moment in cue.window)
    return ((columns.created >= start) & (columns.created < end)).astype(np.float64)


def _cosines(vectors: Vectors, cue: Cue) -> Floats:
    """Exact cosines: of a cue in several parts, the part that fits best (the whole lies between them, nearest to none).

    Row by row and not through BLAS, whose last bits depend on a row's place in the matrix: equal vectors must tie.
    """
    if not len(vectors):
        return np.zeros(0)
    rows = vectors.astype(np.float64)
    best: Floats = np.max([(rows * part).sum(axis=1) for part in cue.parts.astype(np.float64)], axis=0)
    return best


def _lexical(cue: Cue, store: SpaceStore, rows: RowIds) -> Floats:
    scores = [store.term_scores(terms, rows) for terms in cue.terms if terms]
    return np.max(scores, axis=0) if scores else np.zeros(len(rows))


def _ceiling(cue: Cue, store: SpaceStore) -> float:
    """The most that any text could score for the cue's words."""
    sums = [float(store.term_weights(terms).sum()) for terms in cue.terms if terms]
    return max(sums, default=0.0) * BM25_CEILING or 1.0


def _band(tools: Tools) -> tuple[float, float]:
    return tools.embedder.band if isinstance(tools.embedder, Calibrated) else DEFAULT_BAND


def _bounds(finding: Finding) -> dict[str, tuple[float, float]]:
    """The least and greatest score over all gated rows: what "population" normalises over."""
    bounds = {}
    for channel, name in (("vector", "similarity"), ("lexical", "lexical")):
        found = finding.of(channel)
        if found:
            bounds[name] = (min(f.low for f in found), max(f.high for f in found))
    return bounds


def first_score(pool: Pool, weights: Mapping[str, float]) -> Floats:
    """Score by similarity and words alone, on the scale that late interaction will complete: who to look at closely."""
    cheap = weights.get("similarity", 0.0) + weights.get("lexical", 0.0)
    whole = cheap + weights.get("late", 0.0)
    total = np.zeros(len(pool.columns))
    for name, raw in (("similarity", pool.cosine), ("lexical", pool.lexical)):
        total = total + weights.get(name, 0.0) * scaled(raw, *pool.bands[name])
    completed = total * (whole / cheap) if cheap else total
    return completed + weights.get("speaker", 0.0) * pool.speaker


def _with_neighbours(
    question: Question,
    cue: Cue,
    finding: Finding,
    store: SpaceStore,
    tools: Tools,
    pool: Pool,
    beside: Mapping[int, tuple[tuple[int, int], ...]],
) -> Pool:
    """Bring the turns beside the strongest candidates in as candidates of their own."""
    extra = sorted({row for pairs in beside.values() for row, _ in pairs} - set(pool.columns.rows.tolist()))
    if not extra:
        return pool
    rows = np.concatenate([pool.columns.rows, np.array(extra, dtype=np.int64)])
    return _measured(question, cue, finding, store, tools, rows)


def _with_texts(
    question: Question,
    cue: Cue,
    store: SpaceStore,
    tools: Tools,
    pool: Pool,
    beside: Mapping[int, tuple[tuple[int, int], ...]],
) -> tuple[Pool, dict[int, str]]:
    """Read the best candidates' texts once: for late interaction, and to see which turns were questions."""
    weights = question.policy.weights
    share = weights.get("context", 0.0)
    cheap = first_score(pool, weights)
    spoken = weights.get("speaker", 0.0) * pool.speaker
    margins = best_margins(pool, cheap - spoken, _usual_first(pool, weights), beside, {})
    order = _best(cheap + share * margins, LATE_TEXTS)
    memories = store.memories(pool.columns.rows[order])
    place = {pool.columns.ids[i]: int(i) for i in order}
    texts = {place[memory.id]: memory.text for memory in memories if memory.id in place}
    if "late" in weights and tools.windows is not None and texts:
        interaction = LateInteraction(tools.windows, cue.utterance, store, tools.language)
        pool = replace(pool, late=_late(len(pool.columns), texts, interaction.scores(list(texts.values()))))
    if share:
        reach = question.policy.sources.neighbours
        beside = {**beside, **store.neighbours(pool.columns.rows[order], question.gate, reach)}
        own = _own_score(pool, weights)
        usual = _usual(pool, weights) + weights.get("late", 0.0) * float(pool.late.min(initial=1.0))
        pool = replace(pool, context=best_margins(pool, own, usual, beside, texts))
    return pool, texts


def _usual(pool: Pool, weights: Mapping[str, float]) -> float:
    """What a random memory of the space scores by similarity; words it shares with the cue as good as never."""
    low, high = pool.bands["similarity"]
    return weights.get("similarity", 0.0) * (pool.mean_cosine - low) / (high - low)


def _usual_first(pool: Pool, weights: Mapping[str, float]) -> float:
    cheap = weights.get("similarity", 0.0) + weights.get("lexical", 0.0)
    return _usual(pool, weights) * ((cheap + weights.get("late", 0.0)) / cheap) if cheap else 0.0


def _own_score(pool: Pool, weights: Mapping[str, float]) -> Floats:
    """Score by what the memory itself says, late interaction included: what its neighbours borrow from."""
    total = weights.get("late", 0.0) * pool.late
    for name, raw in (("similarity", pool.cosine), ("lexical", pool.lexical)):
        total = total + weights.get(name, 0.0) * scaled(raw, *pool.bands[name])
    return total


def _late(size: int, texts: Mapping[int, str], scores: Floats) -> Floats:
    """Those not read get the mean of the lowest quarter: near what a random text scores, so nobody jumps ahead."""
    rest = float(np.sort(scores)[: max(1, len(scores) // 4)].mean())
    late = np.full(size, rest)
    late[list(texts)] = scores
    return late


def _relevance(pool: Pool) -> Floats:
    """How much a candidate has to do with the cue on an absolute scale: by meaning, by words shared, or by a name."""
    meaning = band(pool.cosine, *pool.bands["similarity"])
    words = band(pool.lexical, *pool.bands["lexical"])
    best: Floats = np.maximum(np.maximum(meaning, words), pool.entity)
    return best
