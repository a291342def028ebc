"""Which turns of a conversation are new, when part of it was observed before. Pure.

A conversation comes again whole, grown, as a window over its end, or forked half-way. A turn is known again by its
role, speaker and words (and its time, where both sides state one); a turn that was erased since is a place that any
turn may stand in, so that what somebody had erased is not stored anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

SAME_MOMENT: Final = timedelta(seconds=1)  # logs round


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn as it is compared: ``at`` only where the message stated it; ``erased``: its words are gone."""

    role: str = ""
    speaker: str = ""
    text: str = ""
    at: datetime | None = None
    erased: bool = False

    @property
    def words(self) -> tuple[str, str, str]:
        """Who said what."""
        return self.role, self.speaker, self.text

    def is_again(self, other: Heard) -> bool:
        """Whether both are one turn."""
        if self.erased or other.erased:
            return True
        if self.words != other.words:
            return False
        return self.at is None or other.at is None or abs(self.at - other.at) <= SAME_MOMENT


def new_turns(stored: Sequence[Heard], coming: Sequence[Heard], *, same_start: bool = False) -> list[int]:
    """Return the places in ``coming`` that are new; ``same_start``: both are known to begin with the same turn.

    Read as a window over the end, or turn by turn whatever the order: whichever finds less that is new, so that what
    was observed once adds nothing. The price: words that were said before, and come again without a time and without
    the turns around them, count as known. An erased turn is recognised
    only beside one that is not (or at a known start): alone it could be any.
    """
    known = _window(stored, coming, same_start=same_start)
    behind = list(range(known or 0, len(coming)))
    start = _common_start(stored, coming, same_start=same_start)
    apart = [start + place for place in _unmatched(stored[start:], coming[start:])]
    return behind if len(behind) <= len(apart) else apart


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


def _unmatched(stored: Sequence[Heard], coming: Sequence[Heard]) -> list[int]:
    """Return the places of the turns that no stored turn stands for, whatever the order; each stands for one.

    Order would tell a little more, and would not keep the promise that the same conversation adds nothing: what was
    new in the middle is stored at the end.
    """
    unused: dict[tuple[str, str, str], list[Heard]] = {}
    for turn in stored:
        if not turn.erased:
            unused.setdefault(turn.words, []).append(turn)
    found = []
    for place, turn in enumerate(coming):
        alike = unused.get(turn.words, [])
        again = next((one for one in alike if one.is_again(turn)), None)
        if again is None:
            found.append(place)
        else:
            alike.remove(again)
    return found
