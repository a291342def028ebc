"""`retentive rate`, run for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def crowded(run: Run) -> Run:
    """A space in which everything is a seven."""
    for number in range(20):
        run("remember", f"{'I am allergic to bees' if number % 2 else 'It was windy'} {number}", "--importance", "0.7")
    return run


def test_a_crowd_is_seen_and_spread(crowded: Run, data: Run) -> None:
    """Doctor warns, a dry run tells, the command does it, and doctor is content."""
    assert "100% of 20 memories have the importance 0.7" in crowded("doctor").stdout
    dry = crowded("rate", "--rater", "offline", "--dry-run")
    assert "tells nothing apart" in dry.stderr
    assert "20 of 20 memories would be given another importance." in dry.stderr
    assert "20 of 20 memories given another importance." in crowded("rate", "--rater", "offline").stderr
    assert "importance 0.7" not in crowded("doctor").stdout
    assert data("rate")["changed"] == 0


def test_the_configured_rater_rates(run: Run, data: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`RETENTIVE_RATER` decides where nobody states an importance; the model's rater needs a model."""
    monkeypatch.setenv("RETENTIVE_RATER", "offline")
    assert data("remember", "I am allergic to bees")["importance"] > 0.5
    monkeypatch.setenv("RETENTIVE_RATER", "llm")
    assert "RETENTIVE_LLM" in run("remember", "x", code=1).stderr
    monkeypatch.setenv("RETENTIVE_LLM", "openai:nobody")
    monkeypatch.setenv("RETENTIVE_LLM_ENDPOINT_INPUT_PRICE", "1000")
    run("remember", "It was windy")
    (job,) = data("jobs", "list")
    assert (job["kind"], job["state"]) == ("rate", "waiting")
    dry = run("rate", "--dry-run").stderr
    assert "2 of 2 memories would be put on the queue: 1 calls of the model" in dry
    assert "by the configured prices" in dry
