"""Which turns of a conversation are new, when part of it was observed before. Pure.

A conversation comes again whole, grown, as a window over its end, or forked half-way. A turn is known again by its
role, speaker and words (and its time, where both sides state one); a turn that was erased since is a place that any
turn may stand in, so that what somebody had erased is not stored anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Final

SAME_MOMENT: Final = timedelta(seconds=1)  # logs round
_LARGEST_TABLE: Final = 4_000_000  # cells: beyond, only windows and common beginnings are recognised


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn as it is compared: ``at`` only where the message stated it; ``erased``: its words are gone."""

    role: str = ""
    speaker: str = ""
    text: str = ""
    at: datetime | None = None
    erased: bool = False

    def is_again(self, other: Heard) -> bool:
        """Whether both are one turn."""
        if self.erased or other.erased:
            return True
        if (self.role, self.speaker, self.text) != (other.role, other.speaker, other.text):
            return False
        return self.at is None or other.at is None or abs(self.at - other.at) <= SAME_MOMENT


def new_turns(stored: Sequence[Heard], coming: Sequence[Heard], *, same_start: bool = False) -> list[int]:
    """Return the places in ``coming`` that are new; ``same_start``: both are known to begin with the same turn.

    An erased turn is recognised only beside one that is not (or at a known start): alone it could be any.
    """
    known = _window(stored, coming, same_start=same_start)
    if known is not None:
        return list(range(known, len(coming)))
    start = _common_start(stored, coming, same_start=same_start)
    rest, more = stored[start:], coming[start:]
    if len(rest) * len(more) > _LARGEST_TABLE:
        return list(range(start, len(coming)))
    again = _longest_common(rest, more)
    return [start + place for place in range(len(more)) if place not in again]


def continues(stored: Sequence[Heard], coming: Sequence[Heard]) -> bool:
    """Whether a conversation with the same first turn is this one: the shorter agrees, or two turns and half of it."""
    shorter = min(len(stored), len(coming))
    known = len(coming) - len(new_turns(stored, coming, same_start=True))
    return known >= shorter or known >= max(2, shorter / 2)


def _window(stored: Sequence[Heard], coming: Sequence[Heard], *, same_start: bool) -> int | None:
    """Return how many of the coming turns lie over the end of the stored ones; the longest overlap counts."""
    for offset in range(len(stored)):
        known = min(len(stored) - offset, len(coming))
        if _agree(stored[offset : offset + known], coming[:known], sure=same_start and not offset):
            return known
    return None


def _common_start(stored: Sequence[Heard], coming: Sequence[Heard], *, same_start: bool) -> int:
    shorter = min(len(stored), len(coming))
    end = next((at for at in range(shorter) if not stored[at].is_again(coming[at])), shorter)
    return end if _agree(stored[:end], coming[:end], sure=same_start) else 0


def _agree(stored: Sequence[Heard], coming: Sequence[Heard], *, sure: bool) -> bool:
    """Whether turns agree one by one, and not only because they were erased."""
    return all(map(Heard.is_again, stored, coming)) and (sure or not all(turn.erased for turn in stored))


def _longest_common(stored: Sequence[Heard], coming: Sequence[Heard]) -> set[int]:
    """Return the places in ``coming`` on a longest common subsequence, the earliest of them: what is new stands last."""
    table = [[0] * (len(coming) + 1) for _ in range(len(stored) + 1)]
    for i, j in product(reversed(range(len(stored))), reversed(range(len(coming)))):
        both = table[i + 1][j + 1] + 1 if _surely(stored[i], coming[j]) else 0
        table[i][j] = max(both, table[i + 1][j], table[i][j + 1])
    found: set[int] = set()
    i = j = 0
    while i < len(stored) and j < len(coming):
        if _surely(stored[i], coming[j]) and table[i][j] == table[i + 1][j + 1] + 1:
            found.add(j)
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:  # step over the stored one first: the coming one may match later
            i += 1
        else:
            j += 1
    return found


def _surely(stored: Heard, coming: Heard) -> bool:
    return not stored.erased and stored.is_again(coming)
