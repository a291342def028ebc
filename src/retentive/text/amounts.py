"""Values in a text, each with its kind and where it stands: money, shares, clock times, dates, numbers.

A later text may state such a value anew, and the two deny each other only where they are of one kind: "250 ms" says
nothing against "on Friday". Versions, numbers of list items and ranges are no values.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from retentive.text.lazy import Lazy

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety hundred".split()
_NUMERALS: Final = {name: number for number, name in enumerate(_SMALL)} | {
    name: 10 * number for number, name in enumerate(_TENS, 2)
}
_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_MANY: Final = r"(?:k|m|bn|thousand|million|billion)"
_VALUE: Final = Lazy(
    r"(?:(?=[$\u20ac\u00a3\u00a5])|\b(?=\w))"  # every value begins there: all other places are passed at once
    rf"(?:(?P<money>[$\u20ac\u00a3\u00a5]\s?{_DIGITS}(?:\s?{_MANY})?\b"
    rf"|(?<![\w.,/-]){_DIGITS}(?:\s?{_MANY})?\s?(?:[\u20ac\u00a3\u00a5]|(?:dollars?|euros?|pounds|usd|eur|gbp)\b))"
    rf"|(?P<share>(?<![\w.,/-]){_DIGITS}\s?(?:%|percent\b|per cent\b))"
    r"|(?P<time>(?<![\w.,/-])(?:\d{1,2}:\d{2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?)|\b(?:noon|midnight)\b)"
    rf"|(?P<date>\b{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?![\w:%])"
    rf"|(?<![\w.,/-])\d{{1,2}}(?:st|nd|rd|th)?(?:\sof)?\s{_MONTH}\b"
    r"|(?<![\w.,/-])(?:(?:19|20)\d\d-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}(?:/\d{2,4})?)(?![\w/-])"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    rf"|\b(?:in|by|until|since|from|to|for|this|next|last)\s{_MONTH}\b(?!\.?\s\d))"
    rf"|(?P<number>(?<![\w.,/:-])(?:{_DIGITS}(?:\s?{_MANY}\b)?)(?=[a-z]{{0,3}}\b)(?![.,:/]\d|-\d|st\b|nd\b|rd\b|th\b)"
    rf"|\b(?:{'|'.join(_NUMERALS)})\b))"
)
"""For lower case: to ignore it takes five times as long."""
_LISTED: Final = Lazy(r"\W*\d+[.)]$")
"""The number of an item in a list is no value."""
_FIGURE: Final = Lazy(_DIGITS)
_MONTH_IN: Final = Lazy(rf"\b{_MONTH}\b")
_SCALE: Final = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_SCALED: Final = Lazy(rf"\d\s?({_MANY})\b")


class Value(NamedTuple):
    """One value: what it is of, in the one form in which equal values meet, and the characters it takes."""

    kind: str  # money, share, time, date, number
    value: str
    start: int
    end: int


def values_of(text: str) -> list[Value]:
    """Return the values of a text in reading order."""
    return [
        Value(kind, _canonical(kind, match[0]), *match.span())
        for match in _VALUE.finditer(_lower(text))
        if (kind := match.lastgroup) and not _LISTED.match(text, 0, match.end() + 1)
    ]


def _lower(text: str) -> str:
    """Return a text in lower case, every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _canonical(kind: str, written: str) -> str:
    """Return one form for what is written in several: "4 pm" and "4:00 PM", "$1,200" and "1200 dollars"."""
    if kind == "time":
        return _time(written)
    if kind == "date":
        return _date(written)
    figure = _FIGURE.search(written)
    if figure is None:
        return f"{_NUMERALS[written]:g}"
    scale = _SCALED.search(written)
    return f"{float(figure[0].replace(',', '')) * (_SCALE[scale[1]] if scale else 1.0):.10g}"


def _time(written: str) -> str:
    if not written[0].isdigit():
        return "12:00" if written == "noon" else "00:00"
    figures = [int(part) for part in re.findall(r"\d+", written)]
    hour, minute = figures[0], figures[1] if len(figures) > 1 else 0
    if "p" in written and hour < 12:
        hour += 12
    if "a" in written and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}"


def _date(written: str) -> str:
    month = _MONTH_IN.search(written)
    day = re.search(r"\d+", written)
    if month is not None:
        number = _MONTHS.index(month[0][:3]) + 1
        return f"{number}/{int(day[0])}" if day else f"{number}"
    if written[:1].isdigit():
        return written
    return written[:3]
