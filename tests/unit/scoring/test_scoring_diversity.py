"""Diversity: the greedy choice by hand, quotas and near-duplicates."""

from __future__ import annotations

import numpy as np
import pytest

from retentive.scoring.diversity import category_quota, collapse_near_duplicates, mmr

EAST, NORTH, NORTH_EAST = [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]


def test_mmr_prefers_the_other_over_the_copy() -> None:
    """After the best, a worse candidate in another direction beats its copy."""
    assert mmr([1.0, 0.99, 0.6], [EAST, EAST, NORTH], 2) == [0, 2]


def test_mmr_without_diversity_is_the_ranking() -> None:
    """Balance 1 sorts by score."""
    assert mmr([0.1, 0.9, 0.5], [EAST, EAST, EAST], 3, balance=1.0) == [1, 2, 0]


def test_mmr_by_hand() -> None:
    """0.7·0.8 - 0.3·0.7071 = 0.348 loses to 0.7·0.6 - 0.3·0 = 0.42, then wins."""
    assert mmr([1.0, 0.8, 0.6], [EAST, NORTH_EAST, NORTH], 3) == [0, 2, 1]


def test_mmr_penalises_the_most_similar_choice_not_the_latest() -> None:
    """The penalty remembers the first choice after the second."""
    vectors = [EAST, NORTH, EAST, [0.0, 0.0]]
    assert mmr([1.0, 0.9, 0.5, 0.1], vectors, 4) == [0, 1, 3, 2]


def test_mmr_rewards_the_opposite() -> None:
    """A negative cosine is a bonus, as the formula says."""
    assert mmr([1.0, 0.5, 0.6], [EAST, [-1.0, 0.0], NORTH], 2) == [0, 1]


def test_mmr_ties_go_to_the_earlier() -> None:
    """Equal candidates keep the order of the caller."""
    assert mmr([0.5] * 4, [EAST, NORTH, EAST, NORTH], 4) == [0, 1, 2, 3]


def test_mmr_may_be_told_its_first() -> None:
    """A forced first choice shapes the rest."""
    assert mmr([1.0, 0.9, 0.1], [EAST, EAST, NORTH], 2, first=2) == [2, 0]
    with pytest.raises(ValueError, match="first must be a position among 3 candidates, got 3"):
        mmr([1.0, 0.9, 0.1], [EAST, EAST, NORTH], 2, first=3)


def test_mmr_of_little() -> None:
    """Nothing, one, none wanted, more wanted than there are."""
    assert mmr([], np.zeros((0, 2)), 5) == mmr([], [], 5) == []
    assert mmr([0.3], [EAST], 5) == [0]
    assert mmr([0.3, 0.2], [EAST, NORTH], 0) == []


def test_mmr_of_zero_and_huge_vectors() -> None:
    """A zero vector is like nothing, and a huge one has a length all the same."""
    assert mmr([1.0, 0.9, 0.8], [[1e300, 0.0], [1e300, 0.0], [0.0, 0.0]], 3) == [0, 2, 1]


def test_mmr_refused() -> None:
    """A balance outside [0, 1] and a missing vector are refused."""
    with pytest.raises(ValueError, match=r"balance .* got 1\.5"):
        mmr([1.0], [EAST], 1, balance=1.5)
    with pytest.raises(ValueError, match="one row for each of 2 candidates"):
        mmr([1.0, 0.5], [EAST], 1)


def test_quota_holds_back_a_flood() -> None:
    """Of four, two of one kind; the other kind comes up from below."""
    assert category_quota([0, 1, 2, 3, 4, 5], ["a", "a", "a", "a", "b", "b"], 4) == [0, 1, 4, 5]


def test_quota_fills_up() -> None:
    """When the others are exhausted the ones held back follow, in order."""
    assert category_quota([0, 1, 2, 3], ["a", "a", "a", "b"], 4) == [0, 1, 3, 2]
    assert category_quota([2, 0, 1], ["a", "a", "a"], 3) == [2, 0, 1]


def test_quota_rounds_up() -> None:
    """Of five, three of one kind; of one, one."""
    assert category_quota([0, 1, 2, 3, 4, 5], ["a", "a", "a", "a", "b", "c"], 5) == [0, 1, 2, 4, 5]
    assert category_quota([1, 0], ["a", "a"], 1) == [1]


def test_quota_of_nothing() -> None:
    """No candidates or no places, no answer."""
    assert category_quota([], [], 4) == category_quota([0], ["a"], 0) == []


def test_duplicates_collapse_to_the_best() -> None:
    """A copy of the same kind goes; the best in order stays, wherever it stands in the arrays."""
    vectors = [EAST, [1.0, 0.01], NORTH]
    assert collapse_near_duplicates([1, 2, 0], vectors, ["fact"] * 3) == ([1, 2], {0: 1})


def test_a_copy_of_another_kind_stays() -> None:
    """A reflection that says what a fact says is not the fact."""
    assert collapse_near_duplicates([0, 1], [EAST, EAST], ["fact", "reflection"]) == ([0, 1], {})


def test_duplicates_do_not_chain() -> None:
    """The neighbour of a dropped neighbour stays: only those kept absorb."""
    angles = np.deg2rad([0.0, 15.0, 30.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert collapse_near_duplicates([0, 1, 2], vectors, ["fact"] * 3) == ([0, 2], {1: 0})


def test_duplicates_at_the_edges() -> None:
    """Nothing collapses to nothing; zero vectors repeat nothing; only those in order are spoken of."""
    assert collapse_near_duplicates([], np.zeros((0, 2)), []) == ([], {})
    assert collapse_near_duplicates([0, 1], np.zeros((2, 2)), ["fact"] * 2) == ([0, 1], {})
    assert collapse_near_duplicates([2], [EAST, EAST, EAST], ["fact"] * 3) == ([2], {})
