"""The same store in this process and over HTTP, at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")
pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from live_server import listening

from retentive import Retentive
from retentive.server.app import application
from retentive.server.keys import KeyRing
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Retentive]:
    """The store itself."""
    with Retentive(tmp_path / "store", embedder=HashEmbedder(), clock=lambda: NOW) as memories:
        yield memories


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    """The server's keys."""
    return KeyRing(tmp_path / "keys.json")


@pytest.fixture
def address(local: Retentive, ring: KeyRing) -> Iterator[str]:
    """Where the store is served."""
    with listening(application(Service(local, ring, ServeSettings(worker=False)))) as url:
        yield url


@pytest.fixture
def remote(address: str) -> Iterator[Retentive]:
    """The same store over HTTP."""
    with Retentive(address) as memories:
        yield memories
