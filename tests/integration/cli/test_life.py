"""Expiry, direct fetch, recurring, permanent and pinned memories, from the command line to the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]
LONG_AGO = "2019-05-01T12:00Z"


def ids(listed: list[dict[str, Any]]) -> list[str]:
    return sorted(memory["id"] for memory in listed)


def hits(answer: dict[str, Any]) -> list[str]:
    return [hit["memory"]["id"] for hit in answer["hits"]]


def test_a_memory_with_a_time_to_live_expires(run: Run, data: Run) -> None:
    """Before its end it is listed and recalled; behind it neither, but it is there, and why-not says so."""
    kept = data("remember", "The code is 4711", "--id", "code", "--at", "2026-05-01T12:00Z", "--ttl", "2d")
    assert kept["valid_until"] == "2026-05-03T12:00:00+00:00"
    before, behind = "2026-05-03T11:59Z", "2026-05-03T12:00Z"
    assert hits(data("recall", "the code", "--now", before)) == ["code"]
    assert hits(data("recall", "the code", "--now", behind)) == []
    assert ids(data("list", "--as-of", before)) == ["code"]
    assert data("list") == []
    assert ids(data("list", "--hidden")) == ["code"]
    assert data("get", "code")["text"] == "The code is 4711"
    assert data("why-not", "code", "the code")["kept_out_by"] == "gate"
    run("update", "code", "--clear", "valid-until")
    assert ids(data("list")) == ["code"]
    assert "both say when it expires" in run("remember", "x", "--ttl", "2d", "--valid-until", behind, code=1).stderr


def test_a_pruned_memory_comes_back_by_fetching_it(run: Run, data: Run) -> None:
    """`get --no-touch` only looks; `get` counts as a use, brings it back, and the journal says both."""
    run("remember", "The note about the heating", "--id", "note", "--kind", "event", "--at", LONG_AGO)
    assert data("maintain")["pruned"] == 1
    assert data("list") == []
    assert data("get", "note", "--no-touch")["retrievable"] is False
    fetched = data("get", "note")
    assert (fetched["retrievable"], fetched["access"]["count"]) == (True, 1.0)
    assert ids(data("list")) == ["note"]
    journal = [line["action"] for line in data("explain", "note")["journal"]]
    assert journal == ["remember", "suppress", "reactivate"]
    assert data("maintain")["pruned"] == 0


def test_what_is_never_pruned(run: Run, data: Run) -> None:
    """Pinned, permanent and recurring ones stay, however old; the dry run says only the other one would go."""
    marks = {"pin": ["--pin"], "always": ["--permanent"], "birthday": ["--recurs", "yearly"], "old": []}
    for name, mark in marks.items():
        run("remember", f"The note about {name}", "--id", name, "--kind", "event", "--at", LONG_AGO, *mark)
    assert [reason["id"] for reason in data("maintain", "--dry-run")["reasons"]] == ["old"]
    run("maintain")
    assert ids(data("list")) == ["always", "birthday", "pin"]
    run("update", "pin", "--no-pin")
    run("update", "always", "--no-permanent")
    run("update", "birthday", "--clear", "recurs")
    assert sorted(reason["id"] for reason in data("maintain", "--dry-run")["reasons"]) == ["always", "birthday", "pin"]


def test_pinned_ones_are_in_the_core_block_alone(run: Run, data: Run) -> None:
    """Always there, never among the hits."""
    run("remember", "Answer in French", "--id", "pin", "--pin")
    run("remember", "She speaks French at home", "--id", "fact")
    answer = data("recall", "French", "--policy", "blend")
    assert ([memory["id"] for memory in answer["core"]], hits(answer)) == (["pin"], ["fact"])
    assert data("why-not", "pin", "French")["kept_out_by"] == "pinned"


def test_a_birthday_is_fresh_near_its_day(run: Run, data: Run) -> None:
    """Under the preset that reads the rule: behind newer news in spring, before them on the day."""
    run("remember", "Ada's birthday", "--id", "birthday", "--kind", "event", "--recurs", "yearly", "--at", LONG_AGO)
    run("remember", "Ada's weather", "--id", "weather", "--at", "2026-01-15T12:00Z")

    def asked(moment: str) -> list[str]:
        return hits(data("recall", "Ada's news", "--policy", "freshness", "--now", moment, "--no-touch"))

    assert asked("2026-02-01T12:00Z") == ["weather", "birthday"]
    assert asked("2026-05-01T12:00Z") == ["birthday", "weather"]
