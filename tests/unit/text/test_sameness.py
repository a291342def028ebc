"""Whether two texts say the same: in the same words, or near and with the same figures, names and negations."""

from __future__ import annotations

import pytest

from retentive.text.sameness import folded, says_the_same, states_the_same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I love tea", "i  LOVE tea!", True),
        ("I love tea", "I really do love tea", False),
        ("I love tea", "I really love the tea", True),
        ("I love tea", "I love green tea", False),
        ("I like tea", "I do not like tea", False),
        ("I am 42", "I am 43", False),
        ("The", "a", False),  # nothing but fillers: then these count
    ],
)
def test_the_same_words(one: str, other: str, *, same: bool) -> None:
    """In order; case, stops and fillers aside."""
    assert says_the_same(one, other) is same
    assert says_the_same(other, one) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("She moved to Utrecht", "Moved to Utrecht, she did", True),
        ("She moved to Utrecht", "She moved to Ghent", False),
        ("The invoice is for 40 euros", "The invoice is for 41 euros", False),
        ("She eats meat", "She doesn’t eat meat", False),
        ("She never eats meat", "She does not eat meat", True),
        ("version 4.2b failed", "version 4.2c failed", False),
    ],
)
def test_the_same_statements(one: str, other: str, *, same: bool) -> None:
    """What must agree where texts are near otherwise: names, figures, negations."""
    assert states_the_same(one, other) is same


def test_folding_is_unicode() -> None:
    """Compatible forms are one."""
    assert folded("Ｃafé  №1!") == "café no1"
