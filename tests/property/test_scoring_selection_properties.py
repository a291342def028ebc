"""Normalising, combining, fusing and choosing: bounded, order-preserving, equal to the plain definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.scoring.combine import product, weighted_sum
from retentive.scoring.diversity import category_quota, collapse_near_duplicates, cosines_to, mmr, unit_rows
from retentive.scoring.fusion import reciprocal_rank, reciprocal_rank_array, score_fusion
from retentive.scoring.normalise import band, minmax

finite = st.floats(allow_nan=False, allow_infinity=False)
tame = st.floats(-1e6, 1e6)
kinds = st.lists(st.sampled_from("abc"), max_size=12)
seeds = st.integers(0, 2**32 - 1)
rankings = st.lists(st.lists(st.integers(0, 9), unique=True), max_size=4)


@given(column=st.lists(finite, max_size=12), constant=st.sampled_from([0.0, 0.5]))
def test_minmax_is_bounded_and_keeps_order(column: list[float], constant: float) -> None:
    """In [0, 1] for every finite column, never swapping two candidates, reaching both ends unless constant."""
    values = minmax(column, constant)
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert np.all(np.diff(values[np.argsort(column, kind="stable")]) >= 0.0)
    if len(set(column)) > 1:
        assert (values.min(), values.max()) == (0.0, 1.0)
    else:
        assert set(values.tolist()) <= {constant}


@given(column=st.lists(finite, max_size=12), pair=st.tuples(finite, finite).filter(lambda p: p[0] != p[1]))
def test_fixed_bounds_are_the_band(column: list[float], pair: tuple[float, float]) -> None:
    """A population's bounds and a calibrated band are one formula, bounded and order-preserving."""
    lo, hi = min(pair), max(pair)
    values = band(column, lo, hi)
    np.testing.assert_array_equal(values, minmax(column, lo=lo, hi=hi))
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert np.all(np.diff(values[np.argsort(column, kind="stable")]) >= 0.0)


@given(rows=st.integers(0, 5), n=st.integers(0, 9), data=st.data())
def test_combinations_of_finite_signals_are_finite(rows: int, n: int, data: st.DataObject) -> None:
    """No NaN and no infinity comes out of finite signals and weights, and order does not matter to a candidate."""
    flat = data.draw(st.lists(finite, min_size=rows * n, max_size=rows * n))
    weights = data.draw(st.lists(finite, min_size=rows, max_size=rows))
    columns = np.array(flat, dtype=np.float64).reshape(rows, n)
    order = np.random.default_rng(rows * n).permutation(n)
    total, multiplied = weighted_sum(columns, weights), product(columns)
    assert np.all(np.isfinite(total))
    assert np.all(np.isfinite(multiplied))
    np.testing.assert_array_equal(weighted_sum(columns[:, order], weights), total[order])
    np.testing.assert_array_equal(product(columns[:, order]), multiplied[order])


@given(lists=rankings, k=st.floats(0.0, 100.0), data=st.data())
def test_rank_fusion_of_lists_is_that_of_the_array(lists: list[list[int]], k: float, data: st.DataObject) -> None:
    """Both forms give the same numbers to the last bit."""
    weights = data.draw(st.lists(st.floats(0.0, 10.0), min_size=len(lists), max_size=len(lists)))
    ranks = np.array([[r.index(i) + 1 if i in r else 0 for i in range(10)] for r in lists]).reshape(len(lists), 10)
    fused = reciprocal_rank(lists, k, weights)
    array = reciprocal_rank_array(ranks, k, weights)
    assert [fused.get(i, 0.0) for i in range(10)] == array.tolist()


@given(lists=rankings)
def test_rank_fusion_is_bounded_and_respects_agreement(lists: list[list[int]]) -> None:
    """At most one first place per channel; what no channel ranks lower and all found wins; channels have no order."""
    fused = reciprocal_rank(lists)
    assert all(0.0 < score <= len(lists) / 61 + 1e-12 for score in fused.values())
    assert reciprocal_rank(lists[::-1]) == pytest.approx(fused)
    for better, worse in itertools.permutations(fused, 2):
        if all(better in r and (worse not in r or r.index(better) < r.index(worse)) for r in lists):
            assert fused[better] > fused[worse]


@given(channels=st.integers(0, 4), n=st.integers(0, 6), seed=seeds)
def test_score_fusion_is_bounded(channels: int, n: int, seed: int) -> None:
    """Between 0 and the sum of the weights, whatever is absent."""
    random = np.random.default_rng(seed)
    columns = random.normal(size=(channels, n)) * 10.0
    lows = columns.min(axis=1, initial=0.0)
    highs = columns.max(axis=1, initial=0.0)
    columns[random.random((channels, n)) < 0.3] = np.nan
    weights = random.random(channels).tolist()
    fused = score_fusion(columns, weights, lows, highs)
    assert np.all((fused >= 0.0) & (fused <= sum(weights) + 1e-9))


def plain_mmr(scores: list[float], units: np.ndarray, limit: int, balance: float) -> list[int]:
    """The definition, recomputed at every step."""
    chosen: list[int] = []
    while len(chosen) < min(limit, len(scores)):
        waiting = [i for i in range(len(scores)) if i not in chosen]
        gains = [
            balance * scores[i] - (1 - balance) * max((float(cosines_to(units, c)[i]) for c in chosen), default=0.0)
            for i in waiting
        ]
        chosen.append(waiting[int(np.argmax(gains))])
    return chosen


@given(n=st.integers(0, 9), limit=st.integers(0, 12), balance=st.floats(0.0, 1.0), seed=seeds)
def test_mmr_is_its_definition(n: int, limit: int, balance: float, seed: int) -> None:
    """The running maximum chooses what the definition chooses, copies and ties included."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, 4, n) / 4
    vectors = random.integers(-1, 2, (n, 3)).astype(np.float64)
    chosen = mmr(scores, vectors, limit, balance)
    assert chosen == plain_mmr(scores.tolist(), unit_rows(vectors, n), limit, balance)
    assert len(set(chosen)) == len(chosen) == min(n, limit)


@given(labels=kinds, limit=st.integers(0, 14))
def test_quota_holds_while_others_wait(labels: list[str], limit: int) -> None:
    """Full whenever it can be, in order within a kind, and over the cap only once the others are used up."""
    picked = category_quota(range(len(labels)), labels, limit)
    assert len(set(picked)) == len(picked) == min(limit, len(labels))
    cap = -(-limit // 2)
    for kind in set(labels):
        mine = [p for p in picked if labels[p] == kind]
        assert mine == [p for p in range(len(labels)) if labels[p] == kind][: len(mine)]
        others = [p for p in range(len(labels)) if labels[p] != kind]
        if len(mine) > cap:
            assert set(others) <= set(picked)


@given(labels=kinds, threshold=st.floats(-1.0, 1.0), seed=seeds)
def test_collapse_keeps_the_best_and_loses_nobody(labels: list[str], threshold: float, seed: int) -> None:
    """Kept ones are pairwise apart; each one dropped repeats a better one of its kind."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(len(labels), 2))
    order = random.permutation(len(labels)).tolist()
    units = unit_rows(vectors, len(labels))
    kept, dropped = collapse_near_duplicates(order, vectors, labels, threshold)
    assert sorted([*kept, *dropped]) == list(range(len(labels)))
    assert kept == [p for p in order if p in set(kept)]
    for one, other in itertools.combinations(kept, 2):
        assert labels[one] != labels[other] or cosines_to(units, one)[other] <= threshold
    for copy, best in dropped.items():
        assert labels[copy] == labels[best]
        assert order.index(best) < order.index(copy)
        assert cosines_to(units, best)[copy] > threshold
