"""The worker beside the server: what is due is done once, by one process at a time, in every space, and is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from retentive import Retentive, Space
from retentive.errors import StoreBusy
from retentive.jobs import enqueue
from retentive.server import leases
from retentive.server.keys import KeyRing
from retentive.server.metrics import Metrics
from retentive.server.service import Service
from retentive.server.settings import ServeSettings
from retentive.server.worker import Beat, Task, Worker, jobs_left, tasks_of
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The tests' time."""
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Callable[[], Retentive]]:
    """Open the store as one more process would."""
    made: list[Retentive] = []

    def make() -> Retentive:
        made.append(Retentive(tmp_path / "store", embedder=HashEmbedder(16), clock=clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


def seeded(home: Retentive, *names: str) -> None:
    for name in names:
        home.space(name).remember("Prefers Postgres", importance=0.9)


def test_what_is_due_is_done_once_whoever_asks(opened: Callable[[], Retentive], clock: Clock) -> None:
    """Two processes share the spaces; a day later it is due again."""
    home, other = opened(), opened()
    seeded(home, "acme/alice", "acme/bob")
    maintain = tasks_of(ServeSettings())[-1]
    assert maintain.name == "maintain"
    one, two = Worker(home, Metrics(), [maintain]), Worker(other, Metrics(), [maintain])
    assert one.round(maintain) == {"done": 2}
    assert two.round(maintain) == {"nothing to do": 2}
    clock.now += timedelta(days=1)
    assert two.round(maintain) == {"done": 2}


def test_one_at_a_time_in_a_space(opened: Callable[[], Retentive]) -> None:
    """While one works, the other leaves the space alone; where nobody works it goes on."""
    home, other = opened(), opened()
    seeded(home, "acme/alice")
    inside, let_go = threading.Event(), threading.Event()

    def slow(_space: Space, _beat: Beat) -> bool:
        inside.set()
        return let_go.wait(10)

    task = Task("slow", 1.0, slow)
    first = Worker(home, Metrics(), [task])
    thread = threading.Thread(target=first.round, args=(task,))
    thread.start()
    assert inside.wait(10)
    assert Worker(other, Metrics(), [task]).round(task) == {"nothing to do": 1}
    let_go.set()
    thread.join(10)


def test_who_died_holds_nothing_for_long(opened: Callable[[], Retentive], clock: Clock) -> None:
    """Its lease ends; one that is renewed does not."""
    store = opened().space("acme/alice").store
    assert leases.take(store, "t", "dead", clock.now, 60)
    assert not leases.take(store, "t", "me", clock.now, 60)
    clock.now += timedelta(minutes=10)
    leases.renew(store, "t", "dead", clock.now)
    leases.renew(store, "t", "me", clock.now)
    clock.now += timedelta(minutes=10)
    assert not leases.take(store, "t", "me", clock.now, 60)
    clock.now += timedelta(minutes=6)
    assert leases.take(store, "t", "me", clock.now, 60)
    leases.give_back(store, "t", "dead", clock.now, ended=True)
    assert not leases.take(store, "t", "dead", clock.now, 60)
    leases.give_back(store, "t", "me", clock.now, ended=False)
    assert leases.take(store, "t", "me", clock.now, 60)
    leases.give_back(store, "t", "me", clock.now, ended=True)
    assert not leases.take(store, "t", "me", clock.now, 60)


def test_what_is_left_in_the_queues_is_shown(opened: Callable[[], Retentive]) -> None:
    """Over all spaces, by state, as the latest round found it."""
    home = opened()
    seeded(home, "a", "b")
    for number, path in enumerate(("a", "b", "b")):
        with home.space(path).store.transaction() as tx:
            enqueue(tx, "observe", home.now(), payload={"n": number})
    metrics = Metrics()
    Worker(home, metrics, []).round(Task("jobs", 60, lambda space, beat: False, leased=False, left=jobs_left))
    figures = metrics.text()
    assert b'retentive_jobs{state="waiting"} 3.0' in figures
    assert b'retentive_jobs{state="dead"} 0.0' in figures
    assert b'retentive_jobs{state="running"} 0.0' in figures


def test_trouble_in_one_space_is_that_spaces_own(opened: Callable[[], Retentive]) -> None:
    """It is counted; the next space has its turn, and the failed one again in the next round."""
    home = opened()
    seeded(home, "a", "b", "c")
    seen: list[str] = []

    def run(space: Space, _beat: Beat) -> bool:
        seen.append(space.path)
        if space.path == "a":
            raise ValueError("broken")
        if space.path == "b":
            raise StoreBusy("busy")
        home.drop("c")
        return home.space("c").get("nobody") is None

    metrics = Metrics()
    worker = Worker(home, metrics, [])
    assert worker.round(Task("t", 60, run, leased=False)) == {"failed": 1, "busy": 1, "gone": 1}
    assert seen == ["a", "b", "c"]
    assert b'retentive_worker_runs_total{outcome="failed",task="t"} 1.0' in metrics.text()


def test_reflection_fires_where_it_is_due(opened: Callable[[], Retentive]) -> None:
    """And only there."""
    home = opened()
    home.space("busy").remember_many(
        [{"text": f"Postgres outage number {n}, pager rang", "importance": 0.9} for n in range(6)]
    )
    home.space("idle").remember("Nothing much", importance=0.1)
    reflect = next(task for task in tasks_of(ServeSettings()) if task.name == "reflect")
    assert Worker(home, Metrics(), []).round(reflect) == {"done": 1, "nothing to do": 1}


def test_jobs_are_done_where_there_are_any(opened: Callable[[], Retentive], clock: Clock) -> None:
    """A queue is looked at without writing; what is due is done."""
    from retentive.jobs import Desk, Worked, enqueue

    class Nothing:
        needs_llm = False
        batch = 10

        def work(self, jobs: object, desk: Desk) -> Worked:
            return Worked()

    home = opened()
    seeded(home, "a", "b")
    home.register_job("noop", Nothing())
    with home.space("a").store.transaction() as tx:
        enqueue(tx, "noop", clock.now, memories=["m"])
    jobs = tasks_of(ServeSettings())[0]
    outcome = Worker(home, Metrics(), []).round(jobs)
    assert outcome == {"done": 1, "nothing to do": 1}
    assert not [job for job in home.space("a").jobs() if job.kind == "noop"]


def test_what_is_not_wanted_is_not_scheduled() -> None:
    """An interval of 0 is never."""
    assert tasks_of(ServeSettings(jobs_every=0, reflect_every=0, maintain_every=0)) == []


def test_it_runs_in_a_thread_and_ends(
    opened: Callable[[], Retentive], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started with the server, visible in its figures, ended with it."""
    monkeypatch.setattr("retentive.server.worker.FIRST_SECONDS", 0.0)
    home = opened()
    seeded(home, "acme/alice")
    service = Service(home, KeyRing(tmp_path / "keys.json"), ServeSettings(jobs_every=3600, reflect_every=0))
    done = threading.Event()

    def ping(_space: Space, _beat: Beat) -> bool:
        done.set()
        return True

    worker = Worker(home, service.metrics, [Task("ping", 3600, ping)])
    worker.start()
    assert done.wait(10)
    assert worker.alive
    worker.stop(10)
    assert not Worker.alive.fget(worker)  # type: ignore[attr-defined]  # asked anew: mypy believes the answer above
    service.close()
    assert 'retentive_worker_last_round_timestamp_seconds{task="ping"}' in service.metrics.text().decode()
