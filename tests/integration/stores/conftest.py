"""A folder, a store in it, and other processes that use it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retentive.stores.sqlite import SqliteStore

HERE = Path(__file__).parent
SOURCE = HERE.parents[2] / "src"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where a store may be made."""
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    """Return an empty store that does not wait long."""
    store = SqliteStore(folder, busy_timeout=0.2)
    yield store
    store.close()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a way to start a job of `store_workers.py` in another process; none survives the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(job: str, *arguments: object) -> subprocess.Popen[str]:
        paths = os.pathsep.join([str(SOURCE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        command = [sys.executable, str(HERE / "store_workers.py"), job, *map(str, arguments)]
        pipe = subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., None]:
    """Return a way to run such a job to its end; its failure is ours."""

    def work(job: str, *arguments: object) -> None:
        process = start(job, *arguments)
        _, complained = process.communicate(timeout=60)
        assert process.returncode == 0, complained

    return work
