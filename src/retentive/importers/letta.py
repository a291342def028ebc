"""Letta: an agent file (``.af``), or its memory blocks and archival passages as the API lists them.

Blocks are what an agent always sees: they become pinned memories with the block's label as key. Passages become facts.
What user and assistant said becomes a conversation; heartbeats, tool calls and instructions are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from retentive.importers.parts import Found, Item, Rows, Talk, given, moment, name_of, read_json, records, rest, words

_PASSAGE: Final = ("id", "text", "tags", "metadata", "metadata_", "embedding", "embedding_config")


def read(path: Path) -> Found:
    """Read blocks, passages and messages."""
    data, rows = read_json(path), Rows()
    agents = list(rows.of(data, "agents")) if isinstance(data, Mapping) and "agents" in data else []
    if not agents and isinstance(data, Mapping) and ("core_memory" in data or "messages" in data):
        agents = [("", data)]
    whole = [("", data)] if isinstance(data, Mapping) and data not in [agent for _, agent in agents] else []
    held = [item for place, holder in [*whole, *agents] for item in _held(rows, holder, place)]
    items = [mine for item in held for mine in _of_agents(item, [agent for _, agent in agents])]
    if isinstance(data, list):
        items = list(_passages(rows, data, None, ""))
    talks = [talk for place, agent in agents if (talk := _talk(agent, place))]
    return Found(items, talks, rows.refused)


def _owner(agent: Mapping[str, Any]) -> str | None:
    return words(agent.get("name")) or words(agent.get("id")) or None


def _held(rows: Rows, holder: Mapping[str, Any], place: str) -> Iterator[Item]:
    owner, within = _owner(holder), f"{place}." if place else ""
    for name in ("blocks", "core_memory"):
        yield from _blocks(rows, holder.get(name), owner, f"{within}{name}")
    for name in ("passages", "archival_memory", "archival_passages"):
        yield from _passages(rows, holder.get(name), owner, f"{within}{name}")


def _of_agents(item: Item, agents: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    """Yield a block of the file's own list once for each agent that has it: it is no other's."""
    block = item.record.get("id") if isinstance(item.record, Mapping) and "value" in item.record else None
    owners = [_owner(agent) for agent in agents if block and block in (agent.get("block_ids") or ())]
    if item.owner is not None or not owners:
        yield item
    yield from (replace(item, owner=owner) for owner in owners if item.owner is None)


def _blocks(rows: Rows, value: Any, owner: str | None, at: str) -> Iterator[Item]:
    for place, row in rows.of(value, "blocks", at=at):
        label, text = words(row.get("label")) or "block", words(row.get("value"))
        if not text:
            rows.wordless(place, row, "value")
            continue
        fields = given(
            id=name_of("letta", "block", owner, label, text),
            text=f"{label}: {text}",
            key=f"letta/{label}",
            pinned=True,
            metadata={**(row["metadata"] if isinstance(row.get("metadata"), Mapping) else {}), **_rest_of(row, label)},
            source="letta",
            at=moment(row.get("created_at")),
        )
        yield Item(fields, owner, place, row)


def _rest_of(row: Mapping[str, Any], label: str) -> dict[str, Any]:
    said = given(label=label, description=words(row.get("description")))
    return rest(row, "id", "value", "label", "description", "metadata", moments=("created_at",)) | said


def _passages(rows: Rows, value: Any, owner: str | None, at: str) -> Iterator[Item]:
    for place, row in rows.of(value, "passages", at=at):
        text = words(row.get("text"))
        if not text:
            rows.wordless(place, row, "text")
            continue
        tags, metadata = row.get("tags"), row.get("metadata") or row.get("metadata_")
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
        yield Item(fields, owner or words(row.get("agent_id")) or None, place, row)


def _talk(agent: Mapping[str, Any], place: str) -> Talk | None:
    messages = [said for row in records(agent.get("messages")) if (said := _said(row))]
    owner = _owner(agent)
    session = name_of("letta", agent.get("id") or owner or "agent")
    return Talk(session, messages, owner, f"{place}.messages" if place else "messages") if messages else None


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
