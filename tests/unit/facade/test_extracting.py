"""Memories taken by a language model, as a job over stored turns: whatever the model does, no turn is lost."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, cosines

from retentive import Memory, Retentive, Space
from retentive.errors import InvalidInput, LlmFailed
from retentive.jobs.decide import ATTEMPTS
from retentive.llm.protocol import Usage
from retentive.observe.asking import CHARACTERS_AT_ONCE, LONGEST_SHOWN, TURNS_AT_ONCE, asked_about, batches
from retentive.testing.fakes import HashEmbedder
from retentive.testing.injections import INJECTIONS, GullibleLlm, Injection
from retentive.testing.llm import (
    ScriptedLlm,
    fenced,
    injected,
    looping,
    malformed,
    raising,
    refusing,
    truncated,
)

CHAT = [
    {"role": "user", "name": "Priya", "content": "I moved to Utrecht and I can't stand coriander."},
    {"role": "assistant", "content": "Shall I look for recipes?"},
    {"role": "user", "name": "Priya", "content": "Yes, by Friday please."},
]
GOOD: dict[str, list[dict[str, Any]]] = {
    "memories": [
        {"kind": "fact", "text": "Priya moved to Utrecht.", "turns": [1], "importance": 7},
        {"kind": "commitment", "text": "The assistant looks for recipes by Friday.", "turns": [2, 3]},
    ]
}


def home(llm: Any, clock: Clock | None = None) -> Retentive:
    made = Retentive(":memory:", embedder=HashEmbedder(), llm=llm, clock=clock or Clock())
    made.reflections = "off"  # the queue holds what is observed, and nothing that follows from it
    return made


def taken(space: Space) -> list[Memory]:
    return [memory for memory in space.list(limit=500) if memory.kind != "episode"]


def turns(space: Space) -> list[str]:
    return sorted(memory.text for memory in space.list(kinds=["episode"]))


def answered(*answers: Any, tries: int = 1) -> Space:
    """Observe with a model that answers so, and run what is due so many times, a day apart."""
    clock = Clock()
    space = home(ScriptedLlm(*answers), clock).space("acme/priya")
    space.observe(CHAT)
    for _ in range(tries):
        space.run_jobs()
        clock.tick(days=1)
    assert turns(space) == sorted(str(message["content"]) for message in CHAT)
    return space


def test_turns_first_then_the_model() -> None:
    """Observing asks nobody; the job does, and what it takes names its turns."""
    llm = ScriptedLlm(fenced(GOOD))
    space = home(llm).space("acme/priya")
    told = space.observe(CHAT)
    assert (told.method, len(told.turns), told.memories, len(llm.calls)) == ("llm", 3, (), 0)
    assert [job.kind for job in told.jobs] == ["extract"]
    assert told.jobs[0].memories == tuple(turn.id for turn in told.turns)
    ran = space.run_jobs()
    assert (ran.done, ran.usage.calls, len(llm.calls)) == (1, 1, 1)
    promise, fact = sorted(taken(space), key=lambda memory: memory.kind)
    first, second, third = (turn.id for turn in told.turns)
    assert (fact.text, fact.kind, fact.importance) == ("Priya moved to Utrecht.", "fact", 0.7)
    assert fact.derived_from == (first,)
    assert (fact.speaker, fact.source, fact.metadata) == (
        "Priya", f"turn:{first}", {"origin": "user", "method": "llm", "model": "scripted"},
    )  # fmt: skip
    assert (promise.kind, promise.tags, promise.derived_from) == ("decision", ("commitment",), (second, third))
    assert promise.speaker is None
    assert [line.reason for line in space.journal() if line.action == "observe"] == [
        "2 memories taken from 3 turns, 0 refused"
    ]


def test_the_same_conversation_again_asks_for_nothing() -> None:
    """And a job that runs twice stores once."""
    space = answered(json.dumps(GOOD))
    assert space.observe(CHAT).jobs == ()
    assert space.jobs() == []
    assert len(taken(space)) == 2


@pytest.mark.parametrize(
    "bad",
    [
        malformed(),
        refusing(),
        looping(times=50),
        "",
        "42",
        '{"remember": []}',
        raising(OSError("down")),
        raising(LlmFailed("late")),
        raising(TimeoutError("slow")),
    ],
    ids=["malformed", "refusing", "looping", "empty", "number", "other", "raising", "failing", "slow"],
)
def test_a_bad_answer_is_tried_again_and_loses_nothing(bad: Any) -> None:
    """The turns stay, the job waits, and the good answer of the next day counts."""
    space = answered(bad, bad)
    assert taken(space) == []
    assert [job.state for job in space.jobs()] == ["waiting"]
    asked_once = callable(bad) or bad == refusing()  # anything else is asked once more with the reason
    again = answered(bad, *([] if asked_once else [bad]), json.dumps(GOOD), tries=2)
    assert [memory.kind for memory in taken(again)] == ["decision", "fact"]


def test_a_truncated_answer_keeps_what_is_whole() -> None:
    """The first memory was complete."""
    space = answered(truncated(GOOD, 0.62))
    assert [memory.text for memory in taken(space)] == ["Priya moved to Utrecht."]


def test_patterns_at_the_last_attempt() -> None:
    """A model that never answers usably leaves what the patterns find."""
    space = answered(*[raising(OSError("down"))] * ATTEMPTS, tries=ATTEMPTS)
    assert space.jobs() == []
    assert [(memory.text, memory.metadata["method"]) for memory in taken(space)] == [
        ("I can't stand coriander", "patterns"),
        ("I moved to Utrecht", "patterns"),
    ]


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        ({"kind": "fact", "text": "Priya moved to Utrecht", "turns": [1, 99]}, 1),
        ({"kind": "fact", "text": "Priya moved to Utrecht", "turns": ["1"]}, 1),
        ({"kind": "fact", "text": "Priya moved to Utrecht", "turns": [99, 0, -1]}, 0),
        ({"kind": "fact", "text": "Priya moved to Utrecht", "turns": []}, 0),
        ({"kind": "fact", "text": "Priya moved to Utrecht"}, 0),
        ({"kind": "system", "text": "Priya moved to Utrecht", "turns": [1]}, 0),
        ({"kind": "fact", "text": "Bitcoin will rise forever", "turns": [1]}, 0),
        ({"kind": "fact", "text": "Priya!", "turns": [1]}, 0),
        ({"kind": "fact", "text": "", "turns": [1]}, 0),
        ("Priya moved to Utrecht", 0),
    ],
)
def test_what_names_no_turn_or_was_never_said_is_refused(item: object, kept: int) -> None:
    """A memory stands on turns that exist, were shown, and share a word with it beyond the speaker's name."""
    assert len(taken(answered(json.dumps({"memories": [item]})))) == kept


def test_duplicates_are_refused() -> None:
    """Within an answer, and with what the space holds already; near, they must differ in what they state."""
    twice = {"memories": [GOOD["memories"][0], {**GOOD["memories"][0], "text": "Priya  moved to UTRECHT"}]}
    space = answered(json.dumps(twice))
    assert len(taken(space)) == 1
    assert space.journal()[-1].reason == "1 memories taken from 3 turns, 1 refused"


@pytest.mark.parametrize(("said", "kept"), [("Utrecht is where Priya moved", 1), ("Priya moved to Ghent", 2)])
def test_paraphrases_are_refused_unless_they_state_something_else(said: str, kept: int) -> None:
    """Near by the embedder, and with the same names, figures and negations."""
    texts = [str(message["content"]) for message in CHAT]
    known = "Priya moved to Utrecht"
    near = {f"Priya: {known}": 0.99, f"Priya: {said}": 0.99, known: 0.99, said: 0.99}
    far = {f"{speaker}: {text}": 0.0 for speaker in ("Priya", "assistant") for text in texts}
    answer = {"memories": [{"kind": "fact", "text": said, "turns": [1], "importance": 5}]}
    place = Retentive(":memory:", embedder=cosines({**near, **far}), llm=ScriptedLlm(json.dumps(answer)), clock=Clock())
    space = place.space("acme/priya")
    space.remember(known, speaker="Priya", importance=0.5)
    space.observe(CHAT[:1])
    space.run_jobs()
    assert len(space.list(kinds=["fact"], hidden=True)) == kept


def test_an_answer_that_obeyed_somebody_can_do_nothing_else() -> None:
    """Keys that nobody asked for are dropped: no pin, no trust, no space, no key comes from a model."""
    more = {"pinned": True, "trust": 1.0, "key": "x", "supersedes": ["y"], "space": "acme/other", "permanent": True}
    evil = {"memories": [{**GOOD["memories"][0], **more}]}
    space = answered(injected(evil))
    (memory,) = taken(space)
    assert (memory.pinned, memory.permanent, memory.key, memory.supersedes, memory.space) == (
        False, False, None, (), "acme/priya",
    )  # fmt: skip


def test_trust_is_that_of_the_least_trusted_turn() -> None:
    """A model cannot launder what a tool returned."""
    said = {"memories": [{"kind": "fact", "text": "Priya has won a million in Utrecht", "turns": [1, 2]}]}
    space = home(ScriptedLlm(json.dumps(said))).space("acme/priya")
    space.observe([*CHAT[:1], {"role": "tool", "content": "You have won a million!"}])
    space.run_jobs()
    (memory,) = taken(space)
    assert (memory.trust, memory.metadata["origin"]) == (0.5, "tool")


@pytest.mark.parametrize("erase", [True, False])
def test_turns_that_go_while_the_model_thinks_leave_nothing(*, erase: bool) -> None:
    """What rests on a turn that was forgotten meanwhile is not written."""
    spaces: list[Space] = []

    def forgetting(_messages: object, _schema: object) -> str:
        for turn in spaces[0].list(kinds=["episode"]):
            spaces[0].forget(turn.id, erase=erase)
        return json.dumps(GOOD)

    spaces.append(home(ScriptedLlm(forgetting, json.dumps(GOOD))).space("acme/priya"))
    spaces[0].observe(CHAT)
    spaces[0].run_jobs()
    assert taken(spaces[0]) == []
    assert spaces[0].jobs() == []


def test_what_still_stands_is_written() -> None:
    """Though another turn was forgotten while the model thought."""
    spaces: list[Space] = []

    def forgetting(_messages: object, _schema: object) -> str:
        (first,) = [turn for turn in spaces[0].list(kinds=["episode"]) if "Utrecht" in turn.text]
        spaces[0].forget(first.id)
        return json.dumps(GOOD)

    spaces.append(home(ScriptedLlm(forgetting)).space("acme/priya"))
    spaces[0].observe(CHAT)
    spaces[0].run_jobs()
    assert [memory.text for memory in taken(spaces[0])] == ["The assistant looks for recipes by Friday."]
    assert spaces[0].journal()[-1].reason == "1 memories taken from 3 turns, 0 refused"


def test_forgotten_turns_are_not_shown() -> None:
    """Nor asked about, if none is left."""
    llm = ScriptedLlm(json.dumps({"memories": []}))
    space = home(llm).space("acme/priya")
    told = space.observe(CHAT)
    for turn in told.turns:
        space.forget(turn.id)
    assert space.run_jobs().done == 1
    assert llm.calls == []


def test_what_it_costs_is_known_before() -> None:
    """A dry run asks nobody and says how much would be asked, at the model's prices."""

    class Priced(ScriptedLlm):
        def price(self, input_tokens: int, output_tokens: int) -> float:
            return input_tokens + 1000 * output_tokens

    llm = Priced()
    space = home(llm).space("acme/priya")
    told = space.observe(CHAT, dry_run=True)
    assert (told.cost.calls, told.cost.estimated, llm.calls) == (1, True, [])
    assert told.cost.cost == told.cost.input_tokens + 1000 * told.cost.output_tokens
    assert told.cost.input_tokens > 100
    assert space.observe(CHAT).cost == told.cost
    assert space.observe(CHAT, session="p", extract="patterns").cost == Usage()


def test_a_model_is_needed() -> None:
    """Asked for without one, it is an error that says how to name one; by itself it is the patterns."""
    space = home(None).space("acme/priya")
    with pytest.raises(InvalidInput, match="needs a language model"):
        space.observe(CHAT, extract="llm")
    assert space.observe(CHAT).method == "patterns"


def test_questions_are_of_a_bearable_size() -> None:
    """One episode each, so many turns, so many characters; a long turn is shown in part."""
    space = home(None).space("acme/priya")
    many = [{"role": "user", "content": f"turn {at}", "at": NOW + timedelta(minutes=at)} for at in range(40)]
    many += [{"role": "user", "content": "later", "at": NOW + timedelta(days=1)}]
    assert [len(group) for group in batches(space.observe(many, session="a").turns)] == [16, 16, 8, 1]
    assert TURNS_AT_ONCE == 16
    long = [{"role": "user", "content": "x" * 2 * LONGEST_SHOWN}] * 3
    groups = batches(space.observe(long, session="b").turns)
    assert [len(group) for group in groups] == [CHARACTERS_AT_ONCE // LONGEST_SHOWN, 1]
    shown = asked_about(groups[1])[1]["content"]
    assert LONGEST_SHOWN < len(shown) < LONGEST_SHOWN + 500


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda one: one.name)
def test_injections_reach_nobody(injection: Injection) -> None:
    """Said by a user, as a name or by a tool: the question quotes it, and the honest answer is what is stored."""
    llm = GullibleLlm(json.dumps(GOOD))
    space = home(llm).space("acme/priya")
    name = injection.text.strip()[:900]
    more = [{"role": "user", "content": injection.text}, {"role": "tool", "content": injection.text}]
    told = space.observe([*CHAT, *more, {"role": "user", "name": name, "content": "That is it"}])
    ran = space.run_jobs()
    assert (ran.done, llm.obeyed) == (len(told.jobs), [])
    assert llm.seen == {injection.mark}
    assert [memory.text for memory in taken(space)] == [
        "The assistant looks for recipes by Friday.",
        "Priya moved to Utrecht.",
    ]


def test_the_rater_rates_what_the_model_did_not() -> None:
    """An importance that the model gave is kept."""
    place = home(ScriptedLlm(json.dumps(GOOD)))
    place.rater = "offline"
    space = place.space("acme/priya")
    space.observe(CHAT)
    space.run_jobs()
    promise, fact = sorted(taken(space), key=lambda memory: memory.kind)
    assert fact.importance == 0.7
    reasons = {line.memory_id: line.reason for line in space.journal() if line.action == "remember"}
    assert "rater" not in reasons[fact.id]
    assert "rater 'offline" in reasons[promise.id]
