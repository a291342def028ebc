"""A memory as it was known at a moment, read back from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from retentive.recall.outcome import Outcome
from retentive.stores.protocol import SpaceStore
from retentive.transfer.records import MEMORY, read_fields
from retentive.types import Memory


def as_known(memory: Memory, store: SpaceStore, known_at: datetime) -> Memory | None:
    """Return a memory in the state in which it was known then; None where it was not known yet.

    It was known from when it was said. The state is the last one written by then; of what was written down later than
    it was said, the first one. How it was read since is left out: nobody asked it then.
    """
    if memory.created_at > known_at:
        return None
    states = [(line.at, line.after) for line in store.read_journal(memory.id) if line.after is not None]
    by_then = [state for at, state in states if at <= known_at]
    if by_then:
        return _restored(by_then[-1], memory)
    return _restored(states[0][1], memory) if states else memory


def _restored(state: Mapping[str, Any], memory: Memory) -> Memory:
    """Read the state that a journal line holds; fields that it does not know stay as they are."""
    known = {name: value for name, value in state.items() if name in MEMORY and value is not None}
    emptied = {name: None for name, value in state.items() if name in MEMORY and value is None}
    return memory.changed(**emptied, **read_fields(known, MEMORY))


def memories_as_known(memories: Iterable[Memory], store: SpaceStore, known_at: datetime | None) -> list[Memory]:
    """Return memories in the state in which they were known then; only those that were changed since are looked up."""
    return [_as_known_if_changed(memory, store, known_at) for memory in memories]


def outcome_as_known(outcome: Outcome, store: SpaceStore, known_at: datetime | None) -> Outcome:
    """Show in an answer what its memories said then. They were found by what they say now, which a note admits."""
    hits = tuple(replace(hit, memory=_as_known_if_changed(hit.memory, store, known_at)) for hit in outcome.hits)
    changed = [hit.memory.id for hit, before in zip(hits, outcome.hits, strict=True) if hit.memory is not before.memory]
    core = tuple(memories_as_known(outcome.core, store, known_at))
    if not changed:
        return replace(outcome, core=core)
    note = f"found by what they say now, shown as they were known then: {', '.join(changed)}"
    return replace(outcome, hits=hits, core=core, trace=replace(outcome.trace, notes=(*outcome.trace.notes, note)))


def _as_known_if_changed(memory: Memory, store: SpaceStore, known_at: datetime | None) -> Memory:
    if known_at is None or memory.updated_at is None or memory.updated_at <= known_at:
        return memory
    return as_known(memory, store, known_at) or memory
