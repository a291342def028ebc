"""The OpenAI Agents SDK's runner over our session, with a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

agents = pytest.importorskip("agents", reason="its own environment has it: scripts/integrations_test.py openai-agents")

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from retentive import Retentive
from retentive.integrations.openai_agents import RetentiveSession
from retentive.testing.fakes import HashEmbedder

set_tracing_disabled(True)


def says(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


class Scripted(Model):
    """A model that answers what it was told to, and notes what it was given."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.given: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        self.given.append(list(input) if isinstance(input, list) else input)
        return ModelResponse(output=[self.script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("not streamed here")


@pytest.fixture
def memories() -> Retentive:
    return Retentive(":memory:", embedder=HashEmbedder())


def test_it_is_a_session(memories: Retentive) -> None:
    """By the SDK's own protocol."""
    assert isinstance(RetentiveSession("s", memories=memories), Session)


def test_a_conversation_goes_on(memories: Retentive) -> None:
    """The second run is given what was said in the first, tool calls included; another session nothing of it."""

    @function_tool
    def weather(city: str) -> str:
        """Say what the weather is."""
        return f"sunny in {city}"

    call = ResponseFunctionToolCall(arguments='{"city": "Lisbon"}', call_id="c", name="weather", type="function_call")
    model = Scripted(call, says("It is sunny"), says("In Lisbon"), says("no idea"))
    agent = Agent(name="a", model=model, tools=[weather])

    async def talk() -> None:
        await Runner.run(agent, "How is Lisbon?", session=RetentiveSession("s/1", memories=memories))
        await Runner.run(agent, "Where?", session=RetentiveSession("s/1", memories=memories))
        await Runner.run(agent, "Where?", session=RetentiveSession("s", memories=memories))

    asyncio.run(talk())
    assert [item.get("type", item.get("role")) for item in model.given[2]] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
    ]
    assert len(model.given[3]) == 1
    session = RetentiveSession("s/1", memories=memories)
    assert [hit.memory.speaker for hit in session.space.recall("sunny Lisbon")]


def test_items_come_back_exactly(memories: Retentive) -> None:
    """In order, with limits of the call or the settings; taken back and cleared."""
    session = RetentiveSession("s", memories=memories, session_settings=SessionSettings(limit=2))
    items = [{"role": "user", "content": f"n{n}", "odd": [n, None]} for n in range(3)] + [
        {"type": "reasoning", "summary": []}
    ]

    async def use() -> list[Any]:
        await session.add_items(items)
        found = [await session.get_items(), await session.get_items(limit=9), await session.pop_item()]
        found.append(await session.get_items(limit=9))
        await session.clear_session()
        return [*found, await session.get_items(), await session.pop_item()]

    assert asyncio.run(use()) == [items[2:], items, items[3], items[:3], [], None]
