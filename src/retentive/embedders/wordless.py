"""What to give for a text in which the vocabulary knows no word: "🎉🎉", "ꙮ", "…", or nothing at all.

A model would answer zeros, which have no direction, or the one vector of `[UNK]`, which makes near-duplicates of texts
that share nothing (and near-duplicates are collapsed). Such a text gets a direction hashed from its own words: equal to
itself, near to nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import shake_128

import numpy as np

from retentive.embedders.protocol import Vectors
from retentive.embedders.wordpiece import WordPiece

HASHED_WORDS = 256
"""Words that count towards a direction; more would only average it away."""
_WITHOUT_WORD = re.compile(r"(?m)^(?:[^\w\n]|_|\[UNK\])+$")


class Wordless:
    """Knows which ids are no word (punctuation, and the unknown), and gives directions to texts of nothing else."""

    def __init__(self, tokens: WordPiece, vocabulary: str, dimension: int) -> None:
        self._tokens = tokens
        self._ids = frozenset(map(tokens.ids.__getitem__, _WITHOUT_WORD.findall(vocabulary)))
        self._dimension = dimension

    def covers(self, ids: Sequence[int]) -> bool:
        """Whether no id is a word; stops at the first that is, so it costs little for an ordinary text."""
        return all(map(self._ids.__contains__, ids))

    def direction(self, text: str) -> Vectors:
        """Return the sum of the directions of the text's words, of length one."""
        words = self._tokens.words(text[: HASHED_WORDS * 16])[:HASHED_WORDS] or [text[:HASHED_WORDS]]
        total = np.sum([hashed_direction(word, self._dimension) for word in words], axis=0)
        unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return unit


def hashed_direction(word: str, dimension: int) -> Vectors:
    """Return a unit vector that depends on the word alone, the same in every process and on every platform."""
    drawn = shake_128(word.encode("utf-8", "surrogatepass")).digest(dimension)
    vector = np.frombuffer(drawn, np.uint8).astype(np.float32) - 127.5
    unit: Vectors = vector / np.float32(np.linalg.norm(vector))
    return unit
