"""`retentive reflect`, run for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
ALIKE = (
    "She likes the Postgres database for invoices",
    "Postgres is the database she likes for invoices",
    "For invoices she likes the database Postgres",
)


@pytest.fixture
def space(run: Run) -> Run:
    """Three memories that resemble one another, important enough for a reflection."""
    for at, text in enumerate(ALIKE):
        run("remember", text, "--id", f"m{at}", "--importance", "1")
    return run


def test_a_reflection_is_told(space: Run) -> None:
    """The insight on stdout, how it was made on stderr."""
    result = space("reflect")
    assert "3 memories  Recurring in 3 memories" in result.stdout
    assert "1 insights (extractive), 0 refused, at 30 of 30 points." in result.stderr
    assert "Nothing to do: 0 of 30 points" in space("reflect").stderr


def test_a_dry_run_says_what_it_would_take(space: Run, data: Run) -> None:
    """And does nothing."""
    assert "due (30 of 30 points). It would take no model." in space("reflect", "--dry-run").stderr
    told = data("reflect", "--dry-run", "--budget", "40")
    assert (told["fired"], told["budget"], told["insights"]) == (False, 40.0, [])
    assert len(data("list")) == 3


def test_shaken_insights_are_listed(space: Run, data: Run) -> None:
    """With what became of their evidence."""
    space("reflect")
    space("forget", "m1")
    assert "1 insights are shaken" in space("reflect").stderr
    (item,) = data("reflect", "--shaken")
    assert item["reason"] == "shaken: its evidence m1 was forgotten"
    assert "m1 was forgotten" in space("reflect", "--shaken").stdout
    assert data("reflect")["shaken"][0]["memory"]["kind"] == "reflection"


def test_what_was_refused_is_said(space: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody wonders where an insight went."""
    monkeypatch.setattr("retentive.reflect.decide.LONGEST_INSIGHT", 10)
    assert "refused: Recurring in 3 memories" in space("reflect", "--force").stderr
