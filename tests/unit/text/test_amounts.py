"""Values in a text: what is one, of which kind, and when two are the same."""

from __future__ import annotations

import pytest

from retentive.text.amounts import values_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs $1,200.50 now", [("money", "1200.5")]),
        ("about 1200 dollars, or \u20ac2.5k", [("money", "1200"), ("money", "2500")]),
        ("up from 60% to 85 percent", [("share", "60"), ("share", "85")]),
        ("at 4 pm, not at 16:30", [("time", "16:00"), ("time", "16:30")]),
        ("between 12 a.m. and noon", [("time", "00:00"), ("time", "12:00")]),
        ("from midnight", [("time", "00:00")]),
        ("on March 22 or the 5th of May", [("date", "3/22"), ("date", "5/5")]),
        ("moved to Sept 3", [("date", "9/3")]),
        ("in June, by 2026-01-05, on Fridays", [("date", "6"), ("date", "2026-01-05"), ("date", "fri")]),
        ("three cats, 12 dogs and 1,500 fish", [("number", "3"), ("number", "12"), ("number", "1500")]),
        ("answers in 250ms", [("number", "250")]),
        ("two hundred thousand", [("number", "2"), ("number", "100")]),
        ("5 million rows", [("number", "5000000")]),
    ],
)
def test_values_are_found_with_their_kind(text: str, expected: list[tuple[str, str]]) -> None:
    """Equal values meet in one form, however they are written."""
    assert [(value.kind, value.value) for value in values_of(text)] == expected


@pytest.mark.parametrize(
    "text", ["release v1.0.3", "2. Book a room", "10) More", "nothing to see", "1.2.3", "rooms 12-15"]
)
def test_what_is_no_value(text: str) -> None:
    """Versions, numbers of list items and ranges state nothing."""
    assert values_of(text) == []


def test_a_value_knows_its_place() -> None:
    """The characters that it takes."""
    (value,) = values_of("The rent is $900 a month")
    assert "The rent is $900 a month"[value.start : value.end] == "$900"
