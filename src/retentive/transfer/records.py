"""Values as JSON records and back, strictly: a field of the wrong type is refused, never coerced into something else.

A field that is None or empty is left out of a record; every other one is written, defaults too, so that a later change
of a default changes no export.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final, TypeVar

import numpy as np

from retentive.types import Access, Finding, JournalEntry, LedgerEntry, Memory, Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Codec:
    """How one field is written and read; reading raises `ValueError` with what was expected."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")  # noqa: TRY004 -- the file is wrong, not our caller
    return value


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of strings")
    return tuple(value)


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")  # noqa: TRY004 -- as above
    return value


def _read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ValueError("a finite number")
    return float(value)


def _read_numbers(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise ValueError("a list of numbers")  # noqa: TRY004 -- as above
    return tuple(_read_number(item) for item in value)


def _read_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object")  # noqa: TRY004 -- as above
    return value


def _write_moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat()


def _read_moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("a date and time in ISO 8601") from None
    if moment.tzinfo is None:
        raise ValueError("a date and time with its zone")
    return moment.astimezone(UTC)


def _write_vector(vector: Vectors) -> str:
    return b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()


def _read_vector(value: Any) -> Vectors:
    try:
        vector = np.frombuffer(b64decode(value, validate=True), dtype="<f4")
    except (TypeError, ValueError):
        raise ValueError("float32 numbers in base64") from None
    if not len(vector) or not np.isfinite(vector).all():
        raise ValueError("finite float32 numbers in base64")
    return vector.astype(np.float32)


def _read_moments(value: Any) -> tuple[datetime, ...]:
    return tuple(_read_moment(item) for item in _read_texts(value))


TEXT: Final = Codec(_same, _read_text)
TEXTS: Final = Codec(list, _read_texts)
FLAG: Final = Codec(_same, _read_flag)
NUMBER: Final = Codec(float, _read_number)
NUMBERS: Final = Codec(lambda values: [float(value) for value in values], _read_numbers)
OBJECT: Final = Codec(dict, _read_object)
MOMENT: Final = Codec(_write_moment, _read_moment)
MOMENTS: Final = Codec(lambda moments: [_write_moment(moment) for moment in moments], _read_moments)
VECTOR: Final = Codec(_write_vector, _read_vector)

_ACCESS: Final = {"last_at": MOMENT, "count": NUMBER, "recent": MOMENTS, "pending_at": MOMENT}


def _write_access(access: Access) -> dict[str, Any]:
    return written(access, _ACCESS)


def _read_access(value: Any) -> Access:
    return Access(**read_fields(_read_object(value), _ACCESS))


MEMORY: Final = {
    "id": TEXT,
    "text": TEXT,
    "kind": TEXT,
    "created_at": MOMENT,
    "recorded_at": MOMENT,
    "updated_at": MOMENT,
    "importance": NUMBER,
    "key": TEXT,
    "tags": TEXTS,
    "source": TEXT,
    "metadata": OBJECT,
    "speaker": TEXT,
    "session": TEXT,
    "entities": TEXTS,
    "valid_from": MOMENT,
    "valid_until": MOMENT,
    "superseded_at": MOMENT,
    "superseded_by": TEXT,
    "supersedes": TEXTS,
    "derived_from": TEXTS,
    "suppressed_at": MOMENT,
    "pinned": FLAG,
    "permanent": FLAG,
    "recurs": TEXT,
    "trust": NUMBER,
    "access": Codec(_write_access, _read_access),
}
_JOURNAL: Final = {
    "at": MOMENT,
    "action": TEXT,
    "memory_id": TEXT,
    "actor": TEXT,
    "reason": TEXT,
    "before": OBJECT,
    "after": OBJECT,
}
_LEDGER: Final = {
    "id": TEXT,
    "at": MOMENT,
    "policy": TEXT,
    "cue": TEXT,
    "ids": TEXTS,
    "scores": NUMBERS,
    "cue_vector": VECTOR,
    "used": TEXTS,
    "outcome": TEXT,
}
_FINDING: Final = {
    "id": TEXT,
    "at": MOMENT,
    "kind": TEXT,
    "memory_id": TEXT,
    "other_id": TEXT,
    "confidence": NUMBER,
    "reason": TEXT,
    "status": TEXT,
    "decided_at": MOMENT,
    "detail": OBJECT,
}
_DEFAULTS: Final[Mapping[type, Mapping[str, Any]]] = {
    JournalEntry: {"memory_id": ""},
    LedgerEntry: {"cue": "", "policy": "", "ids": (), "scores": ()},
}


def written(value: object, codecs: Mapping[str, Codec]) -> dict[str, Any]:
    """Return the fields of a value as JSON, without those that are None or empty (an empty object is not None)."""
    record = {}
    for name, codec in codecs.items():
        field = getattr(value, name)
        if field is None or (codec is not OBJECT and codec is not VECTOR and field in ("", ())):
            continue
        record[name] = codec.write(field)
    return record


def read_fields(record: Mapping[str, Any], codecs: Mapping[str, Codec]) -> dict[str, Any]:
    """Return the fields of a record as values; an unknown field or a wrong type is a `ValueError` that names it."""
    if strangers := sorted(record.keys() - codecs.keys()):
        raise ValueError(f"has the unknown field {strangers[0]!r} (written by a later Retentive?)")
    fields = {}
    for name, value in record.items():
        try:
            fields[name] = codecs[name].read(value)
        except ValueError as error:
            raise ValueError(f"has a field {name!r} that is not {error}") from None
    return fields


def memory_record(memory: Memory, vector: Vectors | None) -> dict[str, Any]:
    """Return a memory with its vector as a record, without its space: the reader says where it goes."""
    record = {"type": "memory", **written(memory, MEMORY)}
    return record if vector is None else {**record, "vector": _write_vector(vector)}


def read_memory(record: Mapping[str, Any], space: str) -> tuple[Memory, Vectors | None]:
    """Read a memory into a space, with the vector that came along."""
    fields = read_fields(_body(record), {**MEMORY, "vector": VECTOR})
    vector: Vectors | None = fields.pop("vector", None)
    return _built(Memory, {**fields, "space": space}), vector


def journal_record(entry: JournalEntry) -> dict[str, Any]:
    """Return a journal line as a record; its sequence is left out, for every store numbers its own."""
    return {"type": "journal", **written(entry, _JOURNAL)}


def read_journal_entry(record: Mapping[str, Any]) -> JournalEntry:
    """Read a journal line."""
    return _built(JournalEntry, read_fields(_body(record), _JOURNAL))


def ledger_record(entry: LedgerEntry) -> dict[str, Any]:
    """Return a recall as a record."""
    return {"type": "recall", **written(entry, _LEDGER)}


def read_ledger_entry(record: Mapping[str, Any]) -> LedgerEntry:
    """Read a recall."""
    return _built(LedgerEntry, read_fields(_body(record), _LEDGER))


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as a record."""
    return {"type": "finding", **written(finding, _FINDING)}


def read_finding(record: Mapping[str, Any]) -> Finding:
    """Read a finding."""
    return _built(Finding, read_fields(_body(record), _FINDING))


def _body(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "type"}


def _built(kind: type[T], fields: dict[str, Any]) -> T:
    try:
        return kind(**{**_DEFAULTS.get(kind, {}), **fields})
    except TypeError as error:
        missing = str(error).rpartition(":")[2].strip()
        raise ValueError(f"lacks {missing}") from None
