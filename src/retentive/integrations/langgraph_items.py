"""What a LangGraph item is as a memory: its text, its metadata with a mark of ours, and the value read from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final

from langgraph.store.base import get_text_at_path

from retentive.errors import InvalidInput, unknown_name
from retentive.types import Memory
from retentive.writing import LONGEST_NAME

MARK: Final = "$langgraph"
"""The entry of a memory's metadata that makes it an item; a value's own names with a dollar get another one."""

CONTENT: Final = "content"
"""The name under which a memory that is no item shows its text: where LangMem keeps it too."""

DESCRIBED: Final = ("kind", "importance", "tags", "source", "pinned", "permanent", "recurs", "trust", "valid_from")
_UNNAMED: Final = {CONTENT, "text", "memory", "data", "value", "page_content"}
_ENVELOPE: Final = {"kind", CONTENT}
"""The value that LangMem's memory manager wraps what it extracts in; its kind is the name of a schema."""

Describe = Callable[[tuple[str, ...], str, Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Written:
    """An item on its way in: what `remember` and `update` are given for it."""

    id: str
    text: str
    indexed: bool
    fields: Mapping[str, Any]


def id_of(key: str) -> str:
    """Return the id of an item's memory: its key, or a digest where a key is no id."""
    try:
        fits = bool(key.strip()) and len(key) <= LONGEST_NAME and bool(key.encode())
    except UnicodeEncodeError:
        fits = False
    return key if fits else "lg-" + blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def written(
    key: str,
    value: Mapping[str, Any],
    paths: Sequence[str] | bool | None,
    ttl: float | None,
    now: datetime,
    more: Mapping[str, Any],
) -> Written:
    """Turn an item into a memory's fields; ``paths`` say what of it is searched: None all, False nothing."""
    text = "" if paths is False else text_of(value, paths if isinstance(paths, Sequence) else None)
    indexed = bool(text.strip())
    mark = _mark(key, ttl, indexed=indexed)
    metadata = {escaped(name): entry for name, entry in value.items()} | {MARK: mark}
    until = None if ttl is None else now + timedelta(minutes=ttl)
    fields = {**more, "metadata": metadata, "valid_until": until}
    return Written(id_of(key), text if indexed else f"item {id_of(key)}", indexed, fields)


def _mark(key: str, ttl: float | None, *, indexed: bool) -> dict[str, Any]:
    mark: dict[str, Any] = {} if indexed else {"indexed": False}
    if ttl is not None:
        mark["ttl"] = checked_ttl(ttl)
    if id_of(key) != key:
        mark["key"] = key
    return mark


def checked_ttl(ttl: Any) -> float:
    """Refuse a time to live that is no number of minutes above zero."""
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl < 1e9:
        raise InvalidInput(f"ttl={ttl!r} is not a number of minutes above 0; None keeps an item for ever.", value=ttl)
    return float(ttl)


def text_of(value: Mapping[str, Any], paths: Sequence[str] | None) -> str:
    """Return the text by which an item is found: of the paths asked for, else of everything readable in it."""
    if paths is None:
        return "\n".join(_lines(value))
    return "\n".join(text for path in paths for text in get_text_at_path(dict(value), path))


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield what a person would read: the words themselves, other entries behind their names."""
    if isinstance(value, Mapping):
        inner = (
            {CONTENT: value[CONTENT]} if value.keys() == _ENVELOPE and isinstance(value[CONTENT], Mapping) else value
        )
        for label, entry in inner.items():
            yield from _lines(entry, label)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _lines(entry, name)
    elif value is not None and str(value).strip():
        yield str(value) if name in _UNNAMED or not name else f"{name}: {value}"


def described(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse fields that `describe` may not set."""
    for name in fields:
        if name not in DESCRIBED:
            raise unknown_name("field from describe", name, DESCRIBED)
    return fields


def escaped(name: str) -> str:
    """Return a name as it stands in metadata."""
    return f"${name}" if name.startswith("$") else name


def unescaped(name: str) -> str:
    """Return a name as the value has it."""
    return name.removeprefix("$")


def value_of(memory: Memory) -> dict[str, Any]:
    """Return the value of an item; of a memory that came here another way its metadata with the text as content."""
    entries = {name: entry for name, entry in memory.metadata.items() if name != MARK}
    if MARK not in memory.metadata:
        return {**entries, CONTENT: memory.text}
    return {unescaped(name): entry for name, entry in entries.items()}


def key_of(memory: Memory) -> str:
    """Return the key of an item."""
    return str(mark_of(memory).get("key", memory.id))


def mark_of(memory: Memory) -> Mapping[str, Any]:
    """Return what we noted of an item."""
    mark = memory.metadata.get(MARK)
    return mark if isinstance(mark, Mapping) else {}


def ttl_of(memory: Memory) -> float | None:
    """Return an item's time to live in minutes."""
    ttl = mark_of(memory).get("ttl")
    return None if ttl is None else float(ttl)


def expired(memory: Memory, now: datetime) -> bool:
    """Say whether an item's time has passed."""
    return memory.valid_until is not None and memory.valid_until <= now


def shown(memory: Memory, now: datetime) -> bool:
    """Say whether a memory is an item for whoever lists: neither expired, replaced nor forgotten."""
    hidden = memory.suppressed_at is not None and mark_of(memory).get("indexed") is not False
    return not (expired(memory, now) or memory.superseded_at is not None or hidden)


def indexed_where(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return equalities of a filter as they stand in metadata."""
    return {escaped(name): value for name, value in plain.items()}
