"""Memories and hits for the rendering tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from retentive.recall.outcome import Hit, Signal
from retentive.types import Memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def memory(text: str = "Prefers Postgres", name: str = "m1", days: float = 3, **fields: Any) -> Memory:
    then = NOW - timedelta(days=days)
    return Memory(id=name, space="acme/alice", text=text, created_at=then, recorded_at=then, **fields)


def hit(text: str = "Prefers Postgres", name: str = "m1", *, stale: str | None = None, **fields: Any) -> Hit:
    signals = {"similarity": Signal(0.5, 0.5, 1.0, 0.5)}
    return Hit(memory(text, name, **fields), 0.5, 0.5, 0.5, ("vector",), signals, stale=stale)
