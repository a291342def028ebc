"""The command `retentive mcp` in a process of its own, and the official Python client to talk to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mcp import StdioServerParameters

Started = Callable[..., str]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which nothing of this machine's user counts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RETENTIVE_", "XDG_"))}
    return kept | {
        "HOME": str(tmp_path),
        "RETENTIVE_STORE": str(tmp_path / "store"),
        "RETENTIVE_SPACE": "acme/alice",
        "RETENTIVE_EMBEDDER": "hash",
        "RETENTIVE_SERVE_WORKER": "false",
    }


@pytest.fixture
def command(environment: dict[str, str], tmp_path: Path) -> Callable[..., StdioServerParameters]:
    """Return how a client starts the server."""
    from mcp import StdioServerParameters

    def make(*arguments: str) -> StdioServerParameters:
        return StdioServerParameters(
            command=sys.executable, args=["-m", "retentive", "mcp", *arguments], env=environment, cwd=tmp_path
        )

    return make


@pytest.fixture
def started(environment: dict[str, str], tmp_path: Path) -> Iterator[Started]:
    """Start the HTTP server on a free port; returns its address. It is told to end, and has to end well."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> str:
        process = subprocess.Popen(
            [sys.executable, "-m", "retentive", "mcp", "--http", "--port", "0", *arguments],
            env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(process)
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", said)
        assert found, said + process.stderr.read()
        assert "no keys" in said
        return found[0]

    yield start
    for process in running:
        process.terminate()
        out, _ = process.communicate(timeout=30)
        assert out == ""
