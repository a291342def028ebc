"""Temporal phrases that name a date: "in May 2023", "on 5 June", "since March", "from May to July", "at Christmas"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from retentive.text import windows
from retentive.text.commonwords import MONTHS, WEEKDAYS
from retentive.text.lazy import Lazy
from retentive.text.relativephrases import Found
from retentive.text.windows import Span

_MONTH: Final = (
    {name: number for number, name in enumerate(MONTHS, start=1)}
    | {name[:3]: number for number, name in enumerate(MONTHS, start=1)}
    | {"sept": 9}
)
_NAMES: Final = "|".join(sorted(_MONTH, key=len, reverse=True))
_YEAR: Final = r"(?:19|20)\d\d"
_M: Final = rf"(?:{_NAMES})\b\.?"
_D: Final = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_HOLIDAYS: Final = r"christmas|new\s+year(?:['\u2019]?s)?|halloween|valentine(?:['\u2019]?s)?|easter|thanksgiving"
_SEASON: Final = r"spring|summer|autumn|fall|winter"

_POINT: Final = (
    rf"(?:{_YEAR}-\d\d-\d\d|{_YEAR}/\d\d/\d\d|\d{{1,2}}[/.]\d{{1,2}}[/.]{_YEAR}|{_YEAR}-(?:0[1-9]|1[0-2])"
    rf"|(?:the\s+)?{_D}\s+(?:of\s+)?{_M}(?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|{_M}\s+(?:the\s+)?{_D}(?!\d|[:.]\d)(?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|(?:(?:early|mid|late|the\s+(?:beginning|start|middle|end)\s+of)[-\s]+(?:in\s+)?)?{_M}"
    rf"(?:,?\s+(?:of\s+)?{_YEAR}|\s?['\u2019]\d\d)?"
    rf"|(?:the\s+)?(?:{_SEASON})(?:\s+(?:of\s+)?{_YEAR})?|Q[1-4](?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|(?:early|mid|late)[-\s]{_YEAR}|(?:the\s+)?(?:19|20)?\d0s|{_YEAR}"
    rf"|(?:{_HOLIDAYS})(?:\s+(?:day|eve))?(?:\s+(?:of\s+)?{_YEAR})?|(?:{'|'.join(WEEKDAYS)})|yesterday)"
)
_PREPOSITION: Final = (
    r"(?:back\s+)?in|earlier\s+in|on|at|over|during|since|after|before|until|till|by"
    r"|from|around|of|through|last|this|for"
)
_REACH: Final = 40
"""The longest way from the beginning of a phrase to the word that gives it away."""

_TRIGGER: Final = Lazy(rf"\d{{2}}|\b(?:{_NAMES}|{_HOLIDAYS}|{_SEASON}|Q[1-4])|day\b", re.IGNORECASE)
_PHRASE: Final = Lazy(
    rf"(?<![\w/.-])(?:(?P<prep>{_PREPOSITION})\s+)?(?P<point>{_POINT})(?![\w/]|-\w|\.\d|['\u2019]s\b)", re.IGNORECASE
)
_BETWEEN: Final = Lazy(
    rf"\b(?:between|from)\s+(?P<first>{_POINT})\s*(?:and|to|until|till|through|-|\u2013)\s*(?P<second>{_POINT})(?![\w/]|-\w)",
    re.IGNORECASE,
)
_FUTURE: Final = Lazy(r"\b(?:next|upcoming|coming|tomorrow|will|going\s+to|every|each)\b", re.IGNORECASE)

_NUMERIC: Final = Lazy(rf"(\d{{1,2}})[/.](\d{{1,2}})[/.]({_YEAR})")
_ISO: Final = Lazy(rf"({_YEAR})[-/](\d\d)(?:[-/](\d\d))?")
_PARSED: Final = Lazy(
    rf"(?:the\s+)?(?:(?P<part>early|mid|late|beginning|start|middle|end)(?:\s+of)?[-\s]+(?:in\s+)?)?"
    rf"(?:(?P<before>{_D})\s+(?:of\s+)?)?(?P<month>{_NAMES})\b\.?(?:\s+(?:the\s+)?(?P<after>{_D})(?!\d))?"
    rf"(?:(?:,?\s+(?:of\s+)?)(?P<year>{_YEAR})|\s?['\u2019](?P<short>\d\d))?",
    re.IGNORECASE,
)
_OTHER: Final = Lazy(
    rf"(?:the\s+)?(?:(?P<part>early|mid|late)[-\s])?(?:(?P<season>{_SEASON})|(?P<quarter>Q[1-4])|(?P<holiday>{_HOLIDAYS})"
    rf"(?:\s+(?:day|eve))?)?(?:,?\s*(?:of\s+)?(?P<year>{_YEAR}))?",
    re.IGNORECASE,
)
_DECADE: Final = Lazy(r"(?:the\s+)?(19|20)?(\d)0s", re.IGNORECASE)
_PARTS: Final = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}

# "In 2000 words" is no year, and "since June told me" no month.
_COUNTED: Final = Lazy(
    r"\s*(?:[%$\u20ac]|(?:more\s+|different\s+)?(?:words|steps|people|users|files|lines"
    r"|dollars|euros|pounds|items|miles|meters|metres"
    r"|km|kg|calories|rows|records|characters|tokens|hours|days|ways|parts|places|pieces)\b)",
    re.IGNORECASE,
)
_SPEAKS: Final = Lazy(
    r"(?!\s*(?:$|[.,;:?!)\]]|(?i:and|or|to|until|till|when|what|how|who|where|i|we|you|they|he|she|of|on|about|in|my|the)\b))"
)
_UNSURE: Final = frozenset(("may", "march", "mar"))
_NEED_CAPITAL: Final = frozenset(
    ("last", "this", "of", "from", "after", "before", "around", "through", "on", "for", "by")
)


_BARE: Final = tuple(
    (Lazy(pattern), frozenset(filter(None, prepositions.split(","))))
    for pattern, prepositions in (
        ("yesterday", "since,before"),
        ("|".join(WEEKDAYS), "on,since,last,this,before,after"),
        (_YEAR, "in,back in,earlier in,during,since,after,before,until,till,by,from,around,of,through"),
        (rf"the\s+(?:{_SEASON})", "in,during,over,since,before,after"),
        (_SEASON, ""),
        (rf"(?:{_HOLIDAYS})(?:\s+(?:day|eve))?", "on,at,over,during,since,after,before,around,last,this"),
        (r"q[1-4]|(?:the\s+)?\d0s", "in,back in,during,since,last,before"),
    )
)
"""Dates that are something else unless one of these stands before them ("summer", "Sunday school", "2000")."""


def dated(text: str, today: date) -> Iterator[Found]:
    """Every phrase in a text that names a date, a month, a year or a feast."""
    trigger = _TRIGGER.search(text)
    if not trigger:
        return
    begin = max(0, trigger.start() - _REACH)
    for match in _BETWEEN.finditer(text, begin):
        span = _between(match["first"], match["second"], today)
        if span:
            yield Found(match.start(), match.group(), "past", span)
    for match in _PHRASE.finditer(text, begin):
        span = _phrase(match, text, today)
        if span and span.start != span.end:
            yield Found(match.start(), match.group(), "past", span)


def _between(first: str, second: str, today: date) -> Span | None:
    """From the beginning of one date to the end of another; a date without a year is the latest before the other."""
    end = point(second, today)
    if not end or not end.start or not end.end:
        return None
    begin = point(first, min(end.end.date(), today))
    if not begin or not begin.start or begin.start >= end.end:
        return None
    return Span(begin.start, end.end)


def _phrase(match: re.Match[str], text: str, today: date) -> Span | None:
    preposition = " ".join((match["prep"] or "").lower().split())
    if not _means_a_date(preposition, match["point"], text, match.end()):
        return None
    name = match["point"].lower()
    if name in WEEKDAYS and _FUTURE.search(text):
        return None
    span = _last_month(name, today) if preposition == "last" else None
    span = span or point(match["point"], today)
    if not span or not span.start or span.start.date() > today:
        return None
    return _bounded(preposition, span, today)


def _bounded(preposition: str, span: Span, today: date) -> Span:
    """What a preposition makes of a span: since and after run to the end of today, before is open to the past."""
    tomorrow = windows.midnight(windows.shift(today, 1))
    if preposition == "since":
        return Span(span.start, max(tomorrow, span.end or tomorrow))
    if preposition == "after":
        return Span(span.end, tomorrow) if span.end and span.end < tomorrow else span
    if preposition == "before":
        return Span(None, span.start)
    return Span(None, span.end) if preposition in {"until", "till", "by"} else span


def _means_a_date(preposition: str, spelt: str, text: str, end: int) -> bool:
    """Whether a word that is also a name, a verb or a number is a date here."""
    name = spelt.lower().rstrip(".")
    if name in _MONTH:
        return _means_a_month(preposition, spelt, text, end)
    if name.isdigit() and _COUNTED.match(text, end):
        return False
    if re.match(r"(?:may|march) \d", spelt) and not re.search(rf"(?:st|nd|rd|th|{_YEAR})$", name):
        return not text[end:].strip(" ?.!,")
    return all(preposition in allowed for pattern, allowed in _BARE if pattern.fullmatch(name))


def _means_a_month(preposition: str, spelt: str, text: str, end: int) -> bool:
    if preposition in {"", "at", "over", "on", "for", "of"}:
        return False
    if spelt in _UNSURE and preposition in _NEED_CAPITAL:
        return False
    return preposition in {"in", "back in", "earlier in", "during", "last", "this"} or not _SPEAKS.match(text, end)


def _last_month(name: str, today: date) -> Span | None:
    """ "Last May" said in May is the one a year ago."""
    month = _MONTH.get(name)
    return windows.months(today.year - (month >= today.month), month) if month else None


def point(spelt: str, today: date) -> Span | None:
    """The span of one spelt date; without a year, the latest that has begun by ``today``."""
    name = " ".join(spelt.lower().split())
    if name in WEEKDAYS:
        return windows.weekday(today, WEEKDAYS.index(name))
    if name == "yesterday":
        return windows.days(windows.shift(today, -1), today)
    for pattern, read in _READERS:
        if match := pattern.fullmatch(name):
            return read(match, today)
    return None


def _iso(match: re.Match[str], _today: date) -> Span | None:
    year, month = int(match[1]), int(match[2])
    if not 1 <= month <= 12:
        return None
    return windows.exact_day(year, month, int(match[3])) if match[3] else windows.months(year, month)


def _decade(match: re.Match[str], today: date) -> Span:
    century = match[1] or ("20" if int(match[2]) * 10 <= today.year % 100 else "19")
    return windows.months(int(f"{century}{match[2]}0"), 1, 120)


def _numeric(match: re.Match[str], _today: date) -> Span | None:
    """A numeric date, if it can be read in one way only."""
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    if first <= 12 and second <= 12 and first != second:
        return None
    day, month = (first, second) if second <= 12 else (second, first)
    return windows.exact_day(year, month, day)


def _month(match: re.Match[str], today: date) -> Span | None:
    month = _MONTH[match["month"]]
    year = int(match["year"]) if match["year"] else int(f"20{match['short']}") if match["short"] else None
    if day := re.match(r"\d+", match["before"] or match["after"] or ""):
        number = int(day.group())
        return windows.exact_day(year, month, number) if year else windows.latest_day(today, month, number)
    span = windows.months(year, month) if year else windows.latest_month(today, month)
    return _third(span, match["part"])


def _third(span: Span, part: str | None) -> Span:
    """The early, middle or late third of a span, each reaching a little into its neighbours."""
    if not part or not span.start or not span.end:
        return span
    length = (span.end - span.start).days
    index = _PARTS[part]
    first = windows.shift(span.start.date(), max(0, index * length // 3 - (1 if index else 0)))
    after = windows.shift(span.start.date(), min(length, (index + 1) * length // 3 + 1))
    return windows.days(first, after)


def _other(match: re.Match[str], today: date) -> Span | None:
    year = int(match["year"]) if match["year"] else None
    if match["season"]:
        name = match["season"]
        return windows.season(year, name) if year else windows.latest_season(today, name, over=False)
    if match["quarter"]:
        first = 3 * int(match["quarter"][1]) - 2
        return windows.months(year or today.year - (first > today.month), first, 3)
    if match["holiday"]:
        name = next(name for name in windows.HOLIDAYS if match["holiday"].startswith(name))
        return windows.holiday(year, name) if year else windows.latest_holiday(today, name)
    return _third(windows.months(year, 1, 12), match["part"]) if year else None


_READERS: Final = ((_ISO, _iso), (_NUMERIC, _numeric), (_DECADE, _decade), (_PARSED, _month), (_OTHER, _other))
