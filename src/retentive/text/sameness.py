"""Whether two texts say the same in the same words; case, stops and fillers aside. Values and negations count."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_FILLERS: Final = frozenset(
    "a an the really actually just also very still so quite simply absolutely honestly totally truly definitely please"
    " always usually generally personally".split()
)

_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)?")
_NEGATIONS: Final = frozenset("no not never none nobody nothing neither nor without cannot dislikes hates".split())


def folded(text: str) -> str:
    """Return a text as its words alone: two that differ in case, stops and spaces are one."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, fillers aside."""
    return _core(one) == _core(other)


def states_the_same(one: str, other: str) -> bool:
    """Whether two texts agree in what must not differ where they are near otherwise: figures, names, negations."""
    return _exact(one) == _exact(other) and _names(one) <= _words(other) and _names(other) <= _words(one)


def _exact(text: str) -> set[str]:
    """Return the figures of a text, and whether it denies something."""
    words = _WORD.findall(text.casefold().replace("\u2019", "'"))
    denied = {"not" for word in words if word in _NEGATIONS or word.endswith("n't")}
    return denied | {word for word in words if any(sign.isdigit() for sign in word)}


def _names(text: str) -> set[str]:
    """Return what has a capital, but for the first word: that one always has."""
    return {word.casefold() for word in _WORD.findall(text)[1:] if word[0].isupper()}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _core(text: str) -> list[str]:
    words = folded(text).split()
    return [word for word in words if word not in _FILLERS] or words
