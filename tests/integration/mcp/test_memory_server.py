"""`--compat memory` against the official memory server: the same calls, the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

from mcp import Client
from mcp_desk import memories_in_memory
from memory_server_life import RECORDED, asked, digest, life, official
from npm_peers import MEMORY_SERVER, peer

from retentive.knowledge.file import import_graph
from retentive.knowledge.keeping import load
from retentive.mcp.app import server_of
from retentive.mcp.offer import offer
from retentive.mcp.toolbox import Access


def ours() -> Client:
    memories = memories_in_memory()
    access = Access(memories.space("acme/alice"), memories.now)
    chosen = offer(sorted(memories.kinds), compat="memory")
    return Client(server_of(chosen.toolbox, lambda _request: access, resources=chosen.resources))


def theirs(folder: Path) -> Client:
    return official(peer(MEMORY_SERVER), folder / "memory.jsonl")


def written_down() -> list[tuple[str, dict[str, Any], str]]:
    rows: list[tuple[str, dict[str, Any], str]] = [tuple(row) for row in json.loads(RECORDED.read_text("utf-8"))]
    return rows


@pytest.mark.parametrize("server", ["ours", "theirs"])
def test_the_recorded_life(server: str, tmp_path: Path) -> None:
    """What the official server 2026.8.31 answered is what we answer, and what it still answers itself."""
    rows = written_down()
    calls = [(name, arguments) for name, arguments, _ in rows]
    answers = asked(ours() if server == "ours" else theirs(tmp_path), calls)
    for (name, arguments, expected), answer in zip(rows, answers, strict=True):
        assert digest(answer) == expected, (name, arguments, answer)


def test_the_recorded_life_says_something() -> None:
    """Every tool is called in it, and hardly two answers are the same."""
    rows = written_down()
    assert len({name for name, _, _ in rows}) == 9
    assert len({expected for _, _, expected in rows}) > len(rows) // 3


@pytest.mark.parametrize("seed", range(3))
def test_the_same_life_has_the_same_answers(seed: int, tmp_path: Path) -> None:
    """Text, data and errors of every call, and the whole graph after each."""
    there, here = asked(theirs(tmp_path), life(seed)), asked(ours(), life(seed))
    for call, official_answer, answer in zip(life(seed), there, here, strict=True):
        assert answer == official_answer, call


async def described(client: Client) -> list[dict[str, Any]]:
    """Return the tools as a client sees them, without what only says which draft of JSON Schema is meant."""
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    for tool in tools:
        tool.pop("execution", None)
        tool["annotations"].pop("title", None)
        for side in ("inputSchema", "outputSchema"):
            tool[side].pop("$schema", None)
    return tools


def test_the_same_tools(tmp_path: Path) -> None:
    """Names, words, schemas and hints, in the same order; the same resource."""
    entity = {"name": "A", "entityType": "b", "observations": ["c"]}

    async def look(client: Client) -> tuple[Any, Any, Any]:
        async with client:
            await client.call_tool("create_entities", {"entities": [entity]})
            listed = (await client.list_resources()).resources
            read = [(await client.read_resource(resource.uri)).contents[0] for resource in listed]
            return (
                await described(client),
                [resource.model_dump(exclude_none=True) for resource in listed],
                [content.model_dump(exclude_none=True) for content in read],
            )

    assert anyio.run(look, ours()) == anyio.run(look, theirs(tmp_path))


def test_the_file_of_the_official_server_is_imported(tmp_path: Path) -> None:
    """What it wrote is our graph; entities of one name become one."""
    graph = asked(theirs(tmp_path), life(7))[-1][2]
    space = memories_in_memory().space("acme/alice")
    import_graph(space, tmp_path / "memory.jsonl")
    expected: dict[str, dict[str, Any]] = {}
    for row in graph["entities"]:
        one = expected.setdefault(row["name"], {**row, "observations": []})
        known = set(one["observations"])
        one["observations"] += [text for text in row["observations"] if text not in known]
    rows = load(space).rows()
    assert rows["entities"] == list(expected.values())
    assert rows["relations"] == graph["relations"]
