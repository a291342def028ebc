"""How a procedure has done: counted where feedback says, and read where procedures are ranked and rendered.

Importance moves by at most five per cent a call for every kind (policy.md §6). A procedure also has a record, for a
way of doing things that worked nine times out of ten is worth more than one that nobody tried, and both than one that
fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from retentive.types import Json

RECORD: Final = "record"  # where it stands in a procedure's metadata
PROCEDURE: Final = "procedure"
TRIES_FOR_HALF: Final = 3.0  # so many tries, and half of the reach is used


@dataclass(frozen=True, slots=True)
class Record:
    """How often a procedure worked and failed."""

    worked: int = 0
    failed: int = 0

    @property
    def tries(self) -> int:
        """How often it was judged."""
        return self.worked + self.failed

    def __str__(self) -> str:
        return f"worked {self.worked} of {self.tries} times"


def record_of(metadata: Mapping[str, Json]) -> Record:
    """Read a record from metadata; what cannot be one counts as none."""
    value = metadata.get(RECORD)
    if not isinstance(value, Mapping):
        return Record()
    return Record(_count(value.get("worked")), _count(value.get("failed")))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def noted(metadata: Mapping[str, Json], verdict: str) -> dict[str, Json]:
    """Return metadata with one more outcome: "good" worked, "bad" failed; anything else says nothing."""
    record = record_of(metadata)
    worked, failed = record.worked + (verdict == "good"), record.failed + (verdict == "bad")
    return {**metadata, RECORD: {"worked": worked, "failed": failed}}


def proven(record: Record, reach: float) -> float:
    """Return by what a record multiplies a score, within 1 ± ``reach``; 1 without a record.

    ``1 + reach · (2p - 1) · n/(n + 3)`` with ``p = (worked + 1)/(n + 2)``, Laplace's rule of succession. With a reach
    of 0.25 the first outcome moves it by 2 %, and none by as much as 5 %.
    """
    share = (record.worked + 1) / (record.tries + 2)
    return 1.0 + reach * (2.0 * share - 1.0) * record.tries / (record.tries + TRIES_FOR_HALF)
