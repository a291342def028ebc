"""A space behind the tools of MCP, without the protocol between: for tests of what the tools do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from retentive import Retentive
from retentive.mcp.changing import changing_tools
from retentive.mcp.reading import reading_tools
from retentive.mcp.toolbox import Access, Answer, Tool, toolbox
from retentive.testing.fakes import HashEmbedder

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Ticking:
    """A clock that moves by a minute each time it is read."""

    def __init__(self) -> None:
        self._ticks: Iterator[datetime] = (START + timedelta(minutes=minute) for minute in range(10**9))

    def __call__(self) -> datetime:
        return next(self._ticks)


def memories_in_memory() -> Retentive:
    """Return an empty store that the tests of tools work on."""
    return Retentive(":memory:", embedder=HashEmbedder(), clock=Ticking())


class Desk:
    """The tools for one space, called by name."""

    def __init__(
        self,
        memories: Retentive,
        space: str = "acme/alice",
        *,
        writes: bool = True,
        erase: bool = False,
        more: tuple[Tool, ...] = (),
    ) -> None:
        self.memories = memories
        self.space = memories.space(space)
        self.access = Access(self.space, memories.now, writes)
        kinds = sorted(memories.kinds)
        self.box = toolbox((*changing_tools(kinds, erase=erase), *reading_tools(kinds), *more), writes=writes)

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool and return its answer."""
        return self.box.tool(tool, self.access).call(self.access, arguments)
