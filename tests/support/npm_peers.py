"""Programs from npm that tests talk to: the official MCP memory server and inspector, and a linter for Compose files.

`make npm-peers` installs them into build/npm; NPM_PEERS names another folder. Without them, or without node, the tests
are skipped and say so.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEMORY_SERVER = "@modelcontextprotocol/server-memory/dist/index.js"
COMPOSE_LINTER = "dclint/bin/dclint.cjs"
INSPECTOR = "@modelcontextprotocol/inspector/cli/build/cli.js"


def peer(program: str) -> list[str]:
    """Return how to start a program of npm, or skip the test."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    path = Path(os.environ.get("NPM_PEERS", ROOT / "build/npm")) / "node_modules" / program
    if not path.is_file():
        pytest.skip(f"{path} is not there: `make npm-peers` installs it")
    return [node, str(path)]
