"""Episodes begin after a pause and with another topic, and never in the middle of an answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from retentive.observe.segments import GAP, Said, begins, content_terms, shift_below
from retentive.types import Vectors

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def towards(axis: int) -> Vectors:
    vector: Vectors = np.eye(4, dtype=np.float32)[axis]
    return vector


def said(text: str, *, axis: int = 0, minutes: float = 0, speaker: str = "user") -> Said:
    return Said(AT + timedelta(minutes=minutes), speaker, text, content_terms(text.lower().split()), towards(axis))


COOKING = [said(f"the sauce needs more basil number {at}") for at in range(4)]
HOLIDAY = said("flights towards lisbon became expensive lately", axis=1)


def why(before: list[Said], turn: Said) -> str:
    return begins(before, turn, gap=GAP, shift=shift_below((0.0, 1.0)))


def test_the_first_turn_begins() -> None:
    """There is nothing before it."""
    assert why([], HOLIDAY) == "start"


@pytest.mark.parametrize(("minutes", "reason"), [(29, ""), (30, "gap"), (600, "gap"), (-600, "")])
def test_a_pause_ends_an_episode(minutes: float, reason: str) -> None:
    """From half an hour on; a clock that runs backwards is no pause."""
    assert why([said("the sauce")], said("more sauce", minutes=minutes)) == reason


def test_another_topic_begins_an_episode() -> None:
    """No shared word and no shared meaning with the latest turns."""
    assert why(COOKING, HOLIDAY) == "topic"


@pytest.mark.parametrize(
    ("before", "turn"),
    [
        (COOKING[:3], HOLIDAY),  # too short to have had a topic
        (COOKING, said("yes please", axis=1)),  # says too little
        (COOKING, said("flights towards lisbon need basil sauce", axis=1)),  # shared words
        (COOKING, said("flights towards lisbon became expensive", axis=0)),  # a shared meaning
        ([*COOKING[:3], said("what about your holiday?", speaker="assistant")], HOLIDAY),  # an answer
    ],
)
def test_what_is_no_other_topic(before: list[Said], turn: Said) -> None:
    """Each of these alone is enough to stay in the episode."""
    assert why(before, turn) == ""


@pytest.mark.parametrize("opening", ["By the way, ", "Ok, thanks. On another note, ", "Changing the subject: ", "BTW "])
def test_a_topic_that_is_announced(opening: str) -> None:
    """People say so."""
    assert why(COOKING[:2], said(opening + "the sauce")) == "topic"
    assert why(COOKING[:1], said(opening + "the sauce")) == ""


def test_the_scale_is_the_embedders() -> None:
    """Just above what unrelated texts have; a fixed guess where nothing was measured."""
    assert shift_below((0.2, 0.6)) == pytest.approx(0.4)
    assert shift_below(None) == 0.3


def test_one_word_may_be_shared_by_chance() -> None:
    """And a question of one's own is no question that one answers."""
    assert why(COOKING, said("flights towards lisbon need basil", axis=1)) == "topic"
    assert why([*COOKING[:3], said("what about your holiday?")], HOLIDAY) == "topic"


@pytest.mark.parametrize("greeting", ["Hey Caroline! How are you?", "Good morning, all", "hello", "Hi there :)"])
def test_people_who_come_back_say_hello(greeting: str) -> None:
    """A greeting begins an episode after a while, or at once after a farewell; the answer to it does not."""
    assert why(COOKING, said(greeting)) == "topic"
    assert why(COOKING[:2], said(greeting)) == ""
    assert why([said("the sauce"), said("Thanks, talk to you later!")], said(greeting)) == "topic"
    assert why([*COOKING, said("Hey you!", speaker="assistant")], said(greeting)) == ""


def test_words_that_only_look_like_a_greeting() -> None:
    """Hey as an exclamation is none."""
    assert why(COOKING, said("Hey that is a great idea for the sauce")) == ""
