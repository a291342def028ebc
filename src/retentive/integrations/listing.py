"""The order in which a large tenant is listed: ids and times of what passes a gate, read through once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from retentive.stores.memory_state import newest_first, passes
from retentive.types import Gate, Memory


class Listing:
    """Ids newest first; a page that goes on where another ended needs no second reading."""

    def __init__(self, gate: Gate, places: list[tuple[int, str]]) -> None:
        self.gate = gate
        self._places = places

    @classmethod
    def of(cls, gate: Gate, memories: Iterable[Memory]) -> Listing:
        """Read memories through, and keep where each stands."""
        return cls(gate, sorted(newest_first(memory) for memory in memories if passes(memory, gate)))

    def __len__(self) -> int:
        return len(self._places)

    def behind(self, place: tuple[int, str] | None, limit: int) -> list[str]:
        """Return the ids of the next ``limit``, from the beginning or behind a place."""
        start = 0 if place is None else bisect_right(self._places, place)
        return [key for _, key in self._places[start : start + max(limit, 0)]]
