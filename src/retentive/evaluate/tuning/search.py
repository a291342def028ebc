"""The search: random settings around the policy, then ever closer around the best. Seeded; the policy always competes.

A setting is paid for its distance from the policy, a little: of two that answer alike the nearer one is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from retentive.evaluate.tuning.knobs import Knobs, Points
from retentive.evaluate.tuning.table import Table
from retentive.evaluate.tuning.world import Step
from retentive.types import Floats

SPREAD: Final = 0.8  # standard deviation of the first weights' logarithms
ROUNDS: Final = (0.4, 0.2, 0.1, 0.05)  # of the rounds after it
PARENTS: Final = 6
SILENCED: Final = 0.1  # how often a signal is tried at 0
TURNED: Final = 0.3  # how often a half-life, band or floor is tried elsewhere
WOKEN: Final = 0.1  # what a signal of weight 0 may get, as a share of all weights
DISTANCE: Final = 0.002  # paid for a mean logarithmic distance of 1
TURNING: Final = 0.1  # how far it counts as to turn everything that is not a weight
SHRINKAGES: Final = (0.25, 0.5, 0.75, 1.0)


@dataclass(slots=True)
class Search:
    """A search over one table."""

    table: Table
    seed: int
    step: Step
    tried: int = 0
    _chance: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng(self.seed)

    @property
    def knobs(self) -> Knobs:
        """What is turned."""
        return self.table.knobs

    def best(self, questions: Sequence[int], settings: int) -> Points:
        """Return the best of about so many settings on some questions of the table."""
        start = self.knobs.start
        first = Points.joined([start, self._around(start, settings // 2, SPREAD)])
        found, worth = first, self._worth(first, questions)
        for spread in ROUNDS:
            parents = found.take(np.argsort(-worth, kind="stable")[:PARENTS])
            children = self._around(parents, settings // (2 * len(ROUNDS)), spread)
            found = Points.joined([found, children])
            worth = np.concatenate([worth, self._worth(children, questions)])
        return found.take([int(np.argmax(worth))])

    def _worth(self, points: Points, questions: Sequence[int]) -> Floats:
        self.tried += len(points)
        values = self.table.values(points, questions).mean(axis=1)
        self.step(len(points))
        worth: Floats = values - DISTANCE * self._distance(points)
        return worth

    def _distance(self, points: Points) -> Floats:
        start = self.knobs.start.weights
        size = np.maximum(np.abs(start), WOKEN * np.abs(start).mean())
        away: Floats = np.abs(np.log((np.abs(points.weights) + 0.01 * size) / (size * 1.01))).mean(axis=1)
        turned: Floats = (points.choices > 0).mean(axis=1)
        return away + TURNING * turned

    def _around(self, parents: Points, count: int, spread: float) -> Points:
        """Return settings near some others."""
        chance, rows = self._chance, self._chance.integers(0, len(parents), count)
        near = parents.take(rows)
        weights = near.weights * np.exp(chance.normal(0.0, spread, near.weights.shape))
        total = np.abs(self.knobs.start.weights).sum()
        woken = (weights == 0) & (chance.random(weights.shape) < SILENCED)
        weights = np.where(woken, chance.random(weights.shape) * WOKEN * total, weights)
        weights = np.where(~woken & (chance.random(weights.shape) < SILENCED * spread), 0.0, weights)
        choices = np.array([chance.integers(0, len(found), count) for found in self.knobs.variants]).T
        choices = np.where(chance.random(weights.shape) < TURNED, choices, near.choices)
        floors = np.where(chance.random(count) < TURNED, chance.choice(self.knobs.floors, count), near.floors)
        return Points(self._kept_in_scale(weights), choices, floors)

    def _kept_in_scale(self, weights: Floats) -> Floats:
        """Keep the weights' sum: only their proportions order, and a floor on the score keeps its meaning.

        Weights of a product are exponents and are left alone, as are those that sum to nothing.
        """
        if self.knobs.policy.combine == "product":
            return weights
        total, sums = np.abs(self.knobs.start.weights).sum(), np.abs(weights).sum(axis=1, keepdims=True)
        return np.where(sums > 0, weights * total / np.where(sums > 0, sums, 1.0), self.knobs.start.weights)


def shrunk(found: Points, start: Points, share: float) -> Points:
    """Return a setting pulled back toward the policy: ``share`` 1 is the setting itself."""
    far = share > 0.5  # half-lives, bands and floors do not lie between: they go with the greater part
    weights = start.weights + share * (found.weights - start.weights)
    return Points(weights, found.choices if far else start.choices, found.floors if far else start.floors)


def nested(search: Search, parts: Sequence[Sequence[int]], settings: int) -> tuple[Points, float]:
    """Search on all questions; learn from folds how much of what is found survives on questions not searched on.

    Returns the setting, pulled back by the share under which the folds' own winners did best on the fold left out.
    """
    everything = sorted(at for part in parts for at in part)
    start = search.knobs.start
    gains = np.zeros(len(SHRINKAGES))
    for part in parts:
        found = search.best([at for at in everything if at not in set(part)], settings)
        tries = Points.joined([start, *(shrunk(found, start, share) for share in SHRINKAGES)])
        values = search.table.values(tries, part).sum(axis=1)
        gains += values[1:] - values[0]
    share = SHRINKAGES[int(np.argmax(gains))]
    return shrunk(search.best(everything, settings), start, share), share
