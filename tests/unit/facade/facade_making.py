"""Stores, clocks, policies and exact geometry for the tests of the façade and of recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from retentive import Policy, Recall, Retentive
from retentive.embedders.protocol import Vectors
from retentive.policy import Modifiers, Selection, SignalSpec, Sources
from retentive.testing.fakes import HashEmbedder, MappedEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SURROGATE = "half a \ud83d pair"
CUE = "what about it"
Opening = Callable[..., Retentive]


class Clock:
    """A clock that moves when told."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


class Broken:
    """An embedder that answers `answer` from its `after`-th call on; before, it is a `HashEmbedder`."""

    def __init__(self, answer: Any, after: int = 0, dimension: int = 64) -> None:
        self._answer, self._after, self._calls = answer, after, count()
        self._good = HashEmbedder(dimension)
        self.id, self.dimension = self._good.id, dimension
        self.fingerprint = "1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        if next(self._calls) < self._after:
            return self._good.embed(texts)
        if isinstance(self._answer, BaseException):
            raise self._answer
        answer: Vectors = self._answer(self._good.embed(texts)) if callable(self._answer) else self._answer
        return answer


class Flat:
    """An embedder that finds all texts alike, at no cost."""

    id, dimension = "flat", 4

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), self.dimension), np.float32)


def spoilt(row: int, value: float) -> Callable[[Vectors], Vectors]:
    """Return what fills one row of an answer with a value."""

    def spoil(vectors: Vectors) -> Vectors:
        vectors[row] = np.float32(value)
        return vectors

    return spoil


def openings(store: str, folder: Path) -> Iterator[Opening]:
    """Yield what opens one and the same place again and again, "memory" in this process or "sqlite" on disk."""
    opened: list[Retentive] = []

    def again(**options: Any) -> Retentive:
        options = {"embedder": HashEmbedder(), "clock": Clock(), **options}
        home = Retentive(store=opened[0].store, **options) if opened and store == "memory" else None
        home = home or Retentive(":memory:" if store == "memory" else folder / "store", **options)
        opened.append(home)
        return home

    yield again
    for home in opened:
        home.close()


def cosines(wanted: Mapping[str, float], *cues: str) -> MappedEmbedder:
    """Return an embedder that puts each text at its cosine from every one of the cues, and the texts far apart."""
    size = len(wanted) + 1
    vectors: dict[str, list[float]] = {cue: [1.0] + [0.0] * (size - 1) for cue in (CUE, *cues)}
    for place, (text, cosine) in enumerate(wanted.items(), 1):
        vectors[text] = [cosine] + [0.0] * (size - 1)
        vectors[text][place] = sqrt(1 - cosine**2)
    return MappedEmbedder(vectors)


def by_similarity(**changes: Any) -> Policy:
    """Return the plainest policy: the cosine and nothing else, changed as said."""
    policy = Policy(
        name="plain",
        sources=Sources(channels=("vector",), pool=200),
        signals={"similarity": SignalSpec(1.0, "none")},
        modifiers=Modifiers(temporal_intent=False),
        selection=Selection(limit=10),
    )
    return policy.replace(**changes) if changes else policy


def only(*signals: str, **changes: Any) -> Policy:
    """Return a policy that sums these signals raw."""
    return by_similarity(signals={name: SignalSpec(1.0, "none") for name in signals}, **changes)


def unhindered(policy: Policy, **changes: Any) -> Policy:
    """Return a policy whose selection drops nothing but by the limit."""
    return policy.replace(floor=None, near_duplicate=None, diversity="none", token_budget=None, **changes)


def ids(recall: Recall) -> list[str]:
    return [hit.memory.id for hit in recall]


def texts(recall: Recall) -> list[str]:
    return [hit.memory.text for hit in recall]
