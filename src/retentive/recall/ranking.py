"""Ranking: signals → normalise → combine → modifiers. Arrays in, one `Ranked` table out, every step kept for show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from retentive.policy.policy import Policy, SignalSpec
from retentive.recall.cue import Cue
from retentive.recall.evidence import DEFAULT_BAND, Evidence
from retentive.recall.outcome import Modifier, Signal
from retentive.scoring.normalise import band, minmax, scaled
from retentive.scoring.signals import SIGNALS, Pool
from retentive.types import Floats

TIER: Final = 1.25
CURRENT_BOOST: Final = 2.0
_TIERED: Final = {"reflection": "importance", "fact": "similarity"}  # kind → the signal that weighs more


@dataclass(frozen=True, slots=True)
class Column:
    """One signal over all candidates."""

    raw: Floats
    normalised: Floats
    weight: Floats  # per candidate: tiers differ by kind
    contribution: Floats


@dataclass(slots=True)
class Ranked:
    """The candidates with their scores; later stages add to `modifiers` and `extra` and keep score in step."""

    evidence: Evidence
    policy: Policy
    columns: dict[str, Column]
    scores: Floats
    weights: Mapping[str, float]
    modifiers: dict[int, list[Modifier]] = field(default_factory=dict)

    def multiply(self, i: int, modifier: Modifier) -> None:
        """Apply a multiplier to candidate ``i`` and remember why."""
        self.modifiers.setdefault(i, []).append(modifier)
        self.scores[i] *= modifier.factor

    def add(self, name: str, amounts: Floats, raw: Floats | None = None) -> None:
        """Add a late term to a summed score (before multipliers), shown as one more signal of weight 1."""
        ones = np.ones(len(amounts))
        self.columns[name] = Column(amounts if raw is None else raw, amounts, ones, amounts)
        self.scores = _combined(self.policy, self.columns, len(amounts))
        for i, modifiers in self.modifiers.items():
            for modifier in modifiers:
                self.scores[i] *= modifier.factor

    def signals(self, i: int) -> dict[str, Signal]:
        """Return the arithmetic of candidate ``i``."""
        return {
            name: Signal(float(c.raw[i]), float(c.normalised[i]), float(c.weight[i]), float(c.contribution[i]))
            for name, c in self.columns.items()
        }

    def order(self) -> list[int]:
        """Return candidates best first; ties by newer creation, then by id."""
        columns, scores = self.evidence.columns, self.scores
        order = np.lexsort((-columns.created, -scores))
        same = scores[order[1:]] == scores[order[:-1]]
        if (same & (columns.created[order[1:]] == columns.created[order[:-1]])).any():
            order = np.lexsort((np.array(columns.ids, dtype=object), -columns.created, -scores))
        best: list[int] = order.tolist()
        return best

    def again(self, order: list[int]) -> list[int]:
        """Return an order after scores have changed; of equals, the one that stood first stays first."""
        again: list[int] = np.array(order, dtype=np.int64)[np.argsort(-self.scores[order], kind="stable")].tolist()
        return again


def rank(policy: Policy, cue: Cue, evidence: Evidence) -> Ranked:
    """Score every candidate under the policy."""
    weights = effective_weights(policy, cue)
    columns = {}
    for name, spec in policy.signals.items():
        raw = np.asarray(SIGNALS[name](evidence.pool, **spec.options), dtype=np.float64)
        columns[name] = _column(name, raw, spec, weights[name], policy, evidence.pool)
    if weights.get("window"):
        window = evidence.pool.window
        weight = np.full(len(window), weights["window"])
        columns["window"] = Column(window, window, weight, weight * window)
    ranked = Ranked(evidence, policy, columns, _combined(policy, columns, len(evidence.columns)), weights)
    _trust(ranked)
    return ranked


def effective_weights(policy: Policy, cue: Cue) -> dict[str, float]:
    """Return the weights in force: a cue about the past switches recency off, one about now doubles it."""
    weights = dict(policy.weights)
    if cue.intent is None:
        return weights
    for name in ("recency", "novelty"):
        if name in weights and cue.intent.direction == "current":
            weights[name] *= CURRENT_BOOST
        if name in weights and cue.about_past and policy.modifiers.past_intent == "zero":
            weights[name] = 0.0
    if cue.window is not None and policy.modifiers.window_bonus and policy.combine == "sum":
        weights["window"] = policy.modifiers.window_bonus
    return weights


def _column(name: str, raw: Floats, spec: SignalSpec, weight: float, policy: Policy, pool: Pool) -> Column:
    normalised = normalised_by(name, raw, spec, pool)
    weights = np.full(len(raw), weight)
    if policy.modifiers.tiers:
        weights *= tiers_of(name, pool)
    if policy.combine == "product":  # a weight is an exponent there: 1 takes the factor as it is, 0 leaves it out
        return Column(raw, normalised, weights, np.maximum(normalised, 0.0) ** weights)
    return Column(raw, normalised, weights, weights * normalised)


def tiers_of(name: str, pool: Pool) -> Floats:
    """Return by how much each candidate's kind weighs a signal more."""
    return np.array([TIER if _TIERED.get(kind) == name else 1.0 for kind in pool.columns.kinds])


def normalised_by(name: str, raw: Floats, spec: SignalSpec, pool: Pool) -> Floats:
    """Return a signal's column as the policy's spec makes it comparable with others."""
    if spec.normalise == "none":
        return raw
    if spec.normalise in {"band", "scaled"}:
        low, high = pool.bands.get(name, DEFAULT_BAND)
        if spec.low is not None and spec.high is not None:
            low, high = spec.low, spec.high
        return band(raw, low, high) if spec.normalise == "band" else scaled(raw, low, high)
    if spec.normalise == "population" and name in pool.bounds:
        low, high = pool.bounds[name]
        return minmax(raw, spec.constant, low, max(high, float(raw.max(initial=high))))
    return minmax(raw, spec.constant)


def _combined(policy: Policy, columns: Mapping[str, Column], size: int) -> Floats:
    """Combine in the order of the signals, one after the other: `Hit.reproduced` does the same, to the last bit."""
    multiplied = policy.combine == "product" and bool(columns)
    total: Floats = np.ones(size) if multiplied else np.zeros(size)
    for column in columns.values():
        total = total * column.contribution if multiplied else total + column.contribution
    return total


def _trust(ranked: Ranked) -> None:
    """Source trust multiplies: what came from a doubtful source counts for less."""
    given = ranked.evidence.columns.trust
    for i in np.flatnonzero(given != 1.0).tolist():
        trust = float(given[i])
        ranked.multiply(i, Modifier("trust", trust, f"its source is trusted {trust:g}"))
