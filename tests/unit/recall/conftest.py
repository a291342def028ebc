"""Every test of recall that asks for `opening`, `home` or `space` runs over both embedded stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recall_making import Opening, openings

from retentive import Retentive, Space


@pytest.fixture(params=["memory", "sqlite"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opening]:
    yield from openings(request.param, tmp_path)


@pytest.fixture
def home(opening: Opening) -> Retentive:
    return opening()


@pytest.fixture
def space(home: Retentive) -> Space:
    return home.space("acme/alice")
