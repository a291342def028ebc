"""A server over a store in memory or in a folder, asked in this process; clock and embedder are the tests' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from starlette.testclient import TestClient

from retentive import Retentive
from retentive.server.app import application
from retentive.server.keys import KeyRing
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
Serve = Callable[..., AbstractContextManager[TestClient]]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Retentive]:
    """A store in a folder at one moment."""
    with Retentive(tmp_path / "store", embedder=HashEmbedder(), clock=lambda: NOW) as memories:
        yield memories


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    """A file of keys that is not there yet."""
    return KeyRing(tmp_path / "keys.json")


@pytest.fixture
def serve(home: Retentive, ring: KeyRing) -> Serve:
    """Serve the store; settings, mounts and where the caller sits are the test's to choose."""

    @contextmanager
    def serving(*, mounts: Any = (), client: str = "127.0.0.1", **settings: Any) -> Iterator[TestClient]:
        service = Service(home, ring, ServeSettings(**{"worker": False, **settings}))
        app = application(service, mounts=mounts)
        asking = TestClient(
            app, base_url="http://127.0.0.1:7677", client=(client, 50_000), raise_server_exceptions=True
        )
        with asking:
            yield asking

    return serving


@pytest.fixture
def http(serve: Serve) -> Iterator[TestClient]:
    """A server without keys, asked from this machine."""
    with serve() as client:
        yield client


@pytest.fixture
def key(ring: KeyRing) -> Callable[..., dict[str, str]]:
    """Make a key; return the headers of whoever has it."""

    def make(right: str = "write", *spaces: str, **more: Any) -> dict[str, str]:
        _, secret = ring.create(right=right, spaces=spaces or None, now=NOW, **more)
        return {"Authorization": f"Bearer {secret}"}

    return make
