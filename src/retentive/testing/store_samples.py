"""Small memories, vectors and gates for the store contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from retentive.stores.protocol import SpaceStore
from retentive.types import Finding, Found, Gate, JournalEntry, LedgerEntry, Memory, Vectors

SPACE = "acme/alice"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
DIMENSION = 4
HOSTILE = (
    "",
    " ",
    "'; DROP TABLE memories; --",
    '"quoted" OR "1"',
    "a\0b",
    "nul at the end\0",
    "line\nbreak\ttab",
    "😀 emoji 👩‍👩‍👧",
    "עברית العربية",
    "e\u0301 and é",
    "%_[]^$*?{}",
    "NEAR(a b) AND NOT c*",
    "../../etc/passwd",
    "x" * 300,
    "\uffff\U0010ffff",
)


def at(days: float = 0) -> datetime:
    """Return the moment so many days after `NOW`."""
    return NOW + timedelta(days=days)


def unit(*numbers: float) -> Vectors:
    """Return a unit vector in the direction of the numbers."""
    padded = np.zeros(DIMENSION)
    padded[: len(numbers)] = numbers
    vector: Vectors = (padded / np.linalg.norm(padded)).astype(np.float32)
    return vector


EAST = unit(1)
NORTH = unit(0, 1)


def sample(memory_id: str, *, days: float = 0, **changes: Any) -> Memory:
    """Return a memory of `SPACE`."""
    text = changes.pop("text", f"text of {memory_id}")
    space = changes.pop("space", SPACE)
    return Memory(id=memory_id, space=space, text=text, created_at=at(days), recorded_at=NOW, **changes)


def gate(**changes: Any) -> Gate:
    """Return the gate that asks what holds now."""
    return Gate(**{"true_at": NOW, **changes})


def add(space: SpaceStore, *memories: Memory, vector: Vectors = EAST, terms: Sequence[str] = ("word",)) -> None:
    """Insert memories in one transaction."""
    with space.transaction() as transaction:
        for memory in memories:
            transaction.insert(memory, vector, terms)


def add_vectors(space: SpaceStore, **vectors: Vectors) -> None:
    """Insert memories that differ in their vectors only, each a day older than the one before."""
    with space.transaction() as transaction:
        for age, (memory_id, vector) in enumerate(vectors.items()):
            transaction.insert(sample(memory_id, days=-age), vector, ())


def add_terms(space: SpaceStore, **terms: str) -> None:
    """Insert memories with these index terms, each a day older than the one before."""
    with space.transaction() as transaction:
        for age, (memory_id, words) in enumerate(terms.items()):
            transaction.insert(sample(memory_id, days=-age), EAST, words.split())


def ids(space: SpaceStore, found: Found) -> list[str]:
    """Return the ids of what was found, best first."""
    return list(space.columns(found.rows).ids)


def listed(memories: Iterable[Memory]) -> list[str]:
    """Return the ids of memories."""
    return [memory.id for memory in memories]


def line(memory_id: str = "a", **changes: Any) -> JournalEntry:
    """Return a journal line."""
    return JournalEntry(**{"at": NOW, "action": "remember", "memory_id": memory_id, **changes})


def recalled(recall_id: str, *, days: float = 0, **changes: Any) -> LedgerEntry:
    """Return a ledger entry."""
    entry = {"policy": "retentive", "cue": "what?", "ids": ("a", "b"), "scores": (0.5, 0.25), **changes}
    return LedgerEntry(id=recall_id, at=at(days), **entry)


def noticed(finding_id: str, *, days: float = 0, **changes: Any) -> Finding:
    """Return a finding."""
    return Finding(
        **{"id": finding_id, "at": at(days), "kind": "conflict", "memory_id": "a", "other_id": "b", **changes}
    )
