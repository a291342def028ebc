"""The worker beside the server: maintenance, reflection and jobs, on a schedule, in a thread of its own.

Each task goes through the spaces one after the other. A lease lets one process at a time do a task in a space, and the
store remembers when it was done: several servers share the work, and a restart does not begin it anew. What fails in
one space is logged, counted, and tried again at the next round.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, get_args

from retentive.errors import NotFound, RetentiveError, StoreBusy
from retentive.server import leases
from retentive.server.metrics import Metrics
from retentive.server.quiet import Quiet
from retentive.server.settings import ServeSettings
from retentive.types import JobState

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space

LOG: Final = logging.getLogger("retentive.worker")
BATCH: Final = 100
"""Jobs done in one space before the next has its turn."""
RENEW_SECONDS: Final = 60.0
FIRST_SECONDS: Final = 5.0
"""After the start; then the first requests have been answered."""
Beat = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Task:
    """Work that comes round: its name, how many seconds apart, and what it does in one space; False: nothing to do."""

    name: str
    every: float
    run: Callable[[Space, Beat], bool]
    leased: bool = True  # whether one process at a time does it in a space, and when it was done is kept
    left: Callable[[Space], Counter[str]] | None = None  # what is left to do in a space afterwards, by state
    due: Callable[[Space], datetime | None] | None = None  # with `left`: when there is next something to do by itself


def maintain(space: Space, beat: Beat) -> bool:
    """Trim the ledger, and take out of recall what nobody needs any more."""
    done = space.maintain(progress=beat)
    LOG.info("maintained", extra={"facts": {"space": space.path, **done}})
    return True


def reflect(space: Space, beat: Beat) -> bool:
    """Draw insights where enough has gathered."""
    told = space.reflect(progress=beat)
    if not told.fired:
        return False
    LOG.info("reflected", extra={"facts": {"space": space.path, "insights": len(told.insights)}})
    return True


def run_jobs(space: Space, beat: Beat) -> bool:
    """Do what is due in the queue; jobs have leases of their own."""
    if not space.jobs(state="waiting") and not space.jobs(state="running"):
        return False
    ran = space.run_jobs(limit=BATCH, progress=beat)
    return bool(ran.done or ran.retried or ran.died)


def jobs_left(space: Space) -> Counter[str]:
    """Count the jobs that are not done, by state."""
    return Counter(job.state for job in space.jobs())


def next_due(space: Space) -> datetime | None:
    """Return when the next job is to be begun, or taken over from whoever began it; None: none will be."""
    return min((job.due_at for job in space.jobs() if job.state != "dead"), default=None)


def tasks_of(settings: ServeSettings) -> list[Task]:
    """Return what the settings want done; an interval of 0 is never."""
    known = (
        Task("jobs", settings.jobs_every, run_jobs, leased=False, left=jobs_left, due=next_due),
        Task("reflect", settings.reflect_every, reflect),
        Task("maintain", settings.maintain_every, maintain),
    )
    return [task for task in known if task.every > 0]


class Worker:
    """Goes through the spaces of one store. `round` may be called by hand; `start` does it on schedule."""

    def __init__(
        self,
        home: Retentive,
        metrics: Metrics,
        tasks: Sequence[Task],
        changed: Callable[[str], None] = lambda _space: None,
    ) -> None:
        self._changed = changed
        self._home = home
        self._metrics = metrics
        self._tasks = list(tasks)
        self._holder = secrets.token_hex(8)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._quiet: dict[str, Quiet] = {}  # by task

    def start(self) -> None:
        """Begin to work on schedule, if there is anything to do."""
        if self._tasks and self._thread is None:
            self._thread = threading.Thread(target=self._work, name="retentive-worker", daemon=True)
            self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """End after the space under way; whatever was begun there is finished, or waits in its transaction."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
            self._thread = None

    @property
    def alive(self) -> bool:
        """Whether it works on schedule."""
        return self._thread is not None and self._thread.is_alive()

    def _work(self) -> None:
        due = {task.name: time.monotonic() + FIRST_SECONDS for task in self._tasks}
        while not self._stop.wait(max(0.0, min(due.values()) - time.monotonic())):
            for task in self._tasks:
                if due[task.name] <= time.monotonic():
                    self.round(task)
                    due[task.name] = time.monotonic() + self._pause(task)

    def _pause(self, task: Task) -> float:
        """Look more often than the task is due: another process may have done it, at another time in each space."""
        return task.every if not task.leased else min(task.every, max(60.0, task.every / 24))

    def round(self, task: Task) -> Counter[str]:
        """Do a task in every space where it is due; returns the outcomes."""
        outcomes: Counter[str] = Counter()
        left: Counter[str] = Counter(dict.fromkeys(get_args(JobState), 0))
        try:
            spaces = self._home.spaces()
        except RetentiveError:
            LOG.exception("no spaces", extra={"facts": {"task": task.name}})
            spaces = []
        self._quiet.setdefault(task.name, Quiet(self._home)).begin(spaces if task.due else [])
        for path in spaces:
            if self._stop.is_set():
                break
            outcomes[self._outcome(task, path, left)] += 1
        for outcome, count in outcomes.items():
            self._metrics.runs.labels(task.name, outcome).inc(count)
        if task.left is not None:
            for state, count in left.items():
                self._metrics.jobs.labels(state).set(count)
        self._metrics.last_round.labels(task.name).set(self._home.now().timestamp())
        return outcomes

    def _outcome(self, task: Task, path: str, left: Counter[str]) -> str:
        began, quiet = time.perf_counter(), self._quiet[task.name]
        if (known := quiet.left(path)) is not None:
            left.update(known)
            return "nothing to do"
        try:
            done = self._leased(task, path) if task.leased else task.run(self._home.space(path), _silent)
            if task.left is not None:
                self._look(task, path, left)
        except NotFound:
            return "gone"  # dropped since the round began
        except StoreBusy:
            return "busy"
        except Exception:
            LOG.exception("failed", extra={"facts": {"task": task.name, "space": path}})
            return "failed"
        if not done:
            return "nothing to do"
        self._changed(path)
        self._metrics.run_seconds.labels(task.name).observe(time.perf_counter() - began)
        return "done"

    def _look(self, task: Task, path: str, left: Counter[str]) -> None:
        """See what is left to do in a space, and whether the next rounds may pass it by."""
        assert task.left is not None  # noqa: S101 -- the caller asked
        space = self._home.space(path)
        found = task.left(space)
        left.update(found)
        if task.due is not None:
            self._quiet[task.name].note(path, found, task.due(space))

    def _leased(self, task: Task, path: str) -> bool:
        store = self._home.store.open(path, create=False)
        if not leases.take(store, task.name, self._holder, self._home.now(), task.every):
            return False
        renewed = time.monotonic()

        def beat(_done: int, _total: int) -> None:
            nonlocal renewed
            if time.monotonic() - renewed > RENEW_SECONDS:
                renewed = time.monotonic()
                leases.renew(store, task.name, self._holder, self._home.now())

        ended = False
        try:
            done = task.run(self._home.space(path), beat)
            ended = True
        finally:
            leases.give_back(store, task.name, self._holder, self._home.now(), ended=ended)
        return done


def _silent(_done: int, _total: int) -> None:
    """Tell nobody how far it is."""
