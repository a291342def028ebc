"""The nine tools of the official MCP memory server over a space: `--compat memory`.

Names, schemas, hints and answers are those of @modelcontextprotocol/server-memory 2026.8.31, down to the text; what is
kept are memories, so that `recall` finds them and nothing is lost when a process dies while writing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from retentive.knowledge.graph import Graph
from retentive.knowledge.keeping import change, load
from retentive.mcp.resources import Resource
from retentive.mcp.schemas import Schema, record, rows, text, texts
from retentive.mcp.toolbox import Access, Answer, Hints, Tool

_ENTITY: Final = record(
    {
        "name": text("The name of the entity"),
        "entityType": text("The type of the entity"),
        "observations": texts("An array of observation contents associated with the entity"),
    },
    required=["name", "entityType", "observations"],
)
_RELATION: Final = record(
    {
        "from": text("The name of the entity where the relation starts"),
        "to": text("The name of the entity where the relation ends"),
        "relationType": text("The type of the relation"),
    },
    required=["from", "to", "relationType"],
)
_PLAIN: Final = {"type": "string"}
_GRAPH: Final = record(
    {"entities": {"type": "array", "items": _ENTITY}, "relations": {"type": "array", "items": _RELATION}},
    required=["entities", "relations"],
)
_DONE: Final = record({"success": {"type": "boolean"}, "message": _PLAIN}, required=["success", "message"])
_ADDS: Final = Hints()
_DELETES: Final = Hints(destructive=True, idempotent=True)
_READS: Final = Hints(read_only=True, idempotent=True)

Verb = Callable[[Graph, Any], Any]


def graph_tools(*, erase: bool = False) -> tuple[Tool, ...]:
    """Return the nine tools; with ``erase`` what is deleted is gone for good, otherwise it is hidden."""
    return (*_adding(), *_deleting(erase=erase), *_reading())


def _one(name: str, schema: Schema) -> dict[str, Any]:
    return record({name: schema}, required=[name])


def _list(items: Schema) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _adding() -> tuple[Tool, ...]:
    observed = record(
        {
            "entityName": text("The name of the entity to add the observations to"),
            "contents": texts("An array of observation contents to add"),
        },
        required=["entityName", "contents"],
    )
    result = {"entityName": _PLAIN, "addedObservations": _list(_PLAIN)}
    added = record(result, required=list(result))
    return (
        Tool(
            "create_entities", "Create Entities", "Create multiple new entities in the knowledge graph",
            _one("entities", _list(_ENTITY)), _one("entities", _list(_ENTITY)), _ADDS,
            _adds("entities", "entities", lambda graph, rows: graph.create_entities(rows)), lenient=True,
        ),
        Tool(
            "create_relations", "Create Relations",
            "Create multiple new relations between entities in the knowledge graph. "
            "Relations should be in active voice",
            _one("relations", _list(_RELATION)), _one("relations", _list(_RELATION)), _ADDS,
            _adds("relations", "relations", lambda graph, rows: graph.create_relations(rows)), lenient=True,
        ),
        Tool(
            "add_observations", "Add Observations", "Add new observations to existing entities in the knowledge graph",
            _one("observations", _list(observed)), _one("results", _list(added)), _ADDS,
            _adds("observations", "results", lambda graph, rows: graph.add_observations(rows)), lenient=True,
        ),
    )  # fmt: skip


def _adds(argument: str, result: str, verb: Verb) -> Callable[[Access, dict[str, Any]], Answer]:
    def run(access: Access, arguments: dict[str, Any]) -> Answer:
        added = change(access.space, lambda graph: verb(graph, arguments[argument]))
        return Answer(_json(added), {result: added}, changed=True)

    return run


def _deleting(*, erase: bool) -> tuple[Tool, ...]:
    observed = record(
        {
            "entityName": text("The name of the entity containing the observations"),
            "observations": texts("An array of observations to delete"),
        },
        required=["entityName", "observations"],
    )
    return (
        Tool(
            "delete_entities", "Delete Entities",
            "Delete multiple entities and their associated relations from the knowledge graph",
            _one("entityNames", texts("An array of entity names to delete")), _DONE, _DELETES,
            _deletes("entityNames", "Entities", lambda graph, names: graph.delete_entities(names), erase=erase),
            lenient=True,
        ),
        Tool(
            "delete_observations", "Delete Observations",
            "Delete specific observations from entities in the knowledge graph",
            _one("deletions", _list(observed)), _DONE, _DELETES,
            _deletes("deletions", "Observations", lambda graph, rows: graph.delete_observations(rows), erase=erase),
            lenient=True,
        ),
        Tool(
            "delete_relations", "Delete Relations", "Delete multiple relations from the knowledge graph",
            _one("relations", rows(_RELATION, "An array of relations to delete")), _DONE, _DELETES,
            _deletes("relations", "Relations", lambda graph, rows: graph.delete_relations(rows), erase=erase),
            lenient=True,
        ),
    )  # fmt: skip


def _deletes(argument: str, what: str, verb: Verb, *, erase: bool) -> Callable[[Access, dict[str, Any]], Answer]:
    def run(access: Access, arguments: dict[str, Any]) -> Answer:
        reason = f"{what.lower()} deleted by an agent"
        change(access.space, lambda graph: verb(graph, arguments[argument]), erase=erase, reason=reason)
        message = f"{what} deleted successfully"
        return Answer(message, {"success": True, "message": message}, changed=True)

    return run


def _reading() -> tuple[Tool, ...]:
    return (
        Tool(
            "read_graph", "Read Graph", "Read the entire knowledge graph", {"type": "object", "properties": {}}, _GRAPH,
            _READS, _reads(lambda graph, _: graph.rows()), lenient=True,
        ),
        Tool(
            "search_nodes", "Search Nodes", "Search for nodes in the knowledge graph based on a query",
            _one("query", text("The search query to match against entity names, types, and observation content")),
            _GRAPH, _READS, _reads(lambda graph, arguments: graph.search(arguments["query"])), lenient=True,
        ),
        Tool(
            "open_nodes", "Open Nodes", "Open specific nodes in the knowledge graph by their names",
            _one("names", texts("An array of entity names to retrieve")),
            _GRAPH, _READS, _reads(lambda graph, arguments: graph.open(arguments["names"])), lenient=True,
        ),
    )  # fmt: skip


def _reads(verb: Callable[[Graph, Mapping[str, Any]], dict[str, Any]]) -> Callable[[Access, dict[str, Any]], Answer]:
    def run(access: Access, arguments: dict[str, Any]) -> Answer:
        found = verb(load(access.space), arguments)
        return Answer(_json(found), found)

    return run


def _json(value: Any) -> str:
    """Write JSON as the official server does."""
    return json.dumps(value, indent=2, ensure_ascii=False)


GRAPH: Final = Resource(
    "knowledge-graph",
    "Knowledge Graph",
    "The full knowledge graph with all entities and relations",
    lambda _access: "memory://knowledge-graph",
    lambda access: _json(load(access.space).rows()),
    "application/json",
)
