"""mem0: what ``get_all()`` returns or its API answers: a list of memories, or one under ``results`` or ``memories``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retentive.importers.parts import Found, Item, given, moment, name_of, read_json, records, span, words

_SCOPES: Final = ("user_id", "agent_id", "run_id")


def read(path: Path) -> Found:
    """Read the memories of a file, with their dates, categories, scopes and metadata."""
    rows = list(records(read_json(path), "results", "memories"))
    items = [_item(row, text) for row in rows if (text := words(row.get("memory") or row.get("text")))]
    return Found(items, skipped=len(rows) - len(items))


def _item(row: Mapping[str, Any], text: str) -> Item:
    metadata = row.get("metadata")
    scopes = {name: row[name] for name in _SCOPES if row.get(name)}
    categories = row.get("categories")
    made = moment(row.get("created_at"))
    fields = given(
        id=name_of("mem0", row["id"]) if row.get("id") else name_of("mem0", text, row.get("created_at"), scopes),
        text=text,
        at=made,
        tags=[tag for tag in categories if words(tag)] if isinstance(categories, list) else None,
        metadata={**(metadata if isinstance(metadata, Mapping) else {}), **scopes},
        speaker=words(row.get("actor_id")) or None,
        source="mem0",
        **span(None, moment(row.get("expiration_date"))),
    )
    return Item(fields, str(row["user_id"]) if row.get("user_id") else None)
