"""Whoever copies an example from the help gets what it says."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from retentive.cli.main import COMMANDS, root

Run = Callable[..., Any]
ELSEWHERE = {"eval", "tune", "demo", "mcp"}  # measured, shown at length and served by their own tests
AGAIN = ("--kind", "preference", "--at", "2026-05-02T12:00Z")
ENDLESS = {"retentive serve", "retentive serve --port 8000"}  # until interrupted; tests of the server run it
NEEDS_POSTGRES = "postgresql://"  # tests/integration/postgres runs those against a server of its own


def examples() -> Iterator[str]:
    context = click.Context(root)
    for name in COMMANDS:
        if name in ELSEWHERE:
            continue
        command = root.get_command(context, name)
        assert command is not None
        inner = command.commands.values() if isinstance(command, click.Group) else [command]
        found = (example for each in inner for example in getattr(each, "examples", ()))
        yield from (example for example in found if example not in ENDLESS and NEEDS_POSTGRES not in example)


def taken_apart(example: str) -> tuple[list[str], str | None, str | None]:
    """Return arguments, standard input and the file that standard output goes to."""
    words, given, target = shlex.split(example), None, None
    if "|" in words:
        at = words.index("|")
        assert words[0] == "echo"
        given, words = " ".join(words[1:at]) + "\n", words[at + 1 :]
    if ">" in words:
        at = words.index(">")
        target, words = words[at + 1], words[:at]
    assert words[0] == "retentive"
    return words[1:], given, target


@pytest.mark.parametrize("example", list(examples()))
def test_the_example_runs(example: str, seeded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a store where the things it names exist, it succeeds as written."""
    monkeypatch.setattr("retentive.models.fetch.fetch_model", lambda name, folder, report: folder / name)
    monkeypatch.setattr("retentive.server.keys._fresh_id", lambda: "abcdefgh")
    if "keys revoke" in example:
        seeded("keys", "create", "--for", "acme", "--read")
    seeded("remember", "Old news", "--space", "acme/old")
    seeded("recall", "Postgres for relational work")
    seeded("export", "alice.jsonl")
    if example.startswith("retentive restore"):
        seeded("backup", "nightly")
    Path("chat.json").write_text('[{"role": "user", "content": "I prefer tea over coffee."}]', "utf-8")
    entity = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]}
    Path("memory.jsonl").write_text(json.dumps(entity), "utf-8")
    told = [{"id": "1", "memory": "Likes tea", "user_id": name} for name in ("alice", "bob")]
    Path("memories.json").write_text(json.dumps({"results": told}), "utf-8")
    if "conflicts" in example:
        seeded("remember", "Noor studies physics", "--id", "noor-1")
        seeded("remember", "Noor studies medicine", "--id", "noor-2")
    if "repetitions" in example:
        seeded("remember", "The user prefers Postgres for relational work", *AGAIN)
    arguments, given, target = taken_apart(example)
    result = seeded(*arguments, input=given)
    if target:
        Path(target).write_text(result.stdout, "utf-8")
        seeded("policy", "check", target)
