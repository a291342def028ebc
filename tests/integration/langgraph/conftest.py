"""What the tests over LangGraph share; without the package they are skipped, as in the wheel's own environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from langgraph_making import Clock

from retentive import Retentive
from retentive.testing.fakes import HashEmbedder

if TYPE_CHECKING:
    from retentive.integrations.langgraph import RetentiveStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def memories(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Retentive]:
    where = ":memory:" if request.param == "memory" else str(tmp_path / "memories")
    with Retentive(where, embedder=HashEmbedder(), clock=clock) as home:
        yield home


@pytest.fixture
def store(memories: Retentive) -> Iterator[RetentiveStore]:
    pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")
    from retentive.integrations.langgraph import RetentiveStore

    with RetentiveStore(memories) as opened:
        yield opened
