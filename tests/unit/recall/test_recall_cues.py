"""Cues: strings, an agent's state beside the user's words, two-part questions, and what is no cue at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from facade_making import CUE, NOW, SURROGATE, Clock, Opening, by_similarity, cosines, ids, only, texts

from retentive import AgentState, Recall, Retentive, Space, policies
from retentive.errors import InvalidInput
from retentive.recall.cue import state_text
from retentive.testing.fakes import HashEmbedder, MappedEmbedder

STATE = AgentState(goal="migrate tiers", step="check gates", open_loops=["who approves?"])
STALE = "the cue is the same as last time though the agent's state has changed"


@pytest.fixture
def two_arms(opening: Opening) -> Space:
    """One memory that the state's vector meets, one that the user's words meet."""
    embedder = MappedEmbedder(
        {state_text(STATE): [1, 0, 0], "run it": [0, 1, 0], "gate checklist": [1, 0, 0], "run migration": [0, 1, 0]}
    )
    space = opening(embedder=embedder).space("a")
    space.remember("gate checklist", id="state")
    space.remember("run migration", id="words")
    return space


def test_the_dense_arm_follows_the_state_and_the_lexical_the_words(two_arms: Space) -> None:
    """With a state the vector is of what the agent does, and the terms are of what the user said."""
    dense = two_arms.recall(state=STATE, utterance="run it", policy=by_similarity())
    assert ids(dense) == ["state", "words"]
    assert [hit.similarity for hit in dense] == pytest.approx([1.0, 0.0], abs=1e-6)
    lexical = two_arms.recall(state=STATE, utterance="run it", policy=by_similarity(channels=("lexical",)))
    assert ids(lexical) == ["words"]


def test_a_state_alone_is_a_cue(two_arms: Space) -> None:
    """Without an utterance both arms read the state; the trace says what was asked."""
    recall = two_arms.recall(state=STATE, policy=by_similarity())
    assert ids(recall)[0] == "state"
    assert recall.trace.cue == recall.trace.utterance == "check gates. migrate tiers. who approves?"


def test_an_utterance_alone_is_a_cue(two_arms: Space) -> None:
    """Then both arms read it."""
    recall = two_arms.recall(utterance="run it", policy=by_similarity())
    assert ids(recall)[0] == "words"


def test_a_cue_that_is_said_beats_the_state(two_arms: Space) -> None:
    """A caller who passes a cue and a state means the cue."""
    assert ids(two_arms.recall("run it", state=STATE, policy=by_similarity()))[0] == "words"


NOTHING: list[dict[str, Any]] = [
    {},
    {"cue": ""},
    {"cue": " \n"},
    {"utterance": "\t"},
    {"state": AgentState()},
    {"state": AgentState(goal=" ", open_loops=["", " "])},
    {"state": AgentState(tags=["x"], session="s")},
]


@pytest.mark.parametrize("asked", NOTHING, ids=str)
def test_nothing_asked_is_an_error(space: Space, asked: dict[str, Any]) -> None:
    """An empty cue is no question; the message says what may be passed."""
    with pytest.raises(InvalidInput, match="Nothing was asked: pass a cue, an utterance, or a state with a goal"):
        space.recall(**asked)


NO_CUE: list[tuple[dict[str, Any], str]] = [
    ({"cue": 5}, "cue=5 is not a string"),
    ({"cue": b"tea"}, "cue=b'tea' is not a string"),
    ({"cue": "x", "utterance": ["y"]}, "utterance=['y'] is not a string"),
    ({"cue": SURROGATE}, "cue contains a lone surrogate at position 7"),
    ({"utterance": SURROGATE}, "utterance contains a lone surrogate"),
    ({"state": {"goal": "x"}}, "state={'goal': 'x'} is no AgentState"),
    ({"cue": "x", "now": 0}, "now=0 is not a datetime"),
    ({"cue": "x", "now": NOW.replace(tzinfo=None)}, "has no time zone"),
    ({"cue": "x", "policy": "blendd"}, "Unknown policy 'blendd'. Did you mean 'blend'?"),
    ({"cue": "x", "policy": 5}, "policy=5 is no Policy"),
]


@pytest.mark.parametrize(("asked", "says"), NO_CUE, ids=[says for _, says in NO_CUE])
def test_what_is_no_cue_is_refused_by_name(space: Space, asked: dict[str, Any], says: str) -> None:
    """Before any store or embedder is asked, with and without memories."""
    for _ in range(2):
        with pytest.raises(InvalidInput, match=re.escape(says)):
            space.recall(**asked)
        space.remember("x")


@pytest.mark.parametrize(
    "cue",
    [
        "???",
        "the of and",
        "\0",
        "👩‍👩‍👧",
        "\u202eשלום",
        "a" * 20_000,
        "tea " * 5_000,
        '" OR 1=1 --',
        "NEAR(a b)",
        "*",
        "text:x",
        "^x AND NOT y",
    ],
    ids=range(12),
)
@pytest.mark.parametrize("preset", ["retentive", "operational", "freshness"])
def test_any_string_is_a_cue(space: Space, preset: str, cue: str) -> None:
    """Signs without words, stop words, very long ones, and what a query language would trip over."""
    space.remember_many(["I like tea", "AND OR NOT"])
    for _ in range(2):
        assert len(space.recall(cue, policy=policies.get(preset).replace(floor=None))) >= 1


def test_an_empty_space_answers_with_nothing(space: Space) -> None:
    """A cold start is empty under every preset, and no error."""
    for name in policies.names():
        recall = space.recall("who approves the deploy?", policy=name, tags=["t"])
        assert (list(recall), recall.core, recall.compacted) == ([], (), None)
        assert not recall
        assert isinstance(recall.explain(), str)


def test_a_two_part_question_recalls_for_both_parts(opening: Opening) -> None:
    """Each clause asks for itself: the whole lies between both and near neither."""
    first, second = "Who approves the invoices", "where does the printer paper live"
    whole = f"{first} and {second}?"
    vectors: dict[str, list[float]] = {
        whole: [0.6, 0.6, 0.53],
        first: [1, 0, 0],
        f"{second}?": [0, 1, 0],
        second: [0, 1, 0],
    }
    vectors |= {"Ada signs them": [0.95, 0, 0.31], "On the third shelf": [0, 0.95, 0.31]}
    crowd = {f"noise {n}": [0.5, 0.5, 0.7 + n / 1_000] for n in range(30)}
    space = opening(embedder=MappedEmbedder({**vectors, **crowd})).space("a")
    space.remember_many(["Ada signs them", "On the third shelf", *crowd])
    apart = by_similarity(decompose="clauses", pool=3, limit=3)
    recall = space.recall(whole, policy=apart)
    assert set(texts(recall)[:2]) == {"Ada signs them", "On the third shelf"}
    assert recall.trace.clauses == (first, f"{second}?")
    together = space.recall(whole, policy=by_similarity(pool=3, limit=3))
    assert not set(texts(together)) & {"Ada signs them", "On the third shelf"}
    assert together.trace.clauses == ()


def test_a_cue_unchanged_over_a_changed_state_is_flagged(space: Space) -> None:
    """The note says so, once the state has moved on and the cue has not; it changes nothing else."""
    space.remember("Tea")
    moved = AgentState(goal="migrate tiers", step="roll back")

    def notes(cue: str | None, state: AgentState | None, **more: Any) -> bool:
        return STALE in space.recall(cue, state=state, policy="blend", **more).trace.notes

    assert not notes("tea", STATE)
    assert not notes("tea", STATE)
    assert notes("tea", moved)
    assert not notes("tea", moved)
    assert not notes("another cue", STATE)
    assert not notes("another cue", None)
    assert not notes("another cue", moved, touch=False)
    assert notes("another cue", moved)


def test_a_stale_cue_is_seen_by_the_next_process(opening: Opening) -> None:
    """What was asked last is kept in the space, by digests; a look leaves none."""
    for _ in range(2):
        opening().space("a").remember("tea")
    opening().space("a").recall("tea", state=STATE, policy="blend")
    (kept,) = [value for name, value in opening().space("a").store.settings().items() if name == "last_cue"]
    assert "tea" not in str(kept)
    moved = opening().space("a").recall("tea", state=AgentState(goal="else"), policy="blend")
    assert STALE in moved.trace.notes
    again = opening().space("a").recall("tea", state=AgentState(goal="else", tags=["x"]), policy="blend")
    assert STALE in again.trace.notes


def test_stale_cues_are_counted_per_space(opening: Opening) -> None:
    """What another tenant asked is no reason for a note here."""
    home = opening()
    for path in ("a", "b"):
        home.space(path).remember("Tea")
    home.space("a").recall("tea", state=STATE, policy="blend")
    recall = home.space("b").recall("tea", state=AgentState(goal="else"), policy="blend")
    assert STALE not in recall.trace.notes


def test_names_find_what_the_vector_does_not(opening: Opening) -> None:
    """The entity channel introduces a memory that mentions the named one, and one a hop away."""
    wanted = {"Liv Berg moved to Bergen": -0.2, "Kim paints": -0.3, "Kim and Liv Berg share a flat": -0.2}
    noise = {f"noise {n}": 0.5 for n in range(30)}
    cue = "What about Liv Berg?"
    space = opening(embedder=cosines(wanted | noise, cue)).space("a")
    space.remember_many([*wanted, *noise])
    policy = only("entity", channels=("vector", "entity"), pool=10, limit=5)
    recall = space.recall(cue, policy=policy)
    assert set(texts(recall)[:2]) == {"Liv Berg moved to Bergen", "Kim and Liv Berg share a flat"}
    assert "liv berg" in recall.trace.entities
    by_text = {hit.memory.text: hit for hit in recall}
    assert by_text["Kim paints"].channels == ("entity",)
    assert by_text["Kim paints"].score == pytest.approx(0.5 * by_text["Liv Berg moved to Bergen"].score, rel=0.5)


def test_every_channel_introduces_candidates(opening: Opening) -> None:
    """Alone, each of the six finds something; together none is lost."""
    clock = Clock()
    space = opening(embedder=cosines({}), clock=clock).space("a")
    space.remember("Liv wrote E4012 down", at=NOW)
    for channel in ("vector", "lexical", "entity", "temporal", "recent", "important"):
        recall = space.recall(
            "Liv E4012 today", policy=only("importance", channels=(channel,)).replace(temporal_intent=True)
        )
        assert [hit.channels for hit in recall] == [(channel,)]
    every = only("importance", channels=("vector", "lexical", "entity", "temporal", "recent", "important"))
    assert len(space.recall("Liv E4012 today", policy=every.replace(temporal_intent=True))[0].channels) == 6


def test_the_same_history_gives_the_same_bytes(opening: Opening) -> None:
    """Two fresh stores, one told in a batch: ids, scores, traces and recall ids agree to the byte."""

    def story(path: str, home: Any, *, batch: bool) -> str:
        space = home.space(path)
        items = [{"text": f"Tea {n % 5} in Oslo {n}", "at": NOW, "tags": ["t"], "speaker": "Liv"} for n in range(30)]
        kept = space.remember_many(items) if batch else [space.remember(**item) for item in items]
        answers = [space.recall("tea in Oslo today", policy=name, tags=["t"]) for name in policies.names()]
        assert kept
        return json.dumps([answer.as_dict() for answer in answers])

    home = opening()
    first = story("s", home, batch=False)
    home.drop("s")
    assert story("s", home, batch=True) == first


def test_memory_and_file_answer_alike(tmp_path: Path) -> None:
    """The in-memory store and SQLite give the same history the same hits in the same order, and equal scores.

    Not to the last bit: what is read against the whole population may be estimated by a store.
    """
    told: list[list[Recall]] = []
    for location in (":memory:", tmp_path):
        clock = Clock()
        with Retentive(location, embedder=HashEmbedder(), clock=clock) as home:
            space = home.space("s")
            for n in range(40):
                clock.tick(hours=5)
                space.remember(f"Liv has {n} teas in Oslo" if n % 3 else f"Rice {n}", session=f"s{n % 2}", tags=["t"])
            answers = []
            for name in policies.names():
                clock.tick(minutes=10)
                answers.append(space.recall("How many teas has Liv now?", policy=name, tags=["t"]))
            told.append(answers)
    for memory, file in zip(*told, strict=True):
        assert (memory.id, ids(memory)) == (file.id, ids(file))
        assert [hit.score for hit in memory] == pytest.approx([hit.score for hit in file], abs=1e-6)
        assert [hit.channels for hit in memory] == [hit.channels for hit in file]


def test_a_question_about_nothing_known_by_words_still_has_vectors(opening: Opening) -> None:
    """A concept without shared words is found by its vector."""
    space = opening(embedder=cosines({"automobile": 0.9, "teapot": 0.1}, "car")).space("a")
    space.remember_many(["automobile", "teapot"])
    assert texts(space.recall("car", policy=by_similarity(channels=("vector", "lexical"))))[0] == "automobile"
    assert texts(space.recall(CUE, policy=by_similarity()))[0] == "automobile"


def test_a_word_is_a_name_only_where_the_space_writes_it_as_one(opening: Opening) -> None:
    """A heading makes an entity of "Response Time"; the word in a cue is still a word, and "anna" is still Anna."""
    space = opening(embedder="hash").space("a")
    space.remember("We compared Response Time with Anna and others", id="heading")
    for number in range(6):
        space.remember(f"the response time of run {number} was fine")
    space.remember("Tea with Anna again", id="tea")
    recall = space.recall("what response time did anna see", policy=only("entity", channels=("vector", "entity")))
    assert "anna" in recall.trace.entities
    assert "response" not in recall.trace.entities
    assert "time" not in recall.trace.entities
