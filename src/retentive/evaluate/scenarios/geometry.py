"""Worlds whose cosines are known: an embedder that places every text where the scenario says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import shake_128
from itertools import product

import numpy as np

from retentive.embedders.protocol import Vectors

CUES = 16
"""Axes kept for cues; everything else lives in the other dimensions."""


class Placed:
    """Gives each phrase the cosine to each cue that it was told to, exactly; other texts are strangers to all.

    The engine embeds a text with its date and speaker around it and a question clause by clause, so a text is looked up
    by the placed phrases that it contains, in whatever case: one gives its own vector, several the direction between.
    """

    id = "placed"
    band = (0.1, 0.6)

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension
        self._phrases: dict[str, Vectors] = {}
        self._axes: dict[str, int] = {}

    def cue(self, text: str) -> str:
        """Give a cue (or a phrase of one) an axis of its own and return it."""
        if text not in self._axes:
            if len(self._axes) == CUES:
                raise ValueError(f"A Placed embedder has {CUES} axes for cues; use a second one for {text!r}.")
            self._axes[text] = len(self._axes)
            self._phrases[text.lower()] = np.eye(1, self.dimension, self._axes[text], dtype=np.float32)[0]
        return text

    def put(self, text: str, cosines: Mapping[str, float]) -> str:
        """Place a text at these cosines to these cues, in a direction of its own otherwise."""
        rest = 1.0 - sum(cosine**2 for cosine in cosines.values())
        if rest < 0:
            raise ValueError(f"{text!r} cannot have all the cosines {dict(cosines)!r}: their squares exceed 1.")
        vector = self._stranger(text) * np.float32(np.sqrt(rest))
        for cue, cosine in cosines.items():
            vector[self._axes[self.cue(cue)]] = cosine
        self._phrases[text.lower()] = vector
        return text

    def put_beside(self, text: str, other: str, cosine: float) -> str:
        """Place a text at this cosine to another placed text."""
        away = self._stranger(text)
        base = self.vector_of(other)
        away -= (away @ base) * base
        away /= np.linalg.norm(away)
        self._phrases[text.lower()] = (cosine * base + np.sqrt(1 - cosine**2) * away).astype(np.float32)
        return text

    def vector_of(self, phrase: str) -> Vectors:
        """Return the vector a phrase was given."""
        return self._phrases[phrase.lower()]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def _vector(self, text: str) -> Vectors:
        text = text.lower()
        if text in self._phrases:
            return self._phrases[text]
        inside = [phrase for phrase in self._phrases if phrase in text]
        whole = [one for one in inside if not any(one != other and one in other for other in inside)]
        total: Vectors = np.sum([self._phrases[phrase] for phrase in whole], axis=0) if whole else self._stranger(text)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def _stranger(self, text: str) -> Vectors:
        """Return a direction that depends on the text alone and is square to every cue."""
        vector = np.zeros(self.dimension, np.float32)
        drawn = shake_128(text.encode()).digest(self.dimension - CUES)
        vector[CUES:] = np.frombuffer(drawn, np.uint8).astype(np.float32) - 127.5
        return vector / np.float32(np.linalg.norm(vector))


_WHO = ("Noor", "Pavel", "Ines", "Tomas", "Ayla", "Bruno", "Kaya", "Milo")
_DID = ("repaired", "painted", "borrowed", "photographed", "sketched", "polished", "measured", "auctioned")
_WHAT = ("kettle", "bicycle", "lantern", "canoe", "violin", "trellis", "compass", "armchair", "kite", "telescope")


def small_talk(count: int) -> list[str]:
    """Return distinct sentences that share no content word with anything a scenario asks."""
    return [text for text, _ in zip(_sentences(), range(count), strict=False)]


def _sentences() -> Iterator[str]:
    """Walk the combinations so that neighbours differ in every word."""
    combinations = list(product(range(len(_WHO)), range(len(_DID)), range(len(_WHAT))))
    for at in range(len(combinations)):
        who, did, what = combinations[at * 131 % len(combinations)]
        yield f"{_WHO[who]} {_DID[did]} the {_WHAT[what]}"


def spread(low: float, high: float, count: int) -> list[float]:
    """Return ``count`` even steps from low to high."""
    return [float(value) for value in np.linspace(low, high, count)]
