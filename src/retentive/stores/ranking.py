"""Arithmetic that must come out the same in every store, to the last bit: cosines, BM25, the order of an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from retentive.types import Floats, Vectors

Whole = TypeVar("Whole", bound=np.signedinteger[Any])

K1 = 1.2
B = 0.75


def cosines(matrix: Vectors, vector: Vectors) -> Floats:
    """Return the cosine of each unit row with a unit vector, in float64.

    Multiplied and summed row by row rather than through BLAS, whose last bits depend on a row's place in the matrix:
    two equal vectors must tie exactly, wherever they lie.
    """
    products = matrix.astype(np.float64) * vector.astype(np.float64)
    result: Floats = products.sum(axis=1)
    return result


def idf(rows: int, having: int) -> float:
    """Return a term's BM25 inverse document frequency: ln(1 + (N-n+0.5)/(n+0.5)), above 0 however common the term.

    Without the 1 and clamped, as FTS5 has it, it gives nothing to a term that half of the rows have: in a young space
    that is any term. On the public sets this one ranks as well or better (docs/decisions/0004-embedded-store.md).
    """
    return math.log1p((rows - having + 0.5) / (having + 0.5))


def bm25(weights: Sequence[float], counts: Sequence[float], length: float, mean_length: float) -> float:
    """Return the BM25 of one row: Σ idf·tf·(k1+1) / (tf + k1·(1-b+b·length/mean))."""
    score = 0.0
    for weight, count in zip(weights, counts, strict=True):
        score += weight * ((count * (K1 + 1.0)) / (count + K1 * (1 - B + B * length / mean_length)))
    return score


def ascending(numbers: NDArray[Whole]) -> NDArray[Whole]:
    """Return numbers in order, each once; `np.unique` hashes, which takes ten times as long."""
    numbers = np.sort(numbers)
    if len(numbers) < 2:
        return numbers
    first = np.empty(len(numbers), dtype=np.bool_)
    first[0] = True
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def distinct(values: Sequence[str]) -> list[str]:
    """Return the values without repetition, first come first: a term asked for twice counts once."""
    return list(dict.fromkeys(values))
