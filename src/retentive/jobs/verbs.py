"""The verbs of the queue: bases of `retentive.Space` and `retentive.Retentive` that only delegate."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, get_args

from retentive.errors import InvalidInput
from retentive.jobs.handlers import Handler, Handlers
from retentive.jobs.queue import drop, retry
from retentive.jobs.run import Forecast, Ran, Worker
from retentive.jobs.spending import SETTING, Spent, read_usage
from retentive.keeping import Keeper
from retentive.once import once_of
from retentive.pages import Listed, Walk, checked_size
from retentive.policy.policy import Policy
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.types import SLUG, Job, JobState
from retentive.writing import checked_elements, checked_id

Progress = Callable[[int, int], None]


def _age(job: Job) -> tuple[datetime, str]:
    return job.created_at, job.id


class SpaceJobs:
    """What a space does with its queue."""

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    _home: Any  # a `Retentive`, which is defined further out

    @abstractmethod
    def policy_in_force(self) -> Policy:
        """Return the policy of recalls that name none."""

    def _worker(self) -> Worker:
        home, handlers = self._home, Handlers(self._home.job_handlers)
        keeper, tools = lambda: self._keeper(self._kept), lambda: home.tools_in(self._kept)
        return Worker(keeper, tools, home.llm, handlers, self.policy_in_force)

    def jobs(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listed[Job]:
        """List the jobs that are not done, oldest first: all, or those of a state (waiting, running, dead) or a kind.

        With ``limit`` the page says in ``cursor`` where the next begins.
        """
        if state is not None and state not in get_args(JobState):
            raise InvalidInput(f"state={state!r} is none of 'waiting', 'running', 'dead'.", value=state)
        store = self._kept
        walk = Walk("jobs", store.path, state=state, kind=kind)
        after, size = walk.begin(cursor), None if limit is None else checked_size(limit)
        found = sorted(store.jobs(state=state, kind=kind), key=_age)  # few: what is done is gone
        if after is not None:
            found = [job for job in found if _age(job) > (after.created_at, after.id)]
        return walk.page(found, size, lambda job: Cursor(job.created_at, job.id))

    def run_jobs(
        self, *, kinds: Iterable[str] | None = None, limit: int | None = None, progress: Progress | None = None
    ) -> Ran:
        """Do what is due: every job, or ``limit`` of them; any number of processes may do so at once.

        A job that fails is tried again later; one that needs a language model waits until one is named.
        """
        wanted = None if kinds is None else checked_elements(kinds, "kinds")
        if limit is not None and limit < 1:
            raise InvalidInput(f"limit={limit!r} is not a whole number of at least 1.", value=limit)
        return self._worker().run(kinds=wanted, limit=limit, progress=progress)

    def forecast_jobs(self) -> builtins.list[Forecast]:
        """Say what the jobs that are due would take of the language model, by kind; nothing is begun."""
        return self._worker().forecast()

    def usage(self) -> builtins.list[Spent]:
        """List what language models have taken for this space, by kind of work and model."""
        return read_usage(self._kept.setting(SETTING))

    def retry_jobs(self, *ids: str, once: str | None = None) -> builtins.list[Job]:
        """Let jobs be tried again at once: those named, or all that are dead."""
        store, named = self._kept, [checked_id(one) for one in ids]
        return retry(store, self._keeper(store).author.now, named or None, once_of(once, "retry_jobs", named))

    def drop_jobs(self, *ids: str, once: str | None = None) -> int:
        """Remove jobs undone: those named, or all that are dead; returns how many."""
        store, named = self._kept, [checked_id(one) for one in ids]
        return drop(store, self._keeper(store).author.now, named or None, once_of(once, "drop_jobs", named))


class HomeJobs:
    """What a place of memories does with the queues of its spaces."""

    job_handlers: dict[str, Handler]

    @abstractmethod
    def spaces(self) -> builtins.list[str]:
        """List the spaces that exist."""

    @abstractmethod
    def space(self, path: str | tuple[str, ...]) -> Any:
        """Return one space."""

    def register_job(self, kind: str, handler: Handler) -> None:
        """Let jobs of a kind be done by a handler of your own (`retentive.jobs.Handler`), in this process."""
        if not SLUG.fullmatch(kind):
            raise InvalidInput(f"kind={kind!r} is not a slug such as 'translate'.", value=kind)
        if not isinstance(handler, Handler):
            raise InvalidInput(
                f"{type(handler).__name__} is no handler of jobs, which has `needs_llm`, `batch`, `work(jobs, desk)`.",
                value=handler,
            )
        self.job_handlers[kind] = handler

    def run_jobs(self, *, limit: int | None = None, progress: Progress | None = None) -> dict[str, Ran]:
        """Do what is due in every space, ``limit`` jobs in each at the most; returns what was done, by space."""
        return {path: self.space(path).run_jobs(limit=limit, progress=progress) for path in self.spaces()}
