"""What a reflection gives back: what came of it, what was refused, and what would have come of it (``dry_run``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from retentive.reflect.decide import Refused
from retentive.types import Memory


@dataclass(frozen=True, slots=True)
class Cost:
    """What a piece of work takes, or would take at most: calls of a language model, tokens in and out, their price."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0


NOTHING: Final = Cost()


@dataclass(frozen=True, slots=True)
class Shaken:
    """An insight whose evidence no longer stands, and what became of it."""

    memory: Memory
    reason: str


@dataclass(frozen=True, slots=True)
class Reflection:
    """What `Space.reflect` did."""

    fired: bool
    reason: str
    pressure: float  # importance since the last reflection, on the 1-10 scale
    budget: float
    method: str = ""  # "questions", "flat" or "extractive"; empty where nothing was done
    questions: tuple[str, ...] = ()
    insights: tuple[Memory, ...] = ()
    refused: tuple[Refused, ...] = ()
    shaken: tuple[Shaken, ...] = ()
    cost: Cost = NOTHING
    notes: tuple[str, ...] = ()
