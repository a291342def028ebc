"""Temporal phrases that are counted from now: "yesterday", "three months ago", "last week", "currently"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from retentive.text import windows
from retentive.text.lazy import Lazy
from retentive.text.windows import Span

_WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "ninety": 90,
}  # fmt: skip
_VAGUE: Final = {"couple": (1.5, 3.0), "few": (2.0, 6.0), "several": (3.0, 8.0), "many": (5.0, 30.0)}

_NUMBER: Final = rf"\d{{1,4}}(?:\.5)?|{'|'.join(sorted(_WORDS, key=len, reverse=True))}"
_UNIT: Final = r"(?P<unit>second|minute|hour|day|week|fortnight|month|quarter|year|decade)s?"
_AMOUNT: Final = (
    rf"(?:(?P<vague>couple|few|several|many)(?:\s+of)?|(?P<half>half)\s+an?|(?P<low>{_NUMBER})"
    rf"(?:\s*(?:or|to|-|\u2013)\s*(?P<high>{_NUMBER}))?)"
)
_HEDGE: Final = r"(?P<hedge>(?:well\s+)?over|more\s+than|at\s+least|under|less\s+than|within|almost|nearly)"


class Found(NamedTuple):
    """A temporal phrase in a text: where it begins, how it reads and what it means."""

    start: int
    phrase: str
    direction: Literal["past", "current"]
    span: Span | None


Rule = Callable[[re.Match[str], datetime], Span | None]


def relative(text: str, now: datetime) -> Iterator[Found]:
    """Every phrase in a text that is counted from now. A rule runs only where one of its words occurs at all."""
    lowered = text.lower()
    for needles, pattern, direction, build in _RULES:
        if any(map(lowered.__contains__, needles)) and (match := pattern.search(text)):
            yield Found(match.start(), match.group().strip(), direction, build(match, now))
    if _MAYBE_NOW.search(text) and (match := _STATE_NOW.search(text)) and not _IMPERATIVE.search(text):
        yield Found(match.start("now"), match["now"], "current", None)


def _none(_match: re.Match[str], _now: datetime) -> Span | None:
    return None


def _ago(match: re.Match[str], now: datetime) -> Span:
    unit = match["unit"].lower()
    low, high = _range(match, unit)
    return windows.ago(now, unit, low, high)


def _range(match: re.Match[str], unit: str) -> tuple[float, float]:
    """How many units ago at least and at most."""
    if match["vague"]:
        return _VAGUE[match["vague"].lower()]
    low = 0.5 if match["half"] else _number(match["low"])
    low += 0.5 if "and a half" in match.group().lower() else 0.0
    if match["high"]:
        return windows.slack(unit, low)[0], windows.slack(unit, max(low, _number(match["high"])))[1]
    hedge = " ".join((match["hedge"] or "").lower().split())
    if hedge in {"under", "less than", "within"}:
        return 0.0, low
    return (low, 2 * low) if hedge.endswith(("over", "more than", "at least")) else windows.slack(unit, low)


def _number(word: str) -> float:
    return _WORDS.get(word.lower()) or float(word)


def _bare_ago(match: re.Match[str], now: datetime) -> Span:
    return windows.ago(now, match["unit"].lower(), 2.0, 12.0)


def _other(match: re.Match[str], now: datetime) -> Span:
    unit = match["unit"].lower().replace("night", "day").replace("evening", "day")
    return windows.ago(now, unit, 1.0, 7.0 if unit == "day" else 3.0)


def _rolling(match: re.Match[str], now: datetime) -> Span:
    """The last few units up to and including today."""
    unit = match["unit"].lower()
    groups = match.groupdict()
    count = 1.0
    if groups.get("vague"):
        count = _VAGUE[groups["vague"].lower()][1]
    elif groups.get("low"):
        count = _number(groups["high"] or groups["low"])
    elif groups.get("half"):
        count = 0.5
    return _until_now(windows.ago(now, unit, 0.0, max(count, 1.0) if unit == "day" else count))


def _until_now(span: Span) -> Span:
    """Include what was said at this very moment: the end of a span is exclusive."""
    return Span(span.start, span.end + timedelta(seconds=1), timed=True) if span.timed and span.end else span


def _last(match: re.Match[str], now: datetime) -> Span:
    today, unit = now.date(), match["unit"].lower()
    if unit == "weekend":
        return windows.weekend(today, last=True)
    if unit in windows.SEASONS:
        return windows.latest_season(today, unit, over=True)
    if unit == "week":
        return Span(windows.week(today, -1).start, windows.midnight(today))
    return _calendar(unit, today.year, today.month, -1)


def _this(match: re.Match[str], now: datetime) -> Span:
    today, unit = now.date(), match["unit"].lower()
    if unit == "weekend":
        return windows.weekend(today, last=False)
    if unit in windows.SEASONS:
        return windows.season(today.year - (unit == "winter" and today.month < 6), unit)
    return windows.week(today) if unit == "week" else _calendar(unit, today.year, today.month, 0)


def _calendar(unit: str, year: int, month: int, offset: int) -> Span:
    if unit == "year":
        return windows.months(year + offset, 1, 12)
    if unit == "quarter":
        return windows.months(year, (month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    return windows.months(year, month + offset)


def _earlier_this(match: re.Match[str], now: datetime) -> Span:
    return Span(_this(match, now).start, windows.midnight(windows.shift(now.date(), 1)))


def _day(offset: int) -> Rule:
    def build(_match: re.Match[str], now: datetime) -> Span:
        first = windows.shift(now.date(), offset)
        return windows.days(first, windows.shift(now.date(), offset + 1))

    return build


def _part(offset: int, begin: int, end: int) -> Rule:
    def build(_match: re.Match[str], now: datetime) -> Span:
        return windows.hours(windows.shift(now.date(), offset), begin, end)

    return build


def _recent(_match: re.Match[str], now: datetime) -> Span:
    return windows.ago(now, "day", 0.0, 30.0)


def _just_now(_match: re.Match[str], now: datetime) -> Span:
    return _until_now(windows.ago(now, "minute", 0.0, 30.0))


def _pattern(source: str) -> Lazy:
    return Lazy(rf"(?<![\w-])(?:{source})(?![\w-])", re.IGNORECASE)


_PERIOD: Final = r"(?P<unit>week|weekend|month|quarter|year|spring|summer|autumn|fall|winter)"
_NOT_PART: Final = r"(?!\s+of\b)"

_RULES: Final[tuple[tuple[tuple[str, ...], Lazy, Literal["past", "current"], Rule], ...]] = (
    (("yesterday",), _pattern(r"the\s+day\s+before\s+yesterday"), "past", _day(-2)),
    (
        ("yesterday",),
        _pattern(r"(?<!before )yesterday(?:['\u2019]s)?(?:\s+(?:morning|afternoon|evening|night))?"),
        "past",
        _day(-1),
    ),
    (("last",), _pattern(r"last\s+(?:night|evening)(?:['\u2019]s)?"), "past", _part(-1, 17, 30)),
    (("today",), _pattern(r"(?:earlier|sooner)\s+today"), "past", _day(0)),
    (("morning",), _pattern(r"(?:earlier\s+)?this\s+morning(?:['\u2019]s)?"), "past", _part(0, 0, 13)),
    (("afternoon",), _pattern(r"this\s+afternoon"), "current", _part(0, 12, 19)),
    (("tonight", "evening"), _pattern(r"tonight(?:['\u2019]s)?|this\s+evening"), "current", _part(0, 17, 30)),
    (("today",), _pattern(r"today(?:['\u2019]s)?"), "current", _day(0)),
    (("now", "ago"), _pattern(r"just\s+now|a\s+(?:moment|minute|second)\s+ago"), "past", _just_now),
    (
        ("ago", "back"),
        _pattern(
            rf"(?:{_HEDGE}\s+)?(?:a\s+)?{_AMOUNT}\s+{_UNIT}(?:\s+and\s+a\s+half)?\s+(?:ago|back)(?!\s+(?:to|in|from)\b)"
        ),
        "past",
        _ago,
    ),
    (("ago", "back"), _pattern(r"(?P<unit>day|week|month|year|decade)s\s+(?:ago|back)"), "past", _bare_ago),
    (("other",), _pattern(r"the\s+other\s+(?P<unit>day|night|evening|week|month)"), "past", _other),
    (
        ("last", "past", "previous"),
        _pattern(rf"(?:last|past|previous)\s+(?:a\s+)?{_AMOUNT}\s+{_UNIT}"),
        "past",
        _rolling,
    ),
    (("past",), _pattern(r"the\s+past\s+(?P<unit>hour|day|week|month|quarter|year|decade)"), "past", _rolling),
    (("last",), _pattern(rf"the\s+last\s+(?P<unit>week|month|quarter|year|decade){_NOT_PART}"), "past", _rolling),
    (("last",), _pattern(r"(?:in|over|within|during)\s+the\s+last\s+(?P<unit>hour|day)"), "past", _rolling),
    (
        ("last", "previous", "past"),
        _pattern(rf"(?:(?:the\s+)?previous|this\s+past|(?<!the )last)\s+{_PERIOD}(?:['\u2019]s)?{_NOT_PART}"),
        "past",
        _last,
    ),
    (("last",), _pattern(r"the\s+last\s+(?P<unit>weekend|spring|summer|autumn|fall|winter)"), "past", _last),
    (("earlier",), _pattern(r"earlier\s+(?:in\s+)?this\s+(?P<unit>week|month|quarter|year)"), "past", _earlier_this),
    (("this",), _pattern(rf"(?<!later )this\s+{_PERIOD}(?:['\u2019]s)?{_NOT_PART}"), "current", _this),
    (("recently",), _pattern(r"recently"), "current", _recent),
    (
        ("",),
        _pattern(
            r"originally|initially|previously|formerly|at\s+first(?!\s+(?:glance|sight|light|hand|instance|blush|base))"
            r"|back\s+then|back\s+in\s+the\s+day|in\s+the\s+(?:beginning|past)|(?:a\s+)?long(?:\s+time)?\s+ago|ages\s+ago"
            r"|(?:a\s+while|some\s+time)\s+(?:ago|back)|once\s+upon\s+a\s+time"
        ),
        "past",
        _none,
    ),
    (
        ("use",),
        Lazy(
            r"\b(?:(?i:I|we|you|he|she|they|it|who|there)|[A-Z]\w+)\s+(?i:(?:never\s+|always\s+)?used\s+to"
            r"(?=\s+\w)(?!\s+(?:it\b|this\b|that\b|the\b|him\b|her\b|them\b|my\b|your\b|a\b|\w+ing\b)))"
            r"|\b(?i:did(?:n['\u2019]t)?\s+\w+\s+used?\s+to\b)"
        ),
        "past",
        _none,
    ),
    (
        ("",),
        _pattern(
            r"currently|right\s+now|at\s+the\s+moment|at\s+present|nowadays|these\s+days|lately|latest|newest"
            r"|as\s+of\s+(?:now|today)|up[- ]to[- ]date|most\s+recent(?:ly)?|at\s+this\s+point\s+in\s+time"
            r"|(?<!electric )(?<!alternating )(?<!direct )(?<!ocean )current(?=\s+\w)(?!\s+(?:flow|affairs))"
        ),
        "current",
        _none,
    ),
)

_MAYBE_NOW: Final = Lazy(r"\bnow\b", re.IGNORECASE)
_STATE_NOW: Final = Lazy(
    r"\b(?:what|where|who|which|how|whose|is|are|am|does|do|has|have)\b(?:['\u2019]s)?\b[^.!?;\n]{0,120}?"
    r"(?<!just )(?<!from )(?<!until )(?<!till )(?<!for )(?<!by )(?<!before )(?<!right )\b(?P<now>now)\b"
    r"(?!\s+(?:that|and\s+(?:then|again)|on\b|or\s+never|list|show|tell|give|write|explain|please))",
    re.IGNORECASE,
)
_IMPERATIVE: Final = Lazy(
    r"\b(?:can|could|would|will|should|shall|must|let['\u2019]?s|please)\b[^.!?;\n]{0,40}\bnow\b|\bdo\s+(?:it|this|that)\s+now\b",
    re.IGNORECASE,
)
