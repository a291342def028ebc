"""What the rules read in two texts, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.conflicts.decide import AFFIRMED, CHANGED, DENIED, ENDED, EXCLUDED, OTHER_NUMBER, OTHER_VALUE, judge
from retentive.text.claims import LONGEST, read
from retentive.text.wording import said, wording

WORDS = (
    "no longer not never stopped quit from to is was are has been used the Ann Rome 12 switched moved replaced with"
    " by for cancelled off instead of gave up sold the cat's , . ; : ? but and actually now , not broke left one"
).split()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Uses Kafka for events", "Replaced Kafka with NATS for events", CHANGED),
        ("The map is stored on disk", "The map has been moved to S3", OTHER_VALUE),
        ("Works at Acme", "Resigned from Acme", ENDED),
        ("Is married to Sam", "Got divorced from Sam", ENDED),
        ("Trains for the relay", "Gave up the relay", ENDED),
        ("Anna works at Acme", "Anna is no longer at Acme", ENDED),
        ("The gate is open", "The gate isn't open", DENIED),
        ("Does not eat fish", "Eats fish", AFFIRMED),
        ("The valve is open", "The valve is closed", EXCLUDED),
        ("The window is Monday 9:00", "The window is Friday 10:00", OTHER_NUMBER),
        ("Editor: Vim", "Editor: Helix", OTHER_VALUE),
    ],
)
def test_a_conflict_and_its_reason(old: str, new: str, reason: str) -> None:
    """Each form is read by its own rule."""
    found = judge(new, old)
    assert found is not None
    assert found.reason == reason
    assert 0.5 <= found.confidence <= 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Rome", "Lives in Rome"),
        ("Lives in Rome", "Is she going to move to Oslo?"),
        ("Lives in Rome", "Plans to leave Rome"),
        ("Lives in Rome", "Ben said he no longer lives in Rome"),
        ("Met Bob in Rome", "No longer lives in Rome"),
        ("Likes Postgres", "Switched from Postgres to MySQL"),
        ("Bob's father smokes", "Bob stopped smoking"),
        ("Ann smokes", "Plans to stop smoking"),
        ("Notifications are off", "The lamp is off"),
        ("Shelf 3 holds box 21", "Shelf 3 holds box 22"),
        ("The deploy number 3 failed", "The deploy number 4 failed"),
        ("deploy 3", "deploy 4"),
        ("Works on the parser", "Works on the lexer"),
        ("Friends are Ann and Ben", "Friends are Cleo and Dan"),
        ("Enjoy!", "I hate not being on the court."),
        ("Colours: red", "Shapes: round"),
        ("", "No longer"),
    ],
)
def test_no_conflict(old: str, new: str) -> None:
    """Another subject, a plan, a report, many side by side, an identifier: nothing is denied."""
    assert judge(new, old) is None


def test_several_claims_are_less_sure() -> None:
    """A memory that says more than what is denied is not retired for it."""
    alone, more = (judge("No longer lives in Rome", old) for old in ("Lives in Rome", "Lives in Rome; likes tea"))
    assert alone is not None
    assert more is not None
    assert more.confidence < 0.9 < alone.confidence


def test_stories_are_not_read() -> None:
    """What is too long, or says too many things, claims nothing."""
    assert read("Lives in Rome. " * (LONGEST // 10)).claims == ()
    assert read("One. Two. Three. Four. Five.").claims == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The user's name is Jo", ("name", "is", "jo")),
        ("I’m 12 and can't swim", ("i", "am", "12", "and", "can", "not", "swim")),
        ("They've spent $1,250", ("they", "have", "spent", "1250")),
        ("The colour, by the way, is grey", ("color", "is", "grey")),
        ("User", ("user",)),
        ("Two or three?", ("2", "or", "3", "?")),
    ],
)
def test_what_a_text_says(text: str, words: tuple[str, ...]) -> None:
    """How it is put falls away, what it says stays."""
    assert said(text) == words


def test_corrections_are_heard() -> None:
    """ "No longer" begins with a word that corrects only before a comma."""
    assert wording("No, it is Monday").corrects
    assert wording("Actually it is Monday").corrects
    assert not wording("No longer Monday").corrects


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read(one: str, other: str) -> None:
    """Whatever stands in a memory, reading it ends, and the same words deny nothing of themselves."""
    found = judge(one, other)
    assert found is None or 0.5 <= found.confidence <= 1
    assert judge(one, one) is None
    assert said(one) == said(one + " ")


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join))
def test_any_words_are_read(text: str) -> None:
    """The words that the rules look for, in any order, are never too much for them."""
    assert judge(text, text) is None


def test_long_texts_cost_their_length() -> None:
    """A page of blanks or a novel is compared as it is, and not kept."""
    page = "a" + " " * 400_000 + "b"
    assert said(page) == (page,)
    assert said(page + "\n") == (page,)
    assert judge(page, page + "c") is None
