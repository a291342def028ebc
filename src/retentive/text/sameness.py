"""Whether two texts say the same in the same words; case, stops and fillers aside. Values and negations count."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_FILLERS: Final = frozenset(
    "a an the really actually just also very still so quite simply absolutely honestly totally truly definitely please"
    " always usually generally personally".split()
)

_NEGATIONS: Final = frozenset("no not never none nobody nothing neither nor without cannot dislikes hates".split())


def folded(text: str) -> str:
    """Return a text as its words alone: two that differ in case, stops and spaces are one."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, fillers aside."""
    return _core(one) == _core(other)


def states_the_same(one: str, other: str) -> bool:
    """Whether two texts agree in what must not differ where they are near otherwise: figures, names, negations."""
    return _stated(one) == _stated(other)


def _stated(text: str) -> set[str]:
    words = re.findall(r"\w+(?:['\u2019]\w+)?", text)
    named = {word.casefold() for word in words[1:] if word[0].isupper()}
    denied = {"not" for word in words if word.casefold() in _NEGATIONS or word.casefold().endswith(("n't", "n\u2019t"))}
    return named | denied | {word for word in words if any(sign.isdigit() for sign in word)}


def _core(text: str) -> list[str]:
    words = folded(text).split()
    return [word for word in words if word not in _FILLERS] or words
