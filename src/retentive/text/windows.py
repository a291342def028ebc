"""Spans of wall-clock time around a day: the calendar arithmetic behind temporal phrases.

Everything here is naive local time; ``temporal`` attaches the zone at the very end, so a day is midnight to midnight
even when a clock change makes it 23 or 25 hours long. Nothing raises near the ends of the calendar: days are clamped to
a range that survives conversion to any zone.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

_FIRST: Final = date(1, 1, 3).toordinal()
_LAST: Final = date(9999, 12, 29).toordinal()
_TIMED: Final = {"second": 1, "minute": 60, "hour": 3_600}
_DAYS: Final = {"day": 1.0, "week": 7.0, "fortnight": 14.0}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_MONTH_DAYS: Final = 30.44

SEASONS: Final = {
    "spring": (3, 3, 21),
    "summer": (6, 3, 22),
    "autumn": (9, 3, 21),
    "fall": (9, 3, 21),
    "winter": (12, 3, 20),
}
"""First month, months to the meteorological end, and the day of the month after it up to which people still say so."""


_FIXED_HOLIDAYS: Final = {
    "christmas": (12, 25, 2, 3),
    "new year": (12, 31, 0, 2),
    "halloween": (10, 31, 0, 1),
    "valentine": (2, 14, 0, 1),
}
HOLIDAYS: Final = (*_FIXED_HOLIDAYS, "easter", "thanksgiving")


class Span(NamedTuple):
    """A half-open span of local time; ``None`` is open on that side. ``timed`` ones are shorter than days."""

    start: datetime | None
    end: datetime | None
    timed: bool = False


def clamp(ordinal: float) -> date:
    """The day of that number, or the nearest one that any zone can still convert."""
    return date.fromordinal(int(min(max(ordinal, _FIRST), _LAST)))


def shift(day: date, days: float) -> date:
    """That many days later; earlier when negative."""
    return clamp(day.toordinal() + days)


def shift_months(day: date, months: int) -> date:
    """The same day of the month that many months later, or the last day that month has."""
    first = month_start(day.year, day.month + months)
    after = month_start(day.year, day.month + months + 1)
    return min(shift(first, day.day - 1), shift(after, -1))


def month_start(year: int, month: int) -> date:
    """The first of a month; months outside 1 to 12 count on into other years."""
    index = year * 12 + month - 1
    if index < 12:
        return clamp(_FIRST)
    return clamp(_LAST) if index >= 120_000 else clamp(date(index // 12, index % 12 + 1, 1).toordinal())


def days(first: date, after: date) -> Span:
    """From the beginning of one day up to, and not into, another."""
    return Span(midnight(first), midnight(after))


def midnight(day: date) -> datetime:
    """The beginning of a day."""
    return datetime.combine(day, time.min)


def hours(day: date, begin: int, end: int) -> Span:
    """Part of a day, in hours that may run past midnight."""
    start = midnight(day)
    return Span(start + timedelta(hours=begin), start + timedelta(hours=end))


def months(year: int, month: int, count: int = 1) -> Span:
    """Whole calendar months."""
    return days(month_start(year, month), month_start(year, month + count))


def back(day: date, unit: str, count: float) -> date:
    """That many days, weeks, months, quarters, years or decades before a day."""
    if unit in _DAYS:
        return shift(day, -round(count * _DAYS[unit]))
    whole = int(count * _MONTHS[unit])
    return shift(shift_months(day, -whole), -round((count * _MONTHS[unit] - whole) * _MONTH_DAYS))


def ago(now: datetime, unit: str, low: float, high: float) -> Span:
    """Between ``low`` and ``high`` units before now, whole days at both ends unless the unit is shorter."""
    if unit in _TIMED:
        return Span(_before(now, high * _TIMED[unit]), _before(now, low * _TIMED[unit]), timed=True)
    today = now.date()
    return days(back(today, unit, high), shift(back(today, unit, low), 1))


def _before(now: datetime, seconds: float) -> datetime:
    floor, ceiling = midnight(clamp(_FIRST)), midnight(clamp(_LAST))
    moment = min(max(now, floor), ceiling)
    room = (moment - floor).total_seconds()
    return moment - timedelta(seconds=min(seconds, room))


def slack(unit: str, count: float) -> tuple[float, float]:
    """How far off "count units ago" may be: half a unit, more as memory blurs; days are counted well."""
    if unit == "day":
        give = 0.0 if count <= 1 else max(1.0, 0.15 * count)
        return max(min(count, 1.0), count - give), count + give
    give = min(max(0.5, (0.25 if unit in _TIMED else 0.15) * count), count / 2)
    return count - give, count + give


def week(today: date, weeks: int = 0) -> Span:
    """The Monday-to-Sunday week that many weeks from this one."""
    monday = shift(today, 7 * weeks - today.weekday())
    return days(monday, shift(monday, 7))


def weekend(today: date, *, last: bool) -> Span:
    """This week's Saturday and Sunday, or those of the week before the present one."""
    saturday = shift(today, 5 - today.weekday() - (7 if last else 0))
    return days(saturday, shift(saturday, 2))


def weekday(today: date, number: int) -> Span:
    """The latest such weekday before today."""
    day = shift(today, -((today.weekday() - number - 1) % 7 + 1))
    return days(day, shift(day, 1))


def latest_month(today: date, month: int) -> Span:
    """The latest such month that has begun."""
    return months(today.year - (month > today.month), month)


def latest_day(today: date, month: int, day: int) -> Span | None:
    """The latest such day of the year up to today; ``None`` if no year has it."""
    for year in range(today.year, max(today.year - 9, 0), -1):
        found = exact_day(year, month, day)
        if found and found.start and found.start.date() <= today:
            return found
    return None


def exact_day(year: int, month: int, day: int) -> Span | None:
    """One calendar day; ``None`` if there is no such day."""
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return days(clamp(found.toordinal()), shift(found, 1))


def season(year: int, name: str) -> Span:
    """A northern season by its meteorological start and its astronomical end."""
    month, count, last = SEASONS[name]
    return days(month_start(year, month), shift(month_start(year, month + count), last))


def latest_season(today: date, name: str, *, over: bool) -> Span:
    """The latest such season that has begun or, with ``over``, that is over."""
    month, count, _ = SEASONS[name]
    begun = month_start(today.year, month + (count if over else 0)) <= today
    if name == "winter" and over:
        return season(today.year - (2 if today < month_start(today.year, 3) else 1), name)
    return season(today.year - (not begun), name)


def easter(year: int) -> date:
    """Western Easter Sunday, by the anonymous Gregorian computus (Meeus, Astronomical Algorithms, chapter 8)."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    offset = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    correction = (golden + 11 * epact + 22 * offset) // 451
    month, day = divmod(epact + offset - 7 * correction + 114, 31)
    return date(year, month, day + 1)


def holiday(year: int, name: str) -> Span:
    """A holiday with the days around it on which people still say its name."""
    if name == "easter":
        sunday = easter(year)
        return days(shift(sunday, -3), shift(sunday, 2))
    if name == "thanksgiving":
        first = date(year, 11, 1)
        thursday = shift(first, (3 - first.weekday()) % 7 + 21)
        return days(thursday, shift(thursday, 4))
    month, day, before, after = _FIXED_HOLIDAYS[name]
    return days(shift(date(year, month, day), -before), shift(date(year, month, day), after))


def latest_holiday(today: date, name: str) -> Span:
    """The latest such holiday that has begun."""
    this = holiday(today.year, name)
    begun = today.year == 1 or (this.start is not None and this.start.date() <= today)
    return this if begun else holiday(today.year - 1, name)
