"""What of a text speaks for its importance: features, each 0..1, and their weighted sum. Nothing else is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, itemgetter, mul
from typing import Final

from retentive.weighing import words

LONGEST: Final = 4_000
"""Characters that are looked at: what a document is about stands at its head, and a page must not cost its square."""

A_SAYING: Final = 30  # words; in longer texts hits count for what they are among so many


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for a text, each from 0 (nothing) to 1."""

    own: float
    commitment: float
    decision: float
    rule: float
    correction: float
    preference: float
    profile: float
    feeling: float
    life: float
    health: float
    stakes: float
    grave: float
    moment: float
    number: float
    money: float
    names: float
    length: float
    question: float
    greeting: float
    passing: float


def features(text: str, names: int) -> Features:
    """Return what speaks for a text; ``names`` is how many others than the speaker it names."""
    return Features(**_found(text[:LONGEST], names))


def _found(text: str, names: int) -> dict[str, float]:
    low = text.lower()
    said = words.words_of(low)
    counts = words.counted(said)
    if (numbers := words.NUMBER.findall(low)) or "day" in low or words.MONTHS.search(low):
        counts |= {"moment": len(words.MOMENT.findall(low)), "number": len(numbers)}
    counts |= {"money": len(words.MONEY.findall(low)) if numbers else 0}
    page = min(1.0, A_SAYING / max(len(said), 1))  # what a hit weighs: on a page there is something of everything
    few = 1 / (1 + len(said) / 4)  # how much of a text one word is
    # Whether there is any, and a little more where there are several: 0, .67, .89, .96.
    found = {group: 1 - 3.0 ** -(count * page) if count else 0.0 for group, count in counts.items()}
    found["greeting"] *= few / page
    found["names"] = 1 - 2.0 ** -(names * page)
    found["length"] = min(math.log1p(len(said)) / math.log(31), 1.0)
    found["question"] = float(text.rstrip().endswith("?"))
    return _NONE | found


_NONE: Final = {"moment": 0.0, "number": 0.0, "money": 0.0}
WEIGHTS: Final = Features(
    own=1.3,
    commitment=0.8,
    decision=0.8,
    rule=1.3,
    correction=0.4,
    preference=0.2,
    profile=0.4,
    feeling=0.6,
    life=1.7,
    health=2.2,
    stakes=1.6,
    grave=1.2,
    moment=0.9,
    number=0.6,
    money=0.3,
    names=0.6,
    length=2.0,
    question=-0.6,
    greeting=-2.1,
    passing=-1.1,
)
"""Points of the 1-10 scale. Fitted on the tuning texts of benchmarks/importance, rounded, and kept above nothing where
they are too few to say (corrections, preferences)."""
BARE: Final = 2.9  # points of a text for which nothing speaks


_NAMES: Final = tuple(Features.__dataclass_fields__)
_VALUES: Final = attrgetter(*_NAMES)  # `astuple` copies every number deeply, ten times slower
_WEIGHTS: Final = _VALUES(WEIGHTS)
_IN_ORDER: Final = itemgetter(*_NAMES)


def weighed(found: Features) -> float:
    """Return the points a text has by its words alone; on the 1-10 scale more or less, and not held to it."""
    return BARE + float(sum(map(mul, _WEIGHTS, _VALUES(found))))


def weigh(text: str, names: int) -> float:
    """Return the points of a text: `weighed` of its `features`, for those who want no more."""
    return _weigh(text[:LONGEST], names)


@lru_cache(64)  # a memory is asked about before it is rated: once to say whether its novelty matters
def _weigh(text: str, names: int) -> float:
    return BARE + float(sum(map(mul, _WEIGHTS, _IN_ORDER(_found(text, names)))))
