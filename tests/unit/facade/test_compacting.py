"""What is over the token budget, shortened by a language model, or by extraction where the model is of no use."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from facade_making import Clock, by_similarity

from retentive import Policy, Recall, Retentive, Space
from retentive.errors import InvalidInput
from retentive.llm.protocol import Message, Schema
from retentive.testing.fakes import HashEmbedder
from retentive.testing.injections import INJECTIONS, GullibleLlm, orders
from retentive.testing.llm import Answerer, ScriptedLlm, looping, malformed, raising, refusing, slow

CUE = "how did the release go"
LONG = "The release train left on Tuesday after {0} hours, and the failover of Postgres took nine minutes. " * 3
BUDGET = 420


def policy(**changes: Any) -> Policy:
    return by_similarity(token_budget=BUDGET, compaction="llm", **changes)


def filled(llm: Any, texts: Sequence[str] = ()) -> Space:
    space = Retentive(":memory:", embedder=HashEmbedder(), llm=llm, clock=Clock()).space("acme/ops")
    for number, text in enumerate(texts or [LONG.format(number) for number in range(6)]):
        space.remember(text, id=f"m{number}", kind="reflection" if number == 5 else "fact")
    return space


def recalled(space: Space) -> Recall:
    return space.recall(CUE, policy=policy(), touch=False)


def shown(messages: Sequence[Message]) -> list[int]:
    return [int(number) for number in re.findall(r'<memory id="(\d+)"', messages[1]["content"])]


def answering(facts: Callable[[list[int]], Any]) -> Answerer:
    return lambda messages, _schema: json.dumps({"facts": facts(shown(messages))})


def each(numbers: list[int]) -> list[dict[str, Any]]:
    return [{"ids": [number], "text": "The release left on Tuesday"} for number in numbers]


def fallen_back(recall: Recall) -> str:
    """Return why: and see that the extractive block is there, with every id."""
    (note,) = [note for note in recall.trace.notes if note.startswith("compacted by extraction: ")]
    assert recall.compacted is not None
    assert all(name in recall.compacted.text for name in recall.compacted.ids)
    named = {*recall.compacted.ids, *(hit.memory.id for hit in recall)}
    assert named == {f"m{number}" for number in range(6)}
    return note.removeprefix("compacted by extraction: ")


def test_every_fact_names_its_memories() -> None:
    """The heads are ours: ids, kinds, marks and dates; the words are the model's; the budget holds."""
    llm = ScriptedLlm(answering(each))
    recall = recalled(filled(llm))
    assert recall.compacted is not None
    assert recall.compacted.ids
    lines = recall.compacted.text.split("\n")
    assert len(lines) == len(recall.compacted.ids)
    for line, name in zip(lines, recall.compacted.ids, strict=True):
        kind = "reflection, previously inferred" if name == "m5" else "fact"
        assert line == f"[{name}] {kind}, 2026-03-01: The release left on Tuesday"
    assert recall.trace.notes == ()
    assert len(llm.calls) == 1


def test_memories_that_say_the_same_become_one_fact() -> None:
    """Which names them all."""
    recall = recalled(filled(ScriptedLlm(answering(lambda all_: [{"ids": all_, "text": "It left on Tuesday"}]))))
    assert recall.compacted is not None
    (line,) = recall.compacted.text.split("\n")
    assert all(f"[{name}]" in line for name in recall.compacted.ids)
    assert line.endswith(": It left on Tuesday")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (answering(lambda all_: each(all_[1:])), "names no fact of 1 memories"),
        (answering(lambda all_: [{"ids": [99], "text": "The release left"}, *each(all_)]), "names no memory"),
        (answering(lambda all_: [{"ids": all_, "text": "It took 4711 hours"}]), "states a figure"),
        (answering(lambda all_: [{"ids": all_, "text": "Bananas everywhere"}]), "shares no word"),
        (answering(lambda all_: [{"ids": all_, "text": "The release " * 80}]), "tokens of"),
        (answering(lambda _all: []), "did not answer usably"),
        (malformed(), "did not answer usably"),
        (refusing(), "did not answer usably"),
        (looping(times=50), "did not answer usably"),
        (raising(OSError("down")), "down"),
    ],
)
def test_what_cannot_be_used_is_replaced_by_extraction(answer: str | Answerer, why: str) -> None:
    """With a note that says why."""
    assert why in fallen_back(recalled(filled(ScriptedLlm(answer))))


def test_without_a_model_it_is_extraction() -> None:
    """And the note says what is missing."""
    assert "no language model is named" in fallen_back(recalled(filled(None)))


def test_nobody_asks_unless_the_policy_says_so() -> None:
    """A recall costs no call of a model by itself."""
    llm = ScriptedLlm(answering(each))
    space = filled(llm)
    assert space.recall(CUE, policy=by_similarity(token_budget=BUDGET), touch=False).compacted is not None
    assert space.recall(CUE, policy=by_similarity(compaction="llm"), touch=False).compacted is None
    assert llm.calls == []
    with pytest.raises(InvalidInput, match="extractive, llm"):
        by_similarity(compaction="magic")


def test_a_slow_model_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the deadline the answer is the extractive one; the next recall does not even ask."""
    monkeypatch.setattr("retentive.recall.budget.COMPACTOR_SECONDS", 0.01)
    released = threading.Event()
    llm = ScriptedLlm(slow("{}", released), repeat=True)
    space = filled(llm)
    fallen_back(recalled(space))
    assert "still hangs" in fallen_back(recalled(space))
    released.set()
    assert len(llm.calls) == 1


def test_a_model_that_keeps_failing_is_left_alone() -> None:
    """The breaker opens: recalls go on without it."""
    llm = ScriptedLlm(malformed(), repeat=True)
    space = filled(llm)
    for _ in range(10):
        fallen_back(recalled(space))
    assert len(llm.calls) < 10


def honest(messages: Sequence[Message], _schema: Schema | None) -> str:
    """Quote the first words of each memory, as a good model may."""
    texts = ET.fromstring(messages[1]["content"].split("</quoted>")[0] + "</quoted>")  # noqa: S314 - our own fence
    facts = [{"ids": [at], "text": str(node.text).split(": ", 1)[1][:20]} for at, node in enumerate(texts, 1)]
    return json.dumps({"facts": facts})


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda one: one.name)
def test_injections_reach_nobody(injection: Any) -> None:
    """Neither the model that compacts nor, where it quotes them, the one that reads the block."""
    llm = GullibleLlm(honest)
    texts = [f"{CUE} {LONG.format(0)}", *[f"{CUE}? {injection.text} {CUE} {LONG.format(at)}" for at in range(1, 6)]]
    recall = recalled(filled(llm, texts))
    assert llm.obeyed == []
    assert llm.seen == {injection.mark}
    (message,) = recall.render("messages")
    assert orders([{"role": "user", "content": as_quoted(message["content"])}]) == []


def as_quoted(rendered: str) -> str:
    """Return a rendered answer with every line that is ours, and one whole line, read as quoted."""
    lines = rendered.split("\n")
    ours = re.compile(r"</?[a-z]+[^<>]*>|<note>[^<>]*</note>|```(?:xml)?|Memories, quoted as data:|")
    inside = [re.sub(r"^- ([^<>]*)$", r"<memory>\1</memory>", line) for line in lines if not ours.fullmatch(line)]
    return "<quoted>\n" + "\n".join(inside) + "\n</quoted>"
