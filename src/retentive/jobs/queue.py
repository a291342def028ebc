"""Moving jobs through their life, each step one transaction: so that two workers never run one job at once."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from retentive.errors import InvalidInput, NotFound
from retentive.jobs.decide import ATTEMPTS, LEASE, buried, claimed, failed, job_id, revived, spent
from retentive.once import Once, done_before, note_done
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import SLUG, Job, Json

MOST_AT_ONCE: Final = 100  # spent jobs that one claim buries


def enqueue(
    tx: Transaction,
    kind: str,
    now: datetime,
    *,
    memories: Iterable[str] = (),
    payload: Mapping[str, Json] | None = None,
    due_at: datetime | None = None,
    key: str | None = None,
) -> Job:
    """Put work on the queue, in the transaction that writes what it is about.

    The same work (kind, memories and payload; or kind and ``key`` where one is given) is one job: while it waits or
    runs, asking again changes nothing; one that had died begins anew.
    """
    if not SLUG.fullmatch(kind):
        raise InvalidInput(f"kind={kind!r} of a job is not a slug such as 'rate'.", value=kind)
    about, data = tuple(memories), dict(payload or {})
    name = job_id(kind, about, data, key)
    held = tx.job(name)
    if held is not None and held.state != "dead":
        return held
    job = Job(name, kind, now, due_at or now, about, data)
    tx.put_job(job)
    return job


@dataclass(frozen=True, slots=True)
class Claim:
    """Jobs of one kind that one worker holds for a while."""

    jobs: tuple[Job, ...]
    token: str
    buried: tuple[Job, ...] = ()  # found spent on the way


def claim(store: SpaceStore, now: datetime, kinds: Collection[str], batch: Callable[[str], int], most: int) -> Claim:
    """Take what is due first, and with it as many more of its kind as go into one batch, ``most`` at the most.

    What has failed before goes alone: one text that a model chokes on must not fail its neighbours for ever.
    """
    token = secrets.token_hex(8)
    with store.transaction() as tx:
        dead = _bury(tx, now, kinds)
        found = tx.due_jobs(now, kinds, 1)
        if found and not found[0].attempts:
            due = tx.due_jobs(now, {found[0].kind}, min(batch(found[0].kind), most))
            found = [job for job in due if not job.attempts]
        taken = tuple(claimed(job, now, token) for job in found)
        for job in taken:
            tx.put_job(job)
    return Claim(taken, token, dead)


def _bury(tx: Transaction, now: datetime, kinds: Collection[str]) -> tuple[Job, ...]:
    """Bury what was begun as often as it may be and is due all the same: its workers died over it."""
    found = [job for job in tx.due_jobs(now, kinds, MOST_AT_ONCE) if spent(job)]
    dead = tuple(buried(job, f"its worker did not come back, {ATTEMPTS} times") for job in found)
    for job in dead:
        tx.put_job(job)
    return dead


def renew(store: SpaceStore, held: Claim, now: datetime) -> int:
    """Hold the jobs of a claim for longer; returns how many are still ours."""
    with store.transaction() as tx:
        ours = ours_of(tx, held)
        for job in ours:
            tx.put_job(replace(job, due_at=now + LEASE))
    return len(ours)


def ours_of(tx: Transaction, held: Claim) -> list[Job]:
    """Return those jobs of a claim that nobody took over, dropped or erased meanwhile."""
    found = [tx.job(job.id) for job in held.jobs]
    return [job for job in found if job is not None and job.state == "running" and job.lease == held.token]


def give_back(
    tx: Transaction, jobs: Iterable[Job], now: datetime, reasons: Mapping[str, str], *, bury: bool = False
) -> list[Job]:
    """Let jobs that failed wait for another attempt, or bury them; returns them as they are now."""
    after = [buried(job, reasons[job.id]) if bury else failed(job, now, reasons[job.id]) for job in jobs]
    for job in after:
        tx.put_job(job)
    return after


def retry(store: SpaceStore, now: datetime, ids: Sequence[str] | None, asked: Once | None = None) -> list[Job]:
    """Let jobs be tried at once, as if for the first time: those named, or all that are dead.

    A job that runs is left to its worker.
    """
    with store.transaction() as tx:
        if (done := done_before(asked, tx)) is not None:
            return [job for job in map(tx.job, done) if job is not None]
        found = store.jobs(state="dead") if ids is None else [_found(tx, store, name) for name in ids]
        after = [revived(job, now) for job in found if job.state != "running"]
        for job in after:
            tx.put_job(job)
        note_done(asked, tx, [job.id for job in after], now)
    return after


def drop(store: SpaceStore, now: datetime, ids: Sequence[str] | None, asked: Once | None = None) -> int:
    """Remove jobs undone: those named, or all that are dead; returns how many."""
    with store.transaction() as tx:
        if (done := done_before(asked, tx)) is not None:
            return len(done)
        found = store.jobs(state="dead") if ids is None else [_found(tx, store, name) for name in ids]
        dropped = [job.id for job in found if tx.drop_job(job.id)]
        note_done(asked, tx, dropped, now)
    return len(dropped)


def _found(tx: Transaction, store: SpaceStore, name: str) -> Job:
    job = tx.job(name)
    if job is None:
        raise NotFound(f"No job {name!r} in space {store.path!r}; `retentive jobs list` shows what there is.", id=name)
    return job
