"""The jobs of one space of the in-memory store."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from retentive.stores.memory_state import State
from retentive.stores.values import plain_json, require_job
from retentive.types import Job, JobState


class MemoryJobs:
    """The part of a `Transaction` that keeps jobs."""

    @property
    @abstractmethod
    def _state(self) -> State: ...

    def put_job(self, job: Job) -> None:
        """Keep a job; assigning to a key that is there leaves it at its place."""
        require_job(job)
        self._state.jobs[job.id] = replace(job, payload=plain_json(job.payload, "payload"))

    def job(self, job_id: str) -> Job | None:
        """Return a job by its id."""
        return self._state.jobs.get(job_id)

    def due_jobs(self, now: datetime, kinds: Collection[str], limit: int) -> list[Job]:
        """Return what was due by ``now``, earliest first."""
        jobs = self._state.jobs.values()
        due = [job for job in jobs if job.kind in kinds and job.state != "dead" and job.due_at <= now]
        return sorted(due, key=lambda job: job.due_at)[: max(limit, 0)]

    def drop_job(self, job_id: str) -> bool:
        """Remove a job."""
        return self._state.jobs.pop(job_id, None) is not None


def listed_jobs(state: State, wanted: JobState | None, kind: str | None, limit: int | None) -> list[Job]:
    """Return the jobs of a state or a kind in the order they were first put."""
    found = [job for job in state.jobs.values() if wanted in {None, job.state} and (kind is None or job.kind == kind)]
    return found if limit is None else found[: max(limit, 0)]


def without(jobs: dict[str, Job], memory_id: str) -> dict[str, Job]:
    """Return the jobs that are not about a memory."""
    return {key: job for key, job in jobs.items() if memory_id not in job.memories}
