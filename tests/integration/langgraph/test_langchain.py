"""LangChain's retriever and chat history over a space, in a chain, sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph_making import Clock

from retentive import Retentive

pytest.importorskip("langchain_core", reason="the extra 'langchain' is not installed")

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory

from retentive.integrations.langchain import RetentiveChatMessageHistory, RetentiveRetriever


def test_documents_are_hits(memories: Retentive) -> None:
    """Best first, with score, kind, source and the memory's own metadata; as many as asked for; of this space alone."""
    alice = memories.space("acme/alice")
    kept = alice.remember("The deploy failed with E4012", kind="event", source="ticket:7", metadata={"ticket": 7})
    alice.remember("Likes oranges")
    memories.space("acme/bob").remember("The deploy failed with E4012, says Bob")
    retriever = RetentiveRetriever(space=alice, k=3)
    found: list[Document] = retriever.invoke("deploy E4012")
    assert [document.id for document in found] == [kept.id]
    assert found[0].page_content == "The deploy failed with E4012"
    said = found[0].metadata
    assert (said["ticket"], said["kind"], said["source"], said["space"]) == (7, "event", "ticket:7", "acme/alice")
    assert [document.id for document in asyncio.run(retriever.ainvoke("deploy E4012"))] == [kept.id]


def test_filters_and_policies_are_the_spaces(memories: Retentive) -> None:
    """What `recall` takes, the retriever takes."""
    alice = memories.space("acme/alice")
    alice.remember("deploy one", kind="event")
    alice.remember("deploy two", kind="decision")
    retriever = RetentiveRetriever(space=alice, policy="blend", filters={"kinds": ["decision"], "touch": False})
    assert [document.page_content for document in retriever.invoke("deploy")] == ["deploy two"]
    assert alice.list(kinds=["decision"])[0].access.count == 0


def test_messages_come_back_as_they_were(memories: Retentive, clock: Clock) -> None:
    """Every kind of message with all it carries, in order, though the clock stands still or runs back."""
    history = RetentiveChatMessageHistory("s/1", memories=memories)
    said: list[Any] = [
        SystemMessage("be nice"),
        HumanMessage("hello", name="alice", additional_kwargs={"x": 1}),
        AIMessage("", tool_calls=[{"name": "look", "args": {"q": "é"}, "id": "1", "type": "tool_call"}]),
        ToolMessage("found", tool_call_id="1"),
    ]
    history.add_messages(said[:2])
    clock.tick(hours=-1)
    history.add_messages(said[2:])
    history.add_messages([])
    assert history.messages == said
    assert RetentiveChatMessageHistory("s/1", memories=memories, limit=2).messages == said[2:]
    assert asyncio.run(history.aget_messages()) == said


def test_sessions_are_apart_and_clearing_erases(memories: Retentive) -> None:
    """One session's messages are no other's; cleared they are gone, and other memories of the space stay."""
    one, two = (RetentiveChatMessageHistory(name, memories=memories) for name in ("a", "a/b"))
    one.add_user_message("mine")
    two.add_ai_message("yours")
    one.transcript.space.remember("a fact beside")
    one.clear()
    assert one.messages == []
    assert [message.text for message in two.messages] == ["yours"]
    assert [memory.text for memory in one.transcript.space.list()] == ["a fact beside"]
    assert memories.spaces() == ["langchain/a", "langchain/a%2Fb"]


def test_what_was_said_can_be_recalled(memories: Retentive) -> None:
    """A session is a space: its turns are memories with their speakers."""
    history = RetentiveChatMessageHistory("s", memories=memories)
    history.add_messages([HumanMessage("We moved the deploy to Friday", name="alice"), AIMessage("Noted")])
    hits = history.transcript.space.recall("when is the deploy?")
    assert hits[0].memory.speaker == "alice"


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
def test_a_chain_keeps_its_history(memories: Retentive) -> None:
    """`RunnableWithMessageHistory` reads and writes it."""
    model = GenericFakeChatModel(messages=iter([AIMessage("hi alice"), AIMessage("as I said")]))
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{input}")])
    chain = RunnableWithMessageHistory(
        prompt | model,
        lambda session_id: RetentiveChatMessageHistory(session_id, memories=memories),
        input_messages_key="input",
        history_messages_key="history",
    )
    for text in ("I am alice", "who am I?"):
        chain.invoke({"input": text}, config={"configurable": {"session_id": "s"}})
    messages = RetentiveChatMessageHistory("s", memories=memories).messages
    assert [message.text for message in messages] == ["I am alice", "hi alice", "who am I?", "as I said"]
