"""What the in-memory store holds for one space, and which memories a gate lets through."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any

from retentive.stores.protocol import Cursor
from retentive.stores.values import (
    canonical,
    micros,
)
from retentive.types import (
    Finding,
    Gate,
    Job,
    JournalEntry,
    Json,
    LedgerEntry,
    Memory,
    Vectors,
)


@dataclass
class State:
    """Everything one space holds, by row number. Never changed once committed."""

    memories: dict[int, Memory] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    vectors: dict[int, Vectors] = field(default_factory=dict)
    staged: dict[int, Vectors] = field(default_factory=dict)
    terms: dict[int, Counter[str]] = field(default_factory=dict)
    journal: list[JournalEntry] = field(default_factory=list)
    ledger: dict[str, LedgerEntry] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    last_row: int = 0
    last_sequence: int = 0

    def copy(self) -> State:
        """Return a state to work on."""
        values: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        copies: dict[str, Any] = {
            name: value if isinstance(value, int) else value.copy() for name, value in values.items()
        }
        return State(**copies)

    @cached_property
    def mean_length(self) -> float:
        """Return the mean number of index terms of a row."""
        return sum(terms.total() for terms in self.terms.values()) / len(self.terms)

    @cached_property
    def having(self) -> Counter[str]:
        """Return how many rows have each index term."""
        return Counter(term for terms in self.terms.values() for term in terms)

    @cached_property
    def mentions(self) -> Counter[str]:
        """Return how many rows mention each entity."""
        return Counter(key for memory in self.memories.values() for key in set(memory.entities))

    def recalls(self, after: Cursor | None = None) -> list[LedgerEntry]:
        """Return the ledger newest first, behind a place in it; of two at one moment the later written first."""
        written = sorted(((entry.at, number, entry) for number, entry in enumerate(self.ledger.values())), reverse=True)
        if after is None:
            return [entry for _, _, entry in written]
        number = next((number for _, number, entry in written if entry.id == after.id), 0)
        return [entry for at, other, entry in written if (at, other) < (after.created_at, number)]

    def setting(self, name: str) -> Json:
        """Return a setting, None if absent."""
        text = self.settings.get(name)
        value: Json = None if text is None else json.loads(text)
        return value

    def dimension(self, vectors: Mapping[int, Vectors]) -> int | None:
        """Return how long these vectors are, None where there are none."""
        return next((vector.shape[0] for vector in vectors.values()), None)


def passes(memory: Memory, gate: Gate) -> bool:
    """Say whether a memory passes a gate."""
    return (
        (gate.kinds is None or memory.kind in gate.kinds)
        and (gate.ids is None or memory.id in gate.ids)
        and gate.tags <= set(memory.tags)
        and all(
            name in memory.metadata and canonical(memory.metadata[name]) == canonical(value)
            for name, value in gate.where.items()
        )
        and (gate.since is None or memory.created_at >= gate.since)
        and (gate.until is None or memory.created_at < gate.until)
        and (gate.pinned is None or memory.pinned == gate.pinned)
        and (gate.known_at is None or memory.created_at <= gate.known_at)
        and (gate.hidden or _visible(memory, gate))
    )


def _visible(memory: Memory, gate: Gate) -> bool:
    """Say whether a memory holds at `true_at` and was neither superseded nor suppressed as far as known then."""
    return (
        (memory.valid_from is None or memory.valid_from <= gate.true_at)
        and (memory.valid_until is None or gate.true_at < memory.valid_until)
        and not _happened(memory.superseded_at, gate.known_at)
        and not _happened(memory.suppressed_at, gate.known_at)
    )


def _happened(moment: datetime | None, by: datetime | None) -> bool:
    return moment is not None and (by is None or moment <= by)


def newest_first(memory: Memory) -> tuple[int, str]:
    """Return the key by which every answer settles its ties: newer creation, then id."""
    return (-micros(memory.created_at), memory.id)
