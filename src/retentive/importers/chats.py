"""Exported conversations: ChatGPT's (OpenAI) and Claude's, as ``conversations.json`` or the archive around it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.importers.parts import Found, Rows, Talk, given, name_of, read_archive, records, words

_STEM: Final = "conversations"
_KEPT: Final = {"user", "assistant"}


def read_openai(path: Path) -> Found:
    """Read ChatGPT's export: of each tree of messages the branch that its reader last saw, text only."""
    return _read(path, "openai", "mapping", _branch)


def read_claude(path: Path) -> Found:
    """Read Claude's export: what people and Claude said, with the texts they attached, without tool calls."""
    return _read(path, "claude", "chat_messages", _claude_messages)


def _read(path: Path, kind: str, field: str, messages_of: Any) -> Found:
    data, rows = read_archive(path, _STEM), Rows()
    placed = list(rows.of(data, _STEM))
    if not any(field in row for _, row in placed):
        raise InvalidInput(f"{str(path)!r} holds no conversations as {kind} exports them: none has {field!r}.")
    talks = []
    for place, row in placed:
        name = words(row.get("conversation_id")) or words(row.get("uuid")) or words(row.get("id"))
        session = name_of(kind, name or str(row.get("title") or row.get("name")))
        if messages := messages_of(row):
            talks.append(Talk(session, messages, None, place, row))
        else:
            titled = f" ({words(row.get('title')) or words(row.get('name'))!r})"
            rows.refuse(place + titled, f"says nothing in words under {field!r}", "nothing need be done", row)
    return Found(talks=talks, refused=rows.refused)


def _branch(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Walk from the current message up to the root; without one, take the messages by their times."""
    mapping = row.get("mapping")
    nodes: dict[str, Any] = dict(mapping) if isinstance(mapping, Mapping) else {}
    path, at, seen = [], row.get("current_node"), set()
    while isinstance(at, str) and isinstance(nodes.get(at), Mapping) and at not in seen:
        seen.add(at)
        path.append(nodes[at])
        at = nodes[at].get("parent")
    if not path:
        path = sorted((node for node in nodes.values() if isinstance(node, Mapping)), key=_time, reverse=True)
    return [said for node in reversed(path) if (said := _openai_said(node.get("message")))]


def _time(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    made = message.get("create_time") if isinstance(message, Mapping) else None
    return float(made) if isinstance(made, int | float) else 0.0


def _openai_said(message: Any) -> dict[str, Any] | None:
    if not isinstance(message, Mapping):
        return None
    author, content, facts = (message.get(name) for name in ("author", "content", "metadata"))
    role = author.get("role") if isinstance(author, Mapping) else None
    hidden = isinstance(facts, Mapping) and facts.get("is_visually_hidden_from_conversation")
    if role not in _KEPT or hidden or not isinstance(content, Mapping) or message.get("recipient", "all") != "all":
        return None
    parts = content.get("parts")
    spoken = content.get("content_type") in {"text", "multimodal_text"} and isinstance(parts, list)
    text = "\n".join(filter(None, map(words, parts))) if spoken and parts else ""
    return given(role=role, content=text, created_at=message.get("create_time")) if text else None


def _claude_messages(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [said for message in records(row.get("chat_messages")) if (said := _claude_said(message))]


def _claude_said(message: Mapping[str, Any]) -> dict[str, Any] | None:
    parts = [words(part.get("text")) for part in records(message.get("content")) if part.get("type") == "text"]
    said = "\n".join(filter(None, parts)) or words(message.get("text"))
    text = "\n".join(filter(None, [said, *map(_attached, records(message.get("attachments")))]))
    role = {"human": "user", "user": "user", "assistant": "assistant"}.get(words(message.get("sender")))
    if role is None or not text:
        return None
    return given(role=role, content=text, created_at=words(message.get("created_at")))


def _attached(attachment: Mapping[str, Any]) -> str:
    """Return a text that somebody pasted or attached, under its name."""
    text = words(attachment.get("extracted_content"))
    return f"[{words(attachment.get('file_name')) or 'attachment'}]\n{text}" if text else ""
