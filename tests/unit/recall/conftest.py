"""Every test of recall that asks for `opening`, `home` or `space` runs over both embedded stores."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "facade"))  # both folders' tests are made from the same parts

from facade_making import Opening, openings

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
