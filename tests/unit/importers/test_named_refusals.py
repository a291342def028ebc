"""A record that cannot be kept is named: where it stands, why, and what would help. The others are kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive, Space
from retentive.errors import InvalidInput
from retentive.importers.run import Imported, import_from
from retentive.testing.fakes import HashEmbedder


@pytest.fixture
def space() -> Space:
    memories = Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: datetime(2026, 5, 1, tzinfo=UTC))
    return memories.space("acme/alice")


def told(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "file.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def refusals(report: Imported) -> list[str]:
    assert report.skipped == len(report.refused)
    return [str(one) for one in report.refused]


def test_records_of_mem0(space: Space, tmp_path: Path) -> None:
    """By their place in the list they stand in; what they say is in the report whole."""
    rows = [{"memory": "Likes tea"}, {"memory": " ", "n": 1}, "just a text"]
    report = import_from(space, "mem0", told(tmp_path, {"results": rows, "relations": [{"source": "a"}]}))
    assert report.added == 1
    assert refusals(report) == [
        "results[1] has no text under 'memory' or 'text'; give it one, or take it out",
        "results[2] is str, not an object; make it one, or take it out",
        "relations[0] has no text under 'source' or 'relationship' or 'target'; give it one, or take it out",
    ]
    assert [one.record for one in report.refused] == [rows[1], rows[2], {"source": "a"}]


def test_json_lines_by_their_number(space: Space, tmp_path: Path) -> None:
    """A line that is broken stands in nobody's way; a file of which most is no JSON is refused whole."""
    lines = ['{"memory": "One"}', "", '{"memory": "Two"', '{"memory": ""}', '{"memory": "Three"}']
    report = import_from(space, "mem0", told(tmp_path, "\n".join(lines)))
    assert report.added == 2
    broken, empty = refusals(report)
    assert broken.startswith("line 3 is not JSON (")
    assert broken.endswith("; mend that line, and import the file again")
    assert report.refused[0].record == '{"memory": "Two"'
    assert empty.startswith("line 4 has no text")
    with pytest.raises(InvalidInput, match="line 1, is not JSON"):
        import_from(space, "mem0", told(tmp_path, '{\n"memory":\n"cut off'))


def test_what_the_engine_refuses_stands_in_nobodys_way(space: Space, tmp_path: Path) -> None:
    """A text that no file can hold: the rest of its batch is kept."""
    rows = [{"id": str(number), "memory": f"Memory {number}"} for number in range(7)]
    rows[4]["memory"] = "broken \ud800 text"
    report = import_from(space, "mem0", told(tmp_path, rows))
    assert report.added == 6
    [said] = refusals(report)
    assert said.startswith("record 4 was refused (")
    assert len(space.list()) == 6


def test_two_records_of_one_id(space: Space, tmp_path: Path) -> None:
    """The later counts, and the earlier is named; twice the same is no loss."""
    rows = [{"id": "1", "memory": text} for text in ("Old", "New", "New")]
    report = import_from(space, "mem0", told(tmp_path, rows))
    assert [memory.text for memory in space.list()] == ["New"]
    assert refusals(report) == [
        "record 0 has the id 'mem0:1', as record 1 behind it has with other words; give one of them another id"
    ]


def test_conversations_by_place_and_title(space: Space, tmp_path: Path) -> None:
    """One without words, and one that cannot be observed."""
    said = {"sender": "human", "text": "I moved to Oslo", "created_at": "2026-01-01T10:00:00Z"}
    broken = {"sender": "human", "text": "broken \ud800", "created_at": "2026-01-01T10:00:00Z"}
    rows = [
        {"uuid": "a", "name": "Empty", "chat_messages": []},
        {"uuid": "b", "name": "Broken", "chat_messages": [broken]},
        {"uuid": "c", "name": "Move", "chat_messages": [said]},
    ]
    report = import_from(space, "claude", told(tmp_path, rows), extract="none")
    assert (report.added, report.conversations) == (1, 1)
    assert [one.place for one in report.refused] == ["record 0 ('Empty')", "record 1"]
    assert report.refused[1].record["name"] == "Broken"


def test_a_file_with_nothing_says_what_its_first_record_lacks(space: Space, tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(InvalidInput, match=r"Its first record: record 0 has no text under 'fact'"):
        import_from(space, "zep", told(tmp_path, [{"uuid": "x"}]))


def test_facts_and_messages_of_zep(space: Space, tmp_path: Path) -> None:
    """By the list they stand in."""
    data = {"edges": [{"fact": "Alice moved"}, {}], "nodes": [{"name": "Alice"}], "messages": [{"role": "user"}]}
    report = import_from(space, "zep", told(tmp_path, data), extract="none")
    assert [one.place for one in report.refused] == ["edges[1]", "nodes[0]", "messages[0]"]


def test_a_letta_block_is_its_agents_alone(space: Space, tmp_path: Path) -> None:
    """An agent file lists the blocks of all its agents; each agent names its own, and what a block says is kept."""
    said = [("human", "Name: Alice"), ("human", "Name: Bob"), ("rules", "Be kind")]
    blocks = [
        {"id": f"block-{number}", "label": label, "value": value, "limit": 5000, "metadata": {"n": number}}
        for number, (label, value) in enumerate(said)
    ]
    agents = [
        {"id": "agent-0", "name": "sam", "block_ids": ["block-0", "block-2"]},
        {"id": "agent-1", "name": "eve", "block_ids": ["block-1", "block-2"]},
    ]
    file = told(tmp_path, {"agents": agents, "blocks": blocks})
    with pytest.raises(InvalidInput, match="2 owners"):
        import_from(space, "letta", file)
    assert import_from(space, "letta", file, owner="sam").added == 2
    held = {memory.text: dict(memory.metadata) for memory in space.list()}
    assert held == {
        "human: Name: Alice": {"label": "human", "limit": 5000, "n": 0},
        "rules: Be kind": {"label": "rules", "limit": 5000, "n": 2},
    }
