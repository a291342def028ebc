"""A time to live is another way to say `valid_until`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW

from retentive import Space
from retentive.errors import InvalidInput


@pytest.mark.parametrize("ttl", [timedelta(days=2), 2 * 86_400, 172_800.0])
def test_it_counts_from_when_it_was_said(space: Space, ttl: Any) -> None:
    """A timedelta or seconds, from `at`, from now, or from when it begins to be true."""
    said = NOW - timedelta(days=1)
    assert space.remember("a", ttl=ttl).valid_until == NOW + timedelta(days=2)
    assert space.remember("b", at=said, ttl=ttl).valid_until == said + timedelta(days=2)
    later = NOW + timedelta(days=5)
    assert space.remember("c", valid_from=later, ttl=ttl).valid_until == later + timedelta(days=2)
    assert space.remember_many([{"text": "d", "ttl": ttl}])[0].valid_until == NOW + timedelta(days=2)


@pytest.mark.parametrize("ttl", [0, -1, True, "2d", float("nan"), float("inf"), 1e300, timedelta(0), timedelta.max])
def test_what_is_no_span_is_refused(space: Space, ttl: Any) -> None:
    """Zero, negative, endless, or something else."""
    with pytest.raises(InvalidInput, match="ttl="):
        space.remember("a", ttl=ttl)


def test_two_ends_are_refused(space: Space) -> None:
    """It cannot be said twice."""
    with pytest.raises(InvalidInput, match="give one"):
        space.remember("a", ttl=5, valid_until=NOW + timedelta(days=1))
