"""Kinds are checked where they are asked for, as they are where they are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from retentive import Retentive
from retentive.errors import InvalidInput
from retentive.policy import presets
from retentive.testing.fakes import HashEmbedder
from retentive.types import aware


def test_a_misspelt_kind_is_no_empty_answer() -> None:
    """A typo in kinds= is refused with the nearest name, by recall and by list; a registered kind is not."""
    memories = Retentive(":memory:", embedder=HashEmbedder())
    space = memories.space("a")
    space.remember("Tea at five", kind="event")
    for ask in (lambda: space.recall("tea", kinds=["events"]), lambda: space.list(kinds=["events"])):
        with pytest.raises(InvalidInput, match="Did you mean 'event'"):
            ask()
    memories.register_kind("support-ticket")
    assert len(space.list(kinds=["support-ticket"])) == 0


def test_a_weight_of_zero_leaves_a_factor_out() -> None:
    """In a product a weight is an exponent: 0 makes the factor 1, not the score 0."""
    space = Retentive(":memory:", embedder=HashEmbedder()).space("a")
    space.remember("Tea at five")
    (hit,) = space.recall("tea", policy=presets.freshness.replace(weights={"freshness": 0.0}))
    assert hit.signals["freshness"].contribution == 1.0
    assert hit.score == hit.signals["fusion"].contribution == hit.reproduced()


def test_the_first_moment_east_of_greenwich_is_refused() -> None:
    """A moment that UTC cannot write is an error that says so, not an overflow."""
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        aware(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))), "at")
    assert aware(datetime(1, 1, 1, tzinfo=UTC), "at").year == 1
