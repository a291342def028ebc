"""Two who write the same at one moment: what the other wrote while we looked is looked at again, alone."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.stores.memory import MemoryStore
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
WRITER = """
import sys
from retentive import Retentive
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder
with Retentive(store=SqliteStore(sys.argv[1], busy_timeout=120.0), embedder=HashEmbedder()) as memories:
    space = memories.space("a")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(40):
        space.remember(f"Statement number {number} is one of many")
"""


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def homes(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Retentive]:
    kept = MemoryStore()

    def opened() -> Retentive:
        if request.param == "postgres":
            from retentive.stores.postgres import PostgresStore

            store: Any = PostgresStore(request.getfixturevalue("postgres_url"), schema="at_once")
        else:
            store = kept if request.param == "memory" else SqliteStore(tmp_path, busy_timeout=120.0)
        return Retentive(store=store, embedder=HashEmbedder(), clock=lambda: NOW)

    return opened


def between(monkeypatch: pytest.MonkeyPatch, home: Retentive, then: Callable[[], object]) -> None:
    """Let somebody else do something when a writer has looked and not yet begun to write."""
    kind = type(home.space("a").store)
    begun: Any = kind.transaction
    left = [then]

    def transaction(self: Any) -> Any:
        if left:
            left.pop()()
        return begun(self)

    monkeypatch.setattr(kind, "transaction", transaction)


def test_the_same_written_meanwhile_is_reinforced(
    homes: Callable[[], Retentive], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One memory, said twice."""
    ours, theirs = homes().space("a"), homes().space("a")
    ours.remember("Prefers tea in the morning")
    other: list[str] = []
    between(monkeypatch, homes(), lambda: other.append(theirs.remember("The deploy runs on Friday").id))
    assert ours.remember("the deploy runs on Friday!").id == other[0]
    assert [memory.text for memory in ours.list()].count("The deploy runs on Friday") == 1
    assert len(ours.list()) == 2
    assert [line.action for line in ours.journal(other[0])] == ["remember", "repeat"]


def test_what_was_denied_meanwhile_is_superseded(
    homes: Callable[[], Retentive], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The older of two that deny one another does not stand beside the newer."""
    ours, theirs = homes().space("b"), homes().space("b")
    ours.remember("Prefers tea in the morning")
    other: list[str] = []
    between(monkeypatch, homes(), lambda: other.append(theirs.remember("Works at Acme as an engineer").id))
    denial = ours.remember("No longer works at Acme")
    assert ours.get(other[0], touch=False).superseded_by == denial.id


def test_processes_that_say_the_same_keep_it_once(tmp_path: Path) -> None:
    """Three processes say the same forty things at the same time."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "store")]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **pipe) for _ in range(3)]  # type: ignore[call-overload]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    with Retentive(tmp_path / "store", embedder=HashEmbedder()) as memories:
        kept = Counter(memory.text for memory in memories.space("a").list(limit=1_000))
    assert kept == Counter({f"Statement number {number} is one of many": 1 for number in range(40)})
