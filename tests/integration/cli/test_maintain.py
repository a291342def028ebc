"""`retentive maintain`, once and on a schedule."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive.cli import schedule
from retentive.errors import NotFound, StoreBusy

Run = Callable[..., Any]


@pytest.fixture
def aged(run: Run) -> Run:
    """A space with one memory that is ripe for pruning and one that is not."""
    run("remember", "The ancient tariff", "--id", "old", "--kind", "event", "--at", "2019-01-01T00:00Z")
    run("remember", "The new tariff", "--id", "new")
    return run


def test_a_dry_run_says_why(aged: Run, data: Run) -> None:
    """Each memory with its reason, and nothing is done."""
    answer = data("maintain", "--dry-run")
    assert (answer["pruned"], answer["dry_run"]) == (1, True)
    assert answer["reasons"][0]["id"] == "old"
    assert "> 365" in answer["reasons"][0]["reason"]
    assert "memories that would be pruned" in aged("maintain", "--dry-run").stdout
    assert len(data("list")) == 2


def test_it_prunes_and_a_get_brings_back(aged: Run, data: Run) -> None:
    """Once pruned it is out of the list; fetched, it is back, and the journal has both."""
    assert data("maintain")["pruned"] == 1
    assert [memory["id"] for memory in data("list")] == ["new"]
    assert data("get", "old")["retrievable"]
    actions = [line["action"] for line in data("explain", "old")["journal"]]
    assert actions == ["remember", "suppress", "reactivate"]


def test_limits_come_from_options_variables_and_file(aged: Run, data: Run, home: Path) -> None:
    """The nearest one counts; a limit that is none is refused by name."""
    (home / "retentive.toml").write_text("[prune]\nage_days = 100000\n", "utf-8")
    assert data("maintain", "--dry-run")["pruned"] == 0
    assert data("maintain", "--dry-run", "--prune-age-days", "30")["pruned"] == 1
    assert data("maintain", "--no-prune").get("pruned") is None
    assert "prune.strength" in aged("maintain", "--prune-strength", "-1", code=1).stderr


def test_every_space(aged: Run, data: Run) -> None:
    """With --all-spaces each is named with its counts."""
    aged("remember", "Another old tariff", "--space", "acme/bob", "--kind", "event", "--at", "2019-01-01T00:00Z")
    assert [(one["space"], one["pruned"]) for one in data("maintain", "--all-spaces")] == [
        ("acme/alice", 1),
        ("acme/bob", 1),
    ]
    assert "acme/bob" in aged("maintain", "--all-spaces").stdout


@pytest.mark.parametrize("span", ["soon", "0h", "-1h", "400d", "6"])
def test_a_span_is_a_span(run: Run, span: str) -> None:
    """A span that is none, nothing, or beyond a year is refused with examples."""
    assert "6h" in run("maintain", "--every", span, code=2).stderr


def test_a_dry_run_does_not_repeat(run: Run) -> None:
    """What only looks is neither scheduled nor re-embeds."""
    run("maintain", "--dry-run", "--every", "6h", code=2)


def test_on_a_schedule_until_told_to_stop(aged: Run, tmp_path: Path) -> None:
    """A real process repeats, and ends well at SIGTERM."""
    command = [sys.executable, "-m", "retentive", "maintain", "--every", "0.05s", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ), text=True) as process:
        assert process.stdout is not None
        turns = 0
        while turns < 3:
            turns += process.stdout.readline() == "}\n"
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait(30) == 0


def test_a_busy_store_is_tried_again() -> None:
    """A turn that finds the store busy is not the last; what will not mend itself is."""
    raised = [StoreBusy("busy."), None, NotFound("gone.")]
    done: list[int] = []

    def turn() -> None:
        done.append(len(done))
        if error := raised[len(done) - 1]:
            raise error

    with pytest.raises(NotFound):
        schedule.repeat(turn, 0.001)
    assert done == [0, 1, 2]
    assert signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.default_int_handler)
    assert threading.current_thread() is threading.main_thread()
