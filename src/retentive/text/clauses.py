"""A cue taken apart, so that a two-part question recalls for both of its parts.

A cut is only worth making when both sides can stand alone: a piece that is too short stays with its neighbour, so that
"salt and pepper" is never torn, and a text that would yield one piece is returned as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from retentive.text.lazy import Lazy

_QUOTED: Final = Lazy(r"\"[^\"\n]{0,300}\"|\u201c[^\u201d\n]{0,300}\u201d|`[^`\n]{0,300}`|(?<!\w)'[^'\n]{3,300}'(?!\w)")
# No alternative starts with open-ended white space: a page of blanks must cost its length, not its square.
_CUT: Final = Lazy(
    r"(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)\]]*\s+(?=\S)|[\u3002\uff01\uff1f]|[;\n\r]+\s*(?:[-*\u2022]\s+)?"
    r"|(?<!\s),?\s+(?:and\s+also|and\s+then|as\s+well\s+as|and|but|also|plus|while|whereas)\s+|,\s+(?:or|so|yet|then)\s+",
    re.IGNORECASE,
)
_ABBREVIATED: Final = Lazy(
    r"(?:^|[\s(])(?:[A-Za-z]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|dept|inc|ltd|jr|sr)\.$", re.IGNORECASE
)
_LONGEST: Final = 8_000
"""A cue longer than this is a document; it is not a question to take apart."""


def clauses(text: str, longer_than: int = 15) -> tuple[str, ...]:
    """The clauses of a cue, each longer than ``longer_than`` characters, in order; the text alone if it has but one."""
    whole = text.strip()
    if len(whole) <= 2 * longer_than or len(whole) > _LONGEST:
        return (whole,) if whole else ()
    pieces = _joined(whole, list(_cuts(whole)), longer_than)
    return tuple(dict.fromkeys(pieces)) if len(pieces) > 1 else (whole,)


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where the text may be cut: not inside quotes and not after an abbreviation."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    for match in _CUT.finditer(text):
        start, end = match.span()
        if any(opened < start < closed for opened, closed in quoted):
            continue
        if text[start - 1] == "." and _ABBREVIATED.search(text[max(0, start - 8) : start]):
            continue
        yield start, end


def _joined(text: str, cuts: list[tuple[int, int]], longer_than: int) -> list[str]:
    """The pieces between the cuts, where a cut that would leave a piece too short is not made."""
    pieces: list[str] = []
    begin = 0
    for start, end in cuts:
        if len(_trimmed(text[begin:start])) > longer_than and len(_trimmed(text[end:])) > longer_than:
            pieces.append(_trimmed(text[begin:start]))
            begin = end
    pieces.append(_trimmed(text[begin:]))
    return pieces


def _trimmed(piece: str) -> str:
    return piece.strip(" \t\n\r,;")
