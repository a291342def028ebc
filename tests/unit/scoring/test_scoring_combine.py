"""Normalisers, combination and fusion: by hand, and at the edges."""

from __future__ import annotations

import math
from functools import reduce
from operator import add

import numpy as np
import pytest

from retentive.scoring.combine import product, weighted_sum
from retentive.scoring.fusion import reciprocal_rank, reciprocal_rank_array, score_fusion
from retentive.scoring.normalise import band, identity, minmax


def test_minmax_over_its_own_column() -> None:
    """The least is 0, the greatest 1."""
    np.testing.assert_array_equal(minmax([2.0, 4.0, 3.0]), [0.0, 1.0, 0.5])


@pytest.mark.parametrize("constant", [0.0, 0.5])
def test_minmax_without_spread(constant: float) -> None:
    """A constant column, and a single candidate, become the constant."""
    np.testing.assert_array_equal(minmax([7.0, 7.0], constant), [constant, constant])
    np.testing.assert_array_equal(minmax([7.0], constant), [constant])


def test_minmax_over_a_population() -> None:
    """Given bounds replace the column's own, and values beyond them are clipped."""
    np.testing.assert_array_equal(minmax([-1.0, 1.0, 5.0], lo=0.0, hi=4.0), [0.0, 0.25, 1.0])
    np.testing.assert_array_equal(minmax([1.0, 2.0], lo=0.0), [0.5, 1.0])
    np.testing.assert_array_equal(minmax([1.0, 2.0], 0.5, lo=3.0, hi=3.0), [0.5, 0.5])


def test_minmax_of_the_widest_span() -> None:
    """A span beyond float64's range does not overflow."""
    np.testing.assert_allclose(minmax([-1.7e308, 0.0, 1.7e308]), [0.0, 0.5, 1.0])


def test_band_clips() -> None:
    """A fixed cosine band."""
    np.testing.assert_allclose(band([0.1, 0.2, 0.4, 0.6, 0.9], 0.2, 0.6), [0.0, 0.0, 0.5, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"lo=0\.6, hi=0\.6"):
        band([0.1], 0.6, 0.6)


def test_identity_is_a_copy() -> None:
    """The raw column, safe to write to."""
    raw = np.array([1.0, 2.0])
    identity(raw)[0] = 9.0
    assert raw[0] == 1.0


def test_normalisers_of_nothing() -> None:
    """No candidates, no values."""
    assert minmax([]).shape == band([], 0.0, 1.0).shape == identity([]).shape == (0,)


def test_sum_is_what_its_contributions_add_up_to() -> None:
    """Adding the shown contributions in order gives the score to the last bit."""
    columns = np.random.default_rng(7).random((6, 200))
    weights = [0.1, 0.7, 1 / 3, 2.0, 1e-9, 0.3]
    parts = [[w * float(s) for w, s in zip(weights, column, strict=True)] for column in columns.T]
    shown = [reduce(add, row, 0.0) for row in parts]  # a plain loop: `sum` compensates since Python 3.12
    assert weighted_sum(columns, weights).tolist() == shown


def test_one_weight_alone_keeps_the_vector_order() -> None:
    """Every weight but one at 0 gives that signal to the last bit."""
    columns = np.random.default_rng(7).normal(size=(4, 50))
    np.testing.assert_array_equal(weighted_sum(columns, [0.0, 0.0, 1.0, 0.0]), columns[2])


def test_combinations_of_nothing() -> None:
    """No signals is a neutral score, no candidates no score."""
    np.testing.assert_array_equal(weighted_sum(np.zeros((0, 2)), []), [0.0, 0.0])
    np.testing.assert_array_equal(product(np.zeros((0, 2))), [1.0, 1.0])
    assert weighted_sum(np.zeros((2, 0)), [1.0, 1.0]).shape == product(np.zeros((2, 0))).shape == (0,)


def test_product() -> None:
    """Fusion score times freshness times boost."""
    np.testing.assert_allclose(product([[0.5, 0.2], [0.5, 1.0], [4.0, 0.0]]), [1.0, 0.0])


def test_finite_extremes_give_no_nan() -> None:
    """The largest floats neither cancel to NaN nor meet zero as infinity."""
    huge = 1.7e308
    assert weighted_sum([[huge], [huge], [-huge], [-huge]], [9.0, 9.0, 9.0, 9.0]).tolist() == [0.0]
    assert product([[huge], [huge], [0.0]]).tolist() == [0.0]


def test_shapes_refused() -> None:
    """A missing weight and a flat column are refused."""
    with pytest.raises(ValueError, match=r"one number per signal \(2\)"):
        weighted_sum([[1.0], [2.0]], [1.0])
    with pytest.raises(ValueError, match=r"2-D"):
        product([1.0, 2.0])


def test_rrf_counts_a_repeated_key_once() -> None:
    """A channel that names a candidate twice does not vote twice."""
    assert reciprocal_rank([["a", "b", "a"]]) == {"a": 1 / 61, "b": 1 / 62}


def test_rrf_weights_channels() -> None:
    """A channel's weight scales its vote; 0 silences it."""
    assert reciprocal_rank([["a"], ["b"]], k=60, weights=[2.0, 0.0]) == {"a": 2 / 61, "b": 0.0}


def test_rrf_of_nothing() -> None:
    """No lists, or empty ones, give no candidates."""
    assert reciprocal_rank([]) == reciprocal_rank([[], []]) == {}
    np.testing.assert_array_equal(reciprocal_rank_array(np.zeros((0, 3))), [0.0, 0.0, 0.0])
    assert reciprocal_rank_array(np.zeros((2, 0))).shape == (0,)


def test_rrf_array_leaves_out_the_absent() -> None:
    """Rank 0 is a channel that did not find the candidate."""
    np.testing.assert_array_equal(reciprocal_rank_array([[1, 2, 0], [0, 1, 0]]), [1 / 61, 1 / 62 + 1 / 61, 0.0])


def test_rrf_refused() -> None:
    """A negative k, a rank below 1 and a missing weight are refused."""
    with pytest.raises(ValueError, match=r"k must .* got -1"):
        reciprocal_rank([["a"]], k=-1)
    with pytest.raises(ValueError, match=r"ranks .* got -2\.0"):
        reciprocal_rank_array([[1, -2]])
    with pytest.raises(ValueError, match=r"per channel \(2\), got \[1\.0\]"):
        reciprocal_rank([["a"], ["b"]], weights=[1.0])
    with pytest.raises(ValueError, match=r"2-D"):
        reciprocal_rank_array([1, 2])


def test_score_fusion_by_hand() -> None:
    """Two channels on their own scales, an absent candidate in each."""
    columns = [[0.9, 0.5, math.nan], [math.nan, 2.0, 12.0]]
    fused = score_fusion(columns, [1.0, 0.5], [0.5, 2.0], [0.9, 12.0])
    np.testing.assert_allclose(fused, [1.0, 0.0, 0.5])


def test_score_fusion_of_a_lone_find() -> None:
    """A channel that found one candidate gives it the full share, and the absent nothing."""
    np.testing.assert_array_equal(score_fusion([[3.0, math.nan]], None, [3.0], [3.0]), [1.0, 0.0])


def test_score_fusion_refused() -> None:
    """A bound that is missing or not a number is refused."""
    with pytest.raises(ValueError, match=r"lows .* \(1\)"):
        score_fusion([[1.0]], None, [math.nan], [1.0])
    with pytest.raises(ValueError, match=r"highs .* \(1\)"):
        score_fusion([[1.0]], None, [0.0], [1.0, 2.0])
