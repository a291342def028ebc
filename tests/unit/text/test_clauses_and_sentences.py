"""Cues taken apart and texts cut into sentences."""

from __future__ import annotations

import pytest

from retentive.text.clauses import clauses
from retentive.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "What is my favourite colour and where did I go on holiday last year?",
            ("What is my favourite colour", "where did I go on holiday last year?"),
        ),
        (
            "What did Dr. Smith say about my knee? Also, when is the next appointment?",
            ("What did Dr. Smith say about my knee?", "Also, when is the next appointment?"),
        ),
        ("Compare the budgets; list the open risks", ("Compare the budgets", "list the open risks")),
        ("Name the capital city, but leave out the suburbs", ("Name the capital city", "leave out the suburbs")),
        ("the release date\nthe owner of the ticket", ("the release date", "the owner of the ticket")),
    ],
)
def test_a_cue_of_two_parts_yields_both(text: str, expected: tuple[str, ...]) -> None:
    """Sentence ends, semicolons, line ends and conjunctions part clauses."""
    assert clauses(text) == expected


@pytest.mark.parametrize(
    "text",
    ["salt and pepper", "I want salt and pepper with my dinner tonight", "Who is Anna? What does she do for work?",
     'He said "buy some fresh milk and also a loaf of bread" yesterday', "x"],
)  # fmt: skip
def test_a_cue_of_one_part_is_itself(text: str) -> None:
    """Short coordination and quotations are not torn."""
    assert clauses(text) == (text,)


def test_an_empty_cue_has_no_clause() -> None:
    """White space asks nothing."""
    assert clauses(" \n ") == ()


def test_the_least_length_is_a_parameter() -> None:
    """Every clause is longer than asked for."""
    assert clauses("cats and dogs", longer_than=3) == ("cats", "dogs")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith went. He paid $3.50 for it! Really? yes.",
         ["Dr. Smith went.", "He paid $3.50 for it!", "Really?", "yes."]),
        ("1. First item\n2. Second item\n- third", ["1. First item", "2. Second item", "- third"]),
        ('J. K. Rowling wrote it. "It is good." She left.', ["J. K. Rowling wrote it.", '"It is good."', "She left."]),
        ("今天。明天！好", ["今天。", "明天！", "好"]),
        ("I live in the U.S. and work. See you on Jan. 5. Bye",
         ["I live in the U.S. and work.", "See you on Jan. 5.", "Bye"]),
        ("Version 2.3.1 is out at x.org. Get it", ["Version 2.3.1 is out at x.org.", "Get it"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_end_where_they_end(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, decimals and list numbers end none; closing quotes stay with theirs."""
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text", [" " * 1_000_000, "." * 1_000_000, "a. " * 300_000, "\n" * 1_000_000, "a" + " " * 7_900 + "b"]
)
def test_a_megabyte_is_safe(text: str) -> None:
    """Nothing is quadratic."""
    assert len(sentences(text)) <= 300_000
    assert len(clauses(text)) <= 2
