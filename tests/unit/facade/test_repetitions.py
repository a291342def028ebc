"""The same thing said again reinforces what is known; what was merged is seen, and taken apart again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Space
from retentive.conflicts.settings import Noticing
from retentive.errors import InvalidInput, NotFound
from retentive.types import Gate


def size(space: Space) -> int:
    return space.store.count(Gate(true_at=NOW, hidden=True))


@pytest.mark.parametrize(
    "again",
    ["Prefers Postgres", "prefers postgres.", "Prefers  the Postgres!", "The user really prefers Postgres, by the way"],
)
def test_the_same_again_reinforces(space: Space, again: str) -> None:
    """No second memory: the first is returned, counted as used now, and the journal says so."""
    first = space.remember("Prefers Postgres", at=NOW - timedelta(days=3))
    second = space.remember(again)
    assert second.id == first.id
    assert (second.text, second.created_at) == (first.text, first.created_at)
    assert (second.access.count, second.access.last_at) == (1.0, NOW)
    assert size(space) == 1
    assert [line.action for line in space.journal(first.id)] == ["remember", "repeat"]


@pytest.mark.parametrize(
    "other",
    [
        "Prefers MySQL",
        "Does not prefer Postgres",
        "Preferred Postgres",
        "Prefers Postgres?",
        "Prefers Postgres 17",
        "Bob prefers Postgres",
        "Never prefers Postgres",
    ],
)
def test_what_says_something_else_is_kept(space: Space, other: str) -> None:
    """A contradiction, another tense, a question, a number more: never merged away."""
    space.remember("Prefers Postgres")
    kept = space.remember(other)
    assert kept.text == other
    assert size(space) == 2
    assert space.repetitions() == []


@pytest.mark.parametrize(
    "own",
    [
        {"id": "mine"},
        {"kind": "decision"},
        {"tags": ["stack"]},
        {"metadata": {"n": 1}},
        {"key": "db"},
        {"speaker": "Ann"},
        {"pinned": True},
        {"permanent": True},
        {"recurs": "yearly"},
        {"trust": 0.5},
        {"valid_until": NOW + timedelta(days=1)},
        {"at": NOW - timedelta(days=9)},
        {"session": "s1"},
        {"kind": "episode"},
    ],
)
def test_what_brings_something_of_its_own_is_kept(space: Space, own: dict[str, Any]) -> None:
    """An id, a tag, a key, a span, an earlier date, a turn of a conversation: nothing is dropped that would be lost."""
    space.remember("Prefers Postgres")
    space.remember("Prefers Postgres", **own)
    assert size(space) == 2


def test_what_is_retired_is_not_repeated(space: Space) -> None:
    """Saying again what was superseded says it anew."""
    first = space.remember("Lives in Rome")
    space.remember("Lives in Oslo")
    again = space.remember("Lives in Rome")
    assert again.id != first.id
    assert [memory.text for memory in space.list()] == ["Lives in Rome"]


def test_turns_of_a_conversation_are_all_kept(space: Space) -> None:
    """What was said stays said, however often: records are not statements."""
    turns = [{"text": "Thanks!", "speaker": "Ann", "session": f"s{number % 3}"} for number in range(9)]
    assert len({memory.id for memory in space.remember_many(turns)}) == 9


def test_junk_does_not_pile_up(space: Space) -> None:
    """A fact extracted eight hundred times is one memory, used eight hundred times."""
    said = [
        "User prefers dark mode",
        "The user prefers dark mode.",
        "user prefers dark mode",
        "User prefers  dark mode!",
    ]
    for number in range(200):
        space.remember_many([{"text": text, "source": f"turn:{number}"} for text in said])
    assert size(space) == 1
    assert space.list()[0].access.count == pytest.approx(799)
    assert len(space.repetitions(limit=1000)) == 799


def test_what_was_merged_can_be_seen(space: Space) -> None:
    """A repetition keeps what it had otherwise: its words, its time, its source."""
    first = space.remember("Prefers Postgres", source="turn:1", at=NOW - timedelta(days=1))
    space.remember("The user prefers Postgres.", source="turn:9")
    (seen,) = space.repetitions(first.id)
    assert (seen.memory.id, seen.status, seen.at) == (first.id, "applied", NOW)
    assert (seen.said["text"], seen.said["source"]) == ("The user prefers Postgres.", "turn:9")
    assert space.repetitions("nobody") == []


def test_what_was_merged_can_be_undone(space: Space) -> None:
    """Separated, the saying is a memory of its own with all it said; once."""
    first = space.remember("Prefers Postgres", source="turn:1", at=NOW - timedelta(days=1), tags=["db"])
    space.remember("The user prefers Postgres.", source="turn:9", metadata={})
    (seen,) = space.repetitions()
    apart = space.separate(seen.id, reason="another user")
    assert apart.id != first.id
    assert (apart.text, apart.source, apart.created_at) == ("The user prefers Postgres.", "turn:9", NOW)
    assert size(space) == 2
    (after,) = space.repetitions()
    assert (after.status, after.separated) == ("undone", apart.id)
    assert space.journal(first.id)[-1].reason == f"repetition {seen.id} is kept beside it as {apart.id}: another user"
    with pytest.raises(InvalidInput, match="separated already"):
        space.separate(seen.id)
    with pytest.raises(NotFound, match="repetitions list"):
        space.separate("nobody")


def test_a_greater_importance_is_taken_over_and_given_back(space: Space) -> None:
    """Said again with more weight, the memory weighs more; undone, it weighs what it did."""
    first = space.remember("Prefers Postgres", importance=0.3)
    assert space.remember("Prefers Postgres").importance == 0.3
    assert space.remember("Prefers Postgres", importance=0.8).importance == 0.8
    (raised,) = [seen for seen in space.repetitions() if seen.said.get("importance") == 0.8]
    assert space.separate(raised.id).importance == 0.8
    assert space.get(first.id, touch=False).importance == 0.3


def test_the_same_moment_twice_is_two_repetitions(space: Space) -> None:
    """Each saying is counted, also where nothing tells two of them apart."""
    space.remember_many(["Likes tea"] * 4)
    assert size(space) == 1
    assert len({seen.id for seen in space.repetitions()}) == 3


def test_repetitions_may_be_kept(opening: Opening) -> None:
    """Switched off, every saying is a memory."""
    home = opening(clock=Clock())
    home.noticing = Noticing(repetitions="keep")
    home.space("a").remember_many(["Likes tea"] * 4)
    assert size(home.space("a")) == 4


def test_erasing_takes_the_repetitions_along(space: Space) -> None:
    """No word of what was merged outlives the memory it was merged into."""
    first = space.remember("The code is 4711")
    space.remember("The code is 4711!", source="turn:secret")
    space.forget(first.id, erase=True)
    assert space.repetitions() == []
    assert "4711" not in repr(space.journal())
    assert "secret" not in repr(space.journal())


def test_what_was_erased_is_not_separated(space: Space) -> None:
    """A saying that was erased by its source leaves that it was said, and no word to take apart."""
    first = space.remember("Likes tea", source="turn:1")
    space.remember("likes tea!", source="turn:9")
    space.forget(source="turn:9", erase=True)
    assert space.get(first.id).text == "Likes tea"
    (left,) = space.repetitions()
    assert dict(left.said) == {}
    with pytest.raises(InvalidInput, match="erased already"):
        space.separate(left.id)
