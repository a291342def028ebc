"""The table: all candidates of all questions, scored under thousands of settings without asking again.

What a setting can change is computed here as the pipeline does it: signals, normalisers, weights with their temporal
intent and tiers, context, source trust, floor, ties. What it cannot see is who became a candidate and whose text was
read, which the policy that gathered the evidence decided, and what selection does to the order afterwards
(near-duplicates, diversity, succession). That is why a setting found here is asked through the real recall before
anyone believes it.

A question at a time under many settings at once, in one matrix product: its few hundred candidates by some dozens of
settings stay in the processor's cache, which all questions side by side would not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from retentive.evaluate.metrics import NDCG_DEPTH
from retentive.evaluate.tuning.knobs import NO_FLOOR, Knobs, Points
from retentive.evaluate.tuning.world import Asked
from retentive.policy.policy import Policy, SignalSpec
from retentive.recall.context import shares
from retentive.recall.evidence import said_by_people
from retentive.recall.ranking import effective_weights, normalised_by, tiers_of
from retentive.scoring.normalise import scaled
from retentive.scoring.signals import SIGNALS, Pool
from retentive.types import Floats, RowIds

BATCH: Final = 64  # settings scored together
ALONE: Final = 200_000  # multiplications
TINY: Final = 1e-300  # stands for 0 under a logarithm
_READ_BY_CONTEXT: Final = ("similarity", "lexical", "late")


class Table:
    """The evidence of some questions under a policy's knobs."""

    def __init__(self, knobs: Knobs, asked: Sequence[Asked]) -> None:
        self.knobs = knobs
        self.sheets = tuple(_Sheet.of(knobs, one) for one in asked)

    def __len__(self) -> int:
        return len(self.sheets)

    def values(self, points: Points, questions: Sequence[int] | None = None) -> Floats:
        """Return what questions (all, where none are named) are worth under every setting: settings by questions."""
        chosen = range(len(self)) if questions is None else questions
        values = np.zeros((len(points), len(chosen)))
        for start in range(0, len(points), BATCH):
            rows = np.arange(start, min(start + BATCH, len(points)))
            batch = points.take(rows)
            weights = self.knobs.spread(batch)
            for at, question in enumerate(chosen):
                values[rows, at] = self.sheets[question].value(batch, weights)
        return values

    def cosines(self) -> tuple[Floats, Floats]:
        """Return the cosines of all candidates, and of the right ones among them."""
        every = [sheet.pool.cosine[sheet.order] for sheet in self.sheets]
        right = [
            cosines[[place for places in sheet.gold for place in places]]
            for sheet, cosines in zip(self.sheets, every, strict=True)
        ]
        return np.concatenate(every), np.concatenate(right)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What the context signal is computed from: each candidate's neighbours in columns, the missing ones last row."""

    bases: Floats  # candidates (and one that is nobody) by similarity, lexical and late: how far above the usual
    mine: RowIds  # candidates that have neighbours
    theirs: tuple[RowIds, ...]  # a column for each neighbour that one may have
    share: tuple[Floats, ...]


@dataclass(slots=True)
class _Sheet:
    """One question's candidates, best of equals first."""

    knobs: Knobs
    asked: Asked
    order: RowIds
    gold: tuple[tuple[int, ...], ...]  # for each right answer its places
    factors: Floats  # candidates by signals: what the cue's intent and the candidate's kind make of a weight
    around: _Surroundings | None = None
    _shapes: Floats | None = None

    @classmethod
    def of(cls, knobs: Knobs, asked: Asked) -> _Sheet:
        pool = asked.evidence.pool
        order = np.lexsort((np.array(pool.columns.ids, dtype=object), -pool.columns.created)).astype(np.int64)
        place = np.argsort(order)
        gold = tuple(tuple(int(place[at]) for at in places) for places in asked.gold)
        intent = effective_weights(_of_ones(knobs.policy), asked.cue)
        tiers = knobs.policy.modifiers.tiers
        factors = [(tiers_of(name, pool) if tiers else np.ones(len(order))) * intent[name] for name in knobs.names]
        around = _look_around(asked, order) if _live_context(knobs.policy) else None
        return cls(knobs, asked, order, gold, np.array(factors).T.reshape(len(order), len(factors))[order], around)

    @property
    def pool(self) -> Pool:
        return self.asked.evidence.pool

    def value(self, points: Points, weights: Floats) -> Floats:
        """Return what the answers under some settings are worth; ``weights`` are theirs, spread over all shapes."""
        if not len(self.order):
            return np.full(len(points), float(self.asked.one.question.abstains))
        scores = self.scores(points, weights)
        if self.asked.one.question.abstains:
            return np.where(np.any(scores > -np.inf, axis=1), 0.0, 1.0)
        gained: Floats = np.zeros(len(points))
        ideal = 1 / _ideal(min(NDCG_DEPTH, len(self.gold)))
        for places in self.gold:
            if places:
                best = np.array([_ranks(scores, place) for place in places]).min(axis=0)
                gained += np.where(best <= NDCG_DEPTH, ideal / np.log2(1 + best), 0.0)
        return gained

    def scores(self, points: Points, weights: Floats) -> Floats:
        """Return settings by candidates: each score, -inf below the floor."""
        policy = self.knobs.policy
        scores = _product(weights, self._every_shape())
        if policy.combine == "product":
            scores = np.exp(scores)
        else:
            self._add_late_terms(scores, points)
        scores *= self.pool.columns.trust[self.order]
        if (points.floors > NO_FLOOR).any():
            judged = scores if policy.selection.floor_on == "score" else self.asked.evidence.relevance[self.order]
            scores = np.where(judged >= points.floors[:, None], scores, -np.inf)
        return scores

    def by_id(self, points: Points) -> dict[str, float]:
        """Return the candidates with their scores under one setting, by the ids of the space."""
        ids, scores = self.pool.columns.ids, self.scores(points, self.knobs.spread(points))[0]
        return {ids[at]: float(score) for at, score in zip(self.order, scores, strict=True)}

    def _every_shape(self) -> Floats:
        """Return shapes by candidates: every variant of every signal's column, with what intent and kind make of it.

        One product with weights that are 0 but for the variant chosen then scores settings of any choices together.
        """
        if self._shapes is None:
            shapes = [
                self._column(name, spec) * self.factors[:, k]
                for k, (name, variants) in enumerate(zip(self.knobs.names, self.knobs.variants, strict=True))
                for spec in variants
            ]
            self._shapes = np.array(shapes)
        return self._shapes

    def _column(self, name: str, spec: SignalSpec) -> Floats:
        """Return a signal's normalised column; of the context, which follows the weights, zeros."""
        if name == "context" and self.around is not None:
            return np.zeros(len(self.order))
        column = _normalised(name, spec, self.pool)[self.order]
        return np.log(np.maximum(column, TINY)) if self.knobs.policy.combine == "product" else column

    def _add_late_terms(self, scores: Floats, points: Points) -> None:
        """Add the window bonus and the context."""
        bonus = effective_weights(self.knobs.policy, self.asked.cue).get("window", 0.0)
        if bonus:
            scores += bonus * self.pool.window[self.order]
        if self.around is not None and len(self.around.mine):
            at, mine = self.knobs.names.index("context"), self.around.mine
            margins = self._margins(points, self.around) * (points.weights[:, at] * self.factors[mine, at, None])
            scores[:, mine] += margins.T

    def _margins(self, points: Points, around: _Surroundings) -> Floats:
        """Return candidates by settings: how far the best of each one's neighbours stands above the usual."""
        names = self.knobs.names
        places = [names.index(name) if name in names else None for name in _READ_BY_CONTEXT]
        weights = np.array([points.weights[:, k] if k is not None else np.zeros(len(points)) for k in places])
        above = np.maximum(around.bases @ weights, 0.0)
        margins = np.zeros((len(around.mine), len(points)))
        for theirs, share in zip(around.theirs, around.share, strict=True):
            np.maximum(margins, above[theirs] * share[:, None], out=margins)
        return margins


def _product(weights: Floats, shapes: Floats) -> Floats:
    """Multiply some hundred thousand numbers at a time: for more, linear algebra makes threads, which only wait."""
    step = max(1, ALONE // max(1, weights.size))
    parts = [weights @ shapes[:, at : at + step] for at in range(0, shapes.shape[1], step)]
    return np.concatenate(parts, axis=1)


def _live_context(policy: Policy) -> bool:
    spec = policy.signals.get("context")
    return spec is not None and spec.normalise == "none" and policy.combine == "sum"


def _of_ones(policy: Policy) -> Policy:
    return policy.replace(weights=dict.fromkeys(policy.signals, 1.0))


def _normalised(name: str, spec: SignalSpec, pool: Pool) -> Floats:
    raw = np.asarray(SIGNALS[name](pool, **spec.options), dtype=np.float64)
    return normalised_by(name, raw, spec, pool)


def _look_around(asked: Asked, order: RowIds) -> _Surroundings:
    pool, evidence = asked.evidence.pool, asked.evidence
    (low, high), words = pool.bands["similarity"], pool.bands["lexical"]
    rows = np.array([scaled(pool.cosine, low, high), scaled(pool.lexical, *words), pool.late]).T
    usual = np.array([(pool.mean_cosine - low) / (high - low), 0.0, float(pool.late.min(initial=1.0))])
    bases = np.vstack([rows[order] - usual, np.zeros((1, 3))])
    mine, theirs, share = shares(pool.columns.rows, evidence.beside, said_by_people(pool, evidence.texts))
    place = np.argsort(order)
    best: dict[int, dict[int, float]] = {}  # of a pair that was met twice the greater share counts
    for one, other, part in zip(place[mine].tolist(), place[theirs].tolist(), share.tolist(), strict=True):
        met = best.setdefault(one, {})
        met[other] = max(part, met.get(other, 0.0))
    widest = max((len(met) for met in best.values()), default=0)
    nobody = len(order)
    filled = [[*met.items(), *[(nobody, 0.0)] * (widest - len(met))] for met in best.values()]
    return _Surroundings(
        bases,
        np.array(list(best), dtype=np.int64),
        tuple(np.array([met[at][0] for met in filled], dtype=np.int64) for at in range(widest)),
        tuple(np.array([met[at][1] for met in filled]) for at in range(widest)),
    )


def _ranks(scores: Floats, place: int) -> Floats:
    """Return the rank of one candidate under each setting, endless where the floor took it."""
    own = scores[:, place, None]
    before = (scores[:, :place] >= own).sum(axis=1)
    behind = (scores[:, place + 1 :] > own).sum(axis=1)
    return np.where(own[:, 0] > -np.inf, 1.0 + before + behind, np.inf)


def _ideal(found: int) -> float:
    return float(np.sum(1 / np.log2(np.arange(found) + 2)))
