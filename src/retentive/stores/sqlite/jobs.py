"""The jobs of one space of the SQLite store: rows and back, and the part of a transaction that keeps them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection
from datetime import datetime

from retentive.stores.ranking import distinct
from retentive.stores.sqlite.database import Database, Row
from retentive.stores.values import micros, moment, require_job, storable, to_json
from retentive.types import Job, JobState


class SqliteJobs:
    """The part of a `Transaction` that keeps jobs."""

    @property
    @abstractmethod
    def _database(self) -> Database: ...

    def put_job(self, job: Job) -> None:
        """Keep a job; one with its id is overwritten and keeps its number."""
        require_job(job)
        self._database.run("put_job", encode(job))
        self._database.run("unlink_job", (job.id,))
        self._database.run_many("link_job", [(memory, job.id) for memory in distinct(job.memories)])

    def job(self, job_id: str) -> Job | None:
        """Return a job by its id."""
        found = self._database.rows("job_by_id", (job_id,)) if storable(job_id) else []
        return decode(found[0]) if found else None

    def due_jobs(self, now: datetime, kinds: Collection[str], limit: int) -> list[Job]:
        """Return what was due by ``now``, earliest first."""
        wanted = to_json(sorted(kind for kind in kinds if storable(kind)), "kinds")
        return [decode(row) for row in self._database.rows("due_jobs", (micros(now), wanted, max(limit, 0)))]

    def drop_job(self, job_id: str) -> bool:
        """Remove a job."""
        if not storable(job_id):
            return False
        self._database.run("drop_job", (job_id,))
        return self._database.changes() > 0


def listed_jobs(reader: Database, state: JobState | None, kind: str | None, limit: int | None) -> list[Job]:
    """Return the jobs of a state or a kind in the order they were first put."""
    if not all(storable(name) for name in (state, kind) if name is not None):
        return []
    most = -1 if limit is None else max(limit, 0)
    return [decode(row) for row in reader.rows("listed_jobs", (state, kind, most))]


def encode(job: Job) -> Row:
    """Return the bindings of `put_job`."""
    return (
        job.id,
        job.kind,
        job.state,
        micros(job.created_at),
        micros(job.due_at),
        job.attempts,
        job.lease,
        to_json(list(job.memories), "memories"),
        job.error,
        to_json(dict(job.payload), "payload"),
    )


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
