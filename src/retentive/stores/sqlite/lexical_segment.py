"""Postings that do not change: for each term of some rows, the places that have it and how often.

Terms are sorted, and so are the places of a term; a posting takes five bytes. The places of a frequent term lie in
tiers, those that it scores highest first, each tier with the most it can give, so that a search need not look at all.
A row that went, or whose terms were written anew, stays in here and is not counted: the index knows which segment
speaks for a place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.ranking import K1, B
from retentive.stores.sqlite.tokens import KEY, SEPARATOR, key
from retentive.types import Floats

Places: TypeAlias = NDArray[np.int64]
Lengths: TypeAlias = NDArray[np.int32]
Keys: TypeAlias = NDArray[np.bytes_]
Packed: TypeAlias = NDArray[np.uint64]

NAMES = ("terms", "first", "starts", "bounds", "places", "counts", "many_at", "many", "mean")
COUNT_BITS, PLACE_BITS = 8, 28  # a posting in one number while it is sorted: 28 bits of term, place, count
TERM_SHIFT, PLACE_SHIFT = np.uint64(PLACE_BITS + COUNT_BITS), np.uint64(COUNT_BITS)
MANY = 255  # what a byte says of a count that it cannot hold; such counts are kept beside
TIERED = 4096  # rows that make a term's postings worth parting
SHARES = (0.98, 0.85, 0.5)  # where: the best fiftieth, the next eighth, the upper half, the rest
THIN = 512  # postings that are not worth a tier
SAMPLE = 100_000  # postings the shares are measured on
BLOCK = 1 << 18  # postings weighed at a time
ROUNDING = 1e-6  # of a bound kept in float32
FOUND = 4_096  # terms whose numbers are kept between questions
PENDING = 64  # places that went, before every term is told


@dataclass(frozen=True, slots=True)
class Scale:
    """BM25 but for the idf, such that sums do not depend on their order.

    Every part is rounded to a multiple of one quantum, small enough that no sum of parts is rounded again: a row scores
    the same to the last bit whichever way a search came to it, and equal rows tie.
    """

    slope: float
    guard: float
    quantum: float

    @classmethod
    def of(cls, weights: Sequence[float], mean: float) -> Scale:
        """Return the scale of a question."""
        most = sum(weights) * (K1 + 1.0)
        guard = 1.5 * 2.0 ** (np.ceil(np.log2(most)) + 1.0 if most > 0 else 0.0)
        return cls(K1 * B / mean if mean else 0.0, guard, float(np.spacing(guard)))

    def parts(self, weight: float, counts: Floats, lengths: Lengths) -> Floats:
        """Return what one term gives each row: idf·tf·(k1+1) / (tf + k1·(1-b+b·length/mean))."""
        parts: Floats = np.multiply(lengths, self.slope, dtype=np.float64)
        parts += K1 * (1 - B)
        parts += counts
        np.divide(counts, parts, out=parts)
        parts *= weight * (K1 + 1.0)
        parts += self.guard
        parts -= self.guard
        np.maximum(parts, self.quantum, out=parts)
        return parts


class Segment:
    """The postings of some rows, made once. Only what is known of rows that went since changes."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._held = {name: arrays[name] for name in NAMES}
        self.terms: Keys = arrays["terms"].view(KEY)
        self.first: NDArray[np.uint32] = arrays["first"].view(np.uint32)  # term → its first tier; one more at the end
        self.starts: NDArray[np.uint32] = arrays["starts"].view(np.uint32)  # tier → its first posting; likewise
        self.bounds: NDArray[np.float32] = arrays["bounds"].view(np.float32)  # the most a tier's postings score
        self.places: NDArray[np.int32] = arrays["places"].view(np.int32)
        self.counts: NDArray[np.uint8] = arrays["counts"].view(np.uint8)
        self.many_at: NDArray[np.int64] = arrays["many_at"].view(np.int64)
        self.many: NDArray[np.int64] = arrays["many"].view(np.int64)
        self.mean = float(arrays["mean"].view(np.float64)[0])  # the mean length that the bounds were made with
        self.rows = self.gone = 0  # how many there were, and how many of them do not count any more
        self._found: dict[bytes, int] = {}  # the numbers of terms asked for before: one question asks several times
        self._pending: list[Places] = []
        self._dead: NDArray[np.int32] | None = None  # by term: postings of places that went, but for the pending
        self._check()

    def _check(self) -> None:
        """Refuse arrays that do not fit together: they may come from a file."""
        sizes = len(self.terms) + 1, len(self.bounds) + 1, len(self.places), len(self.many)
        given = len(self.first), len(self.starts), len(self.counts), len(self.many_at)
        if sizes != given or int(self.first[-1]) != len(self.bounds) or int(self.starts[-1]) != len(self.places):
            raise ValueError("The arrays of a lexical segment do not fit together.")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything this was made of."""
        return dict(self._held)

    def find(self, keys: Sequence[bytes]) -> list[int]:
        """Return the numbers of terms, -1 for those that are not here."""
        if not len(self.terms):
            return [-1] * len(keys)
        new = [each for each in keys if each not in self._found]
        if new:
            if len(self._found) > FOUND:
                self._found = {}
                new = list(keys)
            asked = np.array(new, dtype=KEY)
            at = np.minimum(np.searchsorted(self.terms, asked), len(self.terms) - 1)
            self._found.update(zip(new, np.where(self.terms[at] == asked, at, -1).tolist(), strict=True))
        return [self._found[each] for each in keys]

    def tiers(self, term: int) -> list[tuple[int, int, float]]:
        """Return a term's tiers: where they start and stop, and the most they give; the best first."""
        first, last = int(self.first[term]), int(self.first[term + 1])
        edges = self.starts[first : last + 1].tolist()
        return list(zip(edges[:-1], edges[1:], self.bounds[first:last].tolist(), strict=True))

    def having(self, term: int) -> int:
        """Return how many rows have a term, those that went not counted."""
        start, stop = int(self.starts[self.first[term]]), int(self.starts[self.first[term + 1]])
        alive = stop - start - (0 if self._dead is None else int(self._dead[term]))
        if self._pending:
            gone = np.concatenate(self._pending)
            for first, last, _ in self.tiers(term):
                alive -= len(self.look(first, last, gone)[0])
        return alive

    def look(self, start: int, stop: int, places: Places) -> tuple[Places, Places]:
        """Return which of the places a tier has (as indices), and where its postings of those are."""
        tier = self.places[start:stop]
        asked = places.astype(np.int32)
        at = np.searchsorted(tier, asked)
        np.minimum(at, len(tier) - 1, out=at)
        hits = np.flatnonzero(tier[at] == asked)
        return hits, at[hits] + start

    def counts_at(self, postings: Places) -> Floats:
        """Return how often some postings' rows have their term."""
        counts = self.counts[postings].astype(np.float64)
        if len(self.many_at):
            over = np.flatnonzero(counts == MANY)
            counts[over] = self.many[np.searchsorted(self.many_at, postings[over])]
        return counts

    def counts_of(self, start: int, stop: int) -> Floats:
        """Return how often the rows of a tier have its term."""
        counts = self.counts[start:stop].astype(np.float64)
        if len(self.many_at):
            low, high = np.searchsorted(self.many_at, (start, stop))
            counts[self.many_at[low:high] - start] = self.many[low:high]
        return counts

    def forget(self, places: Places) -> None:
        """Count some places no more."""
        self.gone += len(places)
        self._pending.append(places)
        if sum(map(len, self._pending)) > PENDING:
            self._tell()

    def _tell(self) -> None:
        """Subtract what went from every term at once: one pass over the postings instead of a search per question."""
        pending = np.concatenate(self._pending)
        gone = np.zeros(int(max(self.places.max(initial=0), pending.max())) + 1, dtype=np.bool_)
        gone[pending] = True
        postings = np.flatnonzero(gone[self.places])
        tiers = np.searchsorted(self.starts, postings, side="right") - 1
        dead = np.bincount(np.searchsorted(self.first, tiers, side="right") - 1, minlength=len(self.terms))
        self._dead = dead.astype(np.int32) if self._dead is None else self._dead + dead.astype(np.int32)
        self._pending.clear()

    def packed(self, numbers: NDArray[np.uint64], alive: NDArray[np.bool_] | None) -> tuple[Packed, Packed]:
        """Return the postings as sortable numbers under new term numbers, and the counts too large for one."""
        sizes = np.diff(self.starts[self.first])
        keys = np.repeat(numbers << TERM_SHIFT, sizes)
        keys |= self.places.astype(np.uint64) << PLACE_SHIFT
        keys |= self.counts
        many = np.stack([keys[self.many_at].astype(np.uint64), self.many.astype(np.uint64)])
        if alive is None:
            return keys, many
        kept = many[:, alive[self.places[self.many_at]]]
        return keys[alive[self.places]], kept

    def content(self, numbers: Places) -> tuple[Keys, Packed, Packed]:
        """Return terms, postings and large counts in one order, whatever the tiers, with the places renumbered."""
        keys = np.repeat(np.arange(len(self.terms), dtype=np.uint64), np.diff(self.starts[self.first])) << TERM_SHIFT
        keys |= numbers[self.places].astype(np.uint64) << PLACE_SHIFT
        many = np.stack([keys[self.many_at], self.many.astype(np.uint64)])
        return self.terms, np.sort(keys | self.counts), many[:, np.argsort(many[0])]


def from_lines(places: Places, lines: Sequence[str], lengths: Lengths, mean: float) -> Segment:
    """Make the segment of some rows from their lines of terms. ``lengths`` is by place, over all places."""
    tokens = SEPARATOR.join(line for line in lines if line).split(SEPARATOR) if any(lines) else []
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    ids = np.fromiter(map(numbers.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    terms, ranks = np.unique(np.array([key(token) for token in numbers], dtype=KEY), return_inverse=True)
    keys = ranks.astype(np.uint64)[ids] << TERM_SHIFT
    keys |= np.repeat(places.astype(np.uint64), lengths[places]) << PLACE_SHIFT
    keys.sort()
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, dtype=np.int64)
    repeated = np.diff(np.append(starts, len(keys))).astype(np.uint64)
    keys = keys[starts] | np.minimum(repeated, np.uint64(MANY))
    over = repeated >= MANY
    return _laid_out(terms, keys, np.stack([keys[over], repeated[over]]), lengths, mean)


def merged(parts: Sequence[tuple[Segment, NDArray[np.bool_] | None]], lengths: Lengths, mean: float) -> Segment:
    """Make one segment of several; of each only the places that its mask says are its own (None: all of them)."""
    terms, numbers = np.unique(np.concatenate([segment.terms for segment, _ in parts]), return_inverse=True)
    ends = np.cumsum([len(segment.terms) for segment, _ in parts])
    shares = np.split(numbers.astype(np.uint64), ends[:-1])
    packed = [segment.packed(share, own) for (segment, own), share in zip(parts, shares, strict=True)]
    keys = np.concatenate([keys for keys, _ in packed])
    many = np.concatenate([many for _, many in packed], axis=1)
    del packed
    keys.sort()
    return _laid_out(terms, keys, many, lengths, mean)


def _laid_out(terms: Keys, keys: Packed, many: Packed, lengths: Lengths, mean: float) -> Segment:
    """Make a segment of sorted postings: drop terms without any, part the frequent ones, note the most each gives."""
    edges = np.searchsorted(keys, np.arange(len(terms) + 1, dtype=np.uint64) << TERM_SHIFT)
    used = np.diff(edges) > 0
    starts = edges[:-1][used]
    counts = keys.astype(np.uint8)  # the lowest eight bits
    many_at = np.flatnonzero(counts == MANY)
    many = many[:, np.argsort(many[0])]
    keys >>= PLACE_SHIFT
    keys &= np.uint64((1 << PLACE_BITS) - 1)
    places = keys.astype(np.int32)
    del keys
    layout = _Layout(
        places, counts, many_at, many[1].astype(np.int64), _given(places, counts, many_at, many[1], lengths, mean)
    )
    tiers = layout.part(starts)
    bounds = np.maximum.reduceat(layout.given, layout.starts) if len(places) else layout.given
    return Segment(
        {
            "terms": terms[used],
            "first": np.append(0, np.cumsum(tiers)).astype(np.uint32),
            "starts": np.append(layout.starts, len(places)).astype(np.uint32),
            "bounds": bounds * np.float32(1 + ROUNDING),
            "places": places,
            "counts": counts,
            "many_at": layout.many_at,
            "many": layout.many,
            "mean": np.array([mean]),
        }
    )


def _given(
    places: NDArray[np.int32], counts: NDArray[np.uint8], many_at: Places, many: Packed, lengths: Lengths, mean: float
) -> NDArray[np.float32]:
    """Return what each posting gives, in units of its term's idf."""
    given = np.empty(len(places), dtype=np.float32)
    scale = Scale.of((), mean)
    for start in range(0, len(places), BLOCK):
        block = slice(start, start + BLOCK)
        times = counts[block].astype(np.float64)
        low, high = np.searchsorted(many_at, (start, start + BLOCK))
        times[many_at[low:high] - start] = many[low:high]
        given[block] = scale.parts(1.0, times, lengths[places[block]])
    return given


@dataclass(slots=True)
class _Layout:
    """Postings on their way into tiers."""

    places: NDArray[np.int32]
    counts: NDArray[np.uint8]
    many_at: Places
    many: Places
    given: NDArray[np.float32]
    starts: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def part(self, starts: Places) -> Places:
        """Part the postings of frequent terms, in place; return how many tiers each term has."""
        tiers = np.ones(len(starts), dtype=np.int64)
        sizes = np.diff(np.append(starts, len(self.places)))
        inner = [starts]
        long = np.flatnonzero(sizes >= TIERED)
        if len(long):
            step = len(self.given) // SAMPLE + 1
            cuts = np.quantile(self.given[::step], SHARES).astype(np.float64)
            for term in long.tolist():
                edges = self._part_one(int(starts[term]), int(sizes[term]), cuts)
                tiers[term] += len(edges)
                inner.append(edges)
        self.starts = np.sort(np.concatenate(inner))
        return tiers

    def _part_one(self, start: int, size: int, cuts: Floats) -> Places:
        """Sort one term's postings into tiers, each still in the order of places; return where the later ones start."""
        here = slice(start, start + size)
        tier = np.zeros(size, dtype=np.uint8)
        for cut in cuts:
            tier += self.given[here] < cut
        joined = _joined(np.bincount(tier, minlength=len(cuts) + 1).tolist())
        tier = joined[tier]
        order = np.argsort(tier, kind="stable")
        self._move_many(start, size, order)
        for array in (self.places, self.counts, self.given):
            array[here] = array[here][order]
        return start + np.cumsum(np.bincount(tier))[:-1]

    def _move_many(self, start: int, size: int, order: Places) -> None:
        """Take the counts that are kept beside along."""
        low, high = np.searchsorted(self.many_at, (start, start + size))
        if low < high:
            moved = np.argsort(order)[self.many_at[low:high] - start]
            again = np.argsort(moved)
            self.many_at[low:high] = moved[again] + start
            self.many[low:high] = self.many[low:high][again]


def _joined(sizes: Sequence[int]) -> NDArray[np.uint8]:
    """Return new numbers for tiers, such that none is thin: that goes with the next, the last with the one before."""
    numbers, number, gathered = [], 0, 0
    for size in sizes:
        numbers.append(number)
        gathered += size
        if gathered >= THIN:
            number, gathered = number + 1, 0
    return np.minimum(np.array(numbers, dtype=np.uint8), max(number - 1, 0))
