"""Chat messages as people's libraries shape them, read as turns: who said what, and when.

Read are dictionaries of OpenAI's chat and Responses APIs and of Anthropic's (content parts, tool calls, tool results),
LangChain's message objects (by their attributes; the library is never imported) and what `messages_to_dict` makes of
them, and plain ``{"speaker": ..., "text": ...}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.types import aware

USER, ASSISTANT, TOOL, SYSTEM = "user", "assistant", "tool", "system"
ROLES: Final = {
    "user": USER, "human": USER, "customer": USER,
    "assistant": ASSISTANT, "ai": ASSISTANT, "model": ASSISTANT, "bot": ASSISTANT, "agent": ASSISTANT,
    "tool": TOOL, "function": TOOL, "ipython": TOOL,
    "system": SYSTEM, "developer": SYSTEM,
}  # fmt: skip
"""What the roles of others are here. Any other name is a person's, whose words count as a user's."""

_TIMES: Final = ("at", "timestamp", "created_at", "time", "date", "sent_at", "created")
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_SHOWN: Final = {
    "image_url": "image", "input_image": "image", "image": "image", "input_audio": "audio", "audio": "audio",
    "file": "file", "input_file": "file", "document": "document", "video": "video",
}  # fmt: skip
_SILENT: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_LONGEST_CALL: Final = 2_000  # characters of a tool call's arguments
_MILLISECONDS: Final = 100_000_000_000  # seconds up to the year 5138; a greater number counts milliseconds


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: ``at`` is None where the message does not say; ``trust`` where it says how far it is believed."""

    role: str
    speaker: str
    text: str
    at: datetime | None = None
    trust: float | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """The turns of a conversation, and how many messages said nothing or were instructions."""

    turns: tuple[Turn, ...]
    skipped: int = 0


def read_messages(messages: Iterable[Any]) -> Read:
    """Read messages in order. What is no message is refused with its place; empty ones and instructions are skipped."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(f"messages={_brief(messages)} is no list of messages.", value=messages)
    turns, skipped = [], 0
    for place, message in enumerate(messages):
        read = _turns_of(message, f"messages[{place}]")
        said = [turn for turn in read if turn.text.strip() and turn.role != SYSTEM]
        skipped += not said
        turns += said
    return Read(tuple(turns), skipped)


def _turns_of(message: Any, place: str) -> list[Turn]:
    data = _as_mapping(message, place)
    name = _role_name(data, place)
    if "lc" in data or (isinstance(data.get("data"), Mapping) and "content" in data["data"]):
        return _turns_of(_unwrapped(data), place)
    if data.get("type") in {"function_call", "function_call_output"}:
        return [_responses_call(data, place)]
    name = name.removesuffix("Chunk").removesuffix("Message") or name  # LangChain's "AIMessageChunk" is a type
    role = ROLES.get(name.casefold(), USER)
    at, trust = _time_of(data, place), _trust_of(data, place)
    spoken, results = _parts(data, place)
    speaker = _speaker(data, name, role)
    turns = [Turn(TOOL, TOOL, text, at, trust) for text in results]
    return [*turns, Turn(role, speaker, spoken, at, trust)]


def _as_mapping(message: Any, place: str) -> Mapping[str, Any]:
    """Return a message as a mapping; an object with ``content`` and ``type`` or ``role`` is read by its attributes."""
    if isinstance(message, Mapping):
        return message
    if hasattr(message, "content") and (hasattr(message, "role") or hasattr(message, "type")):
        more = getattr(message, "additional_kwargs", None)
        names = ("role", "type", "content", "name", "tool_calls", "function_call", "refusal", *_TIMES)
        found = {name: getattr(message, name, None) for name in names}
        known = {name: value for name, value in found.items() if value is not None}
        return {**(more if isinstance(more, Mapping) else {}), **known}
    raise InvalidInput(
        f"{place}={_brief(message)} is no chat message; pass mappings with role and content, or LangChain's objects.",
        place=place,
    )


def _unwrapped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message inside LangChain's ``{"type": "human", "data": {...}}`` or serialised constructor."""
    inner = data.get("data", data.get("kwargs"))
    kwargs = dict(inner) if isinstance(inner, Mapping) else {}
    path = data.get("id")
    kind = str(path[-1]) if "lc" in data and isinstance(path, list) and path else str(data.get("type", ""))
    role = kind.removesuffix("Chunk").removesuffix("Message").casefold()
    more = kwargs.get("additional_kwargs")
    return {**(more if isinstance(more, Mapping) else {}), **kwargs, "role": kwargs.get("role") or role, "type": ""}


def _role_name(data: Mapping[str, Any], place: str) -> str:
    for key in ("role", "speaker", "type", "author", "from"):
        value = data.get(key)
        if isinstance(value, str) and value.strip() and (key != "type" or value != "message"):
            return value.strip()
    if "lc" in data:
        return USER
    raise InvalidInput(f"{place} says neither role nor speaker; it has {', '.join(map(str, data)) or 'nothing'}.")


def _speaker(data: Mapping[str, Any], name: str, role: str) -> str:
    """Return who speaks: the name given, else a person's own where the role is no role, else the role."""
    for key in ("name", "speaker"):
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return name if name.casefold() not in ROLES else role


def _parts(data: Mapping[str, Any], place: str) -> tuple[str, list[str]]:
    """Return what was said, tool calls included, and apart from it the tool results that stand in the same message."""
    content = data.get("content", data.get("text"))
    said: list[str] = []
    results: list[str] = []
    for part in _content_parts(content, place):
        _take(part, said, results, place)
    if isinstance(data.get("refusal"), str):
        said.append(data["refusal"])
    calls = data.get("tool_calls") or ([data["function_call"]] if data.get("function_call") else [])
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        said += [_call(call) for call in calls]
    return "\n".join(dict.fromkeys(text for text in said if text.strip())), results


def _content_parts(content: Any, place: str) -> Sequence[Any]:
    if content is None:
        return ()
    if isinstance(content, str | Mapping):
        return (content,)
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        return content
    raise InvalidInput(f"{place}.content is {type(content).__name__}, neither text nor a list of parts.", place=place)


def _take(part: Any, said: list[str], results: list[str], place: str) -> None:
    """Take one content part: its text, a word for what is no text, a tool call; thoughts are not said and left out."""
    if isinstance(part, str):
        said.append(part)
        return
    if not isinstance(part, Mapping):
        raise InvalidInput(f"{place}.content holds {_brief(part)}, which is no content part.", place=place)
    kind = str(part.get("type", "text"))
    if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
        said.append(part["text"])
    elif kind == "refusal":
        said.append(str(part.get("refusal", "")))
    elif kind in {"tool_use", "server_tool_use"}:
        said.append(_call(part))
    elif kind.endswith("tool_result"):
        results.append(_parts(part, place)[0])
    elif kind not in _SILENT:
        said.append(f"[{_SHOWN.get(kind, kind)}]")


def _call(call: Any) -> str:
    """Write a tool call as words: what was called, with which arguments."""
    if not isinstance(call, Mapping):
        return ""
    inner = call.get("function")
    source = inner if isinstance(inner, Mapping) else call
    arguments = source.get("arguments", source.get("args", source.get("input", "")))
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return f"[calls {source.get('name', 'a tool')}({written[:_LONGEST_CALL]})]"


def _responses_call(data: Mapping[str, Any], place: str) -> Turn:
    """Read OpenAI's Responses items, where calls and their outputs are messages of their own."""
    at, trust = _time_of(data, place), _trust_of(data, place)
    if data["type"] == "function_call":
        return Turn(ASSISTANT, ASSISTANT, _call(data), at, trust)
    output = data.get("output", "")
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
    return Turn(TOOL, TOOL, text, at, trust)


def _time_of(data: Mapping[str, Any], place: str) -> datetime | None:
    for key in _TIMES:
        value = data.get(key)
        if value not in (None, ""):
            return _moment(value, f"{place}.{key}")
    return None


def _moment(value: Any, place: str) -> datetime:
    """Read a moment: an aware datetime, ISO 8601 with its zone, or seconds (or milliseconds) since 1970."""
    if isinstance(value, datetime):
        return aware(value, place)
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        if isinstance(value, str):
            return aware(datetime.fromisoformat(value.strip()), place)
    except InvalidInput:
        raise  # it says already that the zone is missing
    except (ValueError, OverflowError, OSError):
        pass
    raise InvalidInput(
        f"{place}={_brief(value)} is no moment; write ISO 8601 with a zone, e.g. 2026-05-01T12:00Z, or seconds.",
        value=value,
    )


def _trust_of(data: Mapping[str, Any], place: str) -> float | None:
    value = data.get("trust")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{place}.trust={value!r} is not a number of 0..1.", value=value)
    return float(value)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
