"""How every store of ours turns values into what it keeps: moments, JSON, vectors, and what cannot be kept at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from retentive.errors import InvalidInput
from retentive.stores.protocol import Cursor
from retentive.types import Finding, Job, JournalEntry, Json, LedgerEntry, Memory, Vectors

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000  # microseconds
LATEST = 2**63 - 1  # later than any moment


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly: a float of seconds would lose the last digits and with them ties."""
    return (moment - EPOCH) // MICROSECOND


def behind(after: Cursor | None) -> tuple[int, str]:
    """Return the moment (in microseconds) and the id behind which a list begins; without a place, its beginning."""
    return (LATEST, "") if after is None else (micros(after.created_at), after.id)


def moment(micros_since_1970: int) -> datetime:
    """Return the moment that `micros` made a number of."""
    return EPOCH + timedelta(microseconds=micros_since_1970)


def seconds(moment: datetime) -> float:
    """Return seconds since 1970, by the same arithmetic in every store so that equal moments stay equal."""
    return float(micros(moment)) / SECOND


_compact = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def to_json(value: object, name: str) -> str:
    """Return ``value`` as compact JSON, refusing what JSON cannot say (NaN, sets, objects)."""
    try:
        return _compact(value)
    except (TypeError, ValueError) as cause:
        raise InvalidInput(f"{name}={value!r} cannot be kept as JSON: {cause}.", value=value) from cause


def canonical(value: Json) -> str:
    """Return one text for all JSON values that count as equal: 1 is 1.0, but neither is true; key order is nothing."""
    return json.dumps(_canonical(value), allow_nan=False, separators=(",", ":"), sort_keys=True)


def _canonical(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _canonical(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    return value


def plain_json(value: Mapping[str, Json], name: str) -> dict[str, Json]:
    """Return a copy as it would come back from a file: a caller who changes his own mapping changes no memory."""
    copy: dict[str, Json] = json.loads(to_json(dict(value), name)) if value else {}
    return copy


def storable(text: str) -> bool:
    """Say whether a string can be written as UTF-8; lone surrogates cannot, so nothing stored can equal them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_storable(texts: Iterable[tuple[str, str | None]]) -> None:
    """Refuse strings with lone surrogates by name: they come from broken decoding and no file can hold them."""
    for name, text in texts:
        if text and not text.isascii() and not storable(text):
            raise InvalidInput(
                f"{name}={text[:80]!r} has a lone surrogate; decode it again with errors='replace'.", value=text
            )


_SINGLES = ("id", "text", "kind", "key", "source", "speaker", "session", "superseded_by", "recurs")
_SEVERAL = ("tags", "entities", "supersedes", "derived_from")
_singles, _several = attrgetter(*_SINGLES), attrgetter(*_SEVERAL)


def require_memory(memory: Memory, space: str) -> None:
    """Refuse a memory of another space, or one with strings that cannot be stored."""
    if memory.space != space:
        raise InvalidInput(f"A memory of space {memory.space!r} was given to {space!r}.", value=memory.space)
    singles, several = _singles(memory), _several(memory)
    if storable("".join(filter(None, chain(singles, *several)))):  # all of them at once, as nearly always
        return
    require_storable(zip(_SINGLES, singles, strict=True))
    for name, texts in zip(_SEVERAL, several, strict=True):
        require_storable((name, text) for text in texts)


def require_entry(entry: JournalEntry | LedgerEntry) -> None:
    """Refuse a journal or ledger entry with strings that cannot be stored."""
    if isinstance(entry, JournalEntry):
        names: tuple[str, ...] = ("action", "memory_id", "actor", "reason")
    else:
        names = ("id", "policy", "cue", "outcome")
        require_storable(("ids", text) for text in (*entry.ids, *entry.used))
    require_storable((name, getattr(entry, name)) for name in names)


def finding_body(finding: Finding) -> str:
    """Return what of a finding is not looked up by, as JSON; refuse what cannot be stored."""
    require_storable((name, getattr(finding, name)) for name in ("id", "kind", "memory_id", "other_id", "status"))
    body = {
        "confidence": finding.confidence,
        "reason": finding.reason,
        "decided_at": None if finding.decided_at is None else micros(finding.decided_at),
        "detail": dict(finding.detail),
    }
    return to_json(body, "finding")


def finding_of(row: tuple[Any, ...]) -> Finding:
    """Return the finding of a row: id, at, kind, status, memory_id, other_id, body."""
    finding_id, at, kind, status, memory_id, other_id, body = row
    rest = json.loads(body)
    decided = rest.pop("decided_at")
    return Finding(
        id=finding_id,
        at=moment(at),
        kind=kind,
        status=status,
        memory_id=memory_id,
        other_id=other_id,
        decided_at=None if decided is None else moment(decided),
        **rest,
    )


def require_job(job: Job) -> None:
    """Refuse a job with strings that cannot be stored."""
    require_storable((name, getattr(job, name)) for name in ("id", "kind", "state", "lease", "error"))
    require_storable(("memories", text) for text in job.memories)


def as_vector(vector: Vectors, dimension: int | None) -> Vectors:
    """Return a private float32 copy of a vector, refusing one that could not be compared with its neighbours."""
    copy = np.array(vector, dtype=np.float32)
    if copy.ndim != 1 or copy.shape[0] == 0:
        raise InvalidInput(f"A vector of shape {copy.shape} was given; a store takes one dimension of at least 1.")
    if dimension is not None and copy.shape[0] != dimension:
        raise InvalidInput(
            f"A vector of {copy.shape[0]} numbers was given; this space holds vectors of {dimension}.",
            value=copy.shape[0],
        )
    if not np.isfinite(copy).all():
        raise InvalidInput("A vector with NaN or infinity was given; it would spoil every comparison.")
    copy.flags.writeable = False
    return copy
