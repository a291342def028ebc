"""A session of the OpenAI Agents SDK, without the SDK: it is one by its protocol, and keeps items as they are."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import MissingExtra
from retentive.integrations.openai_agents import RetentiveSession
from retentive.integrations.transcript import Said, Transcript
from retentive.testing.fakes import HashEmbedder

ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "When is the deploy?", "odd": [1, None]},
    {"type": "function_call", "name": "look", "arguments": '{"q": "deploy"}', "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": "on Friday"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "On Friday"}, {"type": "image"}]},
    {"type": "reasoning", "summary": []},
]


@pytest.fixture
def memories() -> Retentive:
    return Retentive(":memory:", embedder=HashEmbedder())


def test_items_come_back_exactly(memories: Retentive) -> None:
    """In order, with limits of the call or of the settings; taken back and cleared."""
    session = RetentiveSession("s", memories=memories, session_settings=SimpleNamespace(limit=2))

    async def use() -> list[Any]:
        await session.add_items(ITEMS)
        await session.add_items([])
        found: list[Any] = [
            await session.get_items(),
            await session.get_items(limit=9),
            await session.get_items(limit=0),
        ]
        found += [await session.pop_item(), await session.get_items(limit=9)]
        await session.clear_session()
        return [*found, await session.get_items(), await session.pop_item()]

    assert asyncio.run(use()) == [ITEMS[3:], ITEMS, [], ITEMS[4], ITEMS[:4], [], None]


def test_what_was_said_is_recalled(memories: Retentive) -> None:
    """By its words and speaker, of this session alone; what has no words is kept, and says so."""
    asyncio.run(RetentiveSession("s/1", memories=memories).add_items([*ITEMS, "odd"]))
    session = RetentiveSession("s/1", memories=memories)
    hit = session.space.recall("When is the deploy?")[0]
    assert (hit.memory.text, hit.memory.speaker, hit.memory.session) == ("When is the deploy?", "user", "s/1")
    texts = {memory.text for memory in session.space.list()}
    assert {
        "look\n" + '{"q": "deploy"}',
        "on Friday",
        "On Friday",
        "(dict without words)",
        "(str without words)",
    } <= texts
    assert len(RetentiveSession("s", memories=memories).space.recall("deploy")) == 0


def test_a_long_transcript_is_read_whole(memories: Retentive) -> None:
    """Also beyond what one page of the store holds."""
    transcript = Transcript(memories, "s", "root")
    transcript.append(Said(number, f"turn {number}") for number in range(700))
    assert transcript.entries() == list(range(700))
    assert transcript.entries(600) == list(range(100, 700))


@pytest.mark.parametrize("name", ["llama_index", "langgraph", "langchain"])
def test_a_framework_that_is_not_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing its integration says which extra brings it."""
    import sys
    from importlib import import_module

    for module in [module for module in sys.modules if module.startswith(f"retentive.integrations.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    for module in ("llama_index.core", "langgraph.store.base", "langchain_core"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'retentive\[{name.replace('_', '-')}\]'"):
        import_module(f"retentive.integrations.{name}")
