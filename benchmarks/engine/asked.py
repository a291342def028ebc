"""The questions of a benchmark: some words of a text, in their order, that is known to be the right answer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

SHARE = 0.4  # of a text's words
FEWEST = 4


@dataclass(frozen=True)
class Asked:
    """A cue, and the place in the corpus of the text that it was taken from."""

    cue: str
    target: int


def asked(texts: Sequence[str], count: int, *, seed: int = 7) -> list[Asked]:
    """Take cues from random texts; the same seed asks the same of the same corpus."""
    chosen = random.Random(seed)  # noqa: S311 - a sample
    return [_asked(texts, chosen.randrange(len(texts)), chosen) for _ in range(count)]


def _asked(texts: Sequence[str], target: int, chosen: random.Random) -> Asked:
    words = texts[target].split()
    size = max(min(FEWEST, len(words)), round(SHARE * len(words)))
    kept = sorted(chosen.sample(range(len(words)), size))
    return Asked(" ".join(words[i] for i in kept), target)
