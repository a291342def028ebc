"""What a foreign record says beyond our fields comes along, and what its source changes later is taken over."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Memory, Retentive, Space
from retentive.importers.run import Imported, import_from
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def space() -> Space:
    return Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW).space("acme/alice")


def one(space: Space, folder: Path, kind: str, data: Any) -> Memory:
    """Import a file of one record, and return what became of it."""
    path = folder / "file.json"
    path.write_text(json.dumps(data), "utf-8")
    assert import_from(space, kind, path).added == 1
    return space.list(hidden=True)[0]


def test_mem0s_other_fields_and_odd_dates(space: Space, tmp_path: Path) -> None:
    """What mem0 knows beside text, times and categories; a date that is none stays as it was written."""
    record = {"id": "1", "memory": "Likes tea", "score": 0.5, "app_id": "x", "created_at": "soon", "updated_at": None}
    memory = one(space, tmp_path, "mem0", [record])
    assert memory.metadata == {"score": 0.5, "app_id": "x", "created_at": "soon"}
    assert memory.created_at == NOW


@pytest.mark.parametrize("end", ["target", "destination"])
def test_mem0s_relations(space: Space, tmp_path: Path, end: str) -> None:
    """The edges of its graph are memories of that kind; half an edge is none."""
    edge = {"source": "alice", "relationship": "works_at", end: "acme"}
    memory = one(space, tmp_path, "mem0", {"results": [], "relations": [edge, {"source": "bob"}]})
    assert (memory.kind, memory.text, memory.metadata) == ("relation", "alice works_at acme", edge)


def test_zeps_other_fields(space: Space, tmp_path: Path) -> None:
    """The episodes a fact comes from, an entity's attributes, whatever an episode carries."""
    facts = {"edges": [{"uuid": "1", "fact": "Likes tea", "episodes": ["e1"], "valid_at": "?", "fact_embedding": [1]}]}
    assert one(space, tmp_path, "zep", facts).metadata == {"episodes": ["e1"], "valid_at": "?"}


@pytest.mark.parametrize(
    ("kind", "data", "kept"),
    [
        ("zep", {"nodes": [{"name": "Al", "summary": "x", "attributes": {"a": 1}}]}, {"attributes": {"a": 1}}),
        ("zep", {"episodes": [{"content": "hi", "source": "message"}]}, {"source": "message"}),
        ("letta", [{"id": "p", "text": "x", "file_name": "a.txt", "embedding": [0.1]}], {"file_name": "a.txt"}),
    ],
)
def test_other_records(space: Space, tmp_path: Path, kind: str, data: Any, kept: dict[str, Any]) -> None:
    """Vectors of another embedder aside, everything is there."""
    assert one(space, tmp_path, kind, data).metadata == kept


def test_what_was_attached_to_a_message(space: Space, tmp_path: Path) -> None:
    """The text of an attachment stands in the turn, under its name."""
    attached = [{"file_name": "plan.txt", "extracted_content": "Deploy on Friday"}, {"file_name": "empty.png"}]
    message = {"sender": "human", "text": "Read this", "attachments": attached}
    talk = {"uuid": "c", "chat_messages": [message, {"sender": "human", "text": "", "attachments": attached}]}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([talk]), "utf-8")
    import_from(space, "claude", path, extract="none")
    texts = {memory.text for memory in space.list()}
    assert texts == {"Read this\n[plan.txt]\nDeploy on Friday", "[plan.txt]\nDeploy on Friday"}


def test_words_that_the_source_changed(space: Space, tmp_path: Path) -> None:
    """A newer export's words are taken over, unless somebody changed the memory here; the journal keeps the old."""
    path = tmp_path / "file.json"
    for text, told in (("old", Imported(1)), ("new", Imported(updated=1)), ("newer", Imported(updated=1))):
        path.write_text(json.dumps([{"id": "1", "memory": text}]), "utf-8")
        assert import_from(space, "mem0", path) == told
    (memory,) = space.list()
    assert memory.text == "newer"
    assert [version.memory["text"] for version in space.history(memory.id)] == ["old", "new", "newer"]
    space.update(memory.id, text="ours")
    path.write_text(json.dumps([{"id": "1", "memory": "theirs"}]), "utf-8")
    assert import_from(space, "mem0", path) == Imported(same=1)
    assert space.get(memory.id).text == "ours"
