"""The best rows of one segment for a question, without looking at every row that matches (MaxScore over tiers).

Postings are scanned tier by tier, those first that promise most for the least work. As soon as the rows not met yet
cannot reach the ``limit`` best any more, the search turns to the rows that were met: the postings left are only looked
up for those, and those that fall behind are let go. The answer is exact: bounds are upper bounds, and all that ties
with the last of the best is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.ranking import ascending
from retentive.stores.sqlite.lexical_segment import Scale, Segment
from retentive.types import Floats

Places: TypeAlias = NDArray[np.int64]

SLACK = 1 + 1e-9  # bounds are sums of products: their last bits are not to be trusted
LOOKUP = 6  # postings that are scanned in the time that one place is looked up
FEW = 32  # one in so many places touched: cheaper to clean up one by one


@dataclass(slots=True)
class Wanted:
    """One term of a question in one segment: its tiers not yet scanned."""

    weight: float
    tiers: list[tuple[int, int, float]]  # start, stop, the most the term gives there; the best last

    @property
    def rest(self) -> float:
        """The most this term may still give."""
        return self.tiers[-1][2] if self.tiers else 0.0

    @property
    def promise(self) -> float:
        """What scanning the next tier takes off the bound, for each posting."""
        start, stop, bound = self.tiers[-1]
        return (bound - (self.tiers[-2][2] if len(self.tiers) > 1 else 0.0)) / (stop - start)


class Search:
    """One search through one segment. ``sums`` is scratch: all zero before, and again behind."""

    def __init__(
        self,
        segment: Segment,
        scale: Scale,
        lengths: NDArray[np.int32],
        allowed: NDArray[np.bool_],
        sums: Floats,
    ) -> None:
        self._segment, self._scale, self._lengths = segment, scale, lengths
        self._allowed, self._sums = allowed, sums
        self._touched: list[Places] = []
        self.scanned = 0

    def best(self, wanted: list[Wanted], limit: int, bar: float) -> tuple[Places, Floats]:
        """Return the places that may be among the ``limit`` best above a bar, with their scores; at least all those."""
        self._limit, self._bar = limit, bar
        self._pool = np.empty(0, dtype=np.int64)
        try:
            rest = self._open(wanted)
            found = self._met(rest)
            found = self._complete(found, [term for term in wanted if term.tiers])
            return found, self._sums[found]
        finally:
            self._clean()

    def _open(self, wanted: list[Wanted]) -> float:
        """Scan until nobody who was not met can be among the best; return the most the rest may give."""
        while True:
            left = [term for term in wanted if term.tiers]
            rest = sum(term.rest for term in left)
            if not left or rest * SLACK < self._bar:
                return rest
            term = max(left, key=lambda term: term.promise)
            self._raise(self._scan(term.weight, *term.tiers.pop()[:2]))

    def _scan(self, weight: float, start: int, stop: int) -> Places:
        """Add a tier's parts to the sums; return its places."""
        places = self._segment.places[start:stop].astype(np.int64)
        parts = self._scale.parts(weight, self._segment.counts_of(start, stop), self._lengths[places])
        parts *= self._allowed[places]
        parts += self._sums[places]
        self._sums[places] = parts
        self._touched.append(places)
        self.scanned += len(places)
        return places[parts > self._bar] if self._bar else places[parts > 0]

    def _raise(self, places: Places) -> None:
        """Raise the bar to the score of the last of the best so far."""
        if len(self._pool) and len(places):
            at = np.minimum(np.searchsorted(places, self._pool), len(places) - 1)
            places = np.concatenate((places, self._pool[places[at] != self._pool]))
        self._pool = self._cut(places) if len(places) else self._pool

    def _cut(self, places: Places) -> Places:
        """Return the ``limit`` best of some places, and raise the bar where there are so many."""
        if len(places) < self._limit:
            return places
        sums = self._sums[places]
        least = last_of_best(sums, self._limit)
        self._bar = max(self._bar, least)
        above = places[sums > least]
        return np.concatenate((above, places[sums == least][: self._limit - len(above)]))

    def _met(self, rest: float) -> Places:
        """Return the places met that may still be among the best."""
        least = max((self._bar - rest * SLACK) / SLACK, self._scale.quantum / 2)
        if sum(map(len, self._touched)) * FEW < len(self._sums):
            places = [touched[self._sums[touched] >= least] for touched in self._touched]
            return ascending(np.concatenate(places)) if places else np.empty(0, dtype=np.int64)
        return np.flatnonzero(self._sums >= least)

    def _complete(self, found: Places, left: list[Wanted]) -> Places:
        """Look up what is left for the places met, letting go of those that fall behind."""
        while left:
            left.sort(key=lambda term: term.rest / sum(stop - start for start, stop, _ in term.tiers))
            term = left.pop()
            for start, stop, _ in term.tiers:
                self._add(term.weight, start, stop, found)
            self._cut(found)
            rest = sum(other.rest for other in left)
            found = found[(self._sums[found] + rest) * SLACK >= self._bar]
        return found

    def _add(self, weight: float, start: int, stop: int, found: Places) -> None:
        """Add a tier's parts to the sums of some places."""
        if len(found) * LOOKUP > stop - start:
            self._scan(weight, start, stop)
            return
        hits, postings = self._segment.look(start, stop, found)
        places = found[hits]
        self._sums[places] += self._scale.parts(weight, self._segment.counts_at(postings), self._lengths[places])
        self.scanned += len(found)

    def _clean(self) -> None:
        if sum(map(len, self._touched)) * FEW < len(self._sums):
            for places in self._touched:
                self._sums[places] = 0.0
        else:
            self._sums.fill(0.0)


def last_of_best(scores: Floats, limit: int) -> float:
    """Return the score of the last of the ``limit`` best of at least so many.

    Not by `np.partition` alone: where thousands tie for a place it takes a hundred times as long. So the best of many
    groups come first, for as many scores as there are groups above them stand above the last of those.
    """
    groups = 4 * limit
    if len(scores) > 2 * groups:
        size = len(scores) // groups
        heads = np.sort(scores[: size * groups].reshape(size, groups).max(axis=0))
        scores = scores[scores >= heads[-limit]]
    return float(np.sort(scores)[-limit])
