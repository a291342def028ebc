"""The life of a job, without a store or a clock: waiting, running under a lease, waiting again or dead."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from retentive.types import Job, Json

ATTEMPTS: Final = 5
LEASE: Final = timedelta(minutes=15)  # a worker that has neither ended nor renewed by then has died
PAUSE: Final = timedelta(seconds=30)  # before the second attempt; four times as long before each further one
LONGEST_PAUSE: Final = timedelta(hours=6)
LONGEST_ERROR: Final = 500  # characters


def job_id(kind: str, memories: Sequence[str], payload: Mapping[str, Json], key: str | None) -> str:
    """Return an id made from the work, so that asking for the same work twice is one job; ``key`` alone where given."""
    about = [kind, key] if key is not None else [kind, list(memories), dict(payload)]
    text = json.dumps(about, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def claimed(job: Job, now: datetime, token: str) -> Job:
    """Return a job that somebody begins: another attempt, under a lease."""
    return replace(job, state="running", attempts=job.attempts + 1, lease=token, due_at=now + LEASE)


def spent(job: Job) -> bool:
    """Whether a job was begun as often as it may be; one that is due all the same took its workers down with it."""
    return job.attempts >= ATTEMPTS


def failed(job: Job, now: datetime, reason: str) -> Job:
    """Return a job whose attempt failed: to be tried again later, or dead."""
    if spent(job):
        return buried(job, reason)
    return replace(job, state="waiting", lease="", due_at=now + pause(job), error=reason[:LONGEST_ERROR])


def buried(job: Job, reason: str) -> Job:
    """Return a job that is not tried again by itself."""
    return replace(job, state="dead", lease="", error=reason[:LONGEST_ERROR])


def revived(job: Job, now: datetime) -> Job:
    """Return a job as if it had never been tried, to be done at once."""
    return replace(job, state="waiting", attempts=0, lease="", due_at=now)


def pause(job: Job) -> timedelta:
    """Return how long to wait after an attempt; jobs that failed together do not come back together.

    The spread is made from the id, not from chance: the same failure gives the same plan.
    """
    step = min(PAUSE * 4.0 ** min(max(job.attempts - 1, 0), ATTEMPTS), LONGEST_PAUSE)
    spread = hashlib.blake2b(job.id.encode(), digest_size=1).digest()[0] / 255
    return step * (0.75 + spread / 2)
