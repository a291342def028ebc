"""Code as a user would write it: it must pass `mypy --strict` (which `make types` runs over it) and do what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pytest

from retentive import (
    AgentState,
    AsyncRetentive,
    Draft,
    Hit,
    Memory,
    Policy,
    Recall,
    Retentive,
    RetentiveError,
    Space,
    policies,
    rating,
)
from retentive.errors import InvalidInput, NotFound
from retentive.pages import Page, Version
from retentive.types import JournalEntry


class ThreeLines:
    """An embedder of one's own needs no base class."""

    id = "mine"
    dimension = 2

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([[len(text), 1] for text in texts], np.float32)


def clock() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def test_the_synchronous_api_is_typed() -> None:
    """Every verb with its arguments and results, without a cast or an ignore."""
    with Retentive(":memory:", embedder=ThreeLines(), clock=clock, policy=policies.blend) as memories:
        alice = assert_type(memories.space("acme/alice"), Space)
        memories.space(("acme", "alice"), shared="acme/handbook")
        first = assert_type(
            alice.remember(
                "Prefers Postgres",
                kind="preference",
                importance=rating(8),
                key="database",
                tags=["stack"],
                source="turn:12",
                metadata={"ticket": 7, "nested": {"a": [1, None]}},
                at=clock(),
                speaker="Alice",
                session="s1",
            ),
            Memory,
        )
        assert_type(alice.remember_many(["a", {"text": "b", "tags": ["x"]}, Draft("c", kind="event")]), list[Memory])
        recall = assert_type(alice.recall("What database?", limit=5, kinds=["preference"], where={"ticket": 7}), Recall)
        for hit in recall:
            assert_type(hit, Hit)
            assert_type(hit.signals["recency"].raw, float)
            assert_type(hit.memory.text, str)
        assert_type(recall[0], Hit)
        assert_type(recall[:2], tuple[Hit, ...])
        assert_type(recall.explain(), str)
        assert_type(recall.as_dict(), dict[str, Any])
        recall.feedback(used=[first.id], outcome="good")
        state = AgentState(goal="migrate", step="check", open_loops=["who approves?"])
        alice.recall(state=state, utterance="run 0042", policy="focus", token_budget=420, now=clock(), touch=False)
        alice.recall("x", policy=policies.get("stream").replace(limit=3, weights={"recency": 2.0}))
        alice.recall("x", policy=Policy.parse('name = "mine"\nbase = "blend"\n'))
        assert_type(alice.get(first.id), Memory)
        page = assert_type(alice.list(tags=["stack"], limit=10), Page)
        assert_type(page.cursor, str | None)
        assert_type(page[0], Memory)
        assert_type(alice.update(first.id, importance=0.5, reason="less so"), Memory)
        assert_type(alice.history(first.id), list[Version])
        assert_type(alice.journal(), list[JournalEntry])
        assert_type(alice.chain(first.id), list[Memory])
        alice.forget(first.id, erase=True)
        assert_type(memories.spaces(), list[str])
        assert_type(memories.drop("acme/alice"), bool)


def test_the_asynchronous_api_is_typed() -> None:
    """The same verbs, awaited, with the same types."""

    async def story() -> None:
        async with AsyncRetentive(":memory:", embedder=ThreeLines(), clock=clock) as memories:
            alice = memories.space("acme/alice")
            first = assert_type(await alice.remember("Prefers Postgres", tags=["stack"]), Memory)
            assert_type(await alice.remember_many(["a", "b"]), list[Memory])
            recall = assert_type(await alice.recall("What database?", policy=policies.blend, limit=2), Recall)
            assert_type(recall[0].score, float)
            await alice.feedback(recall.id, used=[first.id])
            assert_type(await alice.get(first.id), Memory)
            assert_type(await alice.list(), Page)
            assert_type(await alice.history(first.id), list[Version])
            assert_type(await memories.spaces(), list[str])
            assert_type(memories.now(), datetime)

    asyncio.run(story())


def test_misuse_is_seen_by_the_type_checker(tmp_path: Path) -> None:
    """Each ignore below is needed (an unneeded one is an error), and each misuse is refused at run time too."""
    memories = Retentive(tmp_path, embedder=ThreeLines())
    alice = memories.space("a")
    with pytest.raises(InvalidInput):
        alice.remember(5)  # type: ignore[arg-type]  # a text is a string
    with pytest.raises(InvalidInput):
        alice.remember("x", at="yesterday")  # type: ignore[arg-type]  # a moment is a datetime
    with pytest.raises(InvalidInput):
        alice.recall(["x"])  # type: ignore[arg-type]  # a cue is one string
    with pytest.raises(TypeError):
        alice.recall("x", 5)  # type: ignore[call-arg, arg-type]  # everything but the cue goes by name
    with pytest.raises(AttributeError):
        alice.remember("x").text = "y"  # type: ignore[misc]  # memories are frozen


def test_errors_can_be_caught_by_kind() -> None:
    """One base for all, and the standard kinds where they fit."""
    space = Retentive(":memory:", embedder=ThreeLines()).space("a")
    for kind in (RetentiveError, NotFound, LookupError):
        with pytest.raises(kind):
            space.get("nobody")
    with pytest.raises(ValueError, match="must not be empty"):
        space.remember("")
