"""CrewAI's unified memory over our storage, beside its own LanceDB storage."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("crewai", reason="its own environment has it: scripts/integrations_test.py crewai")

from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

from retentive import Retentive
from retentive.errors import EmbedderMismatch, InvalidInput
from retentive.integrations.crewai import RetentiveStorage
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12)  # noqa: DTZ001 - CrewAI reckons in naive UTC
EMBED = HashEmbedder(32)


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(number) for number in row] for row in EMBED.embed(texts)]


def made(key: str, text: str, scope: str = "/", days: float = 0, **more: Any) -> MemoryRecord:
    moment = NOW + timedelta(days=days)
    vector = embed([text])[0]
    return MemoryRecord(
        id=key, content=text, scope=scope, created_at=moment, last_accessed=moment, embedding=vector, **more
    )


RECORDS = [
    made("a", "The deploy failed with E4012", "/acme/ops", categories=["deploy", "error"], metadata={"n": 1}),
    made(
        "b",
        "Deploys happen on Friday",
        "/acme",
        -1,
        categories=["deploy"],
        importance=0.9,
        source="alice",
        private=True,
    ),
    made("c", "Likes oranges", "/acme-corp", -2, metadata={"n": 1}),
    made("d", "Rooms are booked in Lisbon", "/", -3),
]


@pytest.fixture
def storage() -> RetentiveStorage:
    return RetentiveStorage(Retentive(":memory:").space("acme/crew"))


@pytest.fixture
def both(storage: RetentiveStorage, tmp_path: Path) -> tuple[Any, Any]:
    theirs = LanceDBStorage(path=str(tmp_path / "lance"))
    for each in (storage, theirs):
        each.save(RECORDS)
    return storage, theirs


def test_it_is_a_backend(storage: RetentiveStorage) -> None:
    """By CrewAI's own protocol; empty, every question has an empty answer and makes nothing."""
    assert isinstance(storage, StorageBackend)
    assert storage.search(embed(["x"])[0]) == storage.list_records() == storage.list_scopes() == []
    assert (storage.count(), storage.get_record("a"), storage.list_categories()) == (0, None, {})
    assert storage.get_scope_info("/").record_count == storage.delete() == 0


def test_records_come_back(storage: RetentiveStorage) -> None:
    """With everything they carry but the vector, which CrewAI never reads."""
    storage.save(RECORDS)
    for record in RECORDS:
        assert storage.get_record(record.id) == record.model_copy(update={"embedding": None})


@pytest.mark.parametrize("scope", [None, "/", "/acme", "/acme/ops", "/nowhere"])
def test_reads_equal_lancedbs(both: tuple[Any, Any], scope: str | None) -> None:
    """Listing, counting, scopes and categories, wherever CrewAI's own goes by whole segments."""
    ours, theirs = both
    if scope == "/acme":  # theirs goes by the string there: /acme-corp is none of ours
        assert {record.id for record in ours.list_records(scope)} == {"a", "b"}
        assert ours.count(scope) == 2
        return
    assert [record.id for record in ours.list_records(scope)] == [record.id for record in theirs.list_records(scope)]
    assert ours.count(scope) == theirs.count(scope)
    assert ours.list_categories(scope) == theirs.list_categories(scope)
    assert ours.list_scopes(scope or "/") == theirs.list_scopes(scope or "/")
    assert ours.get_scope_info(scope or "/").child_scopes == theirs.get_scope_info(scope or "/").child_scopes


def test_search(both: tuple[Any, Any]) -> None:
    """The nearest first; scope, categories and metadata before the limit; a floor on the cosine."""
    ours, theirs = both
    query = embed(["deploy failed E4012"])[0]
    assert [record.id for record, _ in ours.search(query)] == [record.id for record, _ in theirs.search(query)]
    assert [record.id for record, _ in ours.search(query, scope_prefix="/acme")] == ["a", "b"]
    assert [record.id for record, _ in ours.search(query, categories=["error", "none"])] == ["a"]
    assert {record.id for record, _ in ours.search(query, metadata_filter={"n": 1}, limit=2)} == {"a", "c"}
    assert all(score >= 0.5 for _, score in ours.search(query, min_score=0.5))
    assert ours.search(query, limit=0) == []
    assert [record.id for record, _ in asyncio.run(ours.asearch(query, limit=1))] == ["a"]


def test_update_delete_reset(storage: RetentiveStorage) -> None:
    """A record is replaced under its id; deletions meet every condition and erase; a reset is of a scope."""
    asyncio.run(storage.asave(RECORDS))
    storage.update(RECORDS[0].model_copy(update={"content": "The deploy works", "embedding": None}))
    changed = storage.get_record("a")
    assert changed is not None
    assert changed.content == "The deploy works"
    assert storage.delete(record_ids=["a"], categories=["none"]) == 0
    assert storage.delete(older_than=NOW - timedelta(days=1.5), metadata_filter={"n": 1}) == 1
    assert asyncio.run(storage.adelete(record_ids=["a", "zz"])) == 1
    assert all(line.after is None for line in storage.space.journal("a"))
    storage.reset("/acme")
    assert [record.id for record in storage.list_records()] == ["d"]
    storage.reset()
    assert storage.count() == 0


def test_vectors_that_do_not_fit(storage: RetentiveStorage) -> None:
    """Another length, none, or no direction is refused with the remedy; our own embedder is not mixed in."""
    storage.save(RECORDS[:1])
    with pytest.raises(EmbedderMismatch, match="32 dimensions"):
        storage.save([RECORDS[1].model_copy(update={"embedding": [1.0] * 8})])
    with pytest.raises(EmbedderMismatch, match="32 dimensions"):
        storage.search([1.0] * 8)
    with pytest.raises(InvalidInput, match="no embedding"):
        storage.save([RECORDS[1].model_copy(update={"embedding": None})])
    with pytest.raises(InvalidInput, match="direction"):
        storage.search([0.0] * 32)
    with pytest.raises(EmbedderMismatch):
        storage.space.recall("deploy")
    assert storage.count() == 1


def test_crewais_memory_runs_on_it(storage: RetentiveStorage) -> None:
    """Remember, recall, list and forget through `Memory`, with a fake embedder and no language model."""
    memory = Memory(storage=storage, embedder=embed, llm=None)
    memory.remember(
        "The deploy failed with E4012", scope="/acme/ops", categories=["deploy"], importance=0.8, metadata={"n": 1}
    )
    memory.remember("Likes oranges", scope="/home", categories=["food"], importance=0.2, metadata={"n": 2})
    memory.drain_writes()
    found = memory.recall("deploy failed E4012", depth="shallow", limit=1)
    assert [match.record.content for match in found] == ["The deploy failed with E4012"]
    assert sorted(memory.list_scopes("/")) == ["/acme", "/home"]
    assert memory.forget(scope="/home") == 1
    assert [record.content for record in memory.list_records()] == ["The deploy failed with E4012"]


def test_times_are_utc(storage: RetentiveStorage) -> None:
    """Naive moments are read as UTC and given back naive."""
    storage.save(RECORDS[:1])
    assert storage.space.get("a").created_at == NOW.replace(tzinfo=UTC)
