"""Letta: an agent file (``.af``), or its memory blocks and archival passages as the API lists them.

Blocks are what an agent always sees: they become pinned memories with the block's label as key. Passages become facts.
What user and assistant said becomes a conversation; heartbeats, tool calls and instructions are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from retentive.importers.parts import Found, Item, Talk, given, moment, name_of, read_json, records, rest, words

_PASSAGE: Final = ("id", "text", "tags", "metadata", "metadata_", "embedding", "embedding_config")


def read(path: Path) -> Found:
    """Read blocks, passages and messages."""
    data = read_json(path)
    agents = list(records(data, "agents")) if isinstance(data, Mapping) and "agents" in data else []
    if not agents and isinstance(data, Mapping) and ("core_memory" in data or "messages" in data):
        agents = [data]
    whole = [data] if isinstance(data, Mapping) and data not in agents else []
    items = [item for holder in [*whole, *agents] for item in _held(holder)]
    if isinstance(data, list):
        items = list(_passages(data, None))
    talks = [talk for agent in agents if (talk := _talk(agent))]
    return Found(items, talks)


def _owner(agent: Mapping[str, Any]) -> str | None:
    return words(agent.get("name")) or words(agent.get("id")) or None


def _held(holder: Mapping[str, Any]) -> Iterator[Item]:
    owner = _owner(holder)
    for name in ("blocks", "core_memory"):
        yield from _blocks(holder.get(name), owner)
    for name in ("passages", "archival_memory", "archival_passages"):
        yield from _passages(holder.get(name), owner)


def _blocks(value: Any, owner: str | None) -> Iterator[Item]:
    for row in records(value, "blocks"):
        label, text = words(row.get("label")) or "block", words(row.get("value"))
        if text:
            fields = given(
                id=name_of("letta", "block", owner, label, text),
                text=f"{label}: {text}",
                key=f"letta/{label}",
                pinned=True,
                metadata=given(label=label, description=words(row.get("description"))),
                source="letta",
                at=moment(row.get("created_at")),
            )
            yield Item(fields, owner)


def _passages(value: Any, owner: str | None) -> Iterator[Item]:
    for row in records(value, "passages"):
        if text := words(row.get("text")):
            tags, metadata = row.get("tags"), row.get("metadata") or row.get("metadata_")
            whose = owner or words(row.get("agent_id")) or None
            fields = given(
                id=name_of("letta", row["id"]) if row.get("id") else name_of("letta", text, row.get("created_at")),
                text=text,
                at=moment(row.get("created_at")),
                tags=[tag for tag in tags if words(tag)] if isinstance(tags, list) else None,
                metadata={
                    **(metadata if isinstance(metadata, Mapping) else {}),
                    **rest(row, *_PASSAGE, moments=("created_at",)),
                },
                source="letta",
            )
            yield Item(fields, whose)


def _talk(agent: Mapping[str, Any]) -> Talk | None:
    messages = [said for row in records(agent.get("messages")) if (said := _said(row))]
    owner = _owner(agent)
    return Talk(name_of("letta", agent.get("id") or owner or "agent"), messages, owner) if messages else None


def _said(row: Mapping[str, Any]) -> dict[str, Any] | None:
    role = row.get("role")
    text = _unpacked(_text(row)) if role == "user" else _text(row)
    if role not in {"user", "assistant"} or not text:
        return None
    return given(role=role, content=text, created_at=words(row.get("created_at")))


def _text(row: Mapping[str, Any]) -> str:
    content = row.get("content", row.get("text"))
    if isinstance(content, list):
        return "\n".join(filter(None, (words(part.get("text")) for part in content if isinstance(part, Mapping))))
    return words(content)


def _unpacked(text: str) -> str:
    """Take a user's words out of the envelope that Letta puts around them; other envelopes hold nobody's words."""
    try:
        packed = json.loads(text)
    except ValueError:
        return text
    if not isinstance(packed, Mapping) or "type" not in packed:
        return text
    return words(packed.get("message")) if packed["type"] == "user_message" else ""
