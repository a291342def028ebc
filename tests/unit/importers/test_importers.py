"""What is taken along from other memory layers, notes and exported conversations."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Memory, Retentive, Space
from retentive.compat.mem0 import Memory as Mem0
from retentive.errors import InvalidInput, NotFound
from retentive.importers.parts import moment
from retentive.importers.run import KINDS, Imported, import_from
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
Write = Callable[..., Path]


@pytest.fixture
def space() -> Space:
    return Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW).space("acme/alice")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a value as JSON, a text as it is."""

    def written(value: Any, name: str = "file.json") -> Path:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
        return path

    return written


def by_text(space: Space) -> dict[str, Memory]:
    return {memory.text: memory for memory in space.list(hidden=True, limit=1000)}


MEM0 = {
    "results": [
        {
            "id": "892db2ae",
            "memory": "Likes tea",
            "hash": "x",
            "metadata": {"source_app": "chat"},
            "categories": ["food"],
            "created_at": "2025-07-22T14:02:12.123456-07:00",
            "updated_at": None,
            "user_id": "alice",
            "run_id": "r1",
            "actor_id": "Alice",
            "expiration_date": "2027-01-01",
        },
        {"memory": "Has a dog", "user_id": "alice"},
        {"id": "3", "memory": "   ", "user_id": "alice"},
    ],
    "relations": [],
}


def test_mem0(space: Space, write: Write) -> None:
    """Ids, dates, categories, scopes and metadata come along."""
    assert import_from(space, "mem0", write(MEM0)) == Imported(added=2, skipped=1)
    tea = by_text(space)["Likes tea"]
    assert tea.id == "mem0:892db2ae"
    assert tea.created_at == datetime(2025, 7, 22, 21, 2, 12, 123456, tzinfo=UTC)
    assert tea.tags == ("food",)
    assert tea.speaker == "Alice"
    assert tea.valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert dict(tea.metadata) == {"source_app": "chat", "user_id": "alice", "run_id": "r1"}
    assert import_from(space, "mem0", write(MEM0)) == Imported(same=2, skipped=1)


def test_what_mem0s_own_interface_returns(space: Space, write: Write) -> None:
    """`get_all` of the mem0-shaped façade is such a file, as a list or below `results`."""
    with Mem0(memories=Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW)) as mem0:
        mem0.add("Prefers Postgres for work", user_id="alice", infer=False)
        told = mem0.get_all(user_id="alice")
    assert import_from(space, "mem0", write(told)).added == 1
    assert "Prefers Postgres for work" in by_text(space)
    assert import_from(space, "mem0", write(told["results"])).same == 1


def test_several_owners_need_a_choice(space: Space, write: Write) -> None:
    """A space is one tenant's: nobody's memories land in somebody else's by accident."""
    file = write([{"id": "1", "memory": "A", "user_id": "alice"}, {"id": "2", "memory": "B", "user_id": "bob"}])
    with pytest.raises(InvalidInput, match=r"2 owners \('alice', 'bob'\).*--owner"):
        import_from(space, "mem0", file)
    assert by_text(space) == {}
    assert import_from(space, "mem0", file, owner="bob").added == 1
    assert list(by_text(space)) == ["B"]
    with pytest.raises(InvalidInput, match="nothing of 'eve'"):
        import_from(space, "mem0", file, owner="eve")


def test_what_was_erased_stays_erased(space: Space, write: Write) -> None:
    """A file does not bring back what somebody wanted gone; what was forgotten stays forgotten."""
    import_from(space, "mem0", write(MEM0))
    memories = by_text(space)
    space.forget(memories["Likes tea"].id, erase=True)
    space.forget(memories["Has a dog"].id)
    assert import_from(space, "mem0", write(MEM0)) == Imported(same=1, erased=1, skipped=1)
    assert len(space.list()) == 0


LETTA = {
    "agents": [
        {
            "id": "agent-0",
            "name": "sam",
            "block_ids": ["block-0"],
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "You are Sam"}]},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": json.dumps({"type": "user_message", "message": "I moved"})}],
                    "created_at": "2025-05-01T10:00:00Z",
                },
                {"role": "user", "content": json.dumps({"type": "heartbeat", "reason": "…"})},
                {"role": "user", "content": "{not json"},
                {"role": "user", "content": "[1]"},
                {"role": "assistant", "text": "Where to?", "created_at": "2025-05-01T10:00:05Z"},
                {"role": "assistant", "content": None, "tool_calls": [{}]},
            ],
            "passages": [
                {"id": "passage-1", "text": "Alice works at Acme", "tags": ["job"], "created_at": "2025-04-01"},
                {"text": "Bob is her brother", "metadata_": {"page": 3}},
                {"text": ""},
            ],
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Name: Alice", "description": "who"},
        {"label": "x", "value": ""},
    ],
}


def test_letta(space: Space, write: Write) -> None:
    """Blocks are pinned under their label, passages are facts, the conversation is observed without its envelopes."""
    report = import_from(space, "letta", write(LETTA), extract="none")
    assert report == Imported(added=7, skipped=2, conversations=1)
    assert [one.place for one in report.refused] == ["blocks[1]", "agents[0].passages[2]"]
    memories = by_text(space)
    human = memories["human: Name: Alice"]
    assert human.pinned
    assert human.key == "letta/human"
    assert memories["Alice works at Acme"].tags == ("job",)
    assert dict(memories["Bob is her brother"].metadata) == {"page": 3}
    said = [text for text, memory in memories.items() if memory.kind == "episode"]
    assert any("I moved" in text for text in said)
    assert not any("heartbeat" in text or "You are Sam" in text for text in said)
    again = import_from(space, "letta", write(LETTA), extract="none")
    assert (again.added, again.same) == (0, 7)


def test_lettas_older_files_and_lists(space: Space, write: Write) -> None:
    """One agent with its core memory inside, and passages as the API lists them."""
    old = {"name": "sam", "core_memory": [{"label": "persona", "value": "I am Sam"}], "messages": []}
    assert import_from(space, "letta", write(old)).added == 1
    listed = [{"id": "p", "text": "Alice has a dog", "agent_id": "a"}]
    assert import_from(space, "letta", write(listed)).added == 1
    assert set(by_text(space)) == {"persona: I am Sam", "Alice has a dog"}


ZEP = {
    "user_id": "alice",
    "edges": [
        {
            "uuid": "e1",
            "fact": "Alice works at Acme",
            "name": "WORKS_AT",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "created_at": "2025-01-02T00:00:00Z",
            "valid_at": "2024-06-01T00:00:00Z",
            "invalid_at": "2025-12-01T00:00:00Z",
        },
        {"uuid": "e2", "fact": "Alice lives in Rome", "valid_at": "2025-03-01", "expired_at": "2025-01-01"},
        {"uuid": "e3", "fact": ""},
    ],
    "nodes": [
        {"uuid": "n1", "name": "Alice", "summary": "An engineer", "labels": ["Entity", "Person"]},
        {"name": "Acme"},
    ],
    "episodes": [{"uuid": "p1", "content": "I left Acme", "role": "Alice", "created_at": "2025-12-02T00:00:00Z"}],
    "facts": [{"fact": "Alice likes tea", "rating": 0.9}, {"fact": "Alice likes jazz", "rating": 7}],
    "messages": [{"role": "Alice", "role_type": "user", "content": "Hello", "created_at": "2025-01-01T00:00:00Z"}, {}],
}


def test_zep(space: Space, write: Write) -> None:
    """Facts with the time in which they are true, entities with their summaries, episodes and messages."""
    report = import_from(space, "zep", write(ZEP), extract="none")
    assert report == Imported(added=7, skipped=3, conversations=1)
    assert all(one.reason.startswith("has no text under") for one in report.refused)
    memories = by_text(space)
    works = memories["Alice works at Acme"]
    assert works.valid_from == datetime(2024, 6, 1, tzinfo=UTC)
    assert works.valid_until == datetime(2025, 12, 1, tzinfo=UTC)
    assert works.metadata["relation"] == "WORKS_AT"
    assert "Alice works at Acme" not in {memory.text for memory in space.list()}  # it is no longer true
    assert memories["Alice lives in Rome"].valid_from is None  # ended before it began: only the end is believed
    assert memories["Alice: An engineer"].tags == ("Person",)
    assert memories["I left Acme"].kind == "episode"
    assert memories["Alice likes tea"].importance == 0.9
    assert memories["Alice likes jazz"].importance == 0.5


def test_zep_as_a_list_of_edges(space: Space, write: Write) -> None:
    """As the API lists them; Graphiti's group is their owner."""
    edges = [{"uuid": "e", "fact": "A", "group_id": "g1"}, {"uuid": "f", "fact": "B", "group_id": "g2"}]
    assert import_from(space, "zep", write(edges), owner="g1").added == 1


NOTES = """---
title: Notes
---
# Food

- likes tea
  with milk
- [x] bought *rice*

1. bread
2) salt

Two lines
of one paragraph.

## 2026-04-01

```sh
# not a heading

echo done
```

***

# Work #

Deploys on Fridays
"""


def test_markdown(space: Space, write: Write) -> None:
    """Items, paragraphs and code under their headings, which date them where they are days."""
    report = import_from(space, "markdown", write(NOTES, "notes.md"))
    memories = by_text(space)
    assert report.added == len(memories) == 7
    assert "Food: likes tea\nwith milk" in memories
    assert "Food: bought *rice*" in memories
    assert "Food: bread" in memories
    assert "Food: Two lines\nof one paragraph." in memories
    code = next(memory for text, memory in memories.items() if "echo done" in text)
    assert code.created_at == datetime(2026, 4, 1, tzinfo=UTC)
    assert "# not a heading" in code.text
    work = memories["Work: Deploys on Fridays"]
    assert work.created_at == NOW
    assert work.source == "notes.md:28"
    assert import_from(space, "markdown", write(NOTES + "\nand late", "notes.md")).added == 1


def test_a_folder_of_markdown(space: Space, tmp_path: Path) -> None:
    """Every note in it; the file's name stands with each."""
    with pytest.raises(NotFound, match="no Markdown files"):
        import_from(space, "markdown", tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.md").write_text("One", "utf-8")
    (tmp_path / "deep/b.md").write_text("# 2026-13-99\nTwo\r\n", "utf-8")
    assert import_from(space, "markdown", tmp_path).added == 2
    assert {memory.metadata["file"] for memory in space.list()} == {"a.md", "deep/b.md"}


def node(name: str, parent: str | None, role: str, text: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    message = {"id": name, "author": {"role": role}, "content": content, "create_time": 1_700_000_000.5, **more}
    return {"id": name, "message": message, "parent": parent, "children": []}


OPENAI = [
    {
        "conversation_id": "c1",
        "title": "Tea",
        "current_node": "d",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None},
            "s": node("s", "root", "system", "You are ChatGPT"),
            "a": node("a", "s", "user", "I prefer tea over coffee."),
            "b": node("b", "a", "assistant", "An answer that was regenerated"),
            "c": node("c", "a", "assistant", "Noted."),
            "t": node("t", "c", "assistant", "search()", recipient="browser"),
            "h": node("h", "t", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
            "p": node("p", "h", "user", {"content_type": "image_asset_pointer"}),
            "d": node("d", "p", "user", "Thanks"),
        },
    },
    {"id": "c2", "title": "Old", "mapping": {"x": node("x", None, "user", "No current node")}},
    {"id": "c3", "title": "Empty", "mapping": {}, "current_node": "nowhere"},
]


def test_chatgpt(space: Space, write: Write) -> None:
    """Of each tree the branch that was last seen; instructions, tools, hidden and empty messages are left out."""
    report = import_from(space, "openai", write(OPENAI), extract="none")
    assert report == Imported(added=4, skipped=1, conversations=2)
    memories = list(space.list(limit=100))
    said = " ".join(memory.text for memory in memories)
    assert all(words in said for words in ("I prefer tea over coffee.", "Noted.", "Thanks", "No current node"))
    assert not any(words in said for words in ("regenerated", "You are ChatGPT", "search()", "hidden"))
    assert {memory.created_at.year for memory in memories} == {2023}
    assert {memory.session for memory in memories} == {"openai:c1", "openai:c2"}
    assert import_from(space, "openai", write(OPENAI), extract="none").same == 4


def test_memories_are_drawn_from_conversations(space: Space, write: Write) -> None:
    """As `observe` does: by patterns where no language model is named."""
    import_from(space, "openai", write(OPENAI))
    assert any(memory.kind == "preference" for memory in space.list(limit=100))


CLAUDE = [
    {
        "uuid": "u1",
        "name": "Move",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "I moved to Oslo", "created_at": "2025-05-01T10:00:00.000000Z"},
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "",
                "content": [{"type": "tool_use", "name": "x"}, {"type": "text", "text": "Congratulations"}],
                "created_at": "2025-05-01T10:00:09.000000Z",
            },
            {"uuid": "m3", "sender": "system", "text": "no"},
            {"uuid": "m4", "sender": "human", "text": ""},
        ],
    }
]


def test_claude(space: Space, tmp_path: Path, write: Write) -> None:
    """The file, and the archive that it is sent in."""
    assert import_from(space, "claude", write(CLAUDE), extract="none") == Imported(added=2, conversations=1)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("data/conversations-001.json", json.dumps(CLAUDE[0]))
        packed.writestr("users.json", "[]")
    assert import_from(space, "claude", archive, extract="none").same == 2
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("users.json", "[]")
    with pytest.raises(InvalidInput, match=r"without a conversations\.json"):
        import_from(space, "claude", archive)


def test_an_archive_that_unpacks_without_end_is_refused(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own statement of sizes, before anything is unpacked."""
    monkeypatch.setattr("retentive.importers.parts.LARGEST", 1000)
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", "[" + " " * 5000 + "]")
    with pytest.raises(InvalidInput, match=r"unpacks to 5,002 bytes"):
        import_from(space, "claude", archive)


def test_the_memory_server(space: Space, write: Write) -> None:
    """Its graph is one of the kinds; what was there is counted nowhere, for the graph steps over it."""
    entity = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]}
    assert import_from(space, "memory-server", write(entity, "memory.jsonl")).added == 2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"markdown", "memory-server"}])
def test_files_of_something_else(space: Space, write: Write, tmp_path: Path, kind: str) -> None:
    """Are refused, and nothing is written."""
    for content in ("", "no JSON", '{"a": 1}\nno JSON', "[]", "{}", '[{"other": 1}, 2]', "3"):
        with pytest.raises(InvalidInput):
            import_from(space, kind, write(content))
    with pytest.raises(NotFound):
        import_from(space, kind, tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read"):
        import_from(space, kind, tmp_path / "bytes.json")
    assert len(space.list(hidden=True)) == 0


def test_an_unknown_kind(space: Space, write: Write) -> None:
    """Is named with those that there are."""
    with pytest.raises(InvalidInput, match="Did you mean 'mem0'"):
        import_from(space, "mem", write({}))


def test_progress_is_told(space: Space, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batch by batch, and conversation by conversation."""
    monkeypatch.setattr("retentive.importers.run.BATCH", 2)
    told: list[tuple[int, int]] = []
    rows = [{"id": str(number), "memory": f"Fact {number}"} for number in range(5)]
    import_from(space, "mem0", write(rows), progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    told.clear()
    import_from(space, "openai", write(OPENAI), extract="none", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2025-01-01T00:00:00", datetime(2025, 1, 1, tzinfo=UTC)),
        (True, None),
        (float("inf"), None),
        ("yesterday", None),
        (None, None),
    ],
)
def test_moments(value: Any, expected: datetime | None) -> None:
    """As services write them; what cannot be read is no date, and the memory is as of now."""
    assert moment(value) == expected
