"""Codes of vectors: two bits a dimension in RAM, scanned whole in the time that reading a tenth of the vectors takes.

A vector is centred on the mean of its space, rotated (a fixed random rotation spreads what it says over all
dimensions alike) and kept as a sign and a magnitude bit per dimension, with one factor that puts right how much was
lost. A query meets them twice. First the signs alone, its own weights cut to two sizes: a Hamming distance. Then,
for the best of those, both bits with its weights in three. What is left is scored exactly by whoever asks.

Tried on 230,000 real sentences (docs/decisions/0033-vector-arm.md): plain sign bits need the exact scores of
50,000 rows before the best 20 are right for 99 queries in 100; this, those of 200.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.derived import roomy
from retentive.types import Floats, Vectors

Places: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]

WORD = 64  # bits
LARGEST_BLOCK = 512  # dimensions rotated together
SEED = 20_261_118
STEP = 0.996  # of a standard deviation: the best uniform step of two bits for a normal distribution
FINE = 3  # bits of a query's weights for the second look
SCAN = 49_152  # rows at a time: what is worked on stays in the processor's cache, and calls are few
LEAST_KEPT = 4_096  # rows that have a second look
ENOUGH_SIGNS = 256  # dimensions; shorter vectors have a second look at more, as they have less
KEPT_SHARE = 56  # and at least one row in this many
SAMPLED_FROM, SAMPLE_STEP = 65_536, 8  # from so many on, the bar is set by one distance in eight
SPARSE = 8  # gather rows where fewer than one in this many may be looked at


@lru_cache(maxsize=4)
def rotation(dimension: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return an order of the padded dimensions and an orthogonal matrix to apply to each block of them.

    From `RandomState`, whose stream is frozen for good: saved codes must fit the queries of another version.
    """
    padded = -(-dimension // WORD) * WORD
    block = max(size for size in range(WORD, min(padded, LARGEST_BLOCK) + 1, WORD) if padded % size == 0)
    random = np.random.RandomState(SEED)
    order = random.permutation(padded).astype(np.int64)
    matrix, triangle = np.linalg.qr(random.standard_normal((block, block)))
    return order, (matrix * np.sign(np.diag(triangle))).astype(np.float32)


class VectorCodes:
    """The codes of a cache, by place."""

    def __init__(self, mean: Vectors, spread: Vectors) -> None:
        self.mean, self.spread = mean, spread
        words = len(spread) // WORD
        self._sign: Words = np.zeros((words, 0), dtype=np.uint64)  # a column for each place: scanned word by word
        self._large: Words = np.zeros((0, words), dtype=np.uint64)  # a row for each: looked at here and there
        self._factor = np.zeros(0, dtype=np.float16)

    @classmethod
    def of(cls, vectors: Vectors) -> VectorCodes:
        """Return codes, empty yet, that suit vectors like these."""
        mean = vectors.mean(axis=0)
        rotated = _rotated(vectors - mean)
        spread = np.maximum(rotated.std(axis=0), np.float32(1e-6))
        return cls(mean.astype(np.float32), spread.astype(np.float32))

    @property
    def dimension(self) -> int:
        """How long the vectors are."""
        return len(self.mean)

    def reserve(self, capacity: int) -> None:
        """Make room."""
        if capacity > len(self._factor):
            self._sign, self._large = _wider(self._sign, capacity), _longer(self._large, capacity)
            self._factor = _wider(self._factor, capacity)

    def put(self, places: Places, vectors: Vectors) -> None:
        """Set the codes of some places."""
        self._sign[:, places], large, self._factor[places] = self._encoded(vectors)
        self._large[places] = large.T

    def _encoded(self, vectors: Vectors) -> tuple[Words, Words, Floats]:
        rotated = _rotated(vectors - self.mean)
        positive, large = rotated > 0, np.abs(rotated) > STEP * self.spread
        said = np.where(large, 1.5, 0.5) * np.where(positive, 1.0, -1.0) * (STEP * self.spread)
        length, product = np.square(rotated).sum(axis=1), (rotated * said).sum(axis=1)
        return (
            _packed(positive),
            _packed(large),
            np.divide(length, product, out=np.ones_like(product), where=product > 0),
        )

    def agree(self, places: Places, vectors: Vectors) -> bool:
        """Say whether these are the codes of these vectors, but for what rounding may turn."""
        sign, large, _ = self._encoded(vectors)
        wrong = np.bitwise_count(sign ^ self._sign[:, places]).sum(axis=0, dtype=np.int64)
        wrong += np.bitwise_count(large.T ^ self._large[places]).sum(axis=1, dtype=np.int64)
        return bool((wrong <= 2 + self.dimension // WORD).all())

    def drop(self, places: Places) -> None:
        """Leave nothing of some places."""
        self._sign[:, places] = 0
        self._large[places] = 0
        self._factor[places] = 0

    def best(self, vector: Vectors, mask: Mask, count: int, depth: int) -> Places:
        """Return at least ``depth`` of the ``count`` places in the mask, with high probability the best among them."""
        weights = _rotated(vector[None, :])[0] * self.spread
        short = max(1.0, ENOUGH_SIGNS / self.dimension)  # the fewer signs, the less a distance says
        kept = max(round(short * max(LEAST_KEPT, count // KEPT_SHARE)), 2 * depth)
        places = np.flatnonzero(mask) if count <= kept else self._nearby(weights, mask, count, kept)
        if len(places) <= depth:
            return places
        scores = self._estimates(weights, places)
        return np.sort(places[np.argpartition(scores, len(scores) - depth)[len(scores) - depth :]])

    def _nearby(self, weights: Floats, mask: Mask, count: int, kept: int) -> Places:
        """Return about ``kept`` places of small distance; of those that tie for the last, the newest."""
        if count * SPARSE < len(mask):
            places = np.flatnonzero(mask)
            distances = _distances(self._sign.take(places, axis=1), weights)
        else:
            places = None
            distances = _distances(self._sign[:, : len(mask)], weights)
            if count < len(mask):
                np.putmask(distances, ~mask, np.iinfo(np.uint16).max)
        bar = _bar(distances, kept)
        near = np.flatnonzero(distances <= bar)
        if len(near) > 2 * kept:
            sure, tied = near[distances[near] < bar], near[distances[near] == bar]
            near = np.sort(np.concatenate((sure, tied[len(tied) - (kept - len(sure)) :])))
        return near if places is None else places[near]

    def _estimates(self, weights: Floats, places: Places) -> Floats:
        """Return estimated products of the centred rows with the query, up to a factor common to all.

        Σ w·b·(½+m) over signs b and magnitude bits m: half the sum of all weights, less those that disagree, more
        those that are large, less twice those that are both; each sum counted bit plane by bit plane.
        """
        sign, planes, total = _planes(weights)
        kinds = np.empty((3, len(sign), len(places)), dtype=np.uint64)
        wrong, large, both = kinds
        np.bitwise_xor(self._sign.take(places, axis=1), sign[:, None], out=wrong)  # the first look left these at hand
        large[:] = self._large.take(places, axis=0).T  # of one place side by side: one miss
        np.bitwise_and(wrong, large, out=both)
        masked, counts = np.empty_like(kinds), np.empty(kinds.shape, dtype=np.uint8)
        summed = np.zeros(len(places), dtype=np.int32)
        for plane in reversed(planes):
            np.bitwise_count(np.bitwise_and(kinds, plane[:, None], out=masked), out=counts)
            less, more, twice = np.add.reduce(counts, axis=1, dtype=np.int32)
            summed += summed
            summed += more - less - 2 * twice
        halves: Floats = summed.astype(np.float64) + total / 2
        estimates: Floats = halves * self._factor.take(places).astype(np.float64)
        return estimates

    def arrays(self, size: int) -> dict[str, NDArray[Any]]:
        """Return what it takes to come back."""
        kept: dict[str, NDArray[Any]] = {"mean": self.mean, "spread": self.spread, "sign": self._sign[:, :size]}
        return {**kept, "large": self._large[:size], "factor": self._factor[:size]}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], capacity: int) -> VectorCodes:
        """Come back."""
        codes = cls(arrays["mean"], arrays["spread"])
        codes._sign = roomy(arrays["sign"], capacity)  # ours
        codes._large = roomy(arrays["large"], capacity)  # ours
        codes._factor = roomy(arrays["factor"], capacity)  # ours
        return codes


def _wider(array: NDArray[Any], capacity: int) -> NDArray[Any]:
    grown = np.zeros((*array.shape[:-1], capacity), dtype=array.dtype)
    grown[..., : array.shape[-1]] = array
    return grown


def _longer(array: Words, capacity: int) -> Words:
    grown: Words = np.zeros((capacity, array.shape[1]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


def _rotated(vectors: Vectors) -> Vectors:
    order, matrix = rotation(vectors.shape[1])
    padded = np.zeros((len(vectors), len(order)), dtype=np.float32)
    padded[:, : vectors.shape[1]] = vectors
    blocks = padded[:, order].reshape(len(vectors), -1, len(matrix))
    rotated: Vectors = (blocks @ matrix).reshape(len(vectors), -1)
    return rotated


def _packed(bits: Mask) -> Words:
    """Return the bits of each row as words, a column for each row."""
    words: Words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64).T
    return words


def _planes(weights: Floats) -> tuple[Words, list[Words], int]:
    """Return the signs of the weights, the bit planes of their magnitudes, and the sum of those."""
    sizes = np.abs(weights)
    greatest, most = float(sizes.max()) or 1.0, 2**FINE - 1
    steps = np.round(sizes / greatest * most).astype(np.uint8)
    planes = [_packed((steps >> power & 1)[None, :] > 0)[:, 0] for power in range(FINE)]
    return _packed(weights[None, :] > 0)[:, 0], planes, int(steps.sum())


def _bar(distances: NDArray[np.uint16], kept: int) -> int:
    """Return a distance that about ``kept`` do not exceed, from a part of them where that will do."""
    if len(distances) < SAMPLED_FROM:
        return int(np.partition(distances, kept - 1)[kept - 1])
    part = distances[::SAMPLE_STEP]
    bar = int(np.partition(part, kept // SAMPLE_STEP)[kept // SAMPLE_STEP])
    if bar == np.iinfo(np.uint16).max or np.count_nonzero(distances <= bar) * 2 < kept:
        return int(np.partition(distances, kept - 1)[kept - 1])
    return bar


def _distances(codes: Words, weights: Floats) -> NDArray[np.uint16]:
    """Return for each column how many of its signs are not the query's, those of its large weights counted thrice.

    One and three are what a normal distribution is best cut to, as with the codes themselves.
    """
    sign, large = _packed(weights[None, :] > 0)[:, 0], _packed(_large(weights)[None, :])[:, 0]
    size = codes.shape[1]
    distances = np.zeros(size, dtype=np.uint16)
    most = min(SCAN, size)
    room = (np.empty(most, np.uint64), np.empty(most, np.uint8), np.empty(most, np.uint8))
    for first in range(0, size, SCAN):
        block = distances[first : first + SCAN]
        wrong, weighed, more = (part[: len(block)] for part in room)
        for word in range(len(codes)):
            np.bitwise_xor(codes[word, first : first + SCAN], sign[word], out=wrong)
            np.bitwise_count(wrong, out=weighed)
            np.bitwise_count(np.bitwise_and(wrong, large[word], out=wrong), out=more)
            np.add(weighed, np.add(more, more, out=more), out=weighed)
            np.add(block, weighed, out=block)
    return distances


def _large(weights: Floats) -> Mask:
    large: Mask = np.abs(weights) > STEP * np.sqrt(np.square(weights).mean())
    return large
