"""A row of somebody else's table or collection as a memory of ours and back.

Text, time and metadata are the row's own. What a row has no field for (kind, key, links, how it was read) is one JSON
text in its metadata, the record; a row without one is somebody else's, and what it says is all there is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.indexing import names_in
from retentive.integrations.namespaces import label_of, segment_of
from retentive.stores.values import canonical
from retentive.transfer.records import memory_record, read_memory
from retentive.types import NEVER_READ, Json, Memory

RECORD: Final = "retentive"
"""The entry of a row's metadata where the record is."""

_COVERED: Final = "covered"
_DIGEST: Final = "of"
_IN_THE_ROW: Final = ("text", "metadata", "type")
_NAMES: Final = ("id", "key", "source", "speaker", "session", "superseded_by", "recurs")
_MILLISECONDS: Final = 1e11
"""Numbers above are milliseconds since 1970, below seconds: 1e11 seconds lie in the year 5138."""

Keeps = Callable[[str, Json], bool]
"""Whether a row can hold a metadata entry as it is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was read; ``metadata`` without tenant, time and record."""

    key: str
    text: str | None
    created: Json
    metadata: Mapping[str, Json]
    record: str | None = None
    vector: Any = field(default=None, compare=False)  # as it lies there, where it was read along

    @property
    def token(self) -> str:
        """One text for all states of a row that count as equal."""
        return canonical([self.key, self.text, self.created, dict(self.metadata), self.record])

    @property
    def id(self) -> str:
        """The id of the row's memory."""
        return str(_parsed(self.record).get("id", self.key))


def memory_of_row(row: Row, space: str, before: Memory | None, keeps: Keeps, now: datetime) -> Memory:
    """Return a row as a memory: by its record; else as it was known, with what the row says."""
    recorded = _recorded(row, space, before)
    if recorded is not None:
        return recorded
    readable = bool((row.text or "").strip())
    if before is not None and before.text == row.text:
        return before.changed(metadata=_merged(before, row, keeps))
    text = row.text if row.text and readable else stand_in(row.key)
    if before is not None:
        said = before.entities if text == before.text else names_in(text, before.speaker)
        return before.changed(text=text, metadata=_merged(before, row, keeps), entities=said)
    created = moment_of(row.created) or now
    return Memory(
        id=row.key,
        space=space,
        text=text,
        created_at=created,
        recorded_at=now if row.created is None else created,
        metadata=dict(row.metadata),
        entities=names_in(text, None),
        suppressed_at=None if readable else created,
    )


def _merged(before: Memory, row: Row, keeps: Keeps) -> dict[str, Json]:
    kept = {name: value for name, value in before.metadata.items() if not keeps(name, value)}
    return {**kept, **row.metadata}


def stand_in(key: str) -> str:
    """Return what stands for the text of a row that has none; such a row is listed, and in no recall."""
    return f"row {key or 'without an id'}"


def _recorded(row: Row, space: str, before: Memory | None) -> Memory | None:
    """Read a memory by its record; None where none is, or one that somebody spoilt."""
    record = _parsed(row.record)
    if not record or row.text is None:
        return None
    covered, digest = record.pop(_COVERED, {}), record.pop(_DIGEST, "")
    metadata = {**row.metadata, **covered} if isinstance(covered, Mapping) else dict(row.metadata)
    try:
        memory, _ = read_memory({"id": row.key, **record, "text": row.text, "metadata": metadata}, space)
    except ValueError:
        return None
    if digest != _digest(row.text):
        memory = memory.changed(entities=names_in(row.text, memory.speaker))
    if before is not None and "access" not in record:
        memory = memory.changed(access=before.access)
    return memory


def record_of(memory: Memory, key: str, covered: Mapping[str, Json], *, access: bool) -> str:
    """Return the record of a memory; with how it was read only where that is kept in the row."""
    whole = memory_record(memory if access else memory.changed(access=NEVER_READ), None)
    record = {name: value for name, value in whole.items() if name not in _IN_THE_ROW}
    record |= {name: "" for name in _NAMES if getattr(memory, name) == ""}  # left out above, and not the same as None
    if memory.id == key:
        record.pop("id", None)
    if not access:
        record.pop("access", None)
    record |= {_DIGEST: _digest(memory.text), **({_COVERED: dict(covered)} if covered else {})}
    return json.dumps(record, separators=(",", ":"), sort_keys=True)


def _parsed(record: str | None) -> dict[str, Any]:
    try:
        found = json.loads(record) if record else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def moment_of(value: Json | datetime) -> datetime | None:
    """Read when a row was made: ISO 8601 (UTC where no zone is said), or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def moment_as(moment: datetime, like: Json | datetime) -> Json:
    """Write a moment as the other rows have it."""
    if isinstance(like, int | float) and not isinstance(like, bool):
        since = moment.timestamp() * (1000 if abs(like) > _MILLISECONDS else 1)
        return int(since) if isinstance(like, int) else since
    return moment.isoformat()


def tenant_of(space: str) -> str:
    """Return the one value of the tenant field that is a space: the path itself wherever a value can be one."""
    return "/".join(label_of(segment, refused="\0") for segment in space.split("/"))


def space_of(value: object) -> str | None:
    """Return the space of a value of the tenant field; None where no space has it."""
    if not isinstance(value, str) or not value:
        return None
    space = "/".join(segment_of(label, refused="\0") for label in value.split("/"))
    return space if tenant_of(space) == value else None


def chosen(what: str, name: str | None, guesses: tuple[str, ...], there: list[str]) -> str | None:
    """Return the field that a caller named, or the one of the usual names that is there; refuse one that is not."""
    if name is not None:
        if name not in there:
            raise InvalidInput(f"{what}={name!r} is no field there; there are: {', '.join(sorted(there))}.", value=name)
        return name
    return next((guess for guess in guesses if guess in there), None)
