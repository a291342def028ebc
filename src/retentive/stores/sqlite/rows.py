"""Memories, accesses, journal lines and recalls as rows, and back."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw
import numpy as np

from retentive.stores.sqlite.database import Row
from retentive.stores.values import micros, moment, to_json
from retentive.types import NEVER_READ, Access, JournalEntry, LedgerEntry, Memory, RowIds, Vectors

FLOAT32 = np.dtype("<f4")
INT64 = np.dtype("<i8")


def _time(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _list(values: Sequence[str]) -> str:
    return json.dumps(values) if values else "[]"


def _strings(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def encode(memory: Memory, change: int) -> Row:
    """Return the bindings of `insert_memory` and `replace_memory`."""
    return (
        change,
        memory.id,
        micros(memory.created_at),
        micros(memory.recorded_at),
        memory.kind,
        float(memory.importance),
        float(memory.trust),
        int(memory.pinned),
        int(memory.permanent),
        _time(memory.valid_from),
        _time(memory.valid_until),
        _time(memory.superseded_at),
        _time(memory.suppressed_at),
        _time(memory.updated_at),
        memory.session,
        memory.recurs,
        memory.key,
        memory.source,
        memory.speaker,
        memory.superseded_by,
        _list(memory.supersedes),
        _list(memory.derived_from),
        _list(memory.tags),
        _list(memory.entities),
        to_json(dict(memory.metadata), "metadata") if memory.metadata else "{}",
        memory.text,
    )


def decode(space: str, row: Row) -> Memory:
    """Return the memory of a row of `memory_columns`."""
    return Memory(
        space=space,
        id=row[1],
        created_at=moment(row[2]),
        recorded_at=moment(row[3]),
        kind=row[4],
        importance=row[5],
        trust=row[6],
        pinned=bool(row[7]),
        permanent=bool(row[8]),
        valid_from=_moment(row[9]),
        valid_until=_moment(row[10]),
        superseded_at=_moment(row[11]),
        suppressed_at=_moment(row[12]),
        updated_at=_moment(row[13]),
        session=row[14],
        recurs=row[15],
        key=row[16],
        source=row[17],
        speaker=row[18],
        superseded_by=row[19],
        supersedes=_strings(row[20]),
        derived_from=_strings(row[21]),
        tags=_strings(row[22]),
        entities=_strings(row[23]),
        metadata={} if row[24] == "{}" else json.loads(row[24]),
        text=row[25],
        access=decode_access(row[26:30]),
    )


def encode_access(memory_id: str, change: int, access: Access) -> Row:
    """Return the bindings of `set_access`."""
    moments = [micros(when) for when in access.recent]
    recent = struct.pack(f"<{len(moments)}q", *moments)
    return (memory_id, change, _time(access.last_at), float(access.count), _time(access.pending_at), recent)


def decode_access(columns: Row) -> Access:
    """Return the access state of the last four of `memory_columns`; nothing was ever written for the never read."""
    last_at, count, pending_at, recent = columns
    if recent is None:
        return NEVER_READ
    moments = tuple(moment(when) for (when,) in struct.iter_unpack("<q", recent))
    return Access(last_at=_moment(last_at), count=count, recent=moments, pending_at=_moment(pending_at))


def encode_line(entry: JournalEntry) -> Row:
    """Return the bindings of `insert_journal`."""
    before = None if entry.before is None else to_json(dict(entry.before), "before")
    after = None if entry.after is None else to_json(dict(entry.after), "after")
    return (micros(entry.at), entry.action, entry.memory_id, entry.actor, entry.reason, before, after)


def decode_line(row: Row) -> JournalEntry:
    """Return the journal line of a row."""
    sequence, at, action, memory_id, actor, reason, before, after = row
    return JournalEntry(
        at=moment(at),
        action=action,
        memory_id=memory_id,
        actor=actor,
        reason=reason,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
        sequence=sequence,
    )


def encode_recall(entry: LedgerEntry, cue_vector: Vectors | None) -> Row:
    """Return the bindings of `insert_recall`."""
    return (
        entry.id,
        micros(entry.at),
        entry.policy,
        entry.cue,
        _list(entry.ids),
        np.array(entry.scores, dtype="<f8").tobytes(),
        None if cue_vector is None else blob(cue_vector),
        _list(entry.used),
        entry.outcome,
    )


def decode_recall(row: Row) -> LedgerEntry:
    """Return the recall of a row."""
    recall_id, at, policy, cue, ids, scores, cue_vector, used, outcome = row
    return LedgerEntry(
        id=recall_id,
        at=moment(at),
        policy=policy,
        cue=cue,
        ids=_strings(ids),
        scores=tuple(np.frombuffer(scores, dtype="<f8").tolist()),
        cue_vector=None if cue_vector is None else unblob(cue_vector),
        used=_strings(used),
        outcome=outcome,
    )


def blob(vector: Vectors) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype(FLOAT32, copy=False).tobytes()


def unblob(stored: bytes) -> Vectors:
    """Return a stored vector."""
    return np.frombuffer(stored, dtype=FLOAT32).astype(np.float32)


def carray(values: RowIds | tuple[str, ...]) -> apsw.CArrayBinding:
    """Return row numbers, or texts, as SQLite's `carray` takes them: bound whole, not one by one."""
    return apsw.carray(values if isinstance(values, tuple) else np.ascontiguousarray(values, dtype=np.int64))


def decode_json(text: str | None) -> Any:
    """Return a stored JSON value, None where there is none."""
    return None if text is None else json.loads(text)
