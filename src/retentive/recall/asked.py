"""What value a cue asks for: a count of something, a time, a sum, whatever an attribute is. Small grammar, no model."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from retentive.text.lazy import Lazy
from retentive.text.stem import stem
from retentive.text.stopwords import STOP_WORDS

NUMERIC: Final = ("number", "money", "share")
WHEN: Final = ("date", "time")
ANY: Final = (*NUMERIC, *WHEN)
_WORD: Final = Lazy(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_QUESTION: Final = Lazy(
    r"\b(?:(how\s+(?:many|much))|(how\s+(?:long|often|old|far|tall|big|large|fast|high|heavy|deep|wide))"
    r"|(when|(?:what|which)\s+(?:date|day|month|weekday))|((?:what|which)\s+time)"
    r"|((?:what|which)\s+(?:percentage|percent|share|number|amount|price|sum|score|size))"
    r"|(what(?:['\u2019]s|\s+(?:is|will\s+be)|\s+[^\W\d_]+\s+is)))\b",
    re.IGNORECASE,
)
_KINDS: Final = (NUMERIC, NUMERIC, WHEN, ("time",), NUMERIC, ANY)
_LEADING: Final = frozenset("my the our your his her their a an of more other is are was were".split())
"""What a noun phrase may begin with; it ends at any other word that says nothing, and at these behind its first."""
MOMENTS: Final = frozenset(
    stem(word)
    for word in (
        "date day deadline birthday anniversary appointment schedule time hour start end launch release departure"
        " arrival meeting"
    ).split()
)
"""What a moment answers as well: "what is the deadline"."""


_IS: Final = Lazy(r"\s+(?:is|are|was|were)\b", re.IGNORECASE)


class Asked(NamedTuple):
    """What a cue asks for."""

    kinds: tuple[str, ...]  # the kinds of value that would answer it
    head: str | None  # the stem that the value is of: "commits" in "how many commits"
    counted: bool  # the value stands beside the head: "150 commits"


@lru_cache(1024)
def asked(text: str) -> Asked | None:
    """Return what value a question asks for, None where it asks for none."""
    match = _QUESTION.search(text)
    if match is None:
        return None
    which = match.lastindex or 1
    phrase = _phrase(text[match.end() :])
    if which in {2, 4, 5} or (which == 3 and not _IS.match(text, match.end())):
        return Asked(_KINDS[which - 1], None, counted=False)
    head = _head(phrase)
    kinds = NUMERIC if which == 6 and head not in MOMENTS else _KINDS[which - 1]
    return Asked(kinds, head, counted=head is not None and match[0].casefold().endswith("many"))


def _phrase(rest: str) -> list[str]:
    """Return the words of the noun phrase that a text begins with, without articles and possessives."""
    words: list[str] = []
    for match in _WORD.finditer(rest):
        word = match[0].casefold().replace("\u2019", "'").removesuffix("'s")
        if word in STOP_WORDS and (words or word not in _LEADING):
            break
        if word not in STOP_WORDS:
            words.append(word)
    return words


def _head(phrase: list[str]) -> str | None:
    plain = [word for word in phrase if not word.endswith("ed")]
    return stem(plain[-1]) if plain else None
