"""Hypothesis strategies for what stores hold and are asked: memories, vectors, terms, gates, accesses.

The alphabets are small on purpose: ids, keys, tags and moments must collide for anything interesting to happen. A whole
value is made from one drawn seed: drawn field by field, three memories would use up what Hypothesis spends on an
example, and the sequences of operations, which are what matters here, would stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from retentive.types import ACCESS_HISTORY, Access, Finding, Gate, JournalEntry, Json, LedgerEntry, Memory, Vectors

T = TypeVar("T")

START = datetime(2024, 1, 1, tzinfo=UTC)
EXTREMES = (
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
    datetime(9999, 12, 30, tzinfo=UTC),
)
DIMENSION = 3
IDS = (*(f"m{number}" for number in range(8)), "é", "long" * 20, "long" * 20 + "!", "nul\0")
LABELS = ("a", "b", "B", "é", "", "nul\0")
WORDS = ("cat", "dog", "é", "A", "a", "zz", "the", "the", "the\0", "x" * 300, "😀")
TEXTS = ("", "text", "nul\0nul", "😀 \u202ertl", "\"quoted' -- text", "\u0301" * 40)
JSON: tuple[Json, ...] = (
    None,
    True,
    False,
    0,
    1,
    1.0,
    0.5,
    2**70,
    "a",
    "1",
    [1, [True]],
    {"a": 1},
    {"a": 1.0, "b": None},
)

ids = st.sampled_from(IDS)
labels = st.sampled_from(LABELS)
json_values = st.sampled_from(JSON)
terms = st.lists(st.sampled_from(WORDS), max_size=6)


def seeded(make: Callable[[Random], T]) -> st.SearchStrategy[T]:
    """Return a strategy for values made from one drawn seed."""
    return st.integers(0, 2**32 - 1).map(lambda seed: make(Random(seed)))  # noqa: S311 # test data


def _some(random: Random, pool: Sequence[T], most: int) -> list[T]:
    return [random.choice(pool) for _ in range(random.randint(0, most))]


def _maybe(random: Random, make: Callable[[Random], T], share: float = 0.5) -> T | None:
    return make(random) if random.random() < share else None


def _metadata(random: Random) -> dict[str, Json]:
    return {label: random.choice(JSON) for label in _some(random, LABELS, 2)}


def moment(random: Random) -> datetime:
    """Make a moment: mostly one of a few, sometimes one to the microsecond, rarely at the ends of time."""
    if random.random() < 0.05:
        return random.choice(EXTREMES)
    step = timedelta(microseconds=1) if random.random() < 0.3 else timedelta(hours=1)
    return START + random.randint(0, 6) * step


def access(random: Random) -> Access:
    """Make an access state."""
    recent = tuple(sorted(moment(random) for _ in range(random.randint(0, ACCESS_HISTORY))))
    return Access(
        last_at=_maybe(random, moment), count=random.random() * 9, recent=recent, pending_at=_maybe(random, moment)
    )


def memory(random: Random, space: str) -> Memory:
    """Make a memory."""
    return Memory(
        id=random.choice(IDS),
        space=space,
        text=random.choice(TEXTS),
        created_at=moment(random),
        recorded_at=moment(random),
        kind=random.choice(("fact", "event", "custom")),
        importance=random.choice((0.0, 0.5, 0.5, 1.0, random.random())),
        key=_maybe(random, _label),
        tags=tuple(_some(random, LABELS, 2)),
        source=_maybe(random, _label),
        metadata=_metadata(random),
        speaker=_maybe(random, _label),
        session=_maybe(random, _label),
        entities=tuple(_some(random, LABELS, 3)),
        valid_from=_maybe(random, moment, 0.2),
        valid_until=_maybe(random, moment, 0.2),
        superseded_at=_maybe(random, moment, 0.2),
        superseded_by=_maybe(random, _label, 0.2),
        supersedes=tuple(_some(random, IDS, 1)),
        derived_from=tuple(_some(random, IDS, 1)),
        suppressed_at=_maybe(random, moment, 0.2),
        pinned=random.random() < 0.3,
        permanent=random.random() < 0.3,
        recurs=_maybe(random, lambda _: "yearly"),
        trust=random.random(),
        updated_at=_maybe(random, moment),
        access=access(random) if random.random() < 0.5 else Access(),
    )


def _label(random: Random) -> str:
    return random.choice(LABELS)


def gate(random: Random) -> Gate:
    """Make a gate; most conditions are mostly absent, or nothing would pass."""
    rare = 0.2
    tags = frozenset(_some(random, LABELS, 2)) if random.random() < rare else frozenset[str]()
    kinds = frozenset(_some(random, ("fact", "event", "none"), 2)) if random.random() < rare else None
    return Gate(
        true_at=moment(random),
        known_at=_maybe(random, moment, rare),
        kinds=kinds,
        tags=tags,
        where=_metadata(random) if random.random() < rare else {},
        since=_maybe(random, moment, rare),
        until=_maybe(random, moment, rare),
        ids=frozenset(_some(random, IDS, 4)) if random.random() < rare else None,
        pinned=_maybe(random, lambda inner: inner.random() < 0.5, rare),
        hidden=random.random() < 0.4,
    )


def unit_vector(random: Random, dimension: int = DIMENSION) -> Vectors:
    """Make a unit vector, often one that was made before."""
    coarse = random.random() < 0.7
    drawn = [float(random.randint(-1, 1)) if coarse else random.uniform(-1, 1) for _ in range(dimension)]
    numbers = np.array(drawn)
    length = float(np.linalg.norm(numbers))
    vector: Vectors = (numbers / length if length > 0.001 else np.eye(dimension)[0]).astype(np.float32)
    return vector


def journal_line(random: Random) -> JournalEntry:
    """Make a journal line."""
    return JournalEntry(
        at=moment(random),
        action=random.choice(("remember", "update", "pin")),
        memory_id=random.choice(IDS),
        actor=random.choice(LABELS),
        reason=random.choice(TEXTS),
        before=_maybe(random, _metadata),
        after=_maybe(random, _metadata),
    )


def finding(random: Random) -> Finding:
    """Return a finding between memories that may or may not be there."""
    return Finding(
        id=_label(random),
        at=moment(random),
        kind=random.choice(("conflict", "repetition")),
        memory_id=random.choice(IDS),
        other_id=_maybe(random, lambda source: source.choice(IDS)),
        confidence=random.random(),
        status=random.choice(("open", "applied", "dismissed")),
        decided_at=_maybe(random, moment),
        detail={"a": random.choice(JSON)},
    )


def recall_entry(random: Random) -> LedgerEntry:
    """Make a recall of the ledger."""
    found = _some(random, IDS, 3)
    return LedgerEntry(
        id=random.choice(LABELS),
        at=moment(random),
        policy=random.choice(("retentive", "stream")),
        cue=random.choice(TEXTS),
        ids=tuple(found),
        scores=tuple(random.random() for _ in found),
        used=tuple(dict.fromkeys(_some(random, IDS, 2))),
        outcome=random.choice((None, "good", "bad")),
    )


moments = seeded(moment)
accesses = seeded(access)
gates = seeded(gate)
unit_vectors = seeded(unit_vector)
journal_lines = seeded(journal_line)
recall_entries = seeded(recall_entry)
findings = seeded(finding)


def memories(space: str, **fixed: Any) -> st.SearchStrategy[Memory]:
    """Return a strategy for memories of a space."""
    return seeded(lambda random: memory(random, space).changed(**fixed))
