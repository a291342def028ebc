"""`retentive observe`, run for real."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive.testing.llm import ScriptedLlm

Run = Callable[..., Any]
CHAT = [
    {"role": "user", "content": "I prefer tea over coffee.", "at": "2026-05-01T12:00Z"},
    {"role": "assistant", "content": "Noted.", "at": "2026-05-01T12:01Z"},
]


def written(value: object, *, lines: bool = False, name: str = "chat.json") -> str:
    text = "\n".join(json.dumps(line) for line in value) if lines and isinstance(value, list) else json.dumps(value)
    Path(name).write_text(text, "utf-8")
    return name


@pytest.mark.parametrize("lines", [False, True])
def test_a_file_is_taken_in(run: Run, data: Run, lines: bool) -> None:
    """As a document or as lines; memories on stdout, the summary on stderr; the second time nothing."""
    result = run("observe", written(CHAT, lines=lines), "--session", "s")
    assert "preference  user  I prefer tea over coffee" in result.stdout
    assert "s: 2 turns stored in 1 episodes, 0 known, 0 skipped; 1 memories taken (patterns), 0 ref" in result.stderr
    (told,) = data("observe", "chat.json", "--session", "s")
    assert (told["turns"], told["known"]) == ([], 2)
    assert {memory["kind"] for memory in data("list")} == {"episode", "preference"}


def test_a_dry_run_stores_nothing(run: Run, data: Run) -> None:
    """And says so."""
    assert "2 turns would be stored" in run("observe", written(CHAT), "--dry-run").stderr
    assert data("spaces") == []


def test_several_conversations_in_a_file(data: Run, run: Run) -> None:
    """Each under its own name; one name for all is refused."""
    name = written([{"thread_id": "a", "messages": CHAT}, {"messages": CHAT[:1], "id": "b"}], lines=True)
    assert [told["session"] for told in data("observe", name)] == ["a", "b"]
    assert "holds 2" in run("observe", name, "--session", "x", code=2).stderr
    assert data("observe", written([CHAT, CHAT[:1]]))[0]["session"].startswith("talk-")


def test_from_a_pipe_with_trust_and_gap(run: Run, data: Run) -> None:
    """`-` reads stdin."""
    (told,) = data("observe", "-", "--trust", "user=0.5", "--gap", "0.5", input=json.dumps(CHAT))
    assert [turn["trust"] for turn in told["turns"]] == [0.5, 1.0]
    assert len(told["episodes"]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[]", "holds no messages"),
        ("{oops", "no JSON"),
        ('{"role": "user", "content": "a"}\n{oops', "line 2"),
        ('[{"role": "user", "content": "a"}, {"messages": []}]', "mixes"),
        ('[{"other": 1}]', "neither role nor speaker"),
    ],
)
def test_bad_files_are_named(run: Run, text: str, words: str) -> None:
    """With what is wrong."""
    Path("chat.json").write_text(text, "utf-8")
    assert words in run("observe", "chat.json", code=1).stderr


def test_what_a_model_will_cost_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, as what it would take; after, with the command that asks. Nobody is asked by observing."""

    class Priced(ScriptedLlm):
        def price(self, input_tokens: int, output_tokens: int) -> float:
            return (input_tokens + output_tokens) / 1000

    llm = Priced()
    monkeypatch.setattr("retentive.tools.LazyLlm.get", lambda _self: llm)
    said = run("observe", written(CHAT), "--dry-run").stderr
    assert "It would take 1 calls, some" in said
    assert "at your prices" in said
    assert "`retentive jobs run` asks the model: 1 calls" in run("observe", "chat.json").stderr
    assert llm.calls == []


def test_a_missing_file_and_a_bad_option(run: Run) -> None:
    """One clean line each."""
    assert "cannot be read" in run("observe", "nowhere.json", code=1).stderr
    assert "is not ROLE=0..1" in run("observe", written(CHAT), "--trust", "user=x", code=2).stderr
