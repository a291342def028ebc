"""The fixed set of injections against everything that puts memories into a question or a prompt.

Each feature is asked the same question twice: as it asks, where nothing may be obeyed; and the judge itself is shown a
question without a fence, where everything must be.
"""

from __future__ import annotations

import json
import re

import pytest

from retentive.llm.protocol import system, user
from retentive.recall.lines import Line
from retentive.recall.quoting import inert_json, question
from retentive.testing.injections import INJECTIONS, GullibleLlm, Injection, orders

BY_NAME = [pytest.param(one, id=one.name.replace(" ", "-")) for one in INJECTIONS]


def line(text: str, **more: str) -> Line:
    return Line(**{"id": "1", "kind": "fact", "when": "2026-05-01", "age": "", "text": text, **more})  # type: ignore[arg-type]


def test_the_set_is_large_enough() -> None:
    """At least 25, each with a mark of its own that stands in it."""
    assert len(INJECTIONS) >= 25
    assert len({one.mark for one in INJECTIONS}) == len(INJECTIONS)
    assert all(one.mark in one.text for one in INJECTIONS)


@pytest.mark.parametrize("injection", BY_NAME)
def test_the_judge_obeys_without_a_fence(injection: Injection) -> None:
    """In a system message, in the open, and between tags without escapes where the text closes them."""
    assert orders([system(f"Summarise: {injection.text}")]) == [injection.mark]
    assert orders([user(f"Summarise: {injection.text}")]) == [injection.mark]
    llm = GullibleLlm("{}")
    assert injection.mark in llm.complete([user(f"Summarise: {injection.text}")])
    assert llm.obeyed == [injection.mark]


@pytest.mark.parametrize("injection", [one for one in INJECTIONS if "</quoted>" in one.text or "\n" in one.text])
def test_the_judge_obeys_behind_a_fence_without_escapes(injection: Injection) -> None:
    """Tags around a text are no fence if the text can close them or begin a line."""
    assert orders([user(f"<quoted>\n<memory>{injection.text}</memory>\n</quoted>")]) == [injection.mark]


@pytest.mark.parametrize("injection", BY_NAME)
def test_json_is_a_quotation_if_nothing_in_it_is_active(injection: Injection) -> None:
    """As `inert_json` writes it; plain JSON is not where the text has markup or what cannot be seen."""
    data = {"memories": [{"text": injection.text, injection.text: 1}]}
    assert orders([user(inert_json(data))]) == []
    assert json.loads(inert_json(data)) == data
    active = re.search("[<>&`\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]", injection.text)
    assert orders([user(json.dumps(data, ensure_ascii=False))]) == ([injection.mark] if active else [])
    assert orders([system(inert_json(data))]) == [injection.mark]


@pytest.mark.parametrize("injection", BY_NAME)
@pytest.mark.parametrize("place", ["text", "speaker", "source", "id", "stale"])
def test_the_fence_holds(injection: Injection, place: str) -> None:
    """Wherever in a memory the order stands, the quotation cannot be left."""
    asked = question("Summarise.", [line("before"), line(**{"text": "x", place: injection.text}), line("after")], "Go.")
    assert injection.mark in asked[1]["content"]
    assert orders(asked) == []
    assert asked[0]["role"] == "system"
    assert injection.mark not in asked[0]["content"]
