"""Embedders for tests: no weights, the same vectors in every process and on every platform."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from retentive.embedders.protocol import Vectors
from retentive.errors import InvalidInput

_WORD = re.compile(r"\w+")
TRIGRAM_WEIGHT = 0.25
"""A shared stem brings two words closer; a shared word outweighs it."""


class HashEmbedder:
    """A bag of hashed words and their character trigrams: texts that share words are near, others are not.

    No meaning is in it ("car" and "automobile" are strangers), but geometry that a reader of a test can predict.
    """

    band = (0.1, 0.6)

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise InvalidInput(f"A HashEmbedder needs at least one dimension; got {dimension!r}.")
        self.dimension = dimension
        self.id = f"hash-{dimension}"
        self.fingerprint = "1"

    def __repr__(self) -> str:
        return f"HashEmbedder(dimension={self.dimension})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text; a text without words is hashed whole."""
        rows = [self._vector(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def embed_tokens(self, text: str) -> Vectors:
        """Return one unit row per word, at least one."""
        return np.array([_unit(self._word(word)) for word in _words(text)], np.float32)

    def _vector(self, text: str) -> Vectors:
        return _unit(np.sum([self._word(word) for word in _words(text)], axis=0))

    def _word(self, word: str) -> Vectors:
        padded = f"^{word}$"
        vector = self._direction(word)
        for at in range(len(padded) - 2):
            vector += TRIGRAM_WEIGHT * self._direction("#" + padded[at : at + 3])
        return vector

    def _direction(self, text: str) -> Vectors:
        """Draw ±1 for each dimension from the bits of hashes: integers, so that no platform rounds otherwise."""
        raw, salt = b"", 0
        while len(raw) * 8 < self.dimension:
            raw += blake2b(f"{salt}:{text}".encode("utf-8", "surrogatepass")).digest()
            salt += 1
        bits = np.unpackbits(np.frombuffer(raw, np.uint8))[: self.dimension]
        return bits.astype(np.float32) * 2 - 1


class MappedEmbedder:
    """Gives the vectors it was told to; a text it does not know gets a `HashEmbedder`'s vector.

    For tests that need exact geometry: `MappedEmbedder({"old": [1, 0], "new": [0.6, 0.8]})`.
    """

    def __init__(self, vectors: Mapping[str, ArrayLike]) -> None:
        self._vectors = {text: np.asarray(vector, np.float32) for text, vector in vectors.items()}
        shapes = {vector.shape for vector in self._vectors.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            raise InvalidInput(
                f"A MappedEmbedder needs vectors of one length; got the shapes {sorted(shapes)}.",
                shapes=sorted(shapes),
            )
        self.dimension: int = next(iter(shapes))[0]
        self.id = f"mapped-{self.dimension}"
        self._other = HashEmbedder(self.dimension)

    def __repr__(self) -> str:
        return f"MappedEmbedder({len(self._vectors)} texts, {self.dimension} dimensions)"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return each text's own vector, exactly as given."""
        rows = [self._vectors[text] if text in self._vectors else self._other.embed([text])[0] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower()) or [text]


def _unit(vector: Vectors) -> Vectors:
    """Scale to length one; hashes that cancel out (in one or two dimensions) point along the first axis."""
    length = np.sqrt(np.sum(vector.astype(np.float64) ** 2))
    if length == 0:
        vector, length = np.eye(1, len(vector), dtype=np.float32)[0], np.float64(1)
    scaled: Vectors = (vector / length).astype(np.float32)
    return scaled
