"""What a space is asked: its own words, as somebody would bring them up again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from retentive.stores.protocol import SpaceStore
from retentive.types import Gate, Memory

NAMED: Final = 0.25  # the share of cues that ask for a name, where the memory has one
LONGEST: Final = 24  # words
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_QUESTIONS: Final = ("What about {}?", "What do we know about {}?", "Tell me about {}", "{}")


@dataclass(frozen=True, slots=True)
class Probe:
    """A cue, and the memory it was taken from."""

    cue: str
    id: str


def probes(store: SpaceStore, count: int, now: datetime, *, seed: int = 0) -> list[Probe]:
    """Take cues from random memories of a space: part of a sentence most often, else a name. Same seed, same cues."""
    everything = store.recent(Gate(true_at=now, pinned=False), store.count(Gate(true_at=now))).rows
    if not len(everything):
        return []
    rows = np.sort(everything)
    chosen = random.Random(seed)  # noqa: S311 - a sample, not a secret
    picked = [int(rows[chosen.randrange(len(rows))]) for _ in range(count)]
    memories = dict(zip(distinct := list(dict.fromkeys(picked)), _memories(store, distinct), strict=False))
    asked: Callable[[Memory], str] = lambda memory: _cue(memory, chosen)  # noqa: E731 - one line, used once
    return [Probe(asked(memories[row]), memories[row].id) for row in picked if row in memories]


def _memories(store: SpaceStore, rows: Sequence[int]) -> list[Memory]:
    return store.memories(np.array(rows, dtype=np.int64))


def _cue(memory: Memory, chosen: random.Random) -> str:
    if memory.entities and chosen.random() < NAMED:
        return chosen.choice(_QUESTIONS).format(chosen.choice(memory.entities).title())
    sentences = [part for part in _SENTENCE.split(memory.text.strip()) if part.strip()] or [memory.text]
    words = chosen.choice(sentences).split()
    size = min(max(4, round(len(words) * chosen.uniform(0.4, 0.8))), LONGEST)
    first = chosen.randrange(max(1, len(words) - size + 1))
    return " ".join(words[first : first + size]) or memory.text
