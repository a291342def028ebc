"""What happens at the server's edge when a tool or a store fails in a way that nobody foresaw."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

from mcp import Client, MCPError
from mcp_desk import Desk, memories_in_memory

from retentive.errors import StoreBusy
from retentive.mcp.app import server_of
from retentive.mcp.resources import OWN
from retentive.mcp.toolbox import Access, Answer, Toolbox


def failing(error: Exception) -> Client:
    """Return a client of a server whose tools and resources fail."""

    def fail(*_arguments: Any) -> Any:
        raise error

    desk = Desk(memories_in_memory())
    tools = tuple(replace(tool, run=fail) for tool in desk.box.tools)
    resources = tuple(replace(resource, read=fail) for resource in OWN)
    return Client(server_of(Toolbox(tools), lambda _request: desk.access, resources=resources))


def told(client: Client) -> str:
    async def run() -> str:
        async with client:
            result = await client.call_tool("get_memory", {"id": "x"})
            assert result.is_error
            return str(result.content)

    return anyio.run(run)


def test_what_nobody_foresaw_is_an_answer_and_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Both without the error's message, which may quote a memory; the log says where."""
    with caplog.at_level(logging.ERROR, logger="retentive.mcp"):
        answer = told(failing(ValueError("xyzzyplugh")))
    assert "failed inside the server (ValueError)" in answer
    assert "get_memory failed: ValueError" in caplog.text
    assert "test_mcp_edges.py" in caplog.text
    assert "xyzzyplugh" not in answer + caplog.text


def test_a_busy_store_is_told_as_it_is() -> None:
    """With its remedy: a model can try again."""
    assert "try again" in told(failing(StoreBusy("Another writer holds the store; try again.")))


def test_a_resource_that_cannot_be_read_is_an_error_of_the_protocol() -> None:
    """There is no other way to say it."""

    async def run() -> None:
        async with failing(StoreBusy("Another writer holds the store; try again.")) as client:
            with pytest.raises(MCPError, match="try again"):
                await client.read_resource("retentive://acme/alice/core")

    anyio.run(run)


def test_a_slow_tool_keeps_no_other_waiting() -> None:
    """Both run in threads: the quick one ends while the slow one waits for it."""
    desk, freed = Desk(memories_in_memory()), threading.Event()
    forget = desk.box.tool("forget", desk.access)

    def slow(access: Access, arguments: dict[str, Any]) -> Answer:
        assert freed.wait(30)
        return forget.run(access, arguments)

    tools = tuple(replace(tool, run=slow) if tool.name == "forget" else tool for tool in desk.box.tools)
    kept = desk.call("remember", text="Tea at four").data["id"]

    async def run() -> bool:
        client = Client(server_of(Toolbox(tools), lambda _request: desk.access))
        async with client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "forget", {"id": kept})
            result = await client.call_tool("get_memory", {"id": kept})
            freed.set()
        return bool(result.is_error)

    assert anyio.run(run) is False
