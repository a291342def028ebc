"""What a recall decides: hits with their arithmetic laid open, what was cut and why, and the work it took.

Everything here is data. The score of a hit is reproduced by its own numbers: for a summed policy
``sum(contributions) * product(factors)``, for a multiplied one ``product(contributions) * product(factors)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from retentive.types import Memory

Combine = Literal["sum", "product"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One number of one hit: as measured, as normalised, its weight, and what it added (or multiplied)."""

    raw: float
    normalised: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Modifier:
    """A multiplier that came after the signals (rotation, source trust), with the reason in words."""

    name: str
    factor: float
    reason: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory worth bringing up now, and why."""

    memory: Memory
    score: float
    similarity: float  # the exact cosine, whatever channel found it
    relevance: float  # 0..1 on an absolute scale: comparable between recalls, what a relevance floor reads
    channels: tuple[str, ...]
    signals: Mapping[str, Signal]
    modifiers: tuple[Modifier, ...] = ()
    combine: Combine = "sum"
    stale: str | None = None  # why a reader should doubt it (shaken evidence, past its half-life, ...)

    def reproduced(self) -> float:
        """Compute the score again from the numbers shown: equal to ``score`` or the explanation is a lie.

        From the first to the last, as the ranking did, so that the two agree to the last bit.
        """
        parts = [signal.contribution for signal in self.signals.values()]
        score = 0.0 if self.combine == "sum" or not parts else 1.0
        for part in parts:
            score = score + part if self.combine == "sum" else score * part
        for modifier in self.modifiers:
            score *= modifier.factor
        return score


@dataclass(frozen=True, slots=True)
class Cut:
    """A candidate that did not make the answer: at which stage, and why in words."""

    id: str
    stage: str  # floor, near-duplicate, diversity, rotation, limit
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Compacted:
    """What did not fit the token budget, squeezed into one block that still names every memory."""

    text: str
    ids: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """What one channel did."""

    found: int
    scanned: int
    best: float | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """Counters of the work done, so that "bounded" can be tested without a clock."""

    rows_scanned: int = 0
    candidates: int = 0
    candidates_scored: int = 0
    texts_read: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """Why a recall came out as it did, as data."""

    policy: str
    now: datetime
    cue: str
    utterance: str
    clauses: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    intent: Mapping[str, Any] | None = None  # phrase, direction, start, end
    channels: Mapping[str, ChannelReport] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)  # in force after temporal intent
    cut: tuple[Cut, ...] = ()
    work: Work = Work()
    habits: tuple[str, ...] = ()  # where the space has a policy of its own: since when, and why
    notes: tuple[str, ...] = ()  # reranker failed, cue unchanged over a changed state, floor emptied the answer, ...

    def as_dict(self) -> dict[str, Any]:
        """Return the trace as plain JSON-ready data."""
        data = asdict(self)
        data["now"] = self.now.isoformat()
        return data


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished recall, before anything was written back."""

    hits: tuple[Hit, ...]
    core: tuple[Memory, ...]  # pinned: always in the prompt, never repeated among the hits
    compacted: Compacted | None
    trace: Trace
