"""The graph and its nine verbs, pure: each changes the graph in hand and notes what has to be written for it.

What a verb does in every odd case (names given twice, observations repeated, relations to nobody) is what the official
MCP memory server 2026.8.31 does; a differential test runs both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from retentive.errors import NotFound

Row: TypeAlias = dict[str, Any]
MARK: Final = "graph"
"""The metadata entry by which the memories of a graph are known: entity, observation or relation."""


@dataclass(slots=True)
class Note:
    """One observation, and the memory that keeps it (empty until it is written)."""

    text: str
    memory: str = ""


@dataclass(slots=True)
class Node:
    """One entity. Names may be given twice, so its place in the graph is what tells two of them apart."""

    name: str
    kind: str
    place: int
    notes: list[Note] = field(default_factory=list)
    memory: str = ""

    def row(self) -> Row:
        """Return the entity as the server's clients know one."""
        return {"name": self.name, "entityType": self.kind, "observations": [note.text for note in self.notes]}


@dataclass(slots=True)
class Edge:
    """One relation."""

    source: str
    target: str
    kind: str
    memory: str = ""

    def row(self) -> Row:
        """Return the relation as the server's clients know one."""
        return {"from": self.source, "to": self.target, "relationType": self.kind}


@dataclass(slots=True)
class Graph:
    """A graph in hand: ``drafts`` are to be remembered, ``gone`` to be forgotten, for what was done to it."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    places: int = 0  # the highest place given so far
    drafts: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def create_entities(self, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Add entities whose names are new; return them."""
        known = {node.name for node in self.nodes}
        fresh = [row for row in rows if row["name"] not in known]
        return [self._add_node(row).row() for row in fresh]

    def create_relations(self, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Add relations that are new; return them. Neither end has to exist."""
        known = {_ends(edge.row()) for edge in self.edges}
        fresh = [row for row in rows if _ends(row) not in known]
        return [self._add_edge(row).row() for row in fresh]

    def add_observations(self, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Add what is new about entities that exist; return it. An unknown entity is an error, and nothing is added."""
        added = []
        for row in rows:
            node = self.node(row["entityName"])
            if node is None:
                raise NotFound(f"Entity with name {row['entityName']} not found", name=row["entityName"])
            known = {note.text for note in node.notes}
            fresh = [text for text in row["contents"] if text not in known]
            for text in fresh:
                self._add_note(node, text)
            added.append({"entityName": row["entityName"], "addedObservations": fresh})
        return added

    def delete_entities(self, names: Collection[str]) -> None:
        """Remove entities with their observations and relations."""
        for node in self.nodes:
            if node.name in names:
                self.gone += [*(note.memory for note in node.notes), node.memory]
        self.gone += [edge.memory for edge in self.edges if edge.source in names or edge.target in names]
        self.nodes = [node for node in self.nodes if node.name not in names]
        self.edges = [edge for edge in self.edges if edge.source not in names and edge.target not in names]

    def delete_observations(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Remove observations; those that are not there, and entities that are not, are stepped over."""
        for row in rows:
            if node := self.node(row["entityName"]):
                self.gone += [note.memory for note in node.notes if note.text in row["observations"]]
                node.notes = [note for note in node.notes if note.text not in row["observations"]]

    def delete_relations(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Remove relations; those that are not there are stepped over."""
        unwanted = {_ends(row) for row in rows}
        self.gone += [edge.memory for edge in self.edges if _ends(edge.row()) in unwanted]
        self.edges = [edge for edge in self.edges if _ends(edge.row()) not in unwanted]

    def rows(self) -> dict[str, list[Row]]:
        """Return the whole graph."""
        return self._part(self.nodes, self.edges)

    def search(self, query: str) -> dict[str, list[Row]]:
        """Return the entities in which the query stands as it is, whatever its case, with their relations."""
        words = query.lower()
        return self._around([node for node in self.nodes if _mentions(node, words)])

    def open(self, names: Collection[str]) -> dict[str, list[Row]]:
        """Return the entities with these names, with their relations."""
        return self._around([node for node in self.nodes if node.name in names])

    def node(self, name: str) -> Node | None:
        """Return the first entity with a name."""
        return next((node for node in self.nodes if node.name == name), None)

    def _around(self, nodes: Sequence[Node]) -> dict[str, list[Row]]:
        names = {node.name for node in nodes}
        return self._part(nodes, (edge for edge in self.edges if edge.source in names or edge.target in names))

    @staticmethod
    def _part(nodes: Iterable[Node], edges: Iterable[Edge]) -> dict[str, list[Row]]:
        return {"entities": [node.row() for node in nodes], "relations": [edge.row() for edge in edges]}

    def _add_node(self, row: Mapping[str, Any]) -> Node:
        node = Node(row["name"], row["entityType"], self._next_place())
        self.nodes.append(node)
        self._draft("entity", f"{node.name} ({node.kind})", node.place, name=node.name, type=node.kind)
        for text in row["observations"]:
            self._add_note(node, text)
        return node

    def _add_note(self, node: Node, text: str) -> None:
        node.notes.append(Note(text))
        self._draft("observation", f"{node.name}: {text}", self._next_place(), name=node.name, entity=node.place)

    def _add_edge(self, row: Mapping[str, Any]) -> Edge:
        edge = Edge(row["from"], row["to"], row["relationType"])
        self.edges.append(edge)
        self._draft(
            "relation", f"{edge.source} {edge.kind} {edge.target}", self._next_place(),
            **{"from": edge.source, "to": edge.target, "type": edge.kind},
        )  # fmt: skip
        return edge

    def _next_place(self) -> int:
        self.places += 1
        return self.places

    def _draft(self, part: str, text: str, place: int, **facts: Any) -> None:
        """Note a memory to be written; permanent, for a graph forgets only what it is told to."""
        kinds = {"entity": "entity", "observation": "fact", "relation": "relation"}
        metadata = {MARK: part, "place": place, **facts}
        words = text if text.strip() else "(nameless)"
        self.drafts.append({"text": words, "kind": kinds[part], "metadata": metadata, "permanent": True})


def _mentions(node: Node, words: str) -> bool:
    return any(words in text.lower() for text in (node.name, node.kind, *(note.text for note in node.notes)))


def _ends(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["from"], row["to"], row["relationType"]
