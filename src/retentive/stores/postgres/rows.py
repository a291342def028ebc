"""Memories, accesses, journal lines and recalls as rows, and back."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from retentive.stores.postgres.keys import entry_of, key_of
from retentive.stores.ranking import distinct
from retentive.stores.values import finding_body, micros, moment, to_json
from retentive.types import NEVER_READ, Access, Finding, JournalEntry, Json, LedgerEntry, Memory, Vectors

Row: TypeAlias = tuple[Any, ...]
Bindings: TypeAlias = dict[str, Any]
FLOAT32 = np.dtype("<f4")
SMALLEST, GREATEST = -(2**63), 2**63 - 1  # bigint


def _time(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def _list(values: Sequence[str]) -> str:
    return json.dumps(values) if values else "[]"


def _array(ids: Sequence[str]) -> str | None:
    """Return the keys of ids as PostgreSQL writes an array."""
    return "{" + ",".join(str(key_of(memory_id)) for memory_id in ids) + "}" if ids else None


def strings(text: str) -> tuple[str, ...]:
    """Return a stored list of strings."""
    return () if text == "[]" else tuple(json.loads(text))


def encode(memory: Memory, row: int) -> Bindings:
    """Return the bindings of `insert_memories` and `replace_memory`."""
    return {
        "row": row,
        "id_key": key_of(memory.id),
        "key_key": None if memory.key is None else key_of(memory.key),
        "session_key": None if memory.session is None else key_of(memory.session),
        "derived_keys": _array(memory.derived_from),
        "id": memory.id,
        "created_at": micros(memory.created_at),
        "recorded_at": micros(memory.recorded_at),
        "kind": memory.kind,
        "importance": float(memory.importance),
        "trust": float(memory.trust),
        "pinned": bool(memory.pinned),
        "permanent": bool(memory.permanent),
        "valid_from": _time(memory.valid_from),
        "valid_until": _time(memory.valid_until),
        "superseded_at": _time(memory.superseded_at),
        "suppressed_at": _time(memory.suppressed_at),
        "updated_at": _time(memory.updated_at),
        "session": memory.session,
        "recurs": memory.recurs,
        "key": memory.key,
        "source": memory.source,
        "speaker": memory.speaker,
        "superseded_by": memory.superseded_by,
        "supersedes": _list(memory.supersedes),
        "derived_from": _list(memory.derived_from),
        "tags": _list(memory.tags),
        "entities": _list(memory.entities),
        "metadata": to_json(dict(memory.metadata), "metadata") if memory.metadata else "{}",
        "text": memory.text,
    }


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
        pinned=row[7],
        permanent=row[8],
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
        supersedes=strings(row[20]),
        derived_from=strings(row[21]),
        tags=strings(row[22]),
        entities=strings(row[23]),
        metadata={} if row[24] == "{}" else json.loads(row[24]),
        text=row[25],
        access=decode_access(row[26:30]),
    )


def tag_rows(row: int, tags: Sequence[str]) -> list[Bindings]:
    """Return the bindings of `insert_tags`."""
    return [{"row": row, "tag": key_of(tag)} for tag in distinct(tags)]


def entity_rows(row: int, entities: Sequence[str]) -> list[Bindings]:
    """Return the bindings of `insert_entities`."""
    return [{"row": row, "entity": key_of(entity), "name": entity} for entity in distinct(entities)]


def metadata_rows(row: int, metadata: Mapping[str, Json]) -> list[Bindings]:
    """Return the bindings of `insert_metadata`."""
    return [{"row": row, "entry": entry_of(name, value)} for name, value in metadata.items()]


def encode_access(memory_id: str, access: Access) -> Bindings:
    """Return the bindings of `set_access`."""
    moments = [micros(when) for when in access.recent]
    return {
        "id": key_of(memory_id),
        "last_at": _time(access.last_at),
        "count": float(access.count),
        "pending_at": _time(access.pending_at),
        "recent": struct.pack(f"<{len(moments)}q", *moments),
    }


def decode_access(columns: Row) -> Access:
    """Return the access state of the last four of `memory_columns`; nothing was ever written for the never read."""
    last_at, count, pending_at, recent = columns
    if recent is None:
        return NEVER_READ
    moments = tuple(moment(when) for (when,) in struct.iter_unpack("<q", recent))
    return Access(last_at=_moment(last_at), count=count, recent=moments, pending_at=_moment(pending_at))


def encode_line(entry: JournalEntry, sequence: int) -> Bindings:
    """Return the bindings of `insert_journal`."""
    return {
        "sequence": sequence,
        "at": micros(entry.at),
        "memory_key": key_of(entry.memory_id),
        "action": entry.action,
        "memory_id": entry.memory_id,
        "actor": entry.actor,
        "reason": entry.reason,
        "before": None if entry.before is None else to_json(dict(entry.before), "before"),
        "after": None if entry.after is None else to_json(dict(entry.after), "after"),
    }


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


def encode_recall(entry: LedgerEntry, cue_vector: Vectors | None, sequence: int) -> Bindings:
    """Return the bindings of `insert_recall`."""
    return {
        "sequence": sequence,
        "id_key": key_of(entry.id),
        "id": entry.id,
        "at": micros(entry.at),
        "policy": entry.policy,
        "cue": entry.cue,
        "ids": _list(entry.ids),
        "scores": np.array(entry.scores, dtype="<f8").tobytes(),
        "cue_vector": None if cue_vector is None else cue_vector.astype(FLOAT32, copy=False).tobytes(),
        "used": _list(entry.used),
        "outcome": entry.outcome,
    }


def decode_recall(row: Row) -> LedgerEntry:
    """Return the recall of a row."""
    recall_id, at, policy, cue, ids, scores, cue_vector, used, outcome = row
    return LedgerEntry(
        id=recall_id,
        at=moment(at),
        policy=policy,
        cue=cue,
        ids=strings(ids),
        scores=tuple(np.frombuffer(scores, dtype="<f8").tolist()),
        cue_vector=decode_vector(cue_vector),
        used=strings(used),
        outcome=outcome,
    )


def encode_finding(finding: Finding) -> Bindings:
    """Return the bindings of `put_finding`."""
    return {
        "body": finding_body(finding),
        "id_key": key_of(finding.id),
        "id": finding.id,
        "at": micros(finding.at),
        "kind": finding.kind,
        "status": finding.status,
        "memory_key": key_of(finding.memory_id),
        "memory_id": finding.memory_id,
        "other_key": None if finding.other_id is None else key_of(finding.other_id),
        "other_id": finding.other_id,
    }


def decode_vector(stored: bytes | None) -> Vectors | None:
    """Return a cue's vector, None where there is none."""
    return None if stored is None else np.frombuffer(stored, dtype=FLOAT32).astype(np.float32)


def bigints(rows: Any) -> list[int]:
    """Return row numbers as a list."""
    listed: list[int] = np.asarray(rows, dtype=np.int64).tolist()
    return listed


def decode_json(text: str | None) -> Any:
    """Return a stored JSON value, None where there is none."""
    return None if text is None else json.loads(text)
