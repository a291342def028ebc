"""What a cache remembers beside its columns: answers of indexes, and which turns make up a session."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Places: TypeAlias = NDArray[np.int64]

ANSWERS = 1_024  # kept at most
BYTES = 8 << 20  # and not more than this
TAIL = 4_096  # turns looked through before the sessions are sorted again
TAIL_SHARE = 4  # or more than one in this many


class Remembered:
    """Answers, those longest unused forgotten; bounded in number and in bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, tuple[Any, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: object) -> Any:
        """Return an answer, None without one."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: object, value: Any, size: int) -> None:
        """Keep an answer of so many bytes."""
        self._bytes += size - self._kept.pop(key, (None, 0))[1]
        self._kept[key] = (value, size)
        while len(self._kept) > ANSWERS or self._bytes > BYTES:
            self._bytes -= self._kept.popitem(last=False)[1][1]


class SessionTurns:
    """The places of each session. Sorted once; what came later is looked through, until that is much."""

    def __init__(self) -> None:
        self._order: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)  # session → its first turn in that order

    def note(self, before: NDArray[np.int32], places: Places, after: tuple[int, ...]) -> None:
        """Take note that places are written: of one that is sorted already, the session may be another."""
        sorted_already = places < len(self._order)
        if (before[sorted_already] != np.array(after, dtype=np.int32)[sorted_already]).any():
            self._order, self._starts = self._order[:0], self._starts[:1]

    def of(self, codes: NDArray[np.int32], sessions: NDArray[np.int32]) -> Places:
        """Return the places of some sessions; ``sessions`` has that of every place."""
        tail = len(sessions) - len(self._order)
        if tail > max(TAIL, len(sessions) // TAIL_SHARE):
            self._order = np.argsort(sessions, kind="stable").astype(np.int32)
            self._starts = np.append(0, np.cumsum(np.bincount(sessions)))
            tail = 0
        known = codes[codes < len(self._starts) - 1]
        edges = zip(self._starts[known].tolist(), self._starts[known + 1].tolist(), strict=True)
        parts = [self._order[start:end] for start, end in edges]
        if not tail:
            return np.concatenate((*parts, self._order[:0]), dtype=np.int64)
        newer = np.flatnonzero(np.isin(sessions[-tail:], codes)) + len(self._order)
        return np.concatenate((*parts, newer), dtype=np.int64)
