"""Doing what is due: claim, work, write the result and take the job off the queue in one transaction."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from retentive.errors import InvalidInput, NotFound, RetentiveError
from retentive.jobs.handlers import Desk, ForecastingHandler, Handlers, LeaseLost, Worked
from retentive.jobs.queue import Claim, claim, give_back, ours_of, renew
from retentive.jobs.spending import note_usage
from retentive.keeping import Keeper
from retentive.llm.protocol import Llm, Usage, model_id
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.recall.request import Tools
from retentive.types import Job

Progress = Callable[[int, int], None]
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of the queue of a space did."""

    done: int = 0
    retried: tuple[Job, ...] = ()  # failed; tried again at their `due_at`
    died: tuple[Job, ...] = ()  # failed for good; `retry_jobs` gives them another chance
    lost: int = 0  # taken over, dropped or erased while we worked; their results were thrown away
    left: int = 0  # still on the queue, the dead aside
    waiting_for_llm: int = 0  # of those: need a language model, and none is named
    unknown: tuple[str, ...] = ()  # kinds that nothing here can do
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the due jobs of a kind would take; ``usage`` is None where nobody can say."""

    kind: str
    jobs: int
    usage: Usage | None


@dataclass(slots=True)
class _Count:
    done: int = 0
    lost: int = 0
    retried: list[Job] = field(default_factory=list)
    died: list[Job] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def handled(self) -> int:
        return self.done + self.lost + len(self.retried) + len(self.died)


class Worker:
    """Works through the queue of one space. ``keeper`` makes a keeper of this moment: a long run outlives many."""

    def __init__(
        self,
        keeper: Callable[[], Keeper],
        tools: Callable[[], Tools],
        llm: Llm | None,
        handlers: Handlers,
        policy: Callable[[], Policy] = lambda: presets.retentive,
    ) -> None:
        self._keeper, self._tools, self._llm, self._policy = keeper, tools, llm, policy
        self._handlers = handlers
        self._store = keeper().store

    def run(self, *, kinds: Collection[str] | None, limit: int | None, progress: Progress | None) -> Ran:
        """Do what is due until nothing is, or ``limit`` jobs were handled."""
        count = _Count()
        ready = self._handlers.ready(self._llm)
        wanted = ready if kinds is None else ready & set(kinds)
        total = self._due(wanted, limit) if progress is not None else 0
        while wanted and (limit is None or count.handled < limit):
            most = 1_000_000 if limit is None else limit - count.handled
            held = claim(self._store, self._now(), wanted, lambda kind: self._handlers.get(kind).batch, most)
            count.died += held.buried
            if not held.jobs:
                break
            self._work(held, count)
            if progress is not None:
                progress(count.handled, max(total, count.handled))
        return self._told(count)

    def forecast(self) -> list[Forecast]:
        """Say what the jobs that are due now would take; nothing is begun."""
        now, found = self._now(), []
        due = [job for job in self._store.jobs() if job.state != "dead" and job.due_at <= now]
        desk = Desk(self._keeper(), self._tools(), self._llm, lambda: None, policy=self._policy())
        for kind in sorted({job.kind for job in due}):
            jobs = [job for job in due if job.kind == kind]
            handler: object = self._handlers.get(kind) if kind in self._handlers.kinds else None
            usage = handler.forecast(jobs, desk) if isinstance(handler, ForecastingHandler) else None
            found.append(Forecast(kind, len(jobs), usage))
        return found

    def _now(self) -> datetime:
        return self._keeper().author.now

    def _due(self, kinds: Collection[str], limit: int | None) -> int:
        now = self._now()
        due = sum(job.kind in kinds and job.state != "dead" and job.due_at <= now for job in self._store.jobs())
        return due if limit is None else min(due, limit)

    def _work(self, held: Claim, count: _Count) -> None:
        """Do one batch. Whatever a handler raises is an attempt that failed, never the end of the worker."""

        def hold() -> None:
            if not renew(self._store, held, self._now()):
                raise LeaseLost

        desk = Desk(self._keeper(), self._tools(), self._llm, hold, policy=self._policy())
        try:
            self._settle(held, self._handlers.get(held.jobs[0].kind).work(held.jobs, desk), count)
        except LeaseLost:
            count.lost += len(held.jobs)
        except Exception as error:  # noqa: BLE001 -- the worker loop: one bad job must not stop the others
            LOG.warning("a batch of %d %r jobs failed: %s", len(held.jobs), held.jobs[0].kind, type(error).__name__)
            reasons = dict.fromkeys((job.id for job in held.jobs), _said(error))
            self._settle(held, Worked(failed=reasons), count, hopeless=isinstance(error, InvalidInput | NotFound))
        finally:
            count.usage += desk.usage
            if self._llm is not None:
                note_usage(self._store, held.jobs[0].kind, model_id(self._llm), desk.usage)

    def _settle(self, held: Claim, worked: Worked, count: _Count, *, hopeless: bool = False) -> None:
        """Write results and take done jobs off the queue, all in one transaction; give failed ones back."""
        now = self._now()
        with self._store.transaction() as tx:
            ours = ours_of(tx, held)
            done = [job for job in ours if job.id not in worked.failed]
            for job in done:
                worked.finish(tx, job)
                tx.drop_job(job.id)
            after = give_back(tx, [job for job in ours if job.id in worked.failed], now, worked.failed, bury=hopeless)
        count.done += len(done)
        count.lost += len(held.jobs) - len(ours)
        count.died += [job for job in after if job.state == "dead"]
        count.retried += [job for job in after if job.state != "dead"]

    def _told(self, count: _Count) -> Ran:
        left = Counter(job.kind for job in self._store.jobs() if job.state != "dead")
        known, ready = self._handlers.kinds, self._handlers.ready(self._llm)
        return Ran(
            done=count.done,
            retried=tuple(count.retried),
            died=tuple(count.died),
            lost=count.lost,
            left=left.total(),
            waiting_for_llm=sum(number for kind, number in left.items() if kind in known - ready),
            unknown=tuple(sorted(set(left) - known)),
            usage=count.usage,
        )


def _said(error: Exception) -> str:
    """Say what went wrong; of errors that are not ours the type comes first."""
    return error.message if isinstance(error, RetentiveError) else f"{type(error).__name__}: {error}"


def summed(runs: Sequence[Ran]) -> Ran:
    """Return several runs as one."""
    usage = Usage()
    for ran in runs:
        usage += ran.usage
    return Ran(
        done=sum(ran.done for ran in runs),
        retried=tuple(job for ran in runs for job in ran.retried),
        died=tuple(job for ran in runs for job in ran.died),
        lost=sum(ran.lost for ran in runs),
        left=sum(ran.left for ran in runs),
        waiting_for_llm=sum(ran.waiting_for_llm for ran in runs),
        unknown=tuple(sorted({kind for ran in runs for kind in ran.unknown})),
        usage=usage,
    )
