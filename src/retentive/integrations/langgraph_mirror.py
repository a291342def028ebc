"""An item of a foreign LangGraph store as a memory of ours and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from retentive.indexing import names_in
from retentive.integrations.langgraph_items import CONTENT, MARK, escaped, text_of, unescaped, value_of
from retentive.stores.values import canonical
from retentive.transfer.records import memory_record, read_memory
from retentive.types import NEVER_READ, Memory

if TYPE_CHECKING:
    from langgraph.store.base import Item

RECORD: Final = "$retentive"
"""The entry of an item's value where a memory of ours keeps what LangGraph has no field for."""

_COVERED: Final = "content"
"""Where the record keeps a metadata entry whose place the text takes."""

_IN_THE_VALUE: Final = ("text", "metadata", "type", "id", "access", "entities")


def value_for_base(memory: Memory) -> dict[str, Any]:
    """Return what the base store holds of a memory: an item's own value, or text, metadata and a record beside them."""
    if MARK in memory.metadata:
        return value_of(memory)
    record = memory_record(memory.changed(access=NEVER_READ), None)
    kept = {name: value for name, value in record.items() if name not in _IN_THE_VALUE}
    if CONTENT in memory.metadata:
        kept[_COVERED] = memory.metadata[CONTENT]
    return {escaped(name): value for name, value in memory.metadata.items()} | {CONTENT: memory.text, RECORD: kept}


def memory_of_item(item: Item, space: str, before: Memory | None, fields: Sequence[str] | None) -> Memory:
    """Return an item as a memory: one that was ours as it was, any other with its value as metadata."""
    value = dict(item.value)
    recorded = _recorded(value, item.key, space)
    if recorded is not None:
        return recorded
    text = text_of(value, fields)
    searched = bool(text.strip())
    text = text if searched else f"item {item.key or 'without a key'}"
    metadata = {escaped(name): entry for name, entry in value.items()} | {MARK: {} if searched else {"indexed": False}}
    created, updated = _aware(item.created_at), _aware(item.updated_at)
    if before is not None:
        speaker = before.speaker
        return before.changed(text=text, metadata=metadata, entities=names_in(text, speaker), updated_at=updated)
    return Memory(
        id=item.key,
        space=space,
        text=text,
        created_at=created,
        recorded_at=created,
        updated_at=updated if updated != created else None,
        metadata=metadata,
        entities=names_in(text, None),
        suppressed_at=None if searched else created,
    )


def _recorded(value: Mapping[str, Any], key: str, space: str) -> Memory | None:
    """Read a memory that was put here by us; None where no record is, or one that somebody spoilt."""
    record, text = value.get(RECORD), value.get(CONTENT)
    if not isinstance(record, Mapping) or not isinstance(text, str) or not text.strip():
        return None
    covered = {CONTENT: record[_COVERED]} if _COVERED in record else {}
    metadata = {unescaped(name): entry for name, entry in value.items() if name not in {CONTENT, RECORD}} | covered
    fields = {name: entry for name, entry in record.items() if name != _COVERED}
    try:
        memory, _ = read_memory({**fields, "id": key, "text": text, "metadata": metadata}, space)
    except ValueError:
        return None
    return memory.changed(entities=names_in(text, memory.speaker))


def _aware(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def with_its_text(memory: Memory, before: Memory | None) -> Memory:
    """Return an item whose text alone was changed with a value that says so: its other words said the old text."""
    if before is None or MARK not in memory.metadata or memory.text == before.text:
        return memory
    if canonical(dict(memory.metadata)) != canonical(dict(before.metadata)):
        return memory  # whoever changed it said both
    kept = {name: entry for name, entry in memory.metadata.items() if not isinstance(entry, str)}
    return memory.changed(metadata={**kept, CONTENT: memory.text})
