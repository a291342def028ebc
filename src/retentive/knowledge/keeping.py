"""The graph of a space: read from its memories, and written back to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, TypeVar

from retentive.errors import NotFound
from retentive.knowledge.graph import MARK, Edge, Graph, Node, Note
from retentive.memory import Space
from retentive.types import Memory

T = TypeVar("T")

_PAGE: Final = 1_000  # as many as a server gives at once
_LOCKS: Final[dict[str, threading.Lock]] = {}
_GUARD: Final = threading.Lock()


def load(space: Space) -> Graph:
    """Read the graph of a space.

    Whatever was forgotten is gone from it. What upkeep or a contradiction retired from recall is still there: the graph
    says what was put into it.
    """
    graph = Graph()
    nodes: dict[tuple[str, int], Node] = {}
    for memory in _parts(space, "entity"):
        place = _place(memory)
        key = (str(memory.metadata.get("name")), place)
        if key not in nodes:  # two processes may have created it at once
            nodes[key] = Node(key[0], str(memory.metadata.get("type")), place, memory=memory.id)
            graph.nodes.append(nodes[key])
        graph.places = max(graph.places, place)
    for memory in _parts(space, "observation"):
        name, entity = str(memory.metadata.get("name")), memory.metadata.get("entity")
        graph.places = max(graph.places, _place(memory))
        if isinstance(entity, int) and (node := nodes.get((name, entity))):
            node.notes.append(Note(memory.text.removeprefix(f"{name}: "), memory.id))
    for memory in _parts(space, "relation"):
        source, target, kind = (str(memory.metadata.get(name)) for name in ("from", "to", "type"))
        graph.edges.append(Edge(source, target, kind, memory.id))
        graph.places = max(graph.places, _place(memory))
    return graph


def change(space: Space, verb: Callable[[Graph], T], *, erase: bool = False, reason: str = "") -> T:
    """Do something to the graph of a space and write down what came of it; one at a time within this process."""
    with _lock_of(space.path):
        graph = load(space)
        result = verb(graph)
        if graph.drafts:
            space.remember_many(graph.drafts)
        for memory in graph.gone:
            with suppress(NotFound):  # another process was first
                space.forget(memory, erase=erase, reason=reason)
        return result


def _lock_of(path: str) -> threading.Lock:
    with _GUARD:
        return _LOCKS.setdefault(path, threading.Lock())


def _parts(space: Space, part: str) -> list[Memory]:
    """Return one sort of the graph's memories in the order in which they were put in."""
    found = [memory for memory in _pages(space, part) if memory.suppressed_at is None]
    return sorted(found, key=lambda memory: (_place(memory), memory.created_at, memory.id))


def _pages(space: Space, part: str) -> Iterator[Memory]:
    cursor = None
    while True:
        page = space.list(where={MARK: part}, hidden=True, limit=_PAGE, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _place(memory: Memory) -> int:
    place = memory.metadata.get("place")
    return place if isinstance(place, int) else 0
