"""pydantic-ai's agent with our toolset, with its own function model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="its own environment has it: scripts/integrations_test.py pydantic-ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from retentive import Retentive
from retentive.integrations.pydantic_ai import memory_toolset
from retentive.testing.fakes import HashEmbedder


@dataclass
class User:
    name: str


def scripted(*calls: ToolCallPart, seen: list[AgentInfo]) -> FunctionModel:
    script = list(calls)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info)
        if script:
            return ModelResponse(parts=[script.pop(0)])
        said = [
            part.content
            for message in messages
            for part in message.parts
            if part.part_kind in {"tool-return", "retry-prompt"}
        ]
        return ModelResponse(parts=[TextPart("\n".join(map(str, said)) or "nothing was said")])

    return FunctionModel(answer)


@pytest.fixture
def home() -> Retentive:
    return Retentive(":memory:", embedder=HashEmbedder())


def run(home: Retentive, user: str, *calls: ToolCallPart, seen: list[AgentInfo] | None = None, **options: Any) -> str:
    toolset = memory_toolset(lambda deps: home.space(f"users/{deps.name}"), **options)
    agent = Agent(scripted(*calls, seen=[] if seen is None else seen), deps_type=User, toolsets=[toolset])
    return str(agent.run_sync("hello", deps=User(user)).output)


def test_an_agent_remembers_recalls_and_forgets(home: Retentive) -> None:
    """In the space of whoever it serves; another user's agent finds nothing of it."""
    kept = run(home, "alice", ToolCallPart("remember", {"text": "Prefers Postgres", "kind": "preference", "key": "db"}))
    memory = home.space("users/alice").list()[0]
    assert kept == f"Remembered as {memory.id}."
    assert (memory.text, memory.kind, memory.key) == ("Prefers Postgres", "preference", "db")
    assert "Prefers Postgres" in run(home, "alice", ToolCallPart("recall", {"query": "prefers postgres"}))
    assert (
        run(home, "bob", ToolCallPart("recall", {"query": "Prefers Postgres"})) == "Nothing is remembered about that."
    )
    run(home, "alice", ToolCallPart("forget", {"memory_id": memory.id}))
    assert not home.space("users/alice").list()


def test_what_the_model_reads(home: Retentive) -> None:
    """Names, descriptions and parameters of the tools, without the run and without a space; read-only has one."""
    seen: list[AgentInfo] = []
    run(home, "alice", seen=seen)
    tools = {tool.name: tool for tool in seen[0].function_tools}
    assert set(tools) == {"recall", "remember", "forget"}
    assert set(tools["remember"].parameters_json_schema["properties"]) == {"text", "kind", "key"}
    assert tools["recall"].parameters_json_schema["properties"]["query"]["description"]
    seen.clear()
    run(home, "alice", seen=seen, read_only=True)
    assert [tool.name for tool in seen[0].function_tools] == ["recall"]


def test_a_refusal_is_told_to_the_model(home: Retentive) -> None:
    """An unknown kind or id comes back as a retry that names what would do."""
    assert "preference" in run(home, "alice", ToolCallPart("remember", {"text": "x", "kind": "prefrence"}))
    assert "nothing" in run(home, "alice", ToolCallPart("forget", {"memory_id": "nothing"}))


def test_one_space_for_all_runs(home: Retentive) -> None:
    """A space instead of a function serves agents without deps."""
    agent = Agent(
        scripted(ToolCallPart("remember", {"text": "x"}), seen=[]),
        toolsets=[memory_toolset(home.space("shared/notes"))],
    )
    agent.run_sync("hello")
    assert [memory.text for memory in home.space("shared/notes").list()] == ["x"]
