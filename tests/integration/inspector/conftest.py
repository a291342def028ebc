"""A server of a small store with the inspector, as people start it, and a browser to look at it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from browsers import chromium
from served import address_of, begun, quiet

from retentive import Retentive
from retentive.testing.fakes import HashEmbedder

pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Page

SPACE = "acme/alice"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def seed(folder: Path) -> dict[str, str]:
    """Write a small life: a preference that changed, a decision, an insight, something hostile; return ids by name."""
    now = datetime.now(UTC)
    with Retentive(folder, embedder=HashEmbedder()) as home:
        space = home.space(SPACE)
        old = space.remember(
            "Prefers Postgres for work", key="database", kind="preference", at=now - timedelta(days=90)
        )
        new = space.remember(
            "Prefers SQLite for small work", key="database", kind="preference", at=now - timedelta(days=9)
        )
        gate = space.remember(
            "We decided to ship the gates behind a flag", kind="decision", at=now - timedelta(days=40)
        )
        bad = space.remember(HOSTILE + " gates", kind="episode", at=now - timedelta(days=3))
        space.remember("Noor studies physics", at=now - timedelta(days=30))
        space.remember("Noor studies medicine", at=now - timedelta(days=1))  # unsure: it waits for a person
        space.recall("which database for work", limit=3)
        return {"old": old.id, "new": new.id, "gate": gate.id, "bad": bad.id}


class Served:
    """A running server and what is in it."""

    def __init__(self, address: str, ids: dict[str, str], store: Path) -> None:
        self.address = address
        self.ids = ids
        self.store = store

    def page(self, view: str, query: str = "") -> str:
        """Return the address of a view of the space."""
        return f"{self.address}/#/{view}?space=acme%2Falice{query}"

    def get(self, path: str) -> Any:
        """Ask the server itself."""
        with urlopen(self.address + path, timeout=30) as answer:  # noqa: S310 - our own server
            return json.loads(answer.read())


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start `retentive serve` on a port of its own; stop it as an operator would."""
    folder = tmp_path_factory.mktemp("inspected")
    ids = seed(folder / "store")
    (folder / "reports").mkdir()
    process = begun(quiet(folder), folder, "--reports", str(folder / "reports"))
    served = Served(address_of(process), ids, folder / "store")
    try:
        _wait(served, process)
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def _wait(served: Served, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            _, talk = process.communicate()
            pytest.fail(f"The server ended: {talk}")
        try:
            if served.get("/health/ready")["status"] == "ready":
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("The server was not ready in a minute.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser: Debian's Chromium."""
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    """A fresh window; whatever the page complains about fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    window = context.new_page()
    complaints: list[str] = []
    window.on("console", lambda line: complaints.append(line.text) if line.type in {"error", "warning"} else None)
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.set_default_timeout(30_000)
    yield window
    context.close()
    assert complaints == []
