"""The terms a text is indexed and asked by."""

from __future__ import annotations

import sqlite3

import pytest

from retentive.text.stopwords import STOP_WORDS
from retentive.text.tokens import MAX_TERM, decode, encode, fold, identifiers, query_terms, terms


def test_words_are_folded_and_stemmed() -> None:
    """Case, accents, plurals, tenses and possessives do not keep a word from being found."""
    assert terms("Anna's CATS were running, naïvely") == ["anna", "cat", "were", "run", "naiv"]


def test_composed_and_decomposed_letters_are_one() -> None:
    """How an accent was typed makes no difference, and neither does leaving it out."""
    assert terms("Mu\u0308ller") == terms("M\u00fcller") == terms("MULLER") == ["muller"]


def test_ligatures_and_full_width_letters_are_ordinary_ones() -> None:
    """Compatibility forms fold to the letters they stand for."""
    assert terms("ﬁne ＡＢＣ１") == ["fine", "abc1", "abc", "1"]


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_contractions_keep_their_word(apostrophe: str) -> None:
    """Either apostrophe: "don't" is one word, "what's" is "what"."""
    assert terms(f"don{apostrophe}t what{apostrophe}s I{apostrophe}ll") == ["dont", "what", "i"]


@pytest.mark.parametrize(
    ("written", "whole", "parts"),
    [
        ("E4012", "e4012", ["4012"]),
        ("api_key", "apikey", ["api", "key"]),
        ("foo-bar", "foobar", ["foo", "bar"]),
        ("192.168.0.1", "192.168.0.1", ["192", "168"]),
        ("v2.3.1", "v2.3.1", ["2.3.1"]),
        ("JIRA-123", "jira123", ["jira", "123"]),
        ("anna.mueller@example.com", "anna.mueller@example.com", ["anna", "mueller", "example.com"]),
        ("https://www.Example.com/docs/page", "example.com/docs/page", ["example.com", "page"]),
        ("src/app.py", "src/app.py", ["src", "app.py", "app", "py"]),
        ("C:\\Users\\bob", "c:\\users\\bob", ["bob"]),
        ("std::vector", "std::vector", ["std", "vector"]),
        ("1,000,000", "1000000", []),
        ("2023-05-12", "2023-05-12", ["2023", "05", "12"]),
    ],
)
def test_a_joined_name_is_found_whole_and_in_parts(written: str, whole: str, parts: list[str]) -> None:
    """The exact form and each piece are terms."""
    found = terms(f"see {written} please")
    assert whole in found
    assert set(parts) <= set(found)


def test_camel_case_is_found_whole_and_in_parts() -> None:
    """Every hump is a word of its own, and the whole meets its lower-case spelling."""
    found = terms("getUserName")
    assert {"get", "user", "name"} <= set(found)
    assert terms("getusername")[0] in found


def test_hyphens_and_underscores_do_not_part_spellings() -> None:
    """E-mail and email, api_key and apiKey are the same."""
    assert terms("email")[0] in terms("e-mail")
    assert terms("apiKey")[0] in terms("api_key")


def test_digits_keep_their_hyphen() -> None:
    """A phone number is not a longer number."""
    assert "555-1234" in terms("555-1234")
    assert "5551234" not in terms("555-1234")


def test_identifiers_are_not_stemmed() -> None:
    """A stem would confuse two codes."""
    assert "runs2" in terms("runs2")


def test_languages_named_by_signs_are_found() -> None:
    """C++ and C# are not C."""
    assert terms("C++ or C#") == ["c++", "or", "c#"]


def test_unspaced_scripts_become_pairs() -> None:
    """A word inside a run is found without knowing where words end."""
    assert set(query_terms("東京")) <= set(terms("昨日東京タワーに行った"))
    assert set(query_terms("สวัสดี")) <= set(terms("สวัสดีครับ"))
    assert set(query_terms("한국")) <= set(terms("한국어를"))


def test_one_ideograph_is_found_inside_a_run() -> None:
    """The index keeps single ideographs for one-character queries."""
    assert query_terms("猫") == ["猫"]
    assert "猫" in terms("私の猫は")


def test_scripts_may_touch() -> None:
    """Latin letters beside ideographs are a word of their own."""
    assert terms("AIが好き")[0] == "ai"


def test_marks_stay_in_scripts_that_need_them() -> None:
    """A Hindi word is not torn at its vowel signs; Hebrew and Arabic points are left out."""
    assert terms("हिन्दी") == ["हिन्दी"]
    assert terms("שָׁלוֹם") == terms("שלום")


@pytest.mark.parametrize("noise", ["\x00", "\ud800", "\u202e", "😀", "👩\u200d👩\u200d👧", "\ufeff", "--", "''"])
def test_noise_makes_no_term_and_no_harm(noise: str) -> None:
    """Control characters, lone surrogates, direction marks and emoji part words or vanish."""
    assert terms(f"alpha {noise} beta") == ["alpha", "beta"]


def test_soft_hyphens_do_not_part_a_word() -> None:
    """What cannot be seen does not count."""
    assert terms("tele\u00adphone") == terms("telephone")


@pytest.mark.parametrize("text", ["a" * 1_000_000, "a-" * 500_000, "aB" * 500_000, "/a" * 500_000, "\n" * 1_000_000])
def test_a_megabyte_is_safe(text: str) -> None:
    """Nothing is quadratic and no term is huge."""
    assert max(map(len, terms(text)), default=0) <= MAX_TERM
    assert identifiers(text) == frozenset() or text.startswith("/")


def test_queries_lose_stop_words_and_question_words() -> None:
    """What a question is about remains, each term once."""
    assert query_terms("What did Anna do with the cats, and where are Anna's cats?") == ["anna", "cat"]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    """To be or not to be is still a query."""
    assert query_terms("Who are you?") == ["who", "are", "you"]


def test_months_and_countries_spelt_as_such_are_kept() -> None:
    """ "May" the month is asked about, "may" the verb is not."""
    assert query_terms("trip in May") == ["trip", "may"]
    assert query_terms("he may trip") == ["trip"]
    assert "us" in query_terms("moving to the US")


def test_query_terms_are_index_terms() -> None:
    """A text is found by itself."""
    text = "Anna's api_key E4012 failed at https://x.org/a-b on 2023-05-12, 東京 v2.3.1"
    assert set(query_terms(text)) <= set(terms(text))


def test_without_a_language_nothing_is_stemmed_or_stopped() -> None:
    """The neutral analysis keeps words as they are, for other languages."""
    assert query_terms("the running cats", language="none") == ["the", "running", "cats"]


def test_an_unknown_language_is_named_with_the_known_ones() -> None:
    """The message lists what would be accepted."""
    with pytest.raises(ValueError, match=r"'englisch'.*'english'.*none"):
        terms("x", language="englisch")


def test_the_stop_list_is_about_as_long_as_the_measured_one() -> None:
    """Question words are in; nothing there carries an accent or a capital."""
    assert {"what", "which", "when", "did", "dont"} <= STOP_WORDS
    assert 150 <= len(STOP_WORDS) <= 250
    assert all(word == fold(word) and word.isascii() for word in STOP_WORDS)


def test_identifiers_are_the_exact_names() -> None:
    """Codes, tickets, versions, addresses, paths and symbols, folded."""
    text = (
        "E4012 api_key getUserName 192.168.0.1 v2.3.1 JIRA-123's a.b@c.de https://x.org/a/b. /etc/hosts src/app.py"
        " C:\\Users\\bob 84920174 555-1234 GPT-4 README.md std::vector C++"
    )
    assert identifiers(text) == {
        "e4012", "api_key", "getusername", "192.168.0.1", "v2.3.1", "jira-123", "a.b@c.de", "x.org/a/b", "etc/hosts",
        "src/app.py", "c:\\users\\bob", "84920174", "555-1234", "gpt-4", "readme.md", "std::vector", "c++",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["10:30", "10am", "the 5th", "a 3-day trip", "mid-2023", "2023-05-12", "5/12/2023", "1,000", "3.5", "1990s", "50%",
     "well-known", "and/or", "GitHub", "100km", "end.Then", "U.S.", "e.g. this", "plain words", ""],
)  # fmt: skip
def test_numbers_dates_and_words_are_no_identifiers(text: str) -> None:
    """Sharing one of these does not name a memory."""
    assert identifiers(text) == frozenset()


def test_encoding_is_lossless() -> None:
    """What goes in comes out, also when it looks like an escape."""
    found = [*terms("E4012 v2.3.1 a@b.c 東京 C++ Müller"), "x0x", "x0xff", "", "UPPER", "a b", "\ud800"]
    assert decode(encode(found)) == found


def test_encoded_terms_are_plain_tokens_to_fts5() -> None:
    """SQLite's unicode61 keeps every encoded term as it is: each is found by itself, and only by itself."""
    found = list(dict.fromkeys(terms("E4012 v2.3.1 a@b.c 東京 C++ Müller don't 1,000 हिन्दी naïve AND OR")))
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='unicode61')")
        base.executemany("INSERT INTO t VALUES (?)", [(encode([term]),) for term in found])
        for row, term in enumerate(found, start=1):
            hits = base.execute("SELECT rowid FROM t WHERE t MATCH ?", (f'"{encode([term])}"',)).fetchall()
            assert hits == [(row,)]
    base.close()
