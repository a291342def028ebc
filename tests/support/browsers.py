"""A real browser for tests: Debian's Chromium, driven by Playwright; skipped where either is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


@contextmanager
def chromium() -> Iterator[Any]:
    """Run a browser until the tests of a module are done."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine: `apt-get install chromium`")
    with api.sync_playwright() as playing:
        running = playing.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        yield running
        running.close()
