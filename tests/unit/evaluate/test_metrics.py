"""Metrics against values computed by hand."""

from __future__ import annotations

import math

import pytest

from retentive.errors import InvalidInput
from retentive.evaluate.metrics import (
    all_at,
    any_at,
    frac_at,
    mean_of,
    ndcg_at,
    newest_first,
    percentile,
    ranking_metrics,
    reciprocal_rank,
)

RANKED = ["x", "a", "y", "b", "z", "c"]
GOLD = {"a", "b", "c", "d"}


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1.0), (10, 1.0)])
def test_any_needs_one(k: int, expected: float) -> None:
    """One gold id in the first k is enough."""
    assert any_at(RANKED, GOLD, k) == expected


@pytest.mark.parametrize(("gold", "k", "expected"), [({"a", "b"}, 3, 0.0), ({"a", "b"}, 4, 1.0), (GOLD, 20, 0.0)])
def test_all_needs_every_one(gold: set[str], k: int, expected: float) -> None:
    """Every gold id has to be in the first k."""
    assert all_at(RANKED, gold, k) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 0.25), (4, 0.5), (6, 0.75), (20, 0.75)])
def test_frac_counts_the_found_share(k: int, expected: float) -> None:
    """The share is of the gold ids and not of the places."""
    assert frac_at(RANKED, GOLD, k) == expected


def test_reciprocal_rank_of_the_first() -> None:
    """The first gold id stands second."""
    assert reciprocal_rank(RANKED, GOLD) == 0.5
    assert reciprocal_rank(["x", "y"], GOLD) == 0.0


def test_ndcg_by_hand() -> None:
    """Gold at ranks 2, 4 and 6 of four: gains over the ideal of four places."""
    gained = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert ndcg_at(RANKED, GOLD) == pytest.approx(gained / ideal, abs=1e-12)
    assert ndcg_at(["a"], {"a", "b"}) == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-12)


def test_ndcg_stops_at_its_depth() -> None:
    """A gold id at rank 11 gains nothing at 10, and more gold than places still allows a perfect score."""
    late = [f"x{at}" for at in range(10)] + ["a"]
    assert ndcg_at(late, {"a"}) == 0.0
    many = [f"g{at}" for at in range(12)]
    assert ndcg_at(many, set(many)) == 1.0


def test_ndcg_counts_a_repeated_id_once() -> None:
    """Returning the answer twice is not better than returning it once."""
    assert ndcg_at(["a", "a", "b"], {"a", "b"}) == 1.0


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (["new", "old"], 1.0),
        (["old", "new"], 0.0),
        (["x", "new"], 1.0),
        (["x", "old"], 0.0),
        (["x"], 0.0),
        (["newer", "old", "new"], 1.0),
        (["older", "new", "old"], 0.0),
    ],
)
def test_newest_first(ranked: list[str], expected: float) -> None:
    """A current fact has to be there, above every outdated one."""
    assert newest_first(ranked, {"new", "newer"}, {"old", "older"}) == expected


@pytest.mark.parametrize("metric", ranking_metrics((5,)).values(), ids=ranking_metrics((5,)))
def test_no_gold_is_refused(metric: object) -> None:
    """Without evidence there is no recall; a number would be made up."""
    assert callable(metric)
    with pytest.raises(InvalidInput, match="gold is empty"):
        metric(RANKED, frozenset())


def test_metrics_are_printed_in_one_order() -> None:
    """The same metrics always stand together."""
    assert list(ranking_metrics((10, 1))) == [
        "any@1",
        "any@10",
        "all@1",
        "all@10",
        "frac@1",
        "frac@10",
        "mrr",
        "ndcg@10",
    ]


def test_mean_of_nothing_is_nothing() -> None:
    """An average over no question is not zero."""
    assert mean_of([]) == {}
    assert mean_of([{"mrr": 1.0}, {"mrr": 0.5}]) == {"mrr": 0.75}


@pytest.mark.parametrize(("share", "expected"), [(0.95, 19.0), (0.5, 10.0), (1.0, 20.0), (0.0, 1.0)])
def test_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    """Of twenty values the 95th percentile is the nineteenth."""
    assert percentile([float(value) for value in range(20, 0, -1)], share) == expected
    assert percentile([], share) == 0.0
