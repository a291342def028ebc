"""LangMem's own tools and manager over our store, with a scripted model: policy recall by one line."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("langmem", reason="its own environment has langmem: scripts/integrations_test.py langmem")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.prebuilt import create_react_agent
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

from retentive import Retentive
from retentive.integrations.langgraph import RetentiveStore
from retentive.testing.fakes import HashEmbedder

ALICE = {"configurable": {"langgraph_user_id": "alice"}}
NAMESPACE = ("memories", "{langgraph_user_id}")


class Scripted(GenericFakeChatModel):
    """A chat model that says what it was told to, and takes tools."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self


def call(name: str, number: int, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}])


@pytest.fixture
def store() -> RetentiveStore:
    return RetentiveStore(Retentive(":memory:", embedder=HashEmbedder()))


def agent(store: RetentiveStore, *script: AIMessage) -> Any:
    tools = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]
    return create_react_agent(Scripted(messages=iter([*script, AIMessage("done")])), tools, store=store)


def told(answer: dict[str, Any]) -> list[str]:
    return [str(message.content) for message in answer["messages"] if isinstance(message, ToolMessage)]


def test_an_agent_keeps_changes_and_finds_its_memories(store: RetentiveStore) -> None:
    """Create, search, update and delete through LangMem's tools; another user finds nothing."""
    asked = {"messages": [HumanMessage("hello")]}
    agent(store, call("manage_memory", 1, content="Prefers Postgres", action="create")).invoke(asked, ALICE)
    (item,) = store.search(("memories", "alice"))
    assert item.value == {"content": "Prefers Postgres"}
    found = told(agent(store, call("search_memory", 2, query="prefers postgres")).invoke(asked, ALICE))
    assert "Prefers Postgres" in found[0]
    update = call("manage_memory", 3, content="Prefers SQLite", action="update", id=item.key)
    asyncio.run(agent(store, update).ainvoke(asked, ALICE))
    assert [held.value for held in store.search(("memories", "alice"))] == [{"content": "Prefers SQLite"}]
    bob = {"configurable": {"langgraph_user_id": "bob"}}
    assert told(agent(store, call("search_memory", 4, query="Prefers SQLite")).invoke(asked, bob)) == ["[]"]
    agent(store, call("manage_memory", 5, action="delete", id=item.key)).invoke(asked, ALICE)
    assert store.search(("memories", "alice")) == []


def test_the_memory_manager_writes_what_it_extracts(store: RetentiveStore) -> None:
    """Its background manager searches before it writes, puts what the model extracts, and recall finds it as text."""
    said = [call("Memory", 1, content="The user moved to Lisbon"), AIMessage("done"), AIMessage("done")]
    manager = create_memory_store_manager(Scripted(messages=iter(said)), namespace=NAMESPACE, store=store)
    asyncio.run(manager.ainvoke({"messages": [HumanMessage("I moved to Lisbon")]}, config=ALICE))
    found = store.search(("memories", "alice"), query="moved to Lisbon")
    assert [item.value["content"]["content"] for item in found] == ["The user moved to Lisbon"]
    space = store.memories.space("memories/alice")
    assert [memory.text for memory in space.list()] == ["The user moved to Lisbon"]
