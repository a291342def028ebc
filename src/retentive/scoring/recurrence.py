"""Recurrence: how far ``now`` is from the nearest occurrence of ``yearly``, ``monthly``… or an RFC 5545 RRULE.

A memory that recurs (a birthday, a renewal) comes back near its day. The four words repeat the day it was said to
start on, and a day that a month or year lacks is its last one: a birthday of 29 February is met on 28 February in a
common year. An RRULE means exactly what RFC 5545 says, where such a year has no occurrence.

Rules finer than a day are refused: nothing resurfaces by the minute, and their occurrences are without number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from types import MappingProxyType
from typing import Final

import numpy as np

from retentive.scoring.occurrences import CYCLE_DAYS, DAY_SECONDS, Recurrence, nth_occurrence, occurrences

__all__ = ["WORDS", "Recurrence", "days_to_nearest", "parse_rule"]

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"yearly": "YEARLY", "monthly": "MONTHLY", "weekly": "WEEKLY", "daily": "DAILY"}
)
WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
REACHES_DAYS: Final = (40, 400, 4_000, CYCLE_DAYS)
"""How far around now to look, wider each time nothing was found; the last is 400 years, where the calendar repeats."""
LARGEST_INTERVAL: Final = 100_000
LONGEST_RULE: Final = 500
MOST_TIMES_A_DAY: Final = 24
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 -- the origin of wall seconds, which have no zone on purpose


@dataclass(frozen=True, slots=True)
class Part:
    """What a numeric list such as BYMONTH may hold."""

    low: int
    high: int
    signed: bool = False


NUMERIC_PARTS: Final[Mapping[str, Part]] = MappingProxyType(
    {
        "BYMONTH": Part(1, 12),
        "BYWEEKNO": Part(1, 53, signed=True),
        "BYYEARDAY": Part(1, 366, signed=True),
        "BYMONTHDAY": Part(1, 31, signed=True),
        "BYHOUR": Part(0, 23),
        "BYMINUTE": Part(0, 59),
        "BYSECOND": Part(0, 59),
        "BYSETPOS": Part(1, 366, signed=True),
    }
)
KNOWN_PARTS: Final = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *NUMERIC_PARTS)
DAY_PARTS: Final = ("BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO")


def parse_rule(rule: str, start: datetime) -> Recurrence:
    """Read ``rule`` as of ``start``, an aware datetime: its time of day and, unless said, its day are what recurs.

    Raises ValueError that names the rule, what is wrong with it and what would be accepted.
    """
    wall = wall_second(require_aware("start", start))
    try:
        word = WORDS.get(rule.strip().lower())
        return _from_word(word, start, wall) if word else _from_rrule(rule, start, wall)
    except ValueError as problem:
        raise ValueError(
            f"cannot read recurs={rule!r}: {problem}. Give {', '.join(WORDS)} or an RFC 5545 rule such as "
            f"'FREQ=MONTHLY;BYDAY=1MO'"
        ) from None


def days_to_nearest(rule: str | Recurrence, start: datetime, now: datetime) -> float:
    """Days, at least 0, from ``now`` to the nearest occurrence, past or future; inf when there is none in 400 years.

    Both datetimes are aware; occurrences follow the clock of ``start``'s zone and none precedes ``start``. The work is
    bounded by the 800 years around ``now`` (usually 80 or 800 days of them), not by the age of the rule; a rule read
    once with ``parse_rule`` is not read again.
    """
    parsed = rule if isinstance(rule, Recurrence) else parse_rule(rule, start)
    require_aware("start", start)
    wall = wall_second(_in_zone_of(start, require_aware("now", now)))
    distance = math.inf
    for reach in REACHES_DAYS:
        today = wall // DAY_SECONDS
        found = occurrences(parsed, today - reach, today + reach)
        following = int(np.searchsorted(found, wall))
        around = found[max(following - 1, 0) : following + 1].tolist()
        distance = min((_days_between(_moment(second, start), now) for second in around), default=math.inf)
        if distance < reach:
            break
    return distance


def require_aware(name: str, moment: datetime) -> datetime:
    """``moment``, refused if it has no time zone."""
    if moment.utcoffset() is None:
        raise ValueError(f"{name} must be an aware datetime, got {moment!r}; give it a time zone, such as tzinfo=UTC")
    return moment


def wall_second(moment: datetime) -> int:
    """Seconds since 1970-01-01 on the clock of ``moment``'s own zone, rounded down."""
    return (moment.replace(tzinfo=None) - EPOCH) // timedelta(seconds=1)


def _from_word(frequency: str, start: datetime, wall: int) -> Recurrence:
    return Recurrence(
        frequency,
        wall,
        months=(start.month,) if frequency == "YEARLY" else (),
        month_days=(start.day,) if frequency in {"YEARLY", "MONTHLY"} else (),
        weekdays=((0, start.weekday()),) if frequency == "WEEKLY" else (),
        times=(wall % DAY_SECONDS,),
        clamped=True,
    )


def _from_rrule(rule: str, start: datetime, wall: int) -> Recurrence:
    parts = _split(rule)
    frequency = _frequency(parts)
    numbers = {name: _numbers(name, parts[name]) if name in parts else () for name in NUMERIC_PARTS}
    numbers |= _implied_days(frequency, parts, start)
    recurrence = Recurrence(
        frequency,
        wall,
        interval=_whole("INTERVAL", parts.get("INTERVAL", "1"), LARGEST_INTERVAL),
        until=_until(parts["UNTIL"], start) if "UNTIL" in parts else None,
        week_start=_weekday("WKST", parts.get("WKST", "MO")),
        months=numbers["BYMONTH"],
        weeks=numbers["BYWEEKNO"],
        year_days=numbers["BYYEARDAY"],
        month_days=numbers["BYMONTHDAY"],
        weekdays=_weekdays(frequency, parts, start),
        times=_times(numbers, start),
        positions=numbers["BYSETPOS"],
    )
    if nth_occurrence(recurrence, 1) is None:
        raise ValueError("it never occurs in the 400 years after its start")
    return _ended_by_count(recurrence, parts)


def _split(rule: str) -> dict[str, str]:
    text = rule.strip().upper().removeprefix("RRULE:").rstrip(";")
    if len(text) > LONGEST_RULE:
        raise ValueError(f"it is longer than {LONGEST_RULE} characters")
    parts: dict[str, str] = {}
    for piece in text.split(";"):
        name, equals, value = (side.strip() for side in piece.partition("="))
        if not equals:
            raise ValueError(f"{piece!r} is neither a known word nor NAME=VALUE")
        if name not in KNOWN_PARTS:
            raise ValueError(f"{name!r} is not one of {', '.join(KNOWN_PARTS)}")
        if name in parts:
            raise ValueError(f"{name} is given twice")
        parts[name] = value
    return parts


def _frequency(parts: Mapping[str, str]) -> str:
    if "FREQ" not in parts:
        raise ValueError("it has no FREQ")
    if parts["FREQ"] not in WORDS.values():
        raise ValueError(f"FREQ={parts['FREQ']} is not one of {', '.join(WORDS.values())}; memories recur by the day")
    return parts["FREQ"]


def _implied_days(frequency: str, parts: Mapping[str, str], start: datetime) -> dict[str, tuple[int, ...]]:
    """The day that a rule leaves unsaid is the start's (RFC 5545, 3.3.10)."""
    if frequency not in {"YEARLY", "MONTHLY"} or any(name in parts for name in DAY_PARTS):
        return {}
    implied: dict[str, tuple[int, ...]] = {"BYMONTHDAY": (start.day,)}
    if frequency == "YEARLY" and "BYMONTH" not in parts:
        implied["BYMONTH"] = (start.month,)
    return implied


def _weekdays(frequency: str, parts: Mapping[str, str], start: datetime) -> tuple[tuple[int, int], ...]:
    if "BYDAY" in parts:
        return tuple(_nth_weekday(frequency, entry.strip()) for entry in parts["BYDAY"].split(","))
    if frequency == "WEEKLY" and not any(name in parts for name in DAY_PARTS):
        return ((0, start.weekday()),)
    return ()


def _nth_weekday(frequency: str, entry: str) -> tuple[int, int]:
    match = re.fullmatch(r"([+-]?[0-9]{1,2})?([A-Z]{2})", entry)
    if match is None:
        raise ValueError(f"BYDAY entry {entry!r} is not like MO, 1MO or -1FR")
    number, weekday = match.groups()
    if number is not None and not 1 <= abs(int(number)) <= 53:
        raise ValueError(f"BYDAY entry {entry!r} counts outside 1 to 53 and -53 to -1")
    if number is not None and frequency not in {"MONTHLY", "YEARLY"}:
        raise ValueError(f"BYDAY entry {entry!r} has a number, which only MONTHLY and YEARLY rules may have")
    return int(number or 0), _weekday("BYDAY", weekday)


def _weekday(name: str, value: str) -> int:
    if value not in WEEKDAYS:
        raise ValueError(f"{name} {value!r} is not one of {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(value)


def _numbers(name: str, value: str) -> tuple[int, ...]:
    part = NUMERIC_PARTS[name]
    return tuple(sorted({_number(name, entry.strip(), part) for entry in value.split(",")}))


def _number(name: str, entry: str, part: Part) -> int:
    number = int(entry) if re.fullmatch(r"[+-]?[0-9]{1,3}", entry) else None
    accepted = number is not None and part.low <= (abs(number) if part.signed else number) <= part.high
    if number is None or not accepted:
        also = f" or {-part.high} to {-part.low}" if part.signed else ""
        raise ValueError(f"{name} entry {entry!r} is not within {part.low} to {part.high}{also}")
    return number


def _whole(name: str, value: str, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", value) or not 1 <= int(value) <= most:
        raise ValueError(f"{name}={value} is not a whole number from 1 to {most}")
    return int(value)


def _times(numbers: Mapping[str, tuple[int, ...]], start: datetime) -> tuple[int, ...]:
    hours, minutes = numbers["BYHOUR"] or (start.hour,), numbers["BYMINUTE"] or (start.minute,)
    seconds = numbers["BYSECOND"] or (start.second,)
    if len(hours) * len(minutes) * len(seconds) > MOST_TIMES_A_DAY:
        raise ValueError(f"BYHOUR, BYMINUTE and BYSECOND make more than {MOST_TIMES_A_DAY} times a day")
    return tuple(3_600 * hour + 60 * minute + second for hour, minute, second in product(hours, minutes, seconds))


def _until(value: str, start: datetime) -> int:
    """The last wall second UNTIL allows: a date to its end, a local time as it is, a UTC time in the start's zone."""
    try:
        if re.fullmatch(r"[0-9]{8}", value):
            return wall_second(datetime.strptime(value, "%Y%m%d")) + DAY_SECONDS - 1  # noqa: DTZ007 -- a wall date
        moment = datetime.strptime(value.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007 -- the zone follows
    except ValueError:
        raise ValueError(f"UNTIL={value} is not like 20301231 or 20301231T235959Z") from None
    return wall_second(_in_zone_of(start, moment.replace(tzinfo=UTC)) if value.endswith("Z") else moment)


def _ended_by_count(rule: Recurrence, parts: Mapping[str, str]) -> Recurrence:
    if "COUNT" not in parts:
        return rule
    if "UNTIL" in parts:
        raise ValueError("COUNT and UNTIL exclude each other")
    last = nth_occurrence(rule, _whole("COUNT", parts["COUNT"], 999_999_999))
    if last is None:
        raise ValueError(f"COUNT={parts['COUNT']} runs beyond 400 years; leave it out or give UNTIL")
    return replace(rule, until=last)


def _in_zone_of(start: datetime, moment: datetime) -> datetime:
    """``moment`` on the clock of ``start``; where the calendar ends before that clock gets there, on its own."""
    try:
        return moment.astimezone(start.tzinfo)
    except OverflowError:
        return moment


def _moment(second: int, start: datetime) -> datetime:
    return (EPOCH + timedelta(seconds=second)).replace(tzinfo=start.tzinfo)


def _days_between(one: datetime, other: datetime) -> float:
    """Real time between two aware datetimes, in days; Python's own ``-`` is wall time where they share a zone."""
    offsets = (one.utcoffset() or timedelta()) - (other.utcoffset() or timedelta())
    return abs((one.replace(tzinfo=None) - other.replace(tzinfo=None)) - offsets) / timedelta(days=1)
