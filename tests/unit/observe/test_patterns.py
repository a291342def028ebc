"""What is taken from turns without a model, and what is not; and the labelled turns with their committed figures."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from retentive.observe.patterns import LONGEST, LONGEST_TURN, extract

MEASURED = Path(__file__).parents[3] / "benchmarks/extraction"


def taken(text: str, role: str = "user") -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in extract(text, role, role)]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Well, honestly, I can't stand coriander!", "preference", "I can't stand coriander"),
        ("I’m a big fan of jazz.", "preference", "I'm a big fan of jazz"),
        ("Tea is my favourite drink.", "preference", "Tea is my favourite drink"),
        ("I work as a nurse in Ghent", "fact", "I work as a nurse in Ghent"),
        ("My brother Paul is a carpenter.", "fact", "My brother Paul is a carpenter"),
        ("For the shop we chose Postgres.", "decision", "For the shop we chose Postgres"),
        ("Tom, I'll send you the draft.", "commitment", "I'll send you the draft"),
        ("I need to renew my passport by Friday", "commitment", "I need to renew my passport by Friday"),
        ("If the queue hangs, restart the worker.", "procedure", "If the queue hangs, restart the worker"),
        ("- Always answer in Dutch please", "procedure", "Always answer in Dutch"),
    ],
)
def test_taken(text: str, kind: str, words: str) -> None:
    """As it was said, from its subject on."""
    assert taken(text) == [(kind, words)]


@pytest.mark.parametrize(
    "text",
    [
        "Do I like tea?",
        "I like that idea.",
        "I'm a bit tired.",
        "If I lived in Paris I would be happy.",
        '"I love this product" is what the review says.',
        "> I love this product",
        "```\nI prefer tabs over spaces\n```",
        "I haven't decided yet.",
        "I'll see.",
        "Never mind.",
        "Let me know if you need anything before Friday.",
        "I agreed",
        "Ich mag Tee.",
        "I love " + "very " * LONGEST + "long sentences.",
        "",
    ],
)
def test_not_taken(text: str) -> None:
    """Questions, conditions, quotations, code, moods, courtesies."""
    assert taken(text) == []


def test_an_assistant_has_no_tastes() -> None:
    """It promises and explains; its "I'll help you" is no promise. Tools and instructions are nobody."""
    assert taken("I love jazz. I work as a nurse.", "assistant") == []
    assert taken("I'll help you with that.", "assistant") == []
    assert taken("I'll remind you.", "assistant") == [("commitment", "I'll remind you")]
    assert taken("I'll check the fares tomorrow.", "assistant") == [("commitment", "I'll check the fares tomorrow")]
    assert taken("I prefer tea over coffee.", "tool") == taken("I prefer tea over coffee.", "system") == []


def test_each_once_and_bounded() -> None:
    """Whatever the length of a turn."""
    assert taken("I love tea. I love tea.") == [("preference", "I love tea")]
    assert taken("x " * LONGEST_TURN + ". I love tea.") == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("My name is Priya Raman.", "Ann/name"),
        ("I live in Utrecht.", "Ann/home"),
        ("I live in a small flat.", None),
        ("My birthday is on the 4th of May.", "Ann/birthday"),
        ("My favourite  Colour is teal.", "Ann/favourite colour"),
        ("I love tea.", None),
    ],
)
def test_what_one_has_only_one_of_has_a_key(text: str, key: str | None) -> None:
    """So that the later saying retires the earlier; by speaker, for a space may have several."""
    (item,) = extract(text, "user", "Ann")
    assert item.key == key


def measuring() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measuring_extraction", MEASURED / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_committed_figures_are_these() -> None:
    """table.md and results.json are what the command writes today, for both halves of the labelled turns."""
    table, counts, _ = measuring().measured()
    assert (MEASURED / "table.md").read_text("utf-8") == table
    assert json.loads((MEASURED / "results.json").read_text("utf-8")) == counts


def test_enough_turns_are_labelled() -> None:
    """At least 120, every kind in both halves."""
    halves = [measuring().read(half) for half in ("dev", "heldout")]
    assert sum(map(len, halves)) >= 120
    for turns in halves:
        assert {kind for turn in turns for kind, _ in turn.expected} == {
            "preference", "fact", "decision", "commitment", "procedure",
        }  # fmt: skip


def test_the_figures_hold_their_bar() -> None:
    """On the half that patterns were never tuned on."""
    scores, _ = measuring().measure(measuring().read("heldout"))
    assert scores["all"].precision >= 0.9
    assert scores["all"].recall >= 0.85
