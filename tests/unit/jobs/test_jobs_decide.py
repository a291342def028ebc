"""The life of a job, as plain values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retentive.jobs.decide import (
    ATTEMPTS,
    LEASE,
    LONGEST_ERROR,
    LONGEST_PAUSE,
    PAUSE,
    claimed,
    failed,
    job_id,
    pause,
    revived,
    spent,
)
from retentive.types import Job

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
JOB = Job("j", "rate", NOW, NOW)


def test_the_same_work_has_one_id() -> None:
    """Kind, memories and payload make it; where a key is given, kind and key alone."""
    one = job_id("rate", ["a", "b"], {"x": 1, "y": 2}, None)
    assert one == job_id("rate", ["a", "b"], {"y": 2, "x": 1}, None)
    others = [
        job_id("reflect", ["a", "b"], {"x": 1, "y": 2}, None),
        job_id("rate", ["b", "a"], {"x": 1, "y": 2}, None),
        job_id("rate", ["a", "b"], {"x": 1}, None),
        job_id("rate", [], {}, "key"),
    ]
    assert len({one, *others}) == 5
    assert job_id("rate", ["a"], {}, "key") == job_id("rate", ["b"], {"x": 1}, "key")


def test_five_attempts_then_dead() -> None:
    """Each attempt is counted when it begins; the fifth failure is the last."""
    job = JOB
    for attempt in range(1, ATTEMPTS + 1):
        job = claimed(job, NOW, "token")
        assert (job.state, job.attempts, job.lease, job.due_at) == ("running", attempt, "token", NOW + LEASE)
        job = failed(job, NOW, "why")
        assert (job.lease, job.error) == ("", "why")
        assert job.state == ("dead" if attempt == ATTEMPTS else "waiting")
        assert spent(job) == (attempt == ATTEMPTS)
    again = revived(job, NOW)
    assert (again.state, again.attempts, again.due_at, again.error) == ("waiting", 0, NOW, "why")


def test_pauses_grow() -> None:
    """Four times as long each, at most 6 hours, spread by a quarter either way."""
    job, pauses = JOB, []
    for _ in range(ATTEMPTS - 1):
        job = failed(claimed(job, NOW, "t"), NOW, "why")
        pauses.append(job.due_at - NOW)
    assert all(later > 3 * earlier for earlier, later in pairwise(pauses))
    assert PAUSE * 0.75 <= pauses[0] <= PAUSE * 1.25


@given(st.text(max_size=20), st.integers(0, 60))
def test_a_pause_is_bounded(name: str, attempts: int) -> None:
    """Whatever the id and however many attempts; the same job pauses the same."""
    job = Job(name.encode("utf-8", "replace").decode(), "rate", NOW, NOW, attempts=attempts)
    assert PAUSE * 0.75 <= pause(job) <= LONGEST_PAUSE * 1.25
    assert pause(job) == pause(job)


def test_reasons_are_cut() -> None:
    """What a model said may be a book."""
    assert len(failed(claimed(JOB, NOW, "t"), NOW, "x" * 9_999).error) == LONGEST_ERROR
    assert failed(claimed(JOB, NOW, "t"), NOW, "x").due_at - NOW < timedelta(minutes=1)
