"""The stable JSON shapes of the command line, and the same values as text for people.

Every field is always there (null, [] or {} where there is nothing), times are ISO 8601 in UTC. What others wrote goes
through `visible` before it reaches a terminal: a memory must not move somebody's cursor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retentive.types import JournalEntry, LedgerEntry, Memory

_FOLLOWING = ("updated_at", "entities")  # what changes only because something else did
_LISTED = ("id", "said", "kind", "importance", "text")


def plain(value: Any) -> Any:
    """Return any value of ours as JSON: records as objects, moments as ISO 8601, paths and secrets as strings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return _plain_one(value)


def _plain_one(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value)  # paths, and secrets as stars


def memory_shape(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON."""
    shape: dict[str, Any] = plain(memory)
    return {**shape, "retrievable": memory.retrievable}


def ledger_shape(entry: LedgerEntry) -> dict[str, Any]:
    """Return a recall of the ledger as JSON, without the cue's vector: nobody reads 256 numbers."""
    shape: dict[str, Any] = plain(dataclasses.replace(entry, cue_vector=None))
    del shape["cue_vector"]
    return shape


def when(moment: datetime | None) -> str:
    """Return a moment for people, in UTC to the minute."""
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def seen(text: object) -> str:
    """Return text on one line, what is invisible in it shown."""
    from retentive.recall.lines import visible

    return visible(str(text))


def columns(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Align rows in columns; with a width, the last column is cut to fit."""
    from retentive.explain import cells, shortened

    if not rows:
        return ""
    widths = [max(cells(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        head = "".join(cell + " " * (size - cells(cell) + 2) for cell, size in zip(row, widths, strict=False))
        last = row[-1] if width is None else shortened(row[-1], max(width - cells(head), 20))
        lines.append((head + last).rstrip())
    return "\n".join(lines)


def memory_table(memories: Sequence[Memory], *, width: int | None = None) -> str:
    """Return memories as a table, one line each."""
    rows = [_LISTED, *(_row(memory) for memory in memories)]
    return columns(rows, width=width) if memories else ""


def _row(memory: Memory) -> tuple[str, ...]:
    marks = f"({', '.join(_state(memory))}) " if _state(memory) else ""
    text = marks + seen(memory.text)
    return (seen(memory.id), when(memory.created_at), seen(memory.kind), f"{memory.importance:.2f}", text)


def _state(memory: Memory) -> list[str]:
    marks = {
        "pinned": memory.pinned,
        "permanent": memory.permanent,
        "superseded": memory.superseded_at is not None,
        "hidden": memory.suppressed_at is not None,
    }
    return [name for name, holds in marks.items() if holds]


def memory_card(memory: Memory) -> str:
    """Return everything that is known of a memory, a line for each thing, its words last."""
    access = memory.access
    facts: dict[str, Any] = {
        "id": memory.id,
        "space": memory.space,
        "kind": memory.kind,
        "said": when(memory.created_at),
        "recorded": when(memory.recorded_at),
        "updated": when(memory.updated_at),
        "importance": f"{memory.importance:g}",
        "state": ", ".join(_state(memory)),
        "key": memory.key,
        "tags": ", ".join(memory.tags),
        "source": memory.source,
        "speaker": memory.speaker,
        "session": memory.session,
        "metadata": ", ".join(f"{name}={value!r}" for name, value in memory.metadata.items()),
        "valid from": when(memory.valid_from),
        "valid until": when(memory.valid_until),
        "supersedes": ", ".join(memory.supersedes),
        "superseded by": memory.superseded_by,
        "derived from": ", ".join(memory.derived_from),
        "recurs": memory.recurs,
        "trust": "" if memory.trust == 1 else f"{memory.trust:g}",
        "read": f"{access.count:.1f} times, last {when(access.last_at)}" if access.last_at else "never",
    }
    words = "\n".join(seen(line) for line in memory.text.splitlines())
    return columns([(name, seen(value)) for name, value in facts.items() if value]) + "\n\n" + words


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Say in words what is different between two states of a memory."""
    old, new = before or {}, after or {}
    names = [name for name in {**old, **new} if old.get(name) != new.get(name) and name not in _FOLLOWING]
    if not old and new:
        return seen(new.get("text", ""))
    return "; ".join(f"{name}: {_short(old.get(name))} → {_short(new.get(name))}" for name in names)


def _short(value: Any) -> str:
    from retentive.explain import shortened

    return "nothing" if value in (None, "", [], {}) else shortened(seen(value), 60)


def journal_table(lines: Sequence[JournalEntry]) -> str:
    """Return journal lines as a table."""
    return columns(
        [
            (when(line.at), seen(line.action), seen(line.actor or "-"), _told(line.reason, line.before, line.after))
            for line in lines
        ]
    )


def space_journal_table(lines: Sequence[JournalEntry]) -> str:
    """Return the journal of a space as a table: the number of each line, and which memory it is about."""
    return columns(
        [
            (
                str(line.sequence),
                when(line.at),
                seen(line.action),
                seen(line.memory_id or "-"),
                seen(line.actor or "-"),
                told,
            )
            for line in lines
            for told in [
                _certified(line.after) if line.action == "certificate" else _told(line.reason, line.before, line.after)
            ]
        ]
    )


def _certified(after: Mapping[str, Any] | None) -> str:
    """Say what an erasure did; which memories they were, the tombstones above it say."""
    known = after or {}
    left = f", {len(known['left'])} left that say the same" if known.get("left") else ""
    return f"{len(known.get('erased') or ())} erased by {seen(str(known.get('by', 'id')))}{left}"


def _told(reason: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    return " · ".join(part for part in (seen(reason), changes(before, after)) if part)
