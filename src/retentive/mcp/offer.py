"""What one server offers: which tools and resources, chosen once, by whoever starts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from retentive.errors import unknown_name
from retentive.mcp.changing import changing_tools
from retentive.mcp.graph_tools import GRAPH, graph_tools
from retentive.mcp.reading import reading_tools
from retentive.mcp.resources import OWN, Resource
from retentive.mcp.toolbox import Toolbox, toolbox

COMPATIBLE: Final = ("memory",)
"""Servers whose tools can be served instead: `memory` is the official MCP memory server."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools and resources of one server."""

    toolbox: Toolbox
    resources: tuple[Resource, ...] = OWN


def offer(
    kinds: Sequence[str],
    *,
    names: Iterable[str] | None = None,
    writes: bool = True,
    erase: bool = False,
    compat: str | None = None,
) -> Offer:
    """Choose what to offer: our own tools, or with ``compat="memory"`` the official memory server's nine.

    ``names`` is an allow-list; beside the nine it may name ours. ``writes=False`` leaves out what writes, ``erase``
    lets what is forgotten or deleted be erased.
    """
    own = (*reading_tools(kinds), *changing_tools(kinds, erase=erase))
    if compat is None:
        return Offer(toolbox(own, names=names, writes=writes))
    if compat not in COMPATIBLE:
        raise unknown_name("server to be compatible with", compat, COMPATIBLE)
    nine = graph_tools(erase=erase)
    if names is None:
        return Offer(toolbox(nine, writes=writes), (GRAPH,))
    return Offer(toolbox((*nine, *own), names=names, writes=writes), (GRAPH, *OWN))
