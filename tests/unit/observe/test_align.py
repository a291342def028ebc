"""Which turns are new: whole, grown, windowed, forked and erased conversations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.observe.align import Heard, continues, new_turns

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
ERASED = Heard(erased=True)


def talk(words: str) -> list[Heard]:
    return [ERASED if word == "?" else Heard("user", "user", word) for word in words]


@pytest.mark.parametrize(
    ("stored", "coming", "fresh"),
    [
        ("", "abc", [0, 1, 2]),
        ("abc", "abc", []),
        ("abc", "abcde", [3, 4]),
        ("abcde", "cdefg", [3, 4]),  # a window over the end
        ("abcde", "bcd", []),  # a window inside
        ("abc", "xyz", [0, 1, 2]),
        ("ab", "abab", [2, 3]),  # said again
        ("abcxy", "abcde", [3, 4]),  # a fork adds its own turns
        ("abcxyde", "abcde", []),  # and nothing the second time
        ("a?c", "abcd", [3]),  # what was erased is not stored anew
        ("a?", "ab", []),
        ("?", "a", [0]),  # an erased turn alone could be any
        ("ab?", "x", [0]),
    ],
)
def test_new_turns(stored: str, coming: str, fresh: list[int]) -> None:
    """By words, order and place."""
    assert new_turns(talk(stored), talk(coming)) == fresh


def test_a_known_start_recognises_what_was_erased() -> None:
    """Where both are known to begin with the same turn."""
    assert new_turns(talk("?"), talk("a"), same_start=True) == []


def test_stated_times_tell_equal_words_apart() -> None:
    """To the second; where one side states none, words decide."""

    def morning(at: datetime | None) -> list[Heard]:
        return [Heard("user", "user", "Good morning", at)]

    assert new_turns(morning(AT), morning(AT + timedelta(days=1))) == [0]
    assert new_turns(morning(AT), morning(AT + timedelta(milliseconds=900))) == []
    assert new_turns(morning(AT), morning(None)) == []


def test_who_said_it_counts() -> None:
    """The same words of another speaker are another turn."""
    assert new_turns([Heard("user", "Ann", "Hi")], [Heard("user", "Ben", "Hi")]) == [0]


@pytest.mark.parametrize(
    ("stored", "coming", "same"),
    [("a", "abc", True), ("abc", "a", True), ("abcd", "abxy", True), ("ax", "ay", False), ("abcdef", "auvwxy", False)],
)
def test_continues(stored: str, coming: str, same: bool) -> None:
    """A conversation nobody named goes on if the shorter agrees, or two turns and half of it."""
    assert continues(talk(stored), talk(coming)) is same


@given(st.text("ab", max_size=8), st.text("abc", max_size=8))
def test_twice_adds_nothing(stored: str, coming: str) -> None:
    """Whatever was stored: once the new turns are behind it, the same conversation has no new turn."""
    before, again = talk(stored), talk(coming)
    after = [*before, *(again[at] for at in new_turns(before, again))]
    assert new_turns(after, again) == []


@given(st.text("ab", min_size=1, max_size=8), st.text("ab", max_size=4))
def test_growth_adds_only_what_grew(stored: str, more: str) -> None:
    """And all of it, in order."""
    grown = new_turns(talk(stored), talk(stored + more))
    assert grown == list(range(len(stored), len(stored) + len(more)))
