"""Intervals and paired tests: against what is known exactly, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from retentive.evaluate.statistics import difference, interval, intervals


def test_an_interval_holds_its_mean_and_shrinks_with_questions() -> None:
    """About 1.96 standard errors each way, for a share of a half."""
    values = [0.0, 1.0] * 200
    found = interval(values)
    assert found.mean == 0.5
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)
    assert interval(values * 4).high - interval(values * 4).low < 0.6 * (found.high - found.low)


def test_of_one_value_and_of_none() -> None:
    """Nothing is known of the spread."""
    assert interval([0.25]).as_dict() == {"mean": 0.25, "low": 0.25, "high": 0.25}
    assert interval([]).as_dict() == {"mean": 0.0, "low": 0.0, "high": 0.0}


def test_columns_together_are_columns_alone() -> None:
    """All metrics come from the same resamples, so that they can be read side by side."""
    table = np.random.default_rng(1).random((50, 3))
    together = intervals(table)
    alone = interval(table[:, 2])  # summed in another order: the same but for the last bit
    assert together[2].as_dict() == pytest.approx(alone.as_dict(), rel=1e-12)


def test_a_clear_gain_and_none() -> None:
    """A gain on every question is clear; equal answers are not compared into significance."""
    chance = np.random.default_rng(2)
    theirs = chance.random(60) * 0.5
    better = difference((theirs + 0.1).tolist(), theirs.tolist())
    assert better.clear
    assert better.p == pytest.approx(1 / 2001)
    assert better.interval.mean == pytest.approx(0.1)
    same = difference(theirs.tolist(), theirs.tolist())
    assert (same.p, same.clear, same.questions) == (1.0, False, 60)


def test_chance_alone_is_rarely_significant() -> None:
    """Under no difference p is below .05 about one time in twenty."""
    chance = np.random.default_rng(3)
    found = [difference(chance.random(40).tolist(), chance.random(40).tolist()).p for _ in range(100)]
    assert sum(p < 0.05 for p in found) <= 11


def test_two_questions_prove_nothing() -> None:
    """Of four ways to flip two signs two are as far out."""
    assert difference([1.0, 1.0], [0.0, 0.0]).p == pytest.approx(0.5, abs=0.05)
