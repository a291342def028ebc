"""Several processes on one queue, and a worker that is killed over a job."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.jobs import Desk, Worked, enqueue
from retentive.jobs.decide import LEASE
from retentive.stores.protocol import Transaction
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder
from retentive.types import Job

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPACE = "acme/alice"
Start = Callable[..., "subprocess.Popen[str]"]


class Noting:
    """Notes in the space who did which job; told to, it says that it has begun and waits for ever."""

    needs_llm = False
    batch = 3

    def __init__(self, name: str, *, hang: bool = False) -> None:
        self._name, self._hang = name, hang

    def work(self, jobs: Sequence[Job], desk: Desk) -> Worked:
        if self._hang:
            sys.stdout.write("begun\n")
            sys.stdout.flush()
            sys.stdin.readline()
        return Worked(self._note)

    def _note(self, tx: Transaction, job: Job) -> None:
        done = tx.setting("done") or []
        assert isinstance(done, list)
        tx.set_setting("done", [*done, [self._name, job.memories[0]]])


def opened(folder: Path, name: str, now: datetime = NOW, *, hang: bool = False) -> Retentive:
    store = SqliteStore(folder, busy_timeout=60)
    home = Retentive(store=store, embedder=HashEmbedder(16), clock=lambda: now)
    home.register_job("note", Noting(name, hang=hang))
    return home


def queued(home: Retentive, count: int) -> None:
    with home.space(SPACE).store.transaction() as tx:
        for number in range(count):
            enqueue(tx, "note", NOW, memories=[f"m{number:02}"])


def done(home: Retentive) -> list[list[str]]:
    noted = home.space(SPACE).store.setting("done")
    assert isinstance(noted, list)
    return noted


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a way to start this file as a worker; none survives the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(folder: Path, name: str, what: str) -> subprocess.Popen[str]:
        source = str(Path(__file__).resolve().parents[3] / "src")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
        pipe = subprocess.PIPE
        command = [sys.executable, __file__, str(folder), name, what]
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_processes_share_a_queue(tmp_path: Path, start: Start) -> None:
    """Each job is done by one of them, and once."""
    with opened(tmp_path, "parent") as home:
        queued(home, 40)
        workers = [start(tmp_path, name, "run") for name in "ab"]
        home.space(SPACE).run_jobs()
        for worker in workers:
            _, complained = worker.communicate(timeout=60)
            assert worker.returncode == 0, complained
        assert sorted(memory for _, memory in done(home)) == [f"m{number:02}" for number in range(40)]
        assert home.space(SPACE).jobs() == []


def test_a_killed_workers_jobs_return(tmp_path: Path, start: Start) -> None:
    """While it lives nobody takes them; killed, they wait for the end of the lease and are done by another."""
    with opened(tmp_path, "parent") as home:
        queued(home, 3)
        worker = start(tmp_path, "doomed", "hang")
        assert worker.stdout is not None
        assert worker.stdout.readline() == "begun\n", worker.communicate()[1]
        assert [job.state for job in home.space(SPACE).jobs()] == ["running"] * 3
        assert home.space(SPACE).run_jobs().done == 0
        worker.kill()
        worker.communicate()
        assert home.space(SPACE).run_jobs().done == 0
    with opened(tmp_path, "heir", NOW + LEASE - timedelta(seconds=1)) as early:
        assert early.space(SPACE).run_jobs().done == 0
    with opened(tmp_path, "heir", NOW + LEASE) as heir:
        assert heir.space(SPACE).run_jobs().done == 3
        assert [name for name, _ in done(heir)] == ["heir"] * 3


if __name__ == "__main__":
    with opened(Path(sys.argv[1]), sys.argv[2], hang=sys.argv[3] == "hang") as home:
        home.space(SPACE).run_jobs()
