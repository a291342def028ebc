"""Which spaces need no look: nobody wrote in them since the last one, and nothing has become due meanwhile.

A worker that opens every space at every round pushes out those that people use, and costs more the more there are. A
store that can say cheaply whether anything was written (`MarkedStore`) spares that; with others every space is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from retentive.stores.protocol import MarkedStore

if TYPE_CHECKING:
    from retentive.memory import Retentive

LOOK_AGAIN: Final = timedelta(hours=1)
"""However quiet a space seems, it is opened this often: a mark tells of commits, not of a file put in its place."""


@dataclass(frozen=True, slots=True)
class _Seen:
    mark: str
    left: Counter[str]
    until: datetime


class Quiet:
    """What the last look into each space found, for one task."""

    def __init__(self, home: Retentive) -> None:
        self._home = home
        self._marks: dict[str, str] = {}
        self._seen: dict[str, _Seen] = {}

    def begin(self, spaces: Sequence[str]) -> None:
        """Begin a round: take the marks before any look, so that what is written during it shows in the next."""
        store = self._home.store
        self._marks = dict(store.marks(spaces)) if isinstance(store, MarkedStore) else {}
        self._seen = {path: seen for path, seen in self._seen.items() if self._marks.get(path) == seen.mark}

    def left(self, path: str) -> Counter[str] | None:
        """Return what the last look left to do in a space that needs no other; None where one must look."""
        seen = self._seen.get(path)
        return seen.left if seen is not None and self._home.now() < seen.until else None

    def note(self, path: str, left: Counter[str], due: datetime | None) -> None:
        """Keep what a look found, and when something there is due by itself."""
        mark, again = self._marks.get(path), self._home.now() + LOOK_AGAIN
        if mark is not None:
            self._seen[path] = _Seen(mark, left, again if due is None else min(due, again))
