"""One line changed: the same agent over LangGraph's own store and over ours, with a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Retentive

pytest.importorskip("langgraph.prebuilt", reason="the extra 'langgraph' is not installed")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from retentive.integrations.langgraph import RetentiveStore

pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")


class Scripted(GenericFakeChatModel):
    """A chat model that says what it was told to, and takes tools."""

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        return self


@tool
def save(key: str, text: str, config: RunnableConfig) -> str:
    """Remember a text about the user."""
    get_store().put(("memories", config["configurable"]["user"]), key, {"content": text})
    return "saved"


@tool
def look_up(query: str, config: RunnableConfig) -> str:
    """Search what is known of the user."""
    found = get_store().search(("memories", config["configurable"]["user"]), query=query, limit=3)
    return "; ".join(item.value["content"] for item in found) or "nothing known"


def call(name: str, number: int = 0, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}-{number}"}])


def talk(store: BaseStore, user: str, *script: AIMessage) -> list[BaseMessage]:
    """Run an agent over a store; only this line knows which store it is."""
    agent = create_react_agent(Scripted(messages=iter([*script, AIMessage("done")])), [save, look_up], store=store)
    config: RunnableConfig = {"configurable": {"user": user}}
    messages: list[BaseMessage] = agent.invoke({"messages": [HumanMessage("hello")]}, config)["messages"]
    return messages


def told(messages: list[BaseMessage]) -> list[str]:
    return [str(message.content) for message in messages if isinstance(message, ToolMessage)]


def test_an_agent_remembers_under_the_policy(memories: Retentive) -> None:
    """What one run saves a later one recalls; nothing relevant is nothing, where the plain store returns anything."""
    ours, plain = RetentiveStore(memories), InMemoryStore()
    for store in (ours, plain):
        told_ = told(
            talk(
                store,
                "alice",
                call("save", 1, key="a", text="Prefers Postgres for relational work"),
                call("save", 2, key="b", text="The deploy failed with E4012 on staging"),
            )
        )
        assert told_ == ["saved", "saved"]
    asked = call("look_up", query="E4012")
    assert told(talk(ours, "alice", asked)) == ["The deploy failed with E4012 on staging"]
    assert "Postgres" in told(talk(plain, "alice", asked))[0]
    assert told(talk(ours, "alice", call("look_up", query="zebra husbandry"))) == ["nothing known"]


def test_users_are_apart(memories: Retentive) -> None:
    """One user's agent finds nothing of another's, whatever it asks."""
    store = RetentiveStore(memories)
    talk(store, "alice", call("save", key="a", text="The deploy failed with E4012"))
    assert told(talk(store, "bob", call("look_up", query="The deploy failed with E4012"))) == ["nothing known"]
    assert memories.spaces() == ["memories/alice"]


def test_a_graph_takes_it_as_its_store(memories: Retentive) -> None:
    """Compiled into a graph of one's own, nodes get it as `store`."""

    def node(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        store.put(("notes",), "n", {"content": str(state["messages"][-1].content)})
        found = store.search(("notes",), query="deploy")
        return {"messages": [AIMessage(found[0].value["content"])]}

    graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node")
    compiled = graph.compile(store=RetentiveStore(memories))
    answer = compiled.invoke({"messages": [HumanMessage("the deploy is on Friday")]})
    assert answer["messages"][-1].content == "the deploy is on Friday"
