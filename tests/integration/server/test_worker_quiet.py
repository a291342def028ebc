"""The worker leaves spaces alone in which nothing happens, and misses nothing that does, whoever wrote it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from retentive import Retentive
from retentive.jobs import Desk, Worked, enqueue
from retentive.server.metrics import Metrics
from retentive.server.quiet import LOOK_AGAIN
from retentive.server.settings import ServeSettings
from retentive.server.worker import Worker, tasks_of
from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import MarkedStore
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.marks import mark_of
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MANY = 200
JOBS = tasks_of(ServeSettings())[0]


class Clock:
    """A clock that stands until it is moved."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


class Nothing:
    """Work that is done at once."""

    needs_llm = False
    batch = 10

    def work(self, jobs: object, desk: Desk) -> Worked:
        return Worked()


@pytest.fixture
def clock() -> Clock:
    """The tests' time."""
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Retentive]]:
    """Open the store as one more process would."""
    made: list[Retentive] = []

    def make() -> Retentive:
        store = SqliteStore(tmp_path / "store", max_open=8)
        made.append(Retentive(store=store, embedder=HashEmbedder(16), clock=clock))
        made[-1].register_job("noop", Nothing())
        return made[-1]

    yield make
    for each in made:
        each.close()


def settle(folder: Path, seconds: float = 60.0) -> None:
    """Let all that was written have been written a while ago; each call another while."""
    for file in folder.rglob("space.db*"):
        told = file.stat()
        os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns - int(seconds * 1e9)))


def put(home: Retentive, path: str, due: datetime) -> None:
    """Put a job on a space's queue."""
    with home.space(path).store.transaction() as tx:
        enqueue(tx, "noop", NOW, payload={"due": due.isoformat()}, due_at=due)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every space that is opened, by whatever name."""
    seen: list[str] = []
    whole = SqliteStore.open

    def spied(self: SqliteStore, space: str, *, create: bool = True) -> object:
        seen.append(space)
        return whole(self, space, create=create)

    monkeypatch.setattr(SqliteStore, "open", spied)
    return seen


def test_a_round_over_idle_spaces_opens_none(
    opened: Callable[[], Retentive], tmp_path: Path, looks: list[str], clock: Clock
) -> None:
    """Twenty-five times as many as may be open: after one look into each, rounds leave all alone, for an hour."""
    seeding = opened()
    for number in range(MANY):
        seeding.store.open(f"tenant/{number}")
    put(seeding, "tenant/7", NOW + timedelta(days=9))
    seeding.close()
    settle(tmp_path)
    home, metrics = opened(), Metrics()
    worker = Worker(home, metrics, [])
    looks.clear()
    assert worker.round(JOBS) == {"nothing to do": MANY}
    assert len(set(looks)) == MANY
    for _ in range(3):
        looks.clear()
        assert worker.round(JOBS) == {"nothing to do": MANY}
        assert looks == []
    assert b'retentive_jobs{state="waiting"} 1.0' in metrics.text()
    clock.now += LOOK_AGAIN
    assert worker.round(JOBS) == {"nothing to do": MANY}
    assert len(set(looks)) == MANY


def test_what_another_process_puts_is_done(opened: Callable[[], Retentive], tmp_path: Path, looks: list[str]) -> None:
    """At once, while its time says little, and when that has settled; the space beside it stays closed."""
    home, other = opened(), opened()
    for path in ("a", "b"):
        home.space(path).remember("Prefers tea")
    settle(tmp_path)
    worker = Worker(home, Metrics(), [])
    worker.round(JOBS)
    for known_to in (0, 1):
        put(other, "a", NOW - timedelta(minutes=known_to))
        if known_to:
            settle(tmp_path / "store" / "a", 30)
        looks.clear()
        assert worker.round(JOBS) == {"done": 1, "nothing to do": 1}
        assert set(looks) <= {"a"}
        assert not [job for job in other.space("a").jobs() if job.kind == "noop"]


def test_what_becomes_due_is_done(opened: Callable[[], Retentive], tmp_path: Path, clock: Clock) -> None:
    """Nobody writes, and its time comes."""
    home = opened()
    put(home, "a", NOW + timedelta(minutes=5))
    settle(tmp_path)
    worker = Worker(home, Metrics(), [])
    assert worker.round(JOBS) == worker.round(JOBS) == {"nothing to do": 1}
    clock.now += timedelta(minutes=5)
    assert worker.round(JOBS) == {"done": 1}


def test_where_no_store_can_say_every_space_is_looked_into(clock: Clock) -> None:
    """The store in memory has nothing to open; what is put between two rounds is done."""
    store = MemoryStore()
    assert not isinstance(store, MarkedStore)
    home = Retentive(store=store, embedder=HashEmbedder(16), clock=clock)
    home.register_job("noop", Nothing())
    home.space("a").remember("Prefers tea")
    worker = Worker(home, Metrics(), [])
    worker.round(JOBS)
    put(home, "a", NOW)
    assert worker.round(JOBS) == {"done": 1}


def test_marks_of_files(opened: Callable[[], Retentive], tmp_path: Path) -> None:
    """None just after a commit and where there is no space; the same while nobody writes; another after a commit."""
    home = opened()
    home.space("a").remember("Prefers tea")
    (file,) = tmp_path.rglob("space.db")
    assert mark_of(tmp_path / "nothing.db") is None
    os.utime(file, (2.1e9, 2.1e9))  # a clock that went back says nothing either
    assert mark_of(file) is None
    for one in file.parent.glob("space.db*"):
        os.utime(one, (1e9, 1e9))
    assert isinstance(home.store, SqliteStore)
    before = home.store.marks(["a", "nobody"])
    assert home.store.marks(["a"]) == before
    assert set(before) == {"a"}
    home.space("a").remember("Prefers coffee")
    settle(tmp_path, 30)
    assert home.store.marks(["a"])["a"] != before["a"]
