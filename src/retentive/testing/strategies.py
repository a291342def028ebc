"""Hypothesis strategies for what stores hold and are asked: memories, vectors, terms, gates, accesses.

The alphabets are small on purpose: keys, tags, entities and moments must collide for anything interesting to happen.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st

from retentive.types import ACCESS_HISTORY, Access, Gate, JournalEntry, Json, LedgerEntry, Memory, Vectors

START = datetime(2024, 1, 1, tzinfo=UTC)
DIMENSION = 3

texts = st.text(st.characters(codec="utf-8"), max_size=20)
words = st.sampled_from(["cat", "dog", "é", "A", "a", "zz", "the", "the\0", "x" * 300, "😀"])
labels = st.sampled_from(["a", "b", "B", "é", "", "nul\0"])
ids = st.sampled_from([f"m{number}" for number in range(12)] + ["é", "long" * 20, "long" * 20 + "!", "nul\0"])
FIRST, LAST = datetime.min.replace(tzinfo=None), datetime.max.replace(tzinfo=None)
moments = st.integers(0, 20).map(lambda hours: START + timedelta(hours=hours)) | st.datetimes(
    FIRST + timedelta(days=1), LAST - timedelta(days=1), timezones=st.just(UTC)
)
numbers = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, 2.0**60]) | labels,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(labels, inner, max_size=2),
    max_leaves=3,
)
metadata = st.dictionaries(labels, json_values, max_size=2)
terms = st.lists(words, max_size=6)
label_tuples = st.lists(labels, max_size=3).map(tuple)
maybe_moments = st.none() | moments


@st.composite
def unit_vectors(draw: st.DrawFn, dimension: int = DIMENSION) -> Vectors:
    """Draw a unit vector, often one that was drawn before."""
    grid = st.lists(st.integers(-2, 2), min_size=dimension, max_size=dimension)
    free = st.lists(st.floats(-1, 1, width=32), min_size=dimension, max_size=dimension)
    numbers = np.array(draw(grid | free), dtype=np.float64)
    length = float(np.linalg.norm(numbers))
    vector = numbers / length if length > 1e-3 else np.eye(dimension)[0]
    return vector.astype(np.float32)


@st.composite
def accesses(draw: st.DrawFn) -> Access:
    """Draw an access state."""
    recent = tuple(sorted(draw(st.lists(moments, max_size=ACCESS_HISTORY))))
    return Access(
        last_at=draw(maybe_moments), count=draw(st.floats(0, 100)), recent=recent, pending_at=draw(maybe_moments)
    )


@st.composite
def memories(draw: st.DrawFn, space: str) -> Memory:
    """Draw a memory of a space."""
    return Memory(
        id=draw(ids),
        space=space,
        text=draw(texts),
        created_at=draw(moments),
        recorded_at=draw(moments),
        kind=draw(st.sampled_from(["fact", "event", "custom"])),
        importance=draw(numbers),
        key=draw(st.none() | labels),
        tags=draw(label_tuples),
        source=draw(st.none() | texts),
        metadata=draw(metadata),
        speaker=draw(st.none() | labels),
        session=draw(st.none() | labels),
        entities=draw(label_tuples),
        valid_from=draw(maybe_moments),
        valid_until=draw(maybe_moments),
        superseded_at=draw(st.none() | st.none() | moments),
        superseded_by=draw(st.none() | ids),
        supersedes=tuple(draw(st.lists(ids, max_size=2))),
        derived_from=tuple(draw(st.lists(ids, max_size=2))),
        suppressed_at=draw(st.none() | st.none() | moments),
        pinned=draw(st.booleans()),
        permanent=draw(st.booleans()),
        recurs=draw(st.none() | st.just("yearly")),
        trust=draw(numbers),
        updated_at=draw(maybe_moments),
        access=draw(st.just(Access()) | accesses()),
    )


@st.composite
def gates(draw: st.DrawFn) -> Gate:
    """Draw a gate; most conditions are mostly absent, or nothing would pass."""
    rarely = st.integers(0, 3).map(lambda number: number == 0)
    return Gate(
        true_at=draw(moments),
        known_at=draw(moments) if draw(rarely) else None,
        kinds=draw(st.frozensets(st.sampled_from(["fact", "event", "none"]))) if draw(rarely) else None,
        tags=draw(st.frozensets(labels, max_size=1)) if draw(rarely) else frozenset(),
        where=draw(st.dictionaries(labels, json_values, max_size=1)) if draw(rarely) else {},
        since=draw(moments) if draw(rarely) else None,
        until=draw(moments) if draw(rarely) else None,
        pinned=draw(st.booleans()) if draw(rarely) else None,
        hidden=draw(st.booleans()),
    )


@st.composite
def journal_lines(draw: st.DrawFn) -> JournalEntry:
    """Draw a journal line."""
    content = st.none() | metadata
    return JournalEntry(
        at=draw(moments),
        action=draw(st.sampled_from(["remember", "update", "pin"])),
        memory_id=draw(ids),
        actor=draw(labels),
        reason=draw(texts),
        before=draw(content),
        after=draw(content),
    )


@st.composite
def recall_entries(draw: st.DrawFn) -> LedgerEntry:
    """Draw a recall of the ledger."""
    found = draw(st.lists(ids, max_size=3))
    return LedgerEntry(
        id=draw(labels),
        at=draw(moments),
        policy=draw(st.sampled_from(["retentive", "stream"])),
        cue=draw(texts),
        ids=tuple(found),
        scores=tuple(draw(numbers) for _ in found),
        used=tuple(draw(st.lists(ids, max_size=2, unique=True))),
        outcome=draw(st.sampled_from([None, "good", "bad"])),
    )
