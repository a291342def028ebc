"""What a text says, without how it is put: two that differ only here say the same.

Case, punctuation, articles, fillers ("really", "by the way"), contractions, spelling and numerals are how; everything
else is what, above all negations, tenses and the order of words: who owes whom ten euros is no matter of style.
Words are not stemmed here, for "lived in Rome" must not be "lives in Rome".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from retentive.text.lazy import Lazy
from retentive.text.tokens import fold

_TOKEN: Final = Lazy(
    r"https?://[^\s,;]+|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\b[A-Za-z](?:\+\+|\#)|/?\w+(?:[-.'/@&+:]\w+)*%?|\?"
)
_ASIDE: Final = Lazy(
    r"^\W*(?:(?:please )?(?:remember|note)(?: that|:)|fyi[,:]?|btw[,:]?)\s+"
    r"|,?\s{0,3}\b(?:by the way|btw|as well|these days|at the moment|at present|right now|as of now|of course)\b",
    re.IGNORECASE,
)
_CORRECTED: Final = Lazy(
    r"^\W*(?:(?:actually|i was wrong|my mistake|(?:it )?turns out(?: that)?)\b[,:;.]*"
    r"|(?:correction|update|sorry|oops|no)[,:;.]+)\s+",
    re.IGNORECASE,
)
_PRESENT: Final = Lazy(r"\b(?:now|currently|nowadays|these days|at the moment|at present|as of now)\b", re.IGNORECASE)

LONGEST: Final = 1_000  # characters of a text that is read word by word
INERT: Final = frozenset(
    "a an the really very just also too quite indeed please still now currently nowadays presently actually".split()
)
_NUMERALS: Final = {
    name: str(number)
    for number, name in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen twenty".split()
    )
}
_SPELLINGS: Final = Lazy(r"^(colo|favo|flavo|neighbo|behavio|labo|humo|hono)ur")
_NEGATED: Final = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}
_SHORT: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_WHOSE_IS: Final = frozenset("it he she that this there here what who where how".split())
POSSESSIVE: Final = "'s"


class Word(NamedTuple):
    """A word as it counts, and as it was written."""

    plain: str
    raw: str


class Wording(NamedTuple):
    """The words of a text, and how they were introduced."""

    words: tuple[Word, ...]
    corrects: bool  # "Actually, …", "I was wrong, …"
    present: bool  # "… now", "currently …"


@lru_cache(4096)
def wording(text: str) -> Wording:
    """Return the words of a text that say something, in order."""
    text = text.replace("\u2019", "'")
    corrected = _CORRECTED.match(text)
    rest = text[corrected.end() :] if corrected else text
    words = [word for raw in _TOKEN.findall(_ASIDE.sub("", rest)) for word in _words(raw)]
    kept = [word for word in words if word.plain not in INERT]
    return Wording(tuple(_without_user(kept)), corrected is not None, bool(_PRESENT.search(text)))


def said(text: str) -> tuple[str, ...]:
    """Return what a text says as words to compare: equal for two that say the same, in other clothes.

    A long text is its own only repetition: it is neither taken apart nor kept in a cache.
    """
    return _said(text) if len(text) <= LONGEST else (text.strip(),)


@lru_cache(4096)
def _said(text: str) -> tuple[str, ...]:
    return tuple(word.plain for word in wording(text).words)


@lru_cache(16_384)  # texts of at most `LONGEST` characters are read, so that no word is long
def _words(raw: str) -> tuple[Word, ...]:
    plain = fold(raw)
    if plain in _NEGATED:
        return tuple(Word(part, raw) for part in _NEGATED[plain])
    if plain.endswith("n't"):
        return Word(plain[:-3], raw), Word("not", raw)
    for ending, meant in _SHORT.items():
        if plain.endswith(ending):
            return Word(plain[: -len(ending)], raw), Word(meant, raw)
    if plain.endswith(POSSESSIVE):
        owner = plain[: -len(POSSESSIVE)]
        return Word(owner, raw[:-2]), Word("is" if owner in _WHOSE_IS else POSSESSIVE, raw)
    return (Word(_spelt(plain), raw),)


def _spelt(plain: str) -> str:
    if plain[:1].isdigit():
        return plain.replace(",", "")
    return _NUMERALS.get(plain) or _SPELLINGS.sub(r"\1r", plain)


def _without_user(words: list[Word]) -> list[Word]:
    """Drop "(the) user" in front: who a space's memories are about need not be said."""
    if not words or words[0].plain != "user" or len(words) < 2:
        return words
    return words[2:] if words[1].plain == POSSESSIVE else words[1:]
