"""mem0: what ``get_all()`` returns or its API answers: a list of memories, or one under ``results`` or ``memories``.

The relations of its graph, where there are any, come along as memories of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retentive.importers.parts import Found, Item, Rows, given, moment, name_of, read_json, rest, span, words

_SCOPES: Final = ("user_id", "agent_id", "run_id")
_READ: Final = ("id", "memory", "text", "metadata", "categories", "hash", "actor_id")
_MOMENTS: Final = ("created_at", "expiration_date")


def read(path: Path) -> Found:
    """Read the memories of a file, with their dates, categories, scopes and metadata."""
    data, rows = read_json(path), Rows()
    items = []
    for place, row in rows.of(data, "results", "memories"):
        if text := words(row.get("memory") or row.get("text")):
            items.append(_item(row, text, place))
        else:
            rows.wordless(place, row, "memory", "text")
    for place, edge in rows.of(data, "relations") if isinstance(data, Mapping) else ():
        if all(parts := _triple(edge)):
            items.append(_relation(edge, parts, place))
        else:
            rows.wordless(place, edge, "source", "relationship", "target")
    return Found(items, refused=rows.refused)


def _triple(edge: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        words(edge.get("source")),
        words(edge.get("relationship")),
        words(edge.get("target", edge.get("destination"))),
    )


def _relation(edge: Mapping[str, Any], parts: tuple[str, str, str], place: str) -> Item:
    fields = {"id": name_of("mem0", *parts), "text": " ".join(parts), "kind": "relation", "source": "mem0"}
    owner = str(edge["user_id"]) if edge.get("user_id") else None
    return Item({**fields, "metadata": dict(edge)}, owner, place, edge)


def _item(row: Mapping[str, Any], text: str, place: str) -> Item:
    metadata = row.get("metadata")
    scopes = {name: row[name] for name in _SCOPES if row.get(name)}
    categories = row.get("categories")
    made = moment(row.get("created_at"))
    fields = given(
        id=name_of("mem0", row["id"]) if row.get("id") else name_of("mem0", text, row.get("created_at"), scopes),
        text=text,
        at=made,
        tags=[tag for tag in categories if words(tag)] if isinstance(categories, list) else None,
        metadata={**(metadata if isinstance(metadata, Mapping) else {}), **rest(row, *_READ, moments=_MOMENTS)},
        speaker=words(row.get("actor_id")) or None,
        source="mem0",
        **span(None, moment(row.get("expiration_date"))),
    )
    return Item(fields, str(row["user_id"]) if row.get("user_id") else None, place, row)
