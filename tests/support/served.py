"""`retentive serve` as a process of its own, on a port that the system gives it and that it says itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ADDRESS = re.compile(r"http://127\.0\.0\.1:[1-9]\d*")


def quiet(folder: Path, **settings: str) -> dict[str, str]:
    """Return an environment without settings of ours but these; nothing works beside the server unless asked for."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    ours = {"RETENTIVE_STORE": str(folder / "store"), "RETENTIVE_EMBEDDER": "hash", "RETENTIVE_SERVE_WORKER": "false"}
    return {**plain, "HOME": str(folder), **ours, **settings}


def begun(env: Mapping[str, str], folder: Path, *arguments: str, port: int = 0) -> subprocess.Popen[str]:
    """Start a server; on port 0 it takes a free one, so that nobody else can take it in between."""
    command = [sys.executable, "-m", "retentive", "serve", "--port", str(port), *arguments]
    return subprocess.Popen(command, env=dict(env), stderr=subprocess.PIPE, text=True, cwd=folder)


def address_of(process: subprocess.Popen[str]) -> str:
    """Wait until a server says where it listens, and return that."""
    assert process.stderr is not None
    told = process.stderr.readline()
    found = ADDRESS.search(told)
    assert found is not None, told + process.stderr.read()
    return found[0]


@contextmanager
def served(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, **settings: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a store in a folder; gives the address and the process, which is killed where it has not ended."""
    with begun(env or quiet(folder, **settings), folder, *arguments) as process:
        try:
            yield address_of(process), process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(10)
