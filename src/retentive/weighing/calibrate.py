"""From points to an importance that spreads: half what the words say, half how they stand among the space's own.

A scale that is the same everywhere does not help inside one space: where everything is about medicine, everything is a
nine. So a space keeps how its points are spread (a histogram of a few numbers), and half of a memory's importance is
the share of the space's memories that have fewer points. The other half is the anchored scale itself: in a space of
small talk the least small talk is no matter of life and death.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

BINS: Final = 40
GREATEST: Final = 12.0  # points; what lies beyond counts as this
FEW: Final = 20  # memories at which the space's own spread has half its say
OWN_SHARE: Final = 0.5  # what say the space's own spread has in the end
KEPT: Final = 5_000  # memories that a spread remembers: then all counts are halved, so that it follows its space
LEAST: Final = 0.05  # as feedback has it: nothing is rated below

SUSPICIOUS: Final = 20  # memories from which a spread can be judged
CROWDED: Final = 0.6  # the share of one value from which ratings say nothing
NARROW: Final = 0.08  # the standard deviation (of 0..1) from which they say nothing


@dataclass(frozen=True, slots=True)
class Spread:
    """How the points of a space are spread."""

    counts: tuple[float, ...] = (0.0,) * BINS

    @property
    def total(self) -> float:
        """How many were counted (the oldest in part)."""
        return sum(self.counts)

    def with_points(self, points: Iterable[float]) -> Spread:
        """Return the spread with these counted."""
        counts = list(self.counts)
        for value in points:
            counts[_bin(value)] += 1
        while sum(counts) > KEPT:
            counts = [round(count / 2, 3) for count in counts]
        return Spread(tuple(counts))

    def below(self, points: float) -> float:
        """Return the share of the space that has fewer points; what lies in the same bin counts by half."""
        if not self.total:
            return 0.5
        at = _bin(points)
        return (sum(self.counts[:at]) + self.counts[at] / 2) / self.total


def _bin(points: float) -> int:
    return min(max(int(points / GREATEST * BINS), 0), BINS - 1)


def read_spread(setting: Any) -> Spread:
    """Read what a space keeps; what another version wrote and cannot be read counts as nothing."""
    counts = setting.get("counts") if isinstance(setting, dict) else None
    if not isinstance(counts, list) or len(counts) != BINS:
        return Spread()
    if not set(map(type, counts)) <= {int, float} or min(counts) < 0:
        return Spread()
    return Spread(tuple(map(float, counts)))


def write_spread(spread: Spread) -> dict[str, Any]:
    """Return a spread as a setting."""
    return {"counts": [int(count) if count == int(count) else count for count in spread.counts]}


def importance_of(points: float, spread: Spread) -> float:
    """Return an importance of 0.05..1 from points of the 1-10 scale and the spread they stand in.

    Strictly monotone in the points up to the width of a bin, and bounded whatever the points.
    """
    share = OWN_SHARE * spread.total / (spread.total + FEW)
    plain = min(max(points / 10, 0.0), 1.0)
    return round(min(max((1 - share) * plain + share * spread.below(points), LEAST), 1.0), 4)


@dataclass(frozen=True, slots=True)
class Collapse:
    """Ratings that tell nothing apart: most are one value, or all lie close together."""

    count: int
    value: float  # the most frequent
    share: float  # of it
    deviation: float

    @property
    def sentence(self) -> str:
        """Say it."""
        if self.share >= CROWDED:
            return f"{self.share:.0%} of {self.count:,} memories have the importance {self.value:g}"
        return f"The importance of {self.count:,} memories lies within {self.deviation:.2f} of its mean"


def collapse_of(values: Sequence[float]) -> Collapse | None:
    """Say whether ratings have collapsed; None where they spread, or where there are too few to say."""
    if len(values) < SUSPICIOUS:
        return None
    value, often = Counter(round(value, 2) for value in values).most_common(1)[0]
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    share = often / len(values)
    return Collapse(len(values), value, share, deviation) if share >= CROWDED or deviation < NARROW else None
