"""The part of docs/mcp.md that says what the code says: the tools."""

from __future__ import annotations

from docs_policy import code, table

from retentive.mcp.changing import changing_tools
from retentive.mcp.reading import reading_tools
from retentive.mcp.toolbox import Hints, Tool
from retentive.types import KINDS


def tools() -> str:
    """Return one line per tool of our own."""
    return _table((*reading_tools(KINDS), *changing_tools(KINDS)))


def _table(known: tuple[Tool, ...]) -> str:
    return table(("tool", "what it does", "arguments", "hints"), (_row(tool) for tool in known))


def _row(tool: Tool) -> tuple[str, ...]:
    required = set(tool.arguments["required"])
    arguments = ", ".join(f"**`{name}`**" if name in required else f"`{name}`" for name in tool.arguments["properties"])
    return (code(tool.name), tool.description.split(". ")[0].rstrip(".") + ".", arguments or "–", _hints(tool.hints))


def _hints(hints: Hints) -> str:
    said = {
        "reads": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent and not hints.read_only,
        "open world": hints.open_world,
    }
    return ", ".join(name for name, holds in said.items() if holds) or "adds"
