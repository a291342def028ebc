"""A clock for the tests over LangGraph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **span: float) -> None:
        self.now += timedelta(**span)
