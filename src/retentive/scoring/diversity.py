"""Diversity: choosing among scored candidates so that the answer does not say one thing twice.

Candidates are positions in the caller's arrays, and the caller has sorted ties: by newer creation, then by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from retentive.scoring.arrays import FloatArray, floats, require_within

MMR_BALANCE: Final = 0.7
NEAR_DUPLICATE_COSINE: Final = 0.95
NEARLY_AS_GOOD: Final = 0.8
ROUNDING: Final = 1e-9  # of a product of unit rows, whichever way it is summed; far more than it ever is


def mmr(
    scores: ArrayLike,
    vectors: ArrayLike,
    limit: int,
    balance: float = MMR_BALANCE,
    first: int | None = None,
) -> list[int]:
    """Greedy ``argmax λ·score - (1 - λ)·max cosine to those chosen``: Carbonell & Goldstein, SIGIR 1998.

    Returns at most ``limit`` positions in the order chosen. The first choice is the best score, or ``first`` where
    given. Ties go to the earlier position. A zero vector is like nothing. O(limit · n): each step compares with the
    latest choice only and keeps the running maximum.
    """
    require_within("balance", balance, 0.0, 1.0)
    relevance = balance * floats(scores)
    if first is not None and not 0 <= first < len(relevance):
        raise ValueError(f"first must be a position among {len(relevance)} candidates, got {first!r}")
    units = unit_rows(vectors, len(relevance))
    chosen: list[int] = []
    nearest = np.zeros(len(relevance))
    waiting = np.ones(len(relevance), dtype=np.bool_)
    while len(chosen) < min(limit, len(relevance)):
        gain = np.where(waiting, relevance - (1.0 - balance) * nearest, -np.inf)
        pick = first if first is not None and not chosen else int(np.argmax(gain))
        similar = cosines_to(units, pick)
        nearest = np.maximum(nearest, similar) if chosen else similar
        waiting[pick] = False
        chosen.append(pick)
    return chosen


def category_quota(order: Sequence[int], kinds: Sequence[str], limit: int) -> list[int]:
    """Pick ``limit`` positions from ``order``, at most ⌈limit/2⌉ of one kind while others wait.

    ``kinds`` is indexed by position. Once every other kind is exhausted, those held back fill up, in their order, at
    the end of the answer.
    """
    cap = -(-limit // 2)
    taken: list[int] = []
    held: list[int] = []
    per_kind: Counter[str] = Counter()
    for position in order:
        admitted = per_kind[kinds[position]] < cap
        (taken if admitted else held).append(position)
        per_kind[kinds[position]] += admitted
    return (taken[: max(limit, 0)] + held)[: max(limit, 0)]


def balanced_kinds(
    order: Sequence[int], scores: ArrayLike, kinds: Sequence[str], limit: int, closeness: float = NEARLY_AS_GOOD
) -> list[int]:
    """Pick ``limit`` positions from ``order``; past ⌈limit/2⌉ of one kind, another kind goes first if nearly as good.

    The quota of `category_quota` lets anything of another kind displace a good answer; here it must score at least
    ``closeness`` of what it displaces, so a space of one topic and many kinds is mixed and a clear answer stays whole.
    """
    require_within("closeness", closeness, 0.0, 1.0)
    values = floats(scores)
    cap = -(-limit // 2)
    waiting = list(order)
    taken: list[int] = []
    per_kind: Counter[str] = Counter()
    while waiting and len(taken) < limit:
        pick = waiting[0]
        if per_kind[kinds[pick]] >= cap:
            others = (i for i in waiting if per_kind[kinds[i]] < cap and values[i] >= closeness * values[pick])
            pick = next(others, pick)
        waiting.remove(pick)
        taken.append(pick)
        per_kind[kinds[pick]] += 1
    return taken


def collapse_near_duplicates(
    order: Sequence[int],
    vectors: ArrayLike,
    kinds: Sequence[str],
    threshold: float = NEAR_DUPLICATE_COSINE,
) -> tuple[list[int], dict[int, int]]:
    """Drop each candidate whose cosine to a better one of its kind exceeds ``threshold``.

    ``order`` is best first; ``vectors`` and ``kinds`` are indexed by position. Returns the positions kept, in order,
    and for each one dropped the best kept position it repeats. Only kept candidates absorb others, so a chain of
    neighbours does not collapse into one.
    """
    units = unit_rows(vectors, len(kinds))
    labels = np.asarray(kinds, dtype=np.str_)
    owner = np.full(len(kinds), -1)
    kept: list[int] = []
    alone = ~_perhaps_close(units, threshold)
    for position in order:
        if owner[position] >= 0:
            continue
        kept.append(position)
        if alone[position]:
            owner[position] = position
            continue
        repeats = (cosines_to(units, position) > threshold) & (labels == labels[position]) & (owner < 0)
        owner[repeats] = position
        owner[position] = position
    return kept, {p: int(owner[p]) for p in order if owner[p] != p}


def _perhaps_close(units: FloatArray, threshold: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Say which rows may have another one near: those whose exact cosines are worth a look."""
    products = units @ units.T
    np.fill_diagonal(products, -np.inf)
    return np.any(products > threshold - ROUNDING, axis=1)  # type: ignore[no-any-return]


def unit_rows(vectors: ArrayLike, count: int) -> FloatArray:
    """``vectors`` as float64 rows of length 1; a zero row stays zero."""
    rows = floats(vectors)
    if rows.size == 0 and count == 0:
        return np.zeros((0, 0))
    if rows.ndim != 2 or rows.shape[0] != count:
        raise ValueError(f"vectors must hold one row for each of {count} candidates, got shape {rows.shape!r}")
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)  # first by the largest entry: squares of huge ones overflow
    length = np.sqrt(np.sum(scaled * scaled, axis=1, keepdims=True))
    return floats(scaled / np.where(length > 0.0, length, 1.0))


def cosines_to(units: FloatArray, position: int) -> FloatArray:
    """The cosine of every unit row to one of them; not through BLAS, whose last bit depends on a row's position."""
    return floats(np.sum(units * units[position], axis=1))
