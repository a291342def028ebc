"""What reflection decides by numbers alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import InvalidInput
from retentive.reflect.decide import (
    LEASE,
    Claim,
    Insight,
    Mark,
    Refused,
    Standing,
    believed,
    checked_budget,
    extracted,
    quoted,
    read_standing,
    supported,
    themes,
    threshold,
    weight,
    why_not,
    write_standing,
)
from retentive.types import JournalEntry, Memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def memory(text: str = "Likes tea", **facts: Any) -> Memory:
    return Memory(**{"id": text, "space": "a", "text": text, "created_at": NOW, "recorded_at": NOW, **facts})


def line(action: str = "remember", **after: Any) -> JournalEntry:
    return JournalEntry(NOW, action, "m", after={"kind": "fact", "importance": 0.5, **after})


def test_a_new_memory_weighs_its_importance() -> None:
    """On the 1-10 scale."""
    assert weight(line()) == pytest.approx(5.0)


@pytest.mark.parametrize(
    "other",
    [
        line("update"),
        line(kind="reflection"),
        line(derived_from=["turn"]),
        line(importance=None),
        JournalEntry(NOW, "remember", "erased"),
    ],
)
def test_nothing_else_weighs(other: JournalEntry) -> None:
    """Not a change, not an insight, not what was taken from a turn that counts already, not a tombstone."""
    assert weight(other) == 0


def test_the_budget_is_reached_not_passed() -> None:
    """At the budget it fires, a hair below it does not; force does not ask."""
    standing = Standing()
    assert why_not(standing, 30.0, NOW, force=False) is None
    assert "29.9 of 30" in (why_not(standing, 29.9, NOW, force=False) or "")
    assert why_not(standing, 0.0, NOW, force=True) is None


@pytest.mark.parametrize(
    ("age", "free"), [(timedelta(0), False), (LEASE, False), (LEASE * 2, True), (-LEASE * 2, True)]
)
def test_a_claim_holds_for_its_lease(age: timedelta, *, free: bool) -> None:
    """A run that died is succeeded; a clock that was set back does not lock the space."""
    standing = Standing(claim=Claim("t", NOW - age))
    assert (why_not(standing, 99.0, NOW, force=True) is None) is free


@pytest.mark.parametrize("budget", [0, -1, True, "30", float("nan"), None])
def test_an_impossible_budget_is_refused(budget: Any) -> None:
    """It would fire always or never."""
    with pytest.raises(InvalidInput, match="budget"):
        checked_budget(budget)


@pytest.mark.parametrize("setting", [None, 7, {"budget": "much"}, {"claim": {}}, {"at": "yesterday"}])
def test_what_cannot_be_read_counts_as_nothing(setting: Any) -> None:
    """A space that another version wrote to still reflects."""
    assert read_standing(setting) == Standing()


@given(st.floats(0.1, 1e5), st.integers(0, 10**9), st.booleans())
def test_what_is_kept_is_read_back(budget: float, sequence: int, claimed: bool) -> None:
    """The setting loses nothing."""
    standing = Standing(budget, Mark(sequence, NOW, "m"), Claim("t", NOW) if claimed else None)
    assert read_standing(write_standing(standing)) == standing


def unit(*rows: list[float]) -> Any:
    found = np.array(rows, np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_themes_are_the_groups_of_alike() -> None:
    """Two groups, the greater first; two that are alike are no theme yet; the middle one stands for all."""
    vectors = unit([1, 0, 0], [1, 0.1, 0], [1, 0.2, 0], [1, 0.1, 0.1], [0, 1, 0], [0, 1, 0.1], [0, 1, 0.2], [0, 0, 1])
    found = themes(vectors, np.full(8, 0.5), 0.9)
    assert [set(theme.members) for theme in found] == [{0, 1, 2, 3}, {4, 5, 6}]
    assert found[1].stands_for == 5


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), max_size=20), st.floats(0.1, 1))
def test_a_memory_belongs_to_one_theme_at_most(rows: list[list[float]], alike: float) -> None:
    """Themes do not overlap, are never too small, and hold the one that stands for them."""
    vectors = np.array([[*row, 1.0] for row in rows], np.float32).reshape(-1, 4)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    found = themes(vectors, np.full(len(vectors), 0.5), alike)
    members = [member for theme in found for member in theme.members]
    assert len(members) == len(set(members))
    assert all(len(theme.members) >= 3 and theme.stands_for in theme.members for theme in found)


def test_the_threshold_is_on_the_embedders_scale() -> None:
    """Four fifths of the way from unrelated to clearly related; a half where nobody measured."""
    assert threshold((0.0, 0.5)) == pytest.approx(0.4)
    assert threshold(None) == 0.5


def test_an_extractive_insight_quotes() -> None:
    """It says how many and quotes one; it claims nothing of its own."""
    from retentive.reflect.decide import Theme

    memories = [memory(f"Tea {at}. And more.", importance=at / 10, speaker="Ann") for at in (2, 4, 6)]
    insight = extracted(Theme((0, 1, 2), 1), memories)
    assert insight.text == "Recurring in 3 memories: “Ann: Tea 4.”"
    assert insight.evidence == ("Tea 2. And more.", "Tea 4. And more.", "Tea 6. And more.")
    assert insight.importance == pytest.approx(0.4)


def test_a_long_statement_is_cut() -> None:
    """A quotation is a sentence, not a document."""
    assert len(quoted(memory("word " * 200))) == 302


def test_evidence_must_exist() -> None:
    """What was made up is dropped; with nothing left the insight is refused."""
    assert supported(Insight("So", ("a", "made-up", "a")), {"a", "b"}) == Insight("So", ("a",))
    assert supported(Insight("So", ("made-up",)), {"a"}) == Refused("So", "no evidence that exists")
    assert supported(Insight("So", ()), {"a"}) == Refused("So", "no evidence that exists")


def test_empty_and_endless_insights_are_refused() -> None:
    """A model that says nothing, or does not stop."""
    assert isinstance(supported(Insight("  ", ("a",)), {"a"}), Refused)
    assert isinstance(supported(Insight("so " * 300, ("a",)), {"a"}), Refused)


def test_importance_stays_on_its_scale() -> None:
    """Whatever a model said."""
    assert supported(Insight("So", ("a",), 7.0), {"a"}) == Insight("So", ("a",), 1.0)


def test_belief_is_that_of_the_weakest() -> None:
    """A conclusion is believed as far as the least of what it rests on."""
    assert believed([memory(trust=0.9), replace(memory(), trust=0.2)]) == 0.2
    assert believed([]) == 1.0
