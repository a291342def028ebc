"""`retentive conflicts` and `retentive repetitions`, as typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from retentive.testing.llm import ScriptedLlm

Run = Callable[..., Result]


@pytest.fixture
def noor(run: Run) -> Run:
    for name, text in (("noor-1", "Noor studies physics"), ("noor-2", "Noor studies medicine")):
        run("remember", text, "--id", name, "--at", "2026-05-01T12:00Z")
    return run


def test_a_conflict_is_listed_and_accepted(noor: Run, data: Any) -> None:
    """Both texts side by side, then one of them superseded; what was decided is listed on request."""
    told = noor("conflicts", "list")
    assert "Noor studies physics" in told.stdout
    assert "1 to decide" in told.stderr
    (found,) = data("conflicts", "list")
    assert (found["status"], found["newer"]["id"], found["older"]["id"]) == ("open", "noor-2", "noor-1")
    assert "superseded by noor-2" in noor("conflicts", "accept", found["id"], "--reason", "asked").stderr
    assert data("conflicts", "list") == []
    assert [each["status"] for each in data("conflicts", "list", "--status", "all")] == ["accepted"]
    assert data("get", "noor-1")["superseded_by"] == "noor-2"


def test_a_conflict_is_dismissed(noor: Run, data: Any) -> None:
    """Both stay; dismissed again it is an error that says so, and an unknown id says where to look."""
    (found,) = data("conflicts", "list")
    assert "both are recalled" in noor("conflicts", "dismiss", found["id"]).stderr
    assert "dismissed already" in noor("conflicts", "dismiss", found["id"], code=1).stderr
    assert "conflicts list" in noor("conflicts", "accept", "nobody", code=1).stderr
    assert data("conflicts", "find") == []


def test_a_settled_conflict_is_dismissed(noor: Run, data: Any) -> None:
    """Where one side is hidden already, dismissing changes nothing else."""
    (found,) = data("conflicts", "list")
    noor("forget", "noor-2")
    assert "nothing else changes" in noor("conflicts", "dismiss", found["id"]).stderr


def test_switched_off_and_found_later(run: Run, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written unread is found afterwards."""
    monkeypatch.setenv("RETENTIVE_CONFLICTS_MODE", "off")
    run("remember", "Lives in Rome")
    run("remember", "Lives in Oslo")
    assert data("conflicts", "list", "--status", "all") == []
    (found,) = data("conflicts", "find", "--limit", "10")
    assert (found["status"], found["confidence"]) == ("open", 0.95)


def test_a_repetition_is_listed_and_separated(run: Run, data: Any) -> None:
    """What was merged is shown with what it said otherwise, and becomes a memory of its own."""
    first = run("remember", "Likes tea").stdout.strip()
    assert run("remember", "likes tea!", "--source", "turn:9").stdout.strip() == first
    assert "turn:9" in run("repetitions", "list", "--of", first).stdout
    (seen,) = data("repetitions", "list")
    apart = run("repetitions", "separate", seen["id"]).stdout.strip()
    assert apart != first
    assert "kept apart" in run("repetitions", "list").stdout
    assert run("list").stdout.count("tea") == 2


def test_a_model_is_named_before_it_judges(noor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one the command says how to name one; what asking would take is said without asking."""
    assert "language model" in noor("conflicts", "judge", code=1).stderr
    monkeypatch.setenv("RETENTIVE_LLM_ENDPOINT_API_KEY", "none")
    assert (
        "1 wait. Asking would take about 1 calls" in noor("conflicts", "judge", "--llm", "openai:x", "--dry-run").stderr
    )


def test_a_model_judges(noor: Run, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it decided is shown, and counted."""
    answers = ScriptedLlm('{"verdict": "denies", "confidence": 0.99}')
    monkeypatch.setattr("retentive.tools.resolve_llm", lambda *_given, **_more: answers)
    told = noor("conflicts", "judge", "--llm", "openai:x")
    assert "accepted  0.75" in told.stdout
    assert "1 accepted, 0 dismissed, 0 left, 0 failed; 1 calls" in told.stderr
    assert data("get", "noor-1")["superseded_by"] == "noor-2"
