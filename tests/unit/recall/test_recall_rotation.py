"""Rotation: what was shown within the hour steps back, also after a restart, but never where the cue names it."""

from __future__ import annotations

from typing import Any

import pytest
from facade_making import Clock, Opening, by_similarity, cosines, ids

from retentive import Space
from retentive.policy import Policy
from retentive.testing.fakes import MappedEmbedder

ANY = by_similarity(rotation="any", limit=2)
SIMILAR = by_similarity(rotation="similar", limit=2)
PLACES = {"red tea": 0.9, "green tea": 0.8, "black tea": 0.7, "white tea": 0.6}
ASKED = "which tea is there"


def filled(opening: Opening, clock: Clock, *cues: str) -> Space:
    space = opening(embedder=cosines(PLACES, ASKED, *cues), clock=clock).space("a")
    for text in PLACES:
        space.remember(text, id=text.split()[0], key=f"{text.split()[0]} leaf")
    return space


def test_the_same_five_do_not_loop(opening: Opening) -> None:
    """Asked again, rotation reaches deeper; halved scores say why."""
    space = filled(opening, Clock())
    assert ids(space.recall(ASKED, policy=ANY)) == ["red", "green"]
    second = space.recall(ASKED, policy=ANY)
    assert ids(second) == ["black", "white"]
    third = space.recall(ASKED, policy=ANY)
    assert ids(third) == ["red", "green"]
    assert [(m.name, m.factor) for m in third[0].modifiers] == [("rotation", 0.5)]
    assert third[0].score == pytest.approx(0.45, abs=1e-6)
    assert third[0].reproduced() == third[0].score


def test_after_the_hour_it_is_forgotten(opening: Opening) -> None:
    """Up to and with the sixtieth minute, not beyond; the window is a parameter."""
    clock = Clock()
    space = filled(opening, clock)
    space.recall(ASKED, policy=ANY)
    clock.tick(minutes=60)
    assert ids(space.recall(ASKED, policy=ANY, touch=False)) == ["black", "white"]
    assert ids(space.recall(ASKED, policy=ANY.replace(rotation_minutes=59), touch=False)) == ["red", "green"]
    clock.tick(seconds=1)
    assert ids(space.recall(ASKED, policy=ANY, touch=False)) == ["red", "green"]


def test_a_restart_does_not_forget_it(opening: Opening) -> None:
    """Rotation is kept with the space, not in the process."""
    clock = Clock()
    first = filled(opening, clock)
    first.recall(ASKED, policy=ANY)
    again = opening(embedder=cosines(PLACES, ASKED), clock=clock).space("a")
    assert ids(again.recall(ASKED, policy=ANY)) == ["black", "white"]


def test_reading_without_a_trace_turns_nothing(opening: Opening) -> None:
    """`touch=False` neither counts as shown nor looks different for it."""
    space = filled(opening, Clock())
    for _ in range(3):
        assert ids(space.recall(ASKED, policy=ANY, touch=False)) == ["red", "green"]


def test_each_policy_turns_its_own(opening: Opening) -> None:
    """What one policy showed is new under another name."""
    space = filled(opening, Clock())
    space.recall(ASKED, policy=ANY)
    assert ids(space.recall(ASKED, policy=ANY.replace(name="other"))) == ["red", "green"]


def test_recalls_of_the_future_turn_nothing(opening: Opening) -> None:
    """A clock that was set back has shown nothing yet."""
    clock = Clock()
    space = filled(opening, clock)
    clock.tick(minutes=30)
    space.recall(ASKED, policy=ANY)
    clock.tick(minutes=-20)
    assert ids(space.recall(ASKED, policy=ANY)) == ["red", "green"]


@pytest.mark.parametrize(
    "cue",
    ["what is red?", "tell me of (red), please", "RED", "about the red leaf?", "is red tea there", "Red Tea!"],
)
def test_what_the_cue_names_is_not_turned(opening: Opening, cue: str) -> None:
    """By id, by key or word for word, at the end of a question and in any case."""
    space = filled(opening, Clock(), cue)
    for _ in range(3):
        assert ids(space.recall(cue, policy=ANY))[0] == "red"


def test_an_identifier_names_it_too(opening: Opening) -> None:
    """An error code in cue and memory is naming, though the memory has other words as well."""
    embedder = cosines({"E4012 is a full disk": 0.5, "tea": 0.4}, "what is E4012")
    space = opening(embedder=embedder).space("a")
    space.remember_many(["E4012 is a full disk", "tea"])
    policy = by_similarity(rotation="any", limit=1)
    for _ in range(3):
        assert space.recall("what is E4012", policy=policy)[0].memory.text.startswith("E4012")


@pytest.mark.parametrize(
    ("name", "cue"), [("1", "teas of 2021"), ("a", "what is"), ("tea", "steaks"), ("x", "X-ray maxima")]
)
def test_letters_inside_a_word_name_nothing(opening: Opening, name: str, cue: str) -> None:
    """An id or text that only happens to be part of a word of the cue is turned like any other."""
    space = opening(embedder=cosines({"first": 0.9, "second": 0.8}, cue)).space("a")
    space.remember("first", id=name)
    space.remember("second", id="second-one")
    policy = by_similarity(rotation="any", limit=1)
    named = name in cue.casefold().replace("-", " ").split()
    space.recall(cue, policy=policy)
    assert (ids(space.recall(cue, policy=policy)) == [name]) is named


def test_rotation_never_empties_an_answer(opening: Opening) -> None:
    """Halved below the floor it is still the answer: rotation stands behind the floor."""
    space = filled(opening, Clock())
    policy = by_similarity(rotation="any", limit=4, floor=0.55)
    for _ in range(3):
        assert len(space.recall(ASKED, policy=policy)) == 4


def test_a_similar_question_is_near_in_meaning_and_words(opening: Opening) -> None:
    """The default policy turns only what a like cue has shown: it breaks loops and taxes nothing else."""
    vectors = {**{text: [c, (1 - c * c) ** 0.5, 0] for text, c in PLACES.items()}}
    asked, again = "which colour does Mara like", "So what colour does Mara like?"
    far, other = "what colour is it that Mara likes", "where does Mara like the colour"
    vectors |= {asked: [1, 0, 0], again: [0.95, 0, 0.31], far: [0.85, 0, 0.53], other: [0.95, 0.31, 0]}
    space = opening(embedder=MappedEmbedder(vectors)).space("a")
    for text in PLACES:
        space.remember(text, id=text.split()[0])
    space.recall(asked, policy=SIMILAR)
    reasons = {cue: turned(space, cue) for cue in (asked, again, far, other)}
    assert reasons == {asked: ["green", "red"], again: ["green", "red"], far: [], other: []}
    assert turned(space, far, SIMILAR.replace(rotation_similarity=0.8)) == ["green", "red"]


def turned(space: Space, cue: str, policy: Policy = SIMILAR, **more: Any) -> list[str]:
    recall = space.recall(cue, policy=policy.replace(limit=4), touch=False, **more)
    return sorted(hit.memory.id for hit in recall if any(m.name == "rotation" for m in hit.modifiers))


def test_after_re_embedding_cues_are_compared_as_words(opening: Opening) -> None:
    """Cue vectors of another width are not compared; the very same question still is."""
    clock = Clock()
    filled(opening, clock).recall(ASKED, policy=SIMILAR)
    wider = cosines({**PLACES, "filler": 0.1}, ASKED, "another question")
    space = opening(embedder=wider, clock=clock).space("a")
    space.maintain(re_embed=True)
    assert turned(space, ASKED) == ["green", "red"]
    assert turned(space, "another question") == []
