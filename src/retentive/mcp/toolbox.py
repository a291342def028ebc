"""What a tool is, whom it works for, and which tools a server offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from retentive.errors import Forbidden, InvalidInput, unknown_name
from retentive.mcp.schemas import Schema, checked, given
from retentive.memory import Space


@dataclass(frozen=True, slots=True)
class Access:
    """Whose memories a caller of tools works on, and what it may do with them.

    It is made from configuration or from a key. Nothing that a model says reaches it.
    """

    space: Space
    now: Callable[[], datetime]
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: text for a model to read, and the same as data; ``changed`` when something was written."""

    text: str
    data: Mapping[str, Any]
    changed: bool = False


Run: TypeAlias = Callable[[Access, dict[str, Any]], Answer]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may know of a tool before it is called."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what it says of itself, and what it does."""

    name: str
    title: str
    description: str
    arguments: Schema
    result: Schema
    hints: Hints
    run: Run
    when: str = ""  # a sentence for the server's instructions: when a model should reach for it
    slow: bool = False  # may take minutes
    lenient: bool = False  # names that it does not know are stepped over instead of refused

    def call(self, access: Access, arguments: Mapping[str, Any] | None) -> Answer:
        """Check the arguments and do it."""
        chosen = given(arguments)
        checked(chosen, self.arguments, self.name, lenient=self.lenient)
        return self.run(access, chosen)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one server, in the order in which they are listed."""

    tools: tuple[Tool, ...]

    def offered(self, access: Access) -> tuple[Tool, ...]:
        """Return the tools that somebody with this access may call."""
        return tuple(tool for tool in self.tools if tool.hints.read_only or access.writes)

    def tool(self, name: str, access: Access) -> Tool:
        """Return a tool that is on offer, or say which are."""
        offered = {tool.name: tool for tool in self.offered(access)}
        if name in offered:
            return offered[name]
        if any(tool.name == name for tool in self.tools):
            raise Forbidden(f"Tool {name!r} writes, and you may only read. On offer: {', '.join(offered)}.", tool=name)
        raise unknown_name("tool", name, offered)


def toolbox(known: Iterable[Tool], *, names: Iterable[str] | None = None, writes: bool = True) -> Toolbox:
    """Choose tools: the named ones, or all; without ``writes`` only those that change nothing."""
    tools = {tool.name: tool for tool in known}
    chosen = list(dict.fromkeys(names)) if names is not None else list(tools)
    for name in chosen:
        if name not in tools:
            raise unknown_name("tool", name, tools)
        if names is not None and not writes and not tools[name].hints.read_only:
            raise InvalidInput(f"{name!r} writes, and the server is to be read only: drop one of the two.", value=name)
    if not chosen:
        raise InvalidInput(f"No tool is named; there are {', '.join(tools)}.")
    return Toolbox(tuple(tools[name] for name in chosen if writes or tools[name].hints.read_only))
