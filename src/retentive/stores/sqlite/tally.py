"""How often what the store keeps at hand sufficed: for `CountedStore`."""

from __future__ import annotations

import threading
from collections import Counter


class Tally:
    """Counts by cache and by what was found there; used by every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()

    def note(self, cache: str, found: str) -> None:
        """Count one look into a cache."""
        with self._lock:
            self._counts[cache, found] += 1

    def counts(self) -> dict[tuple[str, str], int]:
        """Return all counts so far."""
        with self._lock:
            return dict(self._counts)
