"""The jobs of one space of the PostgreSQL store: rows and back, and the part of a transaction that keeps them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection
from datetime import datetime

from retentive.stores.postgres.keys import key_of
from retentive.stores.postgres.links import Link
from retentive.stores.postgres.rows import Bindings, Row
from retentive.stores.postgres.writing import Writer
from retentive.stores.ranking import distinct
from retentive.stores.values import micros, moment, require_job, storable, to_json
from retentive.types import Job, JobState


class PostgresJobs:
    """The part of a `Transaction` that keeps jobs."""

    @property
    @abstractmethod
    def _writer(self) -> Writer: ...

    @abstractmethod
    def _next(self) -> int: ...

    def put_job(self, job: Job) -> None:
        """Keep a job; one with its id is overwritten and keeps its number."""
        writer = self._writer
        require_job(job)
        writer.write("put_job", encode(job, self._next()))
        writer.write("unlink_job", {"id_key": key_of(job.id)})
        links = [{"memory": key_of(memory), "id_key": key_of(job.id)} for memory in distinct(job.memories)]
        writer.write("link_job", *links)

    def job(self, job_id: str) -> Job | None:
        """Return a job by its id."""
        found = self._writer.rows("job_by_id", {"id_key": key_of(job_id)}) if storable(job_id) else []
        return decode(found[0]) if found else None

    def due_jobs(self, now: datetime, kinds: Collection[str], limit: int) -> list[Job]:
        """Return what was due by ``now``, earliest first."""
        known = sorted(kind for kind in kinds if storable(kind))
        bindings = {"now": micros(now), "kinds": known, "limit": max(limit, 0)}
        return [decode(row) for row in self._writer.rows("due_jobs", bindings)]

    def drop_job(self, job_id: str) -> bool:
        """Remove a job."""
        if self.job(job_id) is None:
            return False
        self._writer.write("drop_job", {"id_key": key_of(job_id)})
        self._writer.write("unlink_job", {"id_key": key_of(job_id)})
        return True


def drop_about(writer: Writer, memory_id: str) -> None:
    """Remove the jobs about a memory."""
    writer.write("drop_jobs_about", {"memory": key_of(memory_id)})
    writer.write("unlink_jobs_about", {"memory": key_of(memory_id)})


def listed_jobs(link: Link, state: JobState | None, kind: str | None, limit: int | None) -> list[Job]:
    """Return the jobs of a state or a kind in the order they were first put."""
    if not all(storable(name) for name in (state, kind) if name is not None):
        return []
    bindings = {"state": state, "kind": kind, "limit": None if limit is None else max(limit, 0)}
    return [decode(row) for row in link.rows("listed_jobs", bindings)]


def encode(job: Job, sequence: int) -> Bindings:
    """Return the bindings of `put_job`."""
    return {
        "id_key": key_of(job.id),
        "sequence": sequence,
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "created_at": micros(job.created_at),
        "due_at": micros(job.due_at),
        "attempts": job.attempts,
        "lease": job.lease,
        "memories": to_json(list(job.memories), "memories"),
        "error": job.error,
        "payload": to_json(dict(job.payload), "payload"),
    }


def decode(row: Row) -> Job:
    """Return the job of a row of `job_columns`."""
    job_id, kind, state, created_at, due_at, attempts, lease, memories, error, payload = row
    return Job(
        id=job_id,
        kind=kind,
        created_at=moment(created_at),
        due_at=moment(due_at),
        memories=tuple(json.loads(memories)),
        payload=json.loads(payload),
        state=state,
        attempts=attempts,
        lease=lease,
        error=error,
    )
