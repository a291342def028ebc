"""The languages in which words can be stemmed, by name: how each stems, and which of its words say nothing in a query.

English is our own (`stem.py`), "none" leaves words as they are, and the others are the Snowball project's, by the pure
Python package of the extra `languages`. A stemmer that wants accents gets the word as it was written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, NamedTuple

from retentive.errors import unknown_name
from retentive.extras import require_extra
from retentive.text.lazy import Lazy
from retentive.text.stem import stem
from retentive.text.stopwords import STOP_WORDS
from retentive.text.stopwords_abroad import STOP_WORDS_ABROAD

ENGLISH: Final = "english"
NONE: Final = "none"
_SNOWBALL: Final = (
    *("arabic", "armenian", "basque", "catalan", "danish", "dutch", "esperanto", "estonian", "finnish", "french"),
    *("german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian", "nepali", "norwegian"),
    *("portuguese", "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish"),
)
LANGUAGES: Final = (ENGLISH, NONE, *_SNOWBALL)

_MEANT: Final = frozenset(("May", "US", "IT", "WHO", "U.S"))
"""Spelt so, these are a month, a country, a trade and a body; otherwise the words beside them in the stop list."""
_ARTICLES: Final = {
    "french": Lazy(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=\w)", 2),  # 2: without case
    "italian": Lazy(r"^(?:[cdlmnstv]|un|(?:d|n|s|a|da|co)(?:e|u|a)?ll|quest|quell|all|sant)'(?=\w)", 2),
    "catalan": Lazy(r"^[dlmnst]'(?=\w)", 2),
}
"""What is written before a word without a space, and is no part of it: "l'amour", "dell'arte"."""


class Language(NamedTuple):
    """How words are read in a language."""

    stem: Callable[[str], str] | None
    stops: frozenset[str] = frozenset()  # as they are written; the tokeniser folds them
    meant: frozenset[str] = frozenset()  # spelt exactly so they are no stop words
    article: Lazy | None = None
    ascii_only: bool = False  # the stemmer reads folded words, and only those of plain letters


def checked_language(name: object) -> str:
    """Refuse what is no language that words can be stemmed in."""
    if not isinstance(name, str) or name not in LANGUAGES:
        raise unknown_name("language", str(name), LANGUAGES)
    return name


def language_named(name: str) -> Language:
    """Return a language by its name; one of Snowball's needs the extra."""
    checked_language(name)
    if name == ENGLISH:
        return Language(stem, STOP_WORDS, _MEANT, ascii_only=True)
    if name == NONE:
        return Language(None)
    return Language(_snowball(name), frozenset(STOP_WORDS_ABROAD.get(name, "").split()), article=_ARTICLES.get(name))


def _snowball(name: str) -> Callable[[str], str]:
    """Return a stemmer; one of these keeps the word it works on, so it is for one thread at a time."""
    stemmer = require_extra("snowballstemmer", extra="languages", user=f"language={name!r}").stemmer(name)
    lock = threading.Lock()

    def stemmed(word: str) -> str:
        with lock:
            found: str = stemmer.stemWord(word)
        return found

    return stemmed
