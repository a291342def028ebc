"""Shaken memories: conclusions whose evidence no longer stands.

Computed when it is asked, never written: a mark kept with the conclusion would be wrong after every import, repair or
write that forgot to move it. An insight rests on all of its evidence, so one lost piece shakes it; anything else that
names where it came from (a fact taken from two turns) is shaken only when nothing is left. A conclusion drawn from a
shaken one is shaken too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from retentive.stores.protocol import SpaceStore
from retentive.types import Memory

DEEPEST: Final = 8  # conclusions drawn from conclusions are followed so far
LOST: Final = frozenset({"forget", "erase"})  # a memory that was only pruned for its age still stands


def shaken(memories: Sequence[Memory], store: SpaceStore, known_at: datetime | None = None) -> dict[str, str]:
    """Say, by id, why memories among these are in doubt; ``known_at`` asks how it stood at that moment."""
    resting = [memory for memory in memories if memory.derived_from]
    if not resting:
        return {}
    known = _with_evidence(resting, store)
    lost = _lost(known, {name for memory in known.values() for name in memory.derived_from}, store, known_at)
    for _ in range(DEEPEST):
        unseen = {
            memory.id: reason
            for memory in known.values()
            if memory.id not in lost and (reason := _reason(memory, lost)) is not None
        }
        if not unseen:
            break
        lost.update({memory_id: f"is in doubt itself ({reason})" for memory_id, reason in unseen.items()})
    reasons = {memory.id: _reason(memory, lost) for memory in resting}
    return {memory_id: reason for memory_id, reason in reasons.items() if reason is not None}


def _with_evidence(resting: Sequence[Memory], store: SpaceStore) -> dict[str, Memory]:
    """Return the memories and all they rest on, as deep as it is followed."""
    known = {memory.id: memory for memory in resting}
    ahead = _evidence_of(resting) - set(known)
    for _ in range(DEEPEST):
        found = store.get(sorted(ahead))
        known.update(found)
        ahead = _evidence_of(found.values()) - set(known)
        if not ahead:
            break
    return known


def _evidence_of(memories: Iterable[Memory]) -> set[str]:
    return {name for memory in memories for name in memory.derived_from}


def _lost(
    known: Mapping[str, Memory], names: Iterable[str], store: SpaceStore, known_at: datetime | None
) -> dict[str, str]:
    """Return what no longer stands of the evidence named, each with what became of it."""
    fates = {name: _fate(name, known.get(name), store, known_at) for name in sorted(names)}
    return {name: fate for name, fate in fates.items() if fate is not None}


def _fate(name: str, memory: Memory | None, store: SpaceStore, known_at: datetime | None) -> str | None:
    """Say what became of a piece of evidence. One that nobody ever stored here (a document's name) is not lost."""
    if memory is not None and memory.superseded_at is not None and _by(memory.superseded_at, known_at):
        return f"was superseded by {memory.superseded_by}" if memory.superseded_by else "was superseded"
    if memory is not None and memory.suppressed_at is None:
        return None
    lines = [line for line in store.read_journal(name) if _by(line.at, known_at)]
    last = next((line.action for line in reversed(lines) if line.action in {*LOST, "suppress", "reactivate"}), None)
    return {"forget": "was forgotten", "erase": "was erased"}.get(last or "")


def _by(moment: datetime, known_at: datetime | None) -> bool:
    return known_at is None or moment <= known_at


def _reason(memory: Memory, lost: Mapping[str, str]) -> str | None:
    gone = [name for name in memory.derived_from if name in lost]
    if not gone or (memory.kind != "reflection" and len(gone) < len(memory.derived_from)):
        return None
    more = f", and {len(gone) - 1} more of its evidence" if len(gone) > 1 else ""
    return f"shaken: its evidence {gone[0]} {lost[gone[0]]}{more}"
