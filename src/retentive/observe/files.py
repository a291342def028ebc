"""Conversations in files: one JSON document, or JSON lines with a message or a conversation on each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from retentive.errors import InvalidInput

_LISTS: Final = ("messages", "turns", "conversation", "history")
_NAMES: Final = ("session", "thread_id", "conversation_id", "session_id", "id")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one conversation, and its name where the file gives one."""

    messages: list[Any]
    session: str | None = None


def read_conversations(text: str, name: str) -> list[Conversation]:
    """Read a file's text: a list of messages, an object that holds one, several such objects, or lines of either."""
    found = list(_conversations(_values(text, name), name))
    if not found:
        raise InvalidInput(f"{name} holds no messages.", file=name)
    return found


def _values(text: str, name: str) -> list[Any]:
    """Return the JSON values of a file: one document (a list is opened), or one value a line."""
    try:
        whole = json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise InvalidInput(f"{name} is no JSON: {error}.", file=name) from None
        return [_value(line, number, name) for number, line in enumerate(lines, 1)]
    return whole if isinstance(whole, list) else [whole]


def _value(line: str, number: int, name: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"{name}, line {number}, is no JSON: {error}.", file=name, line=number) from None


def _conversations(values: list[Any], name: str) -> Iterator[Conversation]:
    """Messages that stand together are one conversation; an object with a list of messages is one by itself."""
    together: list[Any] = []
    for value in values:
        held = _held(value)
        if held is None:
            together.append(value)
            continue
        if together:
            raise InvalidInput(f"{name} mixes messages with whole conversations; keep them in two files.", file=name)
        yield held
    if together:
        yield Conversation(together)


def _held(value: Any) -> Conversation | None:
    if isinstance(value, list):
        return Conversation(value)
    if not isinstance(value, Mapping) or "role" in value or "content" in value:
        return None
    held = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
    session = next((str(value[key]) for key in _NAMES if value.get(key)), None)
    return None if held is None else Conversation(held, session)
