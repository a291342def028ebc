"""What holds of every text: nothing raises, nothing is random, windows are in order, budgets are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from retentive.text.budget import count_tokens, squeeze
from retentive.text.clauses import clauses
from retentive.text.entities import cue_entities, entities
from retentive.text.sentences import sentences
from retentive.text.temporal import date_terms, temporal_intent
from retentive.text.tokens import MAX_TERM, decode, encode, identifiers, query_terms, terms

PARTS = (
    "a an two 3 1999 2023 31 5th few couple of last past this next the in on at since before after until between and or"
    " ago back day days week weeks month months quarter year years hour minutes second yesterday today tonight now"
    " current latest May march June 29 February Feb Christmas Easter summer winter Monday friday Q3 90s early mid late"
    " 2023-02-30 31/12/2022 used to I he Anna's Dr. E4012 api_key don't 東京 https://x.org/a-b ' \" . , ; ? ! - \n \x00"
    " \ud800 \u0301 😀"
)
WORDS = st.sampled_from(PARTS.split(" "))
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=200), st.lists(WORDS, max_size=25).map(" ".join)
)
ZONES = st.sampled_from(
    [
        UTC,
        ZoneInfo("Europe/Berlin"),
        ZoneInfo("America/St_Johns"),
        ZoneInfo("Pacific/Apia"),
        timezone(timedelta(hours=14)),
    ]
)
NOW = st.datetimes(timezones=ZONES, allow_imaginary=False)


@given(TEXT)
def test_terms_are_safe_and_repeatable(text: str) -> None:
    """Bounded, non-empty, deterministic; a query's terms are the index's."""
    found = terms(text)
    assert found == terms(text)
    assert all(0 < len(term) <= MAX_TERM for term in found)
    assert set(query_terms(text)) <= set(found)
    assert bool(query_terms(text)) == bool(found)


@given(TEXT)
def test_terms_ignore_case_of_plain_words(text: str) -> None:
    """Shouting a text without inner capitals finds the same memories."""
    words = " ".join(word for word in text.split() if word.isascii() and word.isalpha() and word.islower())
    assert terms(words) == terms(words.upper())


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=20)))
def test_encoding_is_lossless_plain_ascii(found: list[str]) -> None:
    """Any terms at all come back as they were, through tokens that no tokenizer touches."""
    line = encode(found)
    assert decode(line) == found
    assert all(token.isascii() and token.isalnum() and token == token.lower() for token in line.split())


@given(TEXT)
def test_names_and_identifiers_are_safe_and_repeatable(text: str) -> None:
    """No text raises; no key is empty."""
    assert entities(text) == entities(text)
    assert all(entities(text))
    assert all(identifiers(text))
    assert set(cue_entities(text, set())) <= set(cue_entities(text, lambda _key: True))


@given(TEXT, st.integers(0, 40))
def test_clauses_are_longer_than_asked_for(text: str, least: int) -> None:
    """Unless the text itself is not, and each is a piece of it."""
    found = clauses(text, longer_than=least)
    assert len(found) <= 1 or all(len(clause) > least for clause in found)
    assert all(clause in text for clause in found)


@given(TEXT)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    """Together they hold every visible character, in order."""
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXT, NOW)
def test_an_intent_is_safe_repeatable_and_in_order(text: str, now: datetime) -> None:
    """Aware, start before end, convertible to any zone, and the phrase stands in the text."""
    found = temporal_intent(text, now)
    assert found == temporal_intent(text, now)
    if found is None:
        return
    assert found.phrase in text
    for moment in (found.start, found.end):
        assert moment is None or moment.astimezone(timezone(timedelta(hours=-12))).tzinfo is not None
    if found.start is not None and found.end is not None:
        assert found.start < found.end
        assert found.start.astimezone(UTC) < found.end.astimezone(UTC)


@given(NOW)
def test_a_date_is_found_by_its_own_words(now: datetime) -> None:
    """Every date term is one an index finds."""
    assert set(query_terms("on " + " ".join(date_terms(now)))) <= set(terms(" ".join(date_terms(now))))


@given(TEXT, st.integers(0, 60))
def test_a_budget_is_kept(text: str, tokens: int) -> None:
    """Whatever the text, never a token more."""
    assert count_tokens(squeeze(text, tokens)) <= tokens
