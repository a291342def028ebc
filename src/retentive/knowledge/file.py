"""Reading the file of the official MCP memory server (`memory.jsonl`) into the graph of a space."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound
from retentive.knowledge.graph import Graph, Row
from retentive.knowledge.keeping import change
from retentive.memory import Space

_FIELDS: Final[Mapping[str, Mapping[str, type]]] = {
    "entity": {"name": str, "entityType": str, "observations": list},
    "relation": {"from": str, "to": str, "relationType": str},
}


@dataclass(frozen=True, slots=True)
class GraphImport:
    """How much of a file was new to the space."""

    entities: int = 0
    observations: int = 0
    relations: int = 0


def import_graph(space: Space, source: str | Path) -> GraphImport:
    """Add what a file of the official memory server holds; what is there already is stepped over.

    The file is read whole before anything is written; a line that is none of the server's is an error that names it.
    """
    entities, relations = read_graph_file(Path(source))

    def add(graph: Graph) -> GraphImport:
        before = len(graph.nodes), sum(len(node.notes) for node in graph.nodes)
        for row in entities:
            if graph.node(row["name"]) is None:
                graph.create_entities([row])
            else:
                graph.add_observations([{"entityName": row["name"], "contents": row["observations"]}])
        notes = sum(len(node.notes) for node in graph.nodes) - before[1]
        return GraphImport(len(graph.nodes) - before[0], notes, len(graph.create_relations(relations)))

    return change(space, add)


def read_graph_file(source: Path) -> tuple[list[Row], list[Row]]:
    """Return the entities and relations of a file, in its order."""
    found: dict[str, list[Row]] = {"entity": [], "relation": []}
    for number, line in _lines(source):
        record = _record(line, f"{str(source)!r}, line {number}")
        found[record["type"]].append({name: record[name] for name in _FIELDS[record["type"]]})
    return found["entity"], found["relation"]


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    try:
        text = source.read_text("utf-8")
    except FileNotFoundError:
        raise NotFound(f"There is no file {str(source)!r}.", path=str(source)) from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{str(source)!r} is not UTF-8: {error.reason} at byte {error.start}.") from None
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: the server writes other breaks as they are
        if line.strip():
            yield number, line


def _record(line: str, place: str) -> Row:
    try:
        record = json.loads(line)
    except ValueError:
        raise InvalidInput(f"{place} is not JSON; each line is one entity or relation of the memory server.") from None
    fields = _FIELDS.get(record.get("type", "")) if isinstance(record, dict) else None
    if fields is None:
        raise InvalidInput(f"{place} is neither an entity nor a relation of the memory server.")
    wrong = [name for name, kind in fields.items() if not _fits(record.get(name), kind)]
    if wrong:
        raise InvalidInput(f"{place} lacks {', '.join(wrong)}, or holds something else there.")
    found: Row = record
    return found


def _fits(value: Any, kind: type) -> bool:
    if isinstance(value, list):
        return kind is list and all(isinstance(item, str) for item in value)
    return isinstance(value, kind)
