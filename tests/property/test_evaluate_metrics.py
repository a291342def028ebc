"""What holds of every ranking metric, whatever is ranked."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from retentive.evaluate.metrics import all_at, any_at, frac_at, mean_of, ndcg_at, newest_first, ranking_metrics

IDS = st.integers(0, 30).map(str)
RANKINGS = st.lists(IDS, unique=True, max_size=25)
GOLDS = st.frozensets(IDS, min_size=1, max_size=12)
DEPTHS = st.integers(1, 25)


@given(RANKINGS, GOLDS, st.lists(DEPTHS, min_size=1, max_size=4))
def test_bounded(ranked: list[str], gold: frozenset[str], ks: list[int]) -> None:
    """Every metric lies in 0..1."""
    for metric in ranking_metrics(ks).values():
        assert 0.0 <= metric(ranked, gold) <= 1.0 + 1e-12


@given(RANKINGS, GOLDS, DEPTHS)
def test_all_below_frac_below_any(ranked: list[str], gold: frozenset[str], k: int) -> None:
    """Finding every one implies the whole share, and any share implies one found."""
    assert all_at(ranked, gold, k) <= frac_at(ranked, gold, k) <= any_at(ranked, gold, k)


@given(RANKINGS, GOLDS, DEPTHS, st.randoms(use_true_random=False))
def test_sets_do_not_see_the_order_within_k(ranked: list[str], gold: frozenset[str], k: int, random: Random) -> None:
    """Any, all and frac read the first k as a set."""
    head, tail = ranked[:k], ranked[k:]
    random.shuffle(head)
    for metric in (any_at, all_at, frac_at):
        assert metric(ranked, gold, k) == metric([*head, *tail], gold, k)


@given(RANKINGS, GOLDS, DEPTHS)
def test_deeper_is_never_worse(ranked: list[str], gold: frozenset[str], k: int) -> None:
    """A longer answer holds at least as much evidence."""
    for metric in (any_at, all_at, frac_at):
        assert metric(ranked, gold, k) <= metric(ranked, gold, k + 1)


@given(GOLDS, RANKINGS)
def test_gold_in_front_is_perfect(gold: frozenset[str], others: list[str]) -> None:
    """Ranking the evidence first, in whatever order, is the best there is."""
    ranked = [*sorted(gold), *(memory_id for memory_id in others if memory_id not in gold)]
    metrics = ranking_metrics((len(gold),))
    assert all(abs(metric(ranked, gold) - 1.0) < 1e-12 for metric in metrics.values())


@given(RANKINGS, GOLDS, st.integers(0, 23))
def test_moving_evidence_up_never_hurts(ranked: list[str], gold: frozenset[str], at: int) -> None:
    """Swapping a gold id with the one above it leaves every metric as good or better."""
    if at + 1 >= len(ranked) or ranked[at + 1] not in gold:
        return
    better = [*ranked[:at], ranked[at + 1], ranked[at], *ranked[at + 2 :]]
    for metric in ranking_metrics((1, 5, 10)).values():
        assert metric(better, gold) >= metric(ranked, gold) - 1e-12


@given(RANKINGS, GOLDS, RANKINGS)
def test_what_stands_behind_ten_changes_no_ndcg(ranked: list[str], gold: frozenset[str], more: list[str]) -> None:
    """nDCG@10 reads ten places."""
    head = ranked[:10]
    behind = [memory_id for memory_id in more if memory_id not in head]
    if len(head) == 10:
        assert ndcg_at(head, gold) == ndcg_at([*head, *behind], gold)


@given(RANKINGS, GOLDS, GOLDS)
def test_current_and_outdated_cannot_both_be_first(
    ranked: list[str], current: frozenset[str], outdated: frozenset[str]
) -> None:
    """Whoever is first, the other is not."""
    outdated -= current
    if outdated:
        assert newest_first(ranked, current, outdated) + newest_first(ranked, outdated, current) <= 1.0


@given(st.lists(st.floats(0, 1).map(lambda value: {"m": value}), min_size=1), st.randoms(use_true_random=False))
def test_mean_does_not_see_the_order(rows: list[dict[str, float]], random: Random) -> None:
    """The questions' order changes no digit of a mean."""
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert mean_of(rows) == mean_of(shuffled)
