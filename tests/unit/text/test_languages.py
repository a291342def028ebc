"""Stemming in other languages: forms of one word meet, accents or none, and identifiers are left alone."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from retentive.errors import MissingExtra
from retentive.text.languages import LANGUAGES, language_named
from retentive.text.stopwords_abroad import STOP_WORDS_ABROAD
from retentive.text.tokens import query_terms, terms

FORMS = {
    "german": ("Die Rechnungen wurden bezahlt", "Rechnung"),
    "french": ("Elle préfère les réunions courtes", "réunion"),
    "spanish": ("Las reuniones semanales son los lunes", "reunión"),
    "italian": ("Le riunioni del lunedì", "riunione"),
    "portuguese": ("As faturas foram pagas", "fatura"),
    "dutch": ("De rekeningen zijn betaald", "rekening"),
    "swedish": ("Fakturorna betalades i går", "faktura"),
    "russian": ("Счета были оплачены вчера", "счет"),
    "finnish": ("Laskut maksettiin eilen", "lasku"),
    "turkish": ("Toplantılar pazartesi günü yapılır", "toplantı"),
    "hungarian": ("A számlákat kifizették", "számla"),
}


@pytest.mark.parametrize("language", FORMS)
def test_forms_of_a_word_meet(language: str) -> None:
    """What is asked for in the singular is found in the plural."""
    text, cue = FORMS[language]
    wanted = query_terms(cue, language=language)
    assert wanted
    assert set(wanted) & set(terms(text, language=language))
    assert not set(query_terms(cue, language="none")) & set(terms(text, language="none"))


@pytest.mark.parametrize(
    ("language", "written", "typed"),
    [("spanish", "canción", "cancion"), ("german", "Schlüssel", "Schlussel"), ("french", "décidé", "decide")],
)
def test_accents_may_be_left_out(language: str, written: str, typed: str) -> None:
    """Many type without them, in questions most of all."""
    assert set(query_terms(typed, language=language)) & set(terms(written, language=language))


def test_an_article_before_a_word_is_no_part_of_it() -> None:
    """ "l'amour" is found by "amour", "dell'arte" by "arte"."""
    assert set(query_terms("amour", language="french")) <= set(terms("l'amour dure", language="french"))
    assert set(query_terms("arte", language="italian")) <= set(terms("dell'arte", language="italian"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_identifiers_are_found_whole_and_in_parts_in_every_language(language: str) -> None:
    """No stemmer touches what has a digit or an underscore; a symbol's parts are words like others."""
    found = terms("E4012: api_key missing in v2.3.1", language=language)
    assert {"e4012", "4012", "apikey"} <= set(found)
    assert set(query_terms("E4012", language=language)) <= set(found)
    assert set(query_terms("api_key", language=language)) <= set(found)
    assert set(query_terms("key", language=language)) & set(found)


@pytest.mark.parametrize("language", STOP_WORDS_ABROAD)
def test_stop_words_leave_queries_only(language: str) -> None:
    """A question is searched by what it is about; a text keeps every word; a query of nothing else keeps its own."""
    word = STOP_WORDS_ABROAD[language].split()[5]
    assert query_terms(f"{word} E4012", language=language)[0].startswith("e4012")
    assert len(terms(f"{word} E4012", language=language)) > len(terms("E4012", language=language))
    assert query_terms(word, language=language)


def test_every_language_has_a_stemmer() -> None:
    """The names are those of the package, and all of them work."""
    assert set(STOP_WORDS_ABROAD) <= set(LANGUAGES)
    for name in LANGUAGES:
        stem = language_named(name).stem
        assert stem is None or stem("internationalization")


def test_without_the_package_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """English and none need nothing."""

    def absent(name: str, *more: Any) -> Any:
        if name == "snowballstemmer":
            raise ImportError(name)
        return real(name, *more)

    real = importlib.import_module
    monkeypatch.setattr("retentive.extras.import_module", absent)
    with pytest.raises(MissingExtra, match=r"retentive\[languages\]"):
        language_named("german")
    assert language_named("english").stem is not None
    assert language_named("none").stem is None
