"""What mem0 takes and returns: scopes and their checks, ids that say where they belong, and the results' fields."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.integrations.namespaces import quoted, unquoted
from retentive.types import JournalEntry, Memory

SCOPES: Final = ("user_id", "agent_id", "run_id")
PROMOTED: Final = (*SCOPES, "actor_id", "role", "attributed_to", "expiration_date")
"""Metadata that stands beside the memory in a result, not under its metadata."""

_KINDS: Final = {"user_id": "user", "agent_id": "agent", "run_id": "run"}
_EVENTS: Final = {"remember": "ADD", "update": "UPDATE", "forget": "DELETE", "erase": "DELETE"}


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories: the ids given, and the space they lead to (that of the user, else of the agent, else the run)."""

    ids: Mapping[str, str]

    @property
    def path(self) -> str:
        """Return the space below the root: ``user/alice``."""
        name = next(name for name in SCOPES if name in self.ids)
        return f"{_KINDS[name]}/{quoted(self.ids[name])}"


def scope_of(ids: Mapping[str, Any], verb: str) -> Scope:
    """Read ids as mem0 does: at least one, no white space within, other types as their text."""
    given = {name: checked_id(ids[name], name) for name in SCOPES if ids.get(name) is not None}
    if not given:
        raise InvalidInput(f"{verb} needs at least one of user_id, agent_id, run_id, e.g. user_id='alice'.")
    return Scope(given)


def checked_id(value: Any, name: str) -> str:
    """Refuse an id that is empty or has white space in it; an integer is taken as its digits."""
    text = str(value).strip()
    if not text or any(character.isspace() for character in text):
        raise InvalidInput(f"Invalid {name}: {value!r} is empty or contains whitespace.", value=value)
    return text


def public_id(memory: Memory, root: str) -> str:
    """Return an id that finds its memory without a scope beside it, as mem0's ids do."""
    return f"{memory.id}@{memory.space.removeprefix(f'{root}/')}"


def located(memory_id: Any, root: str) -> tuple[str, str] | None:
    """Return the space and the id within it; None for an id that we never gave out."""
    inner, _, path = str(memory_id).partition("@")
    kind, _, name = path.partition("/")
    if not inner or kind not in _KINDS.values() or "/" in name or unquoted(name) is None:
        return None
    return f"{root}/{path}", inner


def as_messages(messages: Any) -> list[Any]:
    """Accept a text, one message or a list of messages."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, list | tuple):
        return list(messages)
    raise InvalidInput(f"messages={messages!r} must be a str, a dict, or a list of dicts.", value=messages)


def expiration(value: Any) -> str | None:
    """Return an expiration date as YYYY-MM-DD."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    try:
        return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()
    except (TypeError, ValueError):
        raise InvalidInput(f"expiration_date={value!r} must be a date in YYYY-MM-DD format.", value=value) from None


def end_of(day: str | None) -> datetime | None:
    """Return the moment at which a memory that expires on a day no longer holds: the end of that day."""
    if day is None:
        return None
    return datetime.combine(date.fromisoformat(day) + timedelta(days=1), time(), UTC)


def said_at(metadata: Mapping[str, Any]) -> datetime | None:
    """Return the creation that mem0 lets metadata carry."""
    given = metadata.get("created_at")
    if given is None:
        return None
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
    except (TypeError, ValueError):
        raise InvalidInput(f"metadata created_at={given!r} is not a moment in ISO 8601.", value=given) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def result(memory: Memory, root: str, **more: Any) -> dict[str, Any]:
    """Return a memory as an item of mem0's results."""
    own = {name: value for name, value in memory.metadata.items() if name not in PROMOTED}
    return {
        "id": public_id(memory, root),
        "memory": memory.text,
        "hash": hashlib.md5(memory.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": own or None,
        **more,
        "created_at": memory.created_at.isoformat(),
        "updated_at": (memory.updated_at or memory.created_at).isoformat(),
        **{name: memory.metadata[name] for name in PROMOTED if name in memory.metadata},
    }


def changes(lines: Iterable[JournalEntry], memory_id: str) -> list[dict[str, Any]]:
    """Return a memory's journal as mem0's history; of an erased one only that and when."""
    return [_change(line, memory_id) for line in lines if line.action in _EVENTS]


def _change(line: JournalEntry, memory_id: str) -> dict[str, Any]:
    before, after = line.before or {}, line.after or {}
    event = _EVENTS[line.action]
    metadata = _metadata_of(after) or _metadata_of(before)
    return {
        "id": f"{memory_id}#{line.sequence}",
        "memory_id": memory_id,
        "old_memory": before.get("text"),
        "new_memory": None if event == "DELETE" else after.get("text"),
        "event": event,
        "created_at": after.get("created_at") or before.get("created_at"),
        "updated_at": line.at.isoformat(),
        "is_deleted": event == "DELETE",
        "actor_id": metadata.get("actor_id"),
        "role": metadata.get("role"),
    }


def _metadata_of(state: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = state.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def strip_identity(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return metadata without ids of a scope: those are said by arguments alone, never by free data."""
    return {name: value for name, value in (metadata or {}).items() if name not in (*SCOPES, "actor_id", "created_at")}


def chosen(first: Any, second: Any, names: Sequence[str]) -> Any:
    """Return whichever of two spellings of one argument was given; both at once must agree."""
    if first is not None and second is not None and first != second:
        raise InvalidInput(f"{names[0]}={first!r} and {names[1]}={second!r} say the same argument twice.")
    return first if first is not None else second
