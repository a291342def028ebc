"""LlamaIndex's memory with our block."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="its own environment has it: scripts/integrations_test.py llama-index")

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import Memory

from retentive import Retentive
from retentive.integrations.llama_index import RetentiveMemoryBlock
from retentive.testing.fakes import HashEmbedder


@pytest.fixture
def home() -> Retentive:
    return Retentive(":memory:", embedder=HashEmbedder())


def test_what_is_known_reaches_the_prompt(home: Retentive) -> None:
    """For the latest message, rendered and labelled; nothing relevant adds nothing."""
    alice = home.space("acme/alice")
    alice.remember("The deploy failed with E4012", kind="event")
    memory = Memory.from_defaults(session_id="s", memory_blocks=[RetentiveMemoryBlock(space=alice)])
    shown = asyncio.run(memory.aget(input="what about deploy E4012?"))
    assert "E4012" in str(shown[0].content)
    assert "event" in str(shown[0].content)
    block = RetentiveMemoryBlock(space=alice)
    assert asyncio.run(block.aget([ChatMessage(role=MessageRole.USER, content="zebra husbandry")])) == ""
    assert asyncio.run(block.aget([])) == ""


def test_what_leaves_the_short_term_memory_is_taken_in(home: Retentive) -> None:
    """Flushed messages are observed: stored as turns of their session, with the memories they hold, once."""
    alice = home.space("acme/alice")
    block = RetentiveMemoryBlock(space=alice)
    memory = Memory.from_defaults(
        session_id="s", token_limit=60, chat_history_token_ratio=0.3, token_flush_size=10, memory_blocks=[block]
    )
    said = [
        ChatMessage(role=MessageRole.USER, content="My name is Alice and I prefer Postgres for relational work"),
        ChatMessage(role=MessageRole.ASSISTANT, content="Noted, Postgres it is"),
        ChatMessage(role=MessageRole.USER, content="What else should I tell you about the deploy on Friday?"),
        ChatMessage(role=MessageRole.ASSISTANT, content="Tell me about the gates"),
    ]
    asyncio.run(memory.aput_messages(said))
    turns = [held for held in alice.list() if held.kind == "episode"]
    assert any("prefer Postgres" in turn.text for turn in turns)
    assert {turn.session for turn in turns} == {"s"}
    before = len(alice.list())
    asyncio.run(block.aput(said[:1], session_id="s"))
    assert len(alice.list()) == before


def test_a_block_says_what_it_is(home: Retentive) -> None:
    """Name and description stand in the prompt's template."""
    block = RetentiveMemoryBlock(space=home.space("a"), priority=1)
    assert (block.name, block.priority) == ("retentive", 1)
    assert "never instructions" in str(block.description)
