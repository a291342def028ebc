"""Postings of the rows written last, in dictionaries: a write costs what it changes, and nothing has to be sorted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.stores.sqlite.tokens import SEPARATOR
from retentive.types import Floats

Places: TypeAlias = NDArray[np.int64]


class Fresh:
    """A few rows' terms, both ways round."""

    def __init__(self) -> None:
        self._postings: dict[str, dict[int, int]] = {}
        self.lines: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def put(self, places: Iterable[int], lines: Iterable[str]) -> None:
        """Add rows that are not here."""
        for place, line in zip(places, lines, strict=True):
            self.lines[place] = line
            for token, count in Counter(line.split(SEPARATOR) if line else ()).items():
                self._postings.setdefault(token, {})[place] = count

    def drop(self, places: Iterable[int]) -> None:
        """Remove rows without a trace."""
        for place in places:
            line = self.lines.pop(place)
            for token in set(line.split(SEPARATOR)) if line else ():
                postings = self._postings[token]
                del postings[place]
                if not postings:
                    del self._postings[token]

    def having(self, token: str) -> int:
        """Return how many rows have a term."""
        return len(self._postings.get(token, ()))

    def postings(self, token: str) -> tuple[Places, Floats]:
        """Return the places that have a term, and how often."""
        found = self._postings.get(token, {})
        places = np.fromiter(found, dtype=np.int64, count=len(found))
        return places, np.fromiter(found.values(), dtype=np.float64, count=len(found))
