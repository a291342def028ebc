"""`retentive jobs`, run for real."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retentive.stores.sqlite import SqliteStore
from retentive.types import Job

Run = Callable[..., Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def queued(run: Run, tmp_path: Path) -> Run:
    """A space with a job that nothing here can do, and two dead ones."""
    run("remember", "Prefers tea", "--id", "tea")
    store = SqliteStore(tmp_path / "store")
    with store.open("acme/alice").transaction() as tx:
        tx.put_job(Job("strange", "from-the-future", NOW, NOW, ("tea",)))
        tx.put_job(Job("one", "rate", NOW, NOW - timedelta(days=1), ("tea",), state="dead", attempts=5, error="no\x1b"))
        tx.put_job(Job("two", "rate", NOW, NOW, state="dead", attempts=5, error="no"))
    store.close()
    return run


def test_listing(queued: Run, data: Run) -> None:
    """As a table without control characters, as JSON whole, by state and kind."""
    result = queued("jobs", "list")
    assert "from-the-future" in result.stdout
    assert "\x1b" not in result.stdout
    assert "3 jobs, 2 of them dead." in result.stderr
    assert [job["id"] for job in data("jobs", "list", "--state", "dead")] == ["one", "two"]
    (job,) = data("jobs", "list", "--kind", "from-the-future")
    assert (job["memories"], job["state"], job["attempts"]) == (["tea"], "waiting", 0)
    assert queued("jobs", "list", "--kind", "none").stdout == ""


def test_running_says_what_is_left(queued: Run, data: Run) -> None:
    """What nothing here can do is named and left alone."""
    result = queued("jobs", "run")
    assert "0 done, 0 to be tried again, 0 dead, 1 left." in result.stderr
    assert "nothing here does jobs of kind from-the-future" in result.stderr
    assert data("jobs", "run", "--all-spaces")["acme/alice"]["unknown"] == ["from-the-future"]
    assert "acme/alice: 0 done" in queued("jobs", "run", "--all-spaces").stderr


def test_a_dry_run_says_what_it_would_cost(queued: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """By kind, without doing anything."""
    assert "1 jobs of kind from-the-future are due: nobody can say" in queued("jobs", "run", "--dry-run").stderr
    queued("jobs", "drop", "strange", "--yes")
    assert "Nothing is due." in queued("jobs", "run", "--dry-run", "--all-spaces").stderr
    queued("reflect", "--later")
    assert "kind reflect are due: no model is asked." in queued("jobs", "run", "--dry-run").stderr
    monkeypatch.setenv("RETENTIVE_LLM", "openai:nobody")
    monkeypatch.setenv("RETENTIVE_LLM_ENDPOINT_INPUT_PRICE", "1000")
    assert "4 calls of the model" in queued("jobs", "run", "--dry-run").stderr
    assert data("jobs", "run", "--dry-run")[0]["usage"]["calls"] == 4
    assert len(data("jobs", "list", "--kind", "reflect")) == 1


def test_retry_and_drop(queued: Run, data: Run) -> None:
    """By id, or all that are dead; dropping asks."""
    assert [job["state"] for job in data("jobs", "retry", "one")] == ["waiting"]
    assert "There is no" not in queued("jobs", "drop", code=2).stderr
    assert data("jobs", "drop", "--yes") == {"dropped": 1}
    assert "1 jobs dropped." in queued("jobs", "drop", "one", "--yes").stderr
    assert "No job 'one'" in queued("jobs", "retry", "one", code=1).stderr
    assert "0 jobs will be tried again" in queued("jobs", "retry").stderr


def test_the_doctor_sees_dead_jobs(queued: Run) -> None:
    """With the command that shows why they died."""
    seen = queued("doctor").stdout
    assert "2 jobs failed for good (rate)." in seen
    assert "retentive jobs list --state dead" in seen
