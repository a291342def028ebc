"""Names found by their capitals."""

from __future__ import annotations

import pytest

from retentive.text.entities import cue_entities, entities, entity_key, name_parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Dr. Anna Müller in New York yesterday.", ("anna müller", "new york")),
        ("We use GitHub Actions and NASA's API, also OpenAI.", ("github actions", "nasa", "api", "openai")),
        ("He said Bank of America and the Lord of the Rings", ("bank of america", "lord of the rings")),
        ("We saw Anna's Ford", ("anna", "ford")),
        ("Thanks Anna, I think May is fine. On Monday Bob and Carol met", ("anna", "bob", "carol")),
        ("Yesterday Anna went home", ("anna",)),
        ("@bob_x likes #launch and his iPhone", ("bob_x", "iphone")),
        ("NASA called", ("nasa",)),
        ("GitHub is down", ("github",)),
        ("Jean-Luc Picard met O'Brien", ("jean-luc picard", "o'brien")),
        ("we flew to Łódź with Ángel", ("łódź", "ángel")),
        ("He lives in St. Louis, in the U.S. now", ("st. louis", "u.s")),
        ("Did Will and Anna come?", ("will", "anna")),
        ("I asked Ludwig van Beethoven about Simone de Beauvoir", ("ludwig van beethoven", "simone de beauvoir")),
    ],
)
def test_names_are_found(text: str, expected: tuple[str, ...]) -> None:
    """Runs of capitals, acronyms, inner capitals and handles, in reading order."""
    assert entities(text) == expected


@pytest.mark.parametrize(
    "text",
    ["The server is down. Everything broke.", "Paris", "Great idea! Lovely.", "What did I do in June? On Friday?",
     "I DID NOT GO THERE", "- Buy milk\n- Call mum", '"Lovely" she said', "OK. LOL. Yes", "", "nothing here",
     "How To Build A Really Good Wooden Table Without Any Nails"],
)  # fmt: skip
def test_a_capital_alone_is_no_name(text: str) -> None:
    """Sentence starts, weekdays, months, shouting and headlines are not names."""
    assert entities(text) == ()


def test_the_speaker_is_a_name_and_confirms_one() -> None:
    """A speaker comes first, and their name counts even at the start of a sentence."""
    assert entities("Great. Bye", speaker="Anna Smith") == ("anna smith",)
    assert entities("Anna went home", speaker="Anna Smith") == ("anna smith", "anna")


def test_a_role_is_no_name() -> None:
    """ "user" and "assistant" speak in every chat."""
    assert entities("hello", speaker="user") == ()


def test_a_known_key_confirms_a_sentence_start() -> None:
    """What is a name elsewhere is one here."""
    assert entities("Paris is lovely", known={"paris"}) == ("paris",)


def test_repetition_confirms_a_sentence_start() -> None:
    """A word that also stands capitalised in mid-sentence, or starts two sentences, is a name."""
    assert entities("Paris is lovely. I like Paris") == ("paris",)
    assert entities("Paris is lovely. Paris is big") == ("paris",)


@pytest.mark.parametrize(
    ("name", "key"),
    [("Anna  Müller's", "anna müller"), ("Dr. Anna", "anna"), ("James\u2019", "james"), (" @Bob ", "bob"),
     ("STRASSE", "strasse"),
     ("Lord of the Rings", "lord of the rings"), ("", "")],
)  # fmt: skip
def test_a_key_is_the_name_without_its_dress(name: str, key: str) -> None:
    """Case, spaces, honorifics and possessives do not make another name."""
    assert entity_key(name) == key


def test_a_cue_finds_known_names_however_spelt() -> None:
    """Lower-case mentions of several words match, the longest first."""
    known = {"anna müller", "new york", "york"}
    assert cue_entities("what does anna müller's cat like in new york", known) == ("anna müller", "new york")


def test_a_cue_asks_a_function_as_well() -> None:
    """The caller may know more than a set, such as the parts of names."""
    parts = set(name_parts("anna müller"))
    assert cue_entities("Anna likes what?", lambda key: key in parts) == ("anna",)


def test_a_stop_word_is_never_matched_alone() -> None:
    """A band called "the who" is not in every question."""
    assert cue_entities("who is the best", {"who", "the who"}) == ()


def test_name_parts_leave_out_particles() -> None:
    """ "of" and "the" call nobody; a single word has no parts."""
    assert name_parts("lord of the rings") == ("lord", "rings")
    assert name_parts("anna") == ()


@pytest.mark.parametrize("text", ["A " * 400_000, "A" * 1_000_000, "- " * 500_000, "@" + "a" * 1_000_000])
def test_a_megabyte_is_safe(text: str) -> None:
    """Nothing is quadratic and no name is huge."""
    assert all(len(key) <= 80 for key in entities(text))
