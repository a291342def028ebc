"""Sentences, found by their ends; not fooled by abbreviations, initials, decimals, bullets or closing quotes."""

from __future__ import annotations

import re
from typing import Final

from retentive.text.lazy import Lazy

_BREAK: Final = Lazy(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*\s+(?=[^\sa-z])|(?<=[!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|[\n\r\v\f\u2028\u2029]+\s*"
)
_ABBREVIATED: Final = Lazy(
    r"(?:^|[\s(\"'])(?:[A-Z]|mr|mrs|ms|dr|prof|st|vs|e\.g|i\.e|cf|no|vol|fig|approx|dept|inc|ltd|co|corp|jr|sr|gen|col|sgt"
    r"|capt|lt|rev|hon|gov|sen|rep|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)
_LIST_MARK: Final = Lazy(r"(?:^|\s)(?:\d{1,3}|[A-Za-z])\.$")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, trimmed, none empty; a line or a list item ends one too."""
    found: list[str] = []
    begin = 0
    for match in _BREAK.finditer(text):
        start = match.start()
        if match.group().strip("\"'\u201d\u2019)] \t") == "" and _continues(text, begin, start):
            continue
        closing = len(match.group()) - len(match.group().lstrip("\"'\u201d\u2019)]"))
        found.append(text[begin : start + closing].strip())
        begin = match.end()
    found.append(text[begin:].strip())
    return [sentence for sentence in found if sentence]


def _continues(text: str, begin: int, end: int) -> bool:
    """Whether the full stop before ``end`` belongs to an abbreviation, an initial or the number of a list item."""
    if end < 1 or text[end - 1] != ".":
        return False
    tail = text[max(begin, end - 12) : end]
    return bool(_ABBREVIATED.search(tail)) or (end - begin <= 5 and bool(_LIST_MARK.search(tail)))
