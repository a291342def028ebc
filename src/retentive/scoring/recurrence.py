"""Recurrence: how far ``now`` is from the nearest occurrence of a rule such as ``yearly`` or an RFC 5545 RRULE."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A parsed rule."""

    start: datetime


def parse_rule(rule: str, start: datetime) -> Recurrence:
    """Read ``rule``."""
    raise NotImplementedError


def days_to_nearest(rule: str | Recurrence, start: datetime, now: datetime) -> float:
    """Days to nearest occurrence."""
    raise NotImplementedError
