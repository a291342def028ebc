"""The lexical arm: exact BM25 over an inverted index in memory, derived from the rows' terms.

A few segments that do not change, each some times as large as all that are younger, and the rows written last in
dictionaries. A row is spoken for by one of them, its owner; what others still hold of it does not count. Numbers of
rows, rows per term and the mean length are exact whatever was deleted or written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.ranking import ascending, distinct, idf
from retentive.stores.sqlite.lexical_fresh import Fresh
from retentive.stores.sqlite.lexical_search import Search, Wanted, last_of_best
from retentive.stores.sqlite.lexical_segment import Scale, Segment, from_lines, merged
from retentive.stores.sqlite.tokens import SEPARATOR, encode_term, key
from retentive.types import Floats

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

NOBODY, FRESH = -1, 0  # owners that are no segment
BULK = 512  # rows that become a segment
GROWTH = 4  # a segment is at least so many times as large as all that are younger
DEAD_SHARE = 4  # a segment is made anew when more than one of its rows in this many went
COUNTED = 4_096  # tokens whose numbers of rows are kept between questions
PROBED = 256  # rows looked at before all are scored to learn whether every one matches
GATE_SHARE = 4  # score the rows that pass where that is less work than the postings


class LexicalIndex:
    """BM25 over the places of a cache. Not for two threads at once: its owner holds a lock."""

    def __init__(self) -> None:
        self._segments: dict[int, Segment] = {}  # by their mark in `_owner`, oldest first
        self._fresh = Fresh()
        self._owner = np.empty(0, dtype=np.int16)
        self._lengths = np.empty(0, dtype=np.int32)
        self._sums: Floats = np.empty(0)
        self._rows = self._total = 0
        self._counted: dict[str, int] = {}  # token → how many rows have it, of those asked since the last write

    # Writing

    def put(self, places: Places, lines: Sequence[str | None]) -> None:
        """Take the terms of some places, as the database keeps them; None leaves a place as it is."""
        if any(line is None for line in lines):
            places = places[[line is not None for line in lines]]
        told = [line for line in lines if line is not None]
        if not told:
            return
        self._grow(int(places.max()) + 1)
        self.drop(places)
        self._counted = {}
        lengths = np.array([line.count(SEPARATOR) + 1 if line else 0 for line in told], dtype=np.int32)
        self._lengths[places] = lengths
        self._rows += len(told)
        self._total += int(lengths.sum())
        if len(told) >= BULK:
            self._add(from_lines(places, told, self._lengths, self._mean), places)
            return
        self._owner[places] = FRESH
        self._fresh.put(places.tolist(), told)
        if len(self._fresh) >= BULK:
            self._freeze()

    def drop(self, places: Places) -> None:
        """Forget some places; those that were never put are fine."""
        self._counted = {}
        places = places[places < len(self._owner)]
        owners = self._owner[places]
        for owner in ascending(owners).tolist():
            if owner == NOBODY:
                continue
            going = places[owners == owner]
            if owner == FRESH:
                self._fresh.drop(going.tolist())
            else:
                self._segments[owner].forget(going)
            self._rows -= len(going)
            self._total -= int(self._lengths[going].sum())
        self._owner[places] = NOBODY

    def _grow(self, size: int) -> None:
        if size <= len(self._owner):
            return
        more = max(size, 2 * len(self._owner), 16) - len(self._owner)
        self._owner = np.append(self._owner, np.full(more, NOBODY, dtype=np.int16))
        self._lengths = np.append(self._lengths, np.zeros(more, dtype=np.int32))

    def _add(self, segment: Segment, places: Places) -> None:
        mark = next(mark for mark in range(1, len(self._segments) + 2) if mark not in self._segments)
        segment.rows = len(places)
        self._segments[mark] = segment
        self._owner[places] = mark

    def _freeze(self) -> None:
        places = np.sort(np.fromiter(self._fresh.lines, dtype=np.int64, count=len(self._fresh)))
        lines = [self._fresh.lines[place] for place in places.tolist()]
        self._add(from_lines(places, lines, self._lengths, self._mean), places)
        self._fresh = Fresh()

    # Segments

    def _settle(self) -> None:
        """Merge segments where the younger ones have grown too large for the older, or too much of one went."""
        marks = list(self._segments)
        sizes = [len(self._segments[mark].places) for mark in marks]
        first = next((i for i in range(len(marks)) if sizes[i] < GROWTH * sum(sizes[i + 1 :])), len(marks) - 1)
        if first < len(marks) - 1:
            self._merge(marks[first:])
        for mark, segment in list(self._segments.items()):
            if segment.gone * DEAD_SHARE > segment.rows:
                self._merge([mark])

    def _merge(self, marks: Sequence[int]) -> None:
        parts = []
        mine = np.zeros(len(self._owner), dtype=np.bool_)
        for mark in marks:
            own = self._owner == mark
            mine |= own
            segment = self._segments.pop(mark)
            parts.append((segment, own if segment.gone else None))
        self._add(merged(parts, self._lengths, self._mean), np.flatnonzero(mine))

    def differs(self, places: Places, fresh: LexicalIndex) -> bool:
        """Say whether these places are indexed otherwise than the places 0, 1, 2… of an index that was just built."""
        if (self._rows, self._total) != (fresh._rows, fresh._total):
            return True
        order = np.zeros(max(len(self._owner), int(places.max(initial=0)) + 1), dtype=np.int64)
        order[places] = np.arange(len(places))
        mine, other = self._whole().content(order), fresh._whole().content(np.arange(len(fresh._owner)))
        return not all(np.array_equal(*pair) for pair in zip(mine, other, strict=True))

    # Keeping

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all there is as arrays, and nothing of what was dropped."""
        return {**self._whole().arrays(), "lengths": self._lengths, "spoken": self._owner != NOBODY}

    def _whole(self) -> Segment:
        """Make one segment of all there is, which holds nothing of what was dropped."""
        if len(self._fresh):
            self._freeze()
        if not self._segments:
            self._add(from_lines(np.empty(0, dtype=np.int64), (), self._lengths, self._mean), np.empty(0, np.int64))
        if len(self._segments) > 1 or any(segment.gone for segment in self._segments.values()):
            self._merge(list(self._segments))
        (segment,) = self._segments.values()
        return segment

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> LexicalIndex:
        """Return the index that `arrays` told of; `ValueError` where they do not fit together."""
        index = cls()
        index._lengths = np.array(arrays["lengths"], dtype=np.int32)
        spoken = np.array(arrays["spoken"], dtype=np.bool_)
        if len(spoken) != len(index._lengths):
            raise ValueError("The lengths and the owners of a lexical index differ in number.")
        index._owner = np.full(len(spoken), NOBODY, dtype=np.int16)
        index._add(Segment(arrays), np.flatnonzero(spoken))
        index._rows = int(np.count_nonzero(spoken))
        index._total = int(index._lengths[spoken].sum())
        return index

    # Reading

    @property
    def rows(self) -> int:
        """How many rows are indexed."""
        return self._rows

    @property
    def _mean(self) -> float:
        return self._total / self._rows if self._rows else 0.0

    def weights(self, terms: Sequence[str]) -> Floats:
        """Return each term's idf."""
        tokens = [encode_term(term) for term in terms]
        return np.array([idf(self._rows, having) for having in self._having(tokens)], dtype=np.float64)

    def _having(self, tokens: Sequence[str]) -> list[int]:
        """Return how many rows have each term."""
        new = [token for token in tokens if token not in self._counted]
        if new:
            if len(self._counted) > COUNTED:
                self._counted = {}
                new = list(tokens)
            having = [self._fresh.having(token) for token in new]
            for segment in self._segments.values():
                for i, term in enumerate(segment.find([key(token) for token in new])):
                    having[i] += segment.having(term) if term >= 0 else 0
            self._counted.update(zip(new, having, strict=True))
        return [self._counted[token] for token in tokens]

    def top(self, terms: Sequence[str], allowed: Mask, limit: int) -> tuple[Places, Floats, int]:
        """Return places that match and are allowed, their scores, and how many rows were looked at.

        All of the ``limit`` best are among them, with all that tie with the last of those.
        """
        self._grow(len(allowed))
        self._settle()
        tokens = distinct([encode_term(term) for term in terms])
        having = self._having(tokens)
        gated = int(np.count_nonzero(allowed))
        if gated * GATE_SHARE < sum(having):
            places = np.flatnonzero(allowed)
            scores = self._scores(tokens, having, places)
            return places[scores > 0], scores[scores > 0], gated
        return self._search(tokens, having, allowed, max(limit, 1))

    def _search(self, tokens: list[str], having: list[int], allowed: Mask, limit: int) -> tuple[Places, Floats, int]:
        weights = [idf(self._rows, count) for count in having]
        scale = Scale.of(weights, self._mean)
        found = [self._best_fresh(tokens, weights, scale, allowed)]
        bar, looked = _bar(found[0][1], limit), len(found[0][0])
        for mark, segment in self._segments.items():
            search = Search(segment, scale, self._lengths, self._own(mark, segment, allowed), self._scratch())
            stretch = max(1.0, self._mean / segment.mean) if segment.mean else 1.0
            wanted = []
            for weight, term in zip(weights, segment.find([key(token) for token in tokens]), strict=True):
                if term >= 0:
                    tiers = [(a, b, bound * weight * stretch) for a, b, bound in reversed(segment.tiers(term))]
                    wanted.append(Wanted(weight, tiers))
            found.append(search.best(wanted, limit, bar))
            bar = max(bar, _bar(np.concatenate([scores for _, scores in found]), limit))
            looked += search.scanned
        places, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return places, scores, looked

    def _own(self, mark: int, segment: Segment, allowed: Mask) -> Mask:
        """Return the places that are allowed and that a segment speaks for."""
        return allowed & (self._owner[: len(allowed)] == mark) if segment.gone else allowed

    def _scratch(self) -> Floats:
        if len(self._sums) < len(self._owner):
            self._sums = np.zeros(len(self._owner))
        return self._sums

    def _best_fresh(
        self, tokens: Sequence[str], weights: Sequence[float], scale: Scale, allowed: Mask
    ) -> tuple[Places, Floats]:
        """Return the fresh places that match, with their scores."""
        sums: dict[int, float] = {}
        for token, weight in zip(tokens, weights, strict=True):
            places, counts = self._fresh.postings(token)
            if len(places):
                parts = scale.parts(weight, counts, self._lengths[places])
                for place, part in zip(places.tolist(), parts.tolist(), strict=True):
                    sums[place] = sums.get(place, 0.0) + part
        places = np.fromiter(sums, dtype=np.int64, count=len(sums))
        scores = np.fromiter(sums.values(), dtype=np.float64, count=len(sums))
        kept = allowed[places]
        return places[kept], scores[kept]

    def scores(self, terms: Sequence[str], places: Places) -> Floats:
        """Return the scores of some places, 0 where nothing matches; the places must be alive."""
        tokens = distinct([encode_term(term) for term in terms])
        return self._scores(tokens, self._having(tokens), places)

    def _scores(self, tokens: Sequence[str], having: Sequence[int], places: Places) -> Floats:
        weights = [idf(self._rows, count) for count in having]
        scale = Scale.of(weights, self._mean)
        answer = np.zeros(len(places))
        owners = self._owner[places]
        for mark, segment in self._segments.items():
            mine = np.flatnonzero(owners == mark)
            if len(mine):
                answer[mine] = self._looked_up(segment, tokens, weights, scale, places[mine])
        fresh = np.flatnonzero(owners == FRESH)
        if len(fresh):
            known, scores = self._best_fresh(tokens, weights, scale, self._owner == FRESH)
            by_place = dict(zip(known.tolist(), scores.tolist(), strict=True))
            answer[fresh] = [by_place.get(place, 0.0) for place in places[fresh].tolist()]
        return answer

    def _looked_up(
        self, segment: Segment, tokens: Sequence[str], weights: Sequence[float], scale: Scale, places: Places
    ) -> Floats:
        order = np.argsort(places)
        asked = places[order]
        sums = np.zeros(len(places))
        for weight, term in zip(weights, segment.find([key(token) for token in tokens]), strict=True):
            for start, stop, _ in segment.tiers(term) if term >= 0 else ():
                hits, postings = segment.look(start, stop, asked)
                at = asked[hits]
                sums[hits] += scale.parts(weight, segment.counts_at(postings), self._lengths[at])
        answer = np.empty(len(places))
        answer[order] = sums
        return answer

    def least(self, terms: Sequence[str], allowed: Mask) -> float:
        """Return the least score of the rows that are allowed: 0 unless every one of them matches."""
        tokens = distinct([encode_term(term) for term in terms])
        having = self._having(tokens)
        gated = int(np.count_nonzero(allowed))
        if not gated or sum(having) < gated:
            return 0.0
        if float(self._scores(tokens, having, np.flatnonzero(allowed)[:PROBED]).min()) == 0.0:
            return 0.0
        _, scores, _ = self._search(tokens, having, allowed, gated)
        return float(scores.min()) if len(scores) == gated else 0.0


def _bar(scores: Floats, limit: int) -> float:
    """Return the score of the last of the ``limit`` best, 0 where there are fewer."""
    return last_of_best(scores, limit) if len(scores) >= limit else 0.0
