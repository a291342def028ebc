"""Export, import into an empty store, export again: the same bytes, whatever the space has been through."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.testing.fakes import HashEmbedder
from retentive.types import Gate

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def lived(home: Retentive) -> None:
    """Chains, a revision, feedback, pruning, a reflection, an erasure with its certificate, a policy of its own."""
    space = home.space("acme/alice")
    odd: dict[str, Any] = {"n": 1.5, "ü": [None]}
    old = space.remember("The tariff is 20", key="tariff", tags=["b", "a"], metadata=odd, source="s")
    new = space.remember("The tariff is 25", key="tariff", importance=0.9, pinned=True, valid_until=NOW + timedelta(9))
    space.remember("Ada's birthday", recurs="yearly", permanent=True, speaker="Ada", session="chat", trust=0.5)
    met = space.remember("We met Bob Miller", source="chat:7")
    space.recall("the tariff").feedback(used=[new.id], outcome="good")
    space.recall("Who is Bob Miller?")
    space.update(old.id, importance=0.3, reason="less so")
    space.forget(met.id, erase=True)
    space.remember("An old note", kind="event", at=NOW - timedelta(days=1000))
    space.maintain()
    space.reflect(force=True)
    space.apply_policy("blend")
    space.remember("Only once", once="key")


@pytest.mark.parametrize("target", ["folder", ":memory:"])
def test_the_same_bytes(tmp_path: Path, target: str) -> None:
    """Over both embedded stores; and what was imported works as before."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    with Retentive(tmp_path / "store", embedder=HashEmbedder(), clock=lambda: NOW) as home:
        lived(home)
        home.space("acme/alice").export(first)
        chain = [memory.id for memory in home.space("acme/alice").chain(home.space("acme/alice").list()[0].id)]
    where = str(tmp_path / target) if target == "folder" else target
    with Retentive(where, embedder=HashEmbedder(), clock=lambda: NOW) as other:
        space = other.space("acme/alice")
        space.import_(first)
        space.export(second)
        assert second.read_bytes() == first.read_bytes()
        assert [memory.id for memory in space.chain(chain[0])] == chain
        actions = {line.action for line in space.journal()}
        assert {"remember", "supersede", "update", "feedback", "suppress", "erase", "certificate", "reflect"} <= actions
        assert "Bob" not in first.read_text("utf-8")


@pytest.mark.parametrize("target", ["folder", ":memory:"])
def test_turns_of_one_moment_keep_their_order(tmp_path: Path, target: str) -> None:
    """What stands beside what in a session is decided by the order of writing, not by ids."""
    ids = [f"turn-{(number * 5) % 12}" for number in range(12)]

    def beside(home: Retentive) -> set[tuple[str, str, int]]:
        store = home.space("acme/alice").store
        rows = store.recent(Gate(true_at=NOW), 50).rows
        names = dict(zip(rows.tolist(), [memory.id for memory in store.memories(rows)], strict=True))
        found = store.neighbours(rows, Gate(true_at=NOW), 1).tolist()
        return {(names[row], names[other], offset) for row, other, offset in found}

    with Retentive(tmp_path / "store", embedder=HashEmbedder(), clock=lambda: NOW) as home:
        for name in ids:
            home.space("acme/alice").remember(f"This is {name}", kind="episode", session="chat", id=name)
        home.space("acme/alice").export(tmp_path / "all.jsonl")
        before = beside(home)
    assert (ids[0], ids[1], 1) in before
    where = str(tmp_path / target) if target == "folder" else target
    with Retentive(where, embedder=HashEmbedder(), clock=lambda: NOW) as other:
        other.space("acme/alice").import_(tmp_path / "all.jsonl")
        assert beside(other) == before
