"""Writes that are asked for twice happen once, and changes to what one has not seen are refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from retentive import Retentive, Space
from retentive.errors import Changed, InvalidInput, NotFound
from retentive.once import PREFIX
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The tests' time."""
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def alice(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Space]:
    """A space in memory and in a file."""
    location = ":memory:" if request.param == "memory" else tmp_path / "store"
    with Retentive(location, embedder=HashEmbedder(), clock=clock) as memories:
        yield memories.space("acme/alice")


def test_remembered_twice_under_a_key_is_remembered_once(alice: Space, clock: Clock) -> None:
    """The second time gives the first memory, also at a later moment."""
    first = alice.remember("Prefers Postgres", once="turn-12")
    clock.now += timedelta(minutes=1)
    again = alice.remember("Prefers Postgres", once="turn-12")
    assert again == first
    assert len(alice.list()) == 1
    assert len(alice.journal()) == 1


def test_a_key_stands_for_one_request(alice: Space) -> None:
    """Another text under the same key is a mistake, not a silent answer."""
    alice.remember("Prefers Postgres", once="turn-12")
    with pytest.raises(InvalidInput, match="once='turn-12' was used for another request"):
        alice.remember("Prefers MySQL", once="turn-12")
    with pytest.raises(InvalidInput, match="was used for another request"):
        alice.remember_many(["Prefers Postgres", "two"], once="turn-12")


def test_a_batch_is_written_once(alice: Space) -> None:
    """All of it, in order."""
    first = alice.remember_many(["one", "two"], once="batch")
    assert alice.remember_many(["one", "two"], once="batch") == first
    assert len(alice.list()) == 2


def test_what_was_erased_meanwhile_is_said_to_be_gone(alice: Space) -> None:
    """It is not remembered anew."""
    first = alice.remember("Prefers Postgres", once="turn-12")
    alice.forget(first.id, erase=True)
    with pytest.raises(NotFound):
        alice.remember("Prefers Postgres", once="turn-12")


def test_a_failed_write_leaves_the_key_unused(alice: Space) -> None:
    """Nothing was done, so nothing is noted."""
    with pytest.raises(NotFound):
        alice.remember("Prefers Postgres", supersedes=["nobody"], once="turn-12")
    assert alice.remember("Prefers Postgres", once="turn-12").text == "Prefers Postgres"


def test_feedback_counts_once(alice: Space) -> None:
    """Importance moves with the first of two."""
    alice.remember("Prefers Postgres")
    recall = alice.recall("Postgres")
    moved = []
    for _ in range(2):
        alice.feedback(recall.id, used=[recall[0].memory.id], outcome="good", once="f1")
        moved.append(alice.get(recall[0].memory.id, touch=False).importance)
    assert moved[0] == moved[1] > 0.5


def test_update_and_forget_happen_once(alice: Space) -> None:
    """The journal has one line for each."""
    kept = alice.remember("Prefers Postgres")
    for _ in range(2):
        alice.update(kept.id, importance=0.9, once="u1")
    for _ in range(2):
        alice.forget(kept.id, once="d1")
    assert [line.action for line in alice.journal()] == ["remember", "update", "forget"]


def test_notes_go_with_upkeep_after_a_week_and_are_not_exported(alice: Space, clock: Clock, tmp_path: Path) -> None:
    """They are work, not memory."""
    alice.remember("Prefers Postgres", once="turn-12")
    alice.export(tmp_path / "alice.jsonl")
    assert PREFIX not in (tmp_path / "alice.jsonl").read_text("utf-8")
    alice.maintain()
    assert any(name.startswith(PREFIX) for name in alice.store.settings())
    clock.now += timedelta(days=8)
    alice.maintain()
    assert not any(name.startswith(PREFIX) for name in alice.store.settings())


def test_a_version_changes_with_the_memory_and_not_with_its_use(alice: Space) -> None:
    """Reading leaves it; a change moves it; every store and reader works out the same."""
    kept = alice.remember("Prefers Postgres", metadata={"b": 1, "a": [1, 2]})
    assert alice.get(kept.id).version == kept.version
    assert alice.update(kept.id, importance=0.9).version != kept.version


def test_a_change_to_what_one_has_not_seen_is_refused(alice: Space) -> None:
    """Nothing is written; with the current version it is."""
    seen = alice.remember("Prefers Postgres")
    current = alice.update(seen.id, importance=0.9)
    with pytest.raises(Changed) as error:
        alice.update(seen.id, importance=0.1, version=seen.version)
    assert error.value.details["version"] == current.version
    with pytest.raises(Changed):
        alice.forget(seen.id, version=seen.version)
    assert alice.get(seen.id, touch=False).importance == 0.9
    alice.forget(seen.id, version=current.version)


def test_the_journal_says_who_and_comes_in_pages(alice: Space) -> None:
    """The space's actor is on every line; `after` and `limit` lead through it."""
    alice._home.space("acme/alice", actor="key:abc").remember_many(["one", "two", "three"])
    first = alice.journal(limit=2)
    rest = alice.journal(after=first[-1].sequence)
    assert [len(first), len(rest)] == [2, 1]
    assert {line.actor for line in [*first, *rest]} == {"key:abc"}
