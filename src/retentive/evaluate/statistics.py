"""How sure a figure is: bootstrap intervals of a mean, and whether two policies differ on the same questions.

Both resample questions, the unit that a set has many of, with a fixed seed: a report says the same when it is made
again. Questions of one conversation are not quite independent, so that intervals are a little narrow where a set has
few conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from retentive.types import Floats

RESAMPLES: Final = 2_000
LEVEL: Final = 0.95
SEED: Final = 20_240_615


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the ends between which it lies by the bootstrap."""

    mean: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return the figures rounded as they are worth quoting."""
        return {"mean": round(self.mean, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


@dataclass(frozen=True, slots=True)
class Difference:
    """What one policy gains over another on the same questions, with the chance of so much by luck."""

    interval: Interval
    p: float
    questions: int

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval.low > 0 or self.interval.high < 0

    def as_dict(self) -> dict[str, float | int]:
        """Return the figures rounded as they are worth quoting."""
        return {**self.interval.as_dict(), "p": round(self.p, 4), "questions": self.questions}


def interval(values: Sequence[float] | Floats, level: float = LEVEL) -> Interval:
    """Return the mean with its percentile bootstrap interval; of one value, that value thrice."""
    column = np.asarray(values, dtype=np.float64)
    return intervals(column[:, None], level)[0] if len(column) else Interval(0.0, 0.0, 0.0)


def difference(ours: Sequence[float], theirs: Sequence[float], level: float = LEVEL) -> Difference:
    """Compare two policies question by question: bootstrap interval of the gain, and a paired sign-flip test.

    The test asks how often flipping each question's difference by chance gives a mean at least as far from 0; the
    observed one counts among them, so p is never 0.
    """
    gains = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if not gains.any():
        return Difference(interval(gains, level), 1.0, len(gains))
    moved = gains[gains != 0]
    observed = abs(float(moved.sum())) * (1 - 1e-12)
    as_far = int((np.abs(_signs(len(moved)) @ moved) >= observed).sum())
    return Difference(interval(gains, level), (1 + as_far) / (1 + RESAMPLES), len(gains))


def intervals(columns: Floats, level: float = LEVEL) -> list[Interval]:
    """Return an interval for each column of a table (questions by metrics), all from the same resamples."""
    drawn = _counts(len(columns)) @ columns / len(columns)
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    means = columns.mean(axis=0)
    low, high = np.minimum(ends[0], means), np.maximum(ends[1], means)
    return [Interval(*each) for each in zip(means.tolist(), low.tolist(), high.tolist(), strict=True)]


def _counts(size: int) -> Floats:
    """Return how often each question stands in each resample."""
    chance = np.random.default_rng(SEED)
    return chance.multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(np.float64)


def _signs(size: int) -> Floats:
    return np.random.default_rng(SEED).choice(np.array([-1.0, 1.0]), (RESAMPLES, size))
