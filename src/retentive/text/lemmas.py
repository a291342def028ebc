"""The stem under which the forms of a word meet in claims, and where a run of such stems stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from retentive.text.claimwords import BE, IRREGULAR
from retentive.text.stem import stem


@lru_cache(16_384)
def lemma(word: str) -> str:
    """Return the stem under which forms of one word meet."""
    if word in BE:
        return "be"
    if word in IRREGULAR:
        return IRREGULAR[word]
    return stem(word) if word.isascii() and word.isalpha() else word


def run_at(stems: Sequence[str], phrase: Sequence[str], behind: int = 0) -> int:
    """Return where a run of stems begins, -1 where it does not."""
    places = range(behind, len(stems) - len(phrase) + 1) if phrase[0] in stems else ()
    return next((at for at in places if tuple(stems[at : at + len(phrase)]) == tuple(phrase)), -1)
