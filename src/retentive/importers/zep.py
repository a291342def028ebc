"""Zep and Graphiti: edges (facts and when they are true), nodes (entities), episodes; older sets of facts.

A file holds what the API lists: an object with ``edges``, ``nodes``, ``episodes``, ``facts`` or ``messages``, or a list
of edges or facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from retentive.importers.parts import Found, Item, Rows, Talk, given, moment, name_of, read_json, rest, span, words

_OWNERS: Final = ("user_id", "graph_id", "group_id")
_FACT: Final = ("uuid", "fact", "name", "source_node_uuid", "target_node_uuid", "rating", "fact_embedding")
_TIMES: Final = ("created_at", "valid_at", "invalid_at", "expired_at")


def read(path: Path) -> Found:
    """Read facts with their validity, entities with their summaries, and episodes."""
    data, rows = read_json(path), Rows()
    parts = data if isinstance(data, Mapping) else {"edges": data}
    whose, items = _owner(parts), list[Item]()
    for name, (make, fields) in _KINDS.items():
        for place, row in rows.of(parts.get(name), at="" if isinstance(data, list) else name):
            made = make(row, _owner(row) or whose, place)
            items += [] if made is None else [made]
            if made is None:
                rows.wordless(place, row, *fields)
    messages = []
    for place, row in rows.of(parts.get("messages"), at="messages"):
        if said := _said(row):
            messages.append(said)
        else:
            rows.wordless(place, row, "content")
    session = name_of("zep", parts.get("session_id") or parts.get("uuid") or "messages")
    return Found(items, [Talk(session, messages, whose, "messages")] if messages else [], rows.refused)


def _owner(row: Mapping[str, Any]) -> str | None:
    return next((str(row[name]) for name in _OWNERS if row.get(name)), None)


def _id(row: Mapping[str, Any], *parts: Any) -> str:
    return name_of("zep", row["uuid"]) if row.get("uuid") else name_of("zep", *parts)


def _fact(row: Mapping[str, Any], whose: str | None, place: str) -> Item | None:
    text = words(row.get("fact"))
    if not text:
        return None
    ended = moment(row.get("invalid_at")) or moment(row.get("expired_at"))
    rating = row.get("rating")
    graded = isinstance(rating, int | float) and not isinstance(rating, bool) and 0 <= rating <= 1
    fields = given(
        id=_id(row, text, row.get("created_at")),
        text=text,
        at=moment(row.get("created_at")),
        importance=float(rating) if graded and rating is not None else None,
        metadata={
            **rest(row, *_FACT, moments=_TIMES),
            **given(
                relation=words(row.get("name")),
                source_node=words(row.get("source_node_uuid")),
                target_node=words(row.get("target_node_uuid")),
            ),
        },
        source="zep",
        **span(moment(row.get("valid_at")), ended),
    )
    return Item(fields, whose, place, row)


def _entity(row: Mapping[str, Any], whose: str | None, place: str) -> Item | None:
    name, summary = words(row.get("name")), words(row.get("summary"))
    if not (name and summary):
        return None
    labels = row["labels"] if isinstance(row.get("labels"), list) else ()
    fields = given(
        id=_id(row, name, summary),
        text=f"{name}: {summary}",
        kind="entity",
        at=moment(row.get("created_at")),
        tags=[label for label in labels if words(label) and label != "Entity"],
        metadata=rest(row, "uuid", "name", "summary", "labels", "name_embedding", moments=_TIMES),
        source="zep",
    )
    return Item(fields, whose, place, row)


def _episode(row: Mapping[str, Any], whose: str | None, place: str) -> Item | None:
    text = words(row.get("content"))
    if not text:
        return None
    fields = given(
        id=_id(row, text, row.get("created_at")),
        text=text,
        kind="episode",
        at=moment(row.get("valid_at")) or moment(row.get("created_at")),
        speaker=words(row.get("role")),
        session=words(row.get("session_id")) or words(row.get("thread_id")),
        metadata=rest(row, "uuid", "content", "role", "session_id", "thread_id", moments=_TIMES),
        source="zep",
    )
    return Item(fields, whose, place, row)


def _said(row: Mapping[str, Any]) -> dict[str, Any] | None:
    text = words(row.get("content"))
    role = words(row.get("role_type")) or words(row.get("role")) or "user"
    said = given(role=role, name=words(row.get("name")), content=text, created_at=row.get("created_at"))
    return said if text else None


_KINDS: Final[Mapping[str, tuple[Callable[[Mapping[str, Any], str | None, str], Item | None], tuple[str, ...]]]] = {
    "edges": (_fact, ("fact",)),
    "facts": (_fact, ("fact",)),
    "nodes": (_entity, ("name", "summary")),
    "episodes": (_episode, ("content",)),
}
"""How the records of each list are read, and where their words stand."""
