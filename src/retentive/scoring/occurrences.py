"""Which moments of a stretch of days a recurrence rule picks: RFC 5545 by masks over the stretch, never by stepping.

Stepping from the rule's start costs as much as there are occurrences, and a rule that can never hold (30 February)
steps to the end of the calendar. A mask costs the length of the stretch asked for, whatever the rule says.

Moments are *wall seconds*: seconds since 1970-01-01 on the clock of the rule's own time zone. That is the calendar
rules speak of; a weekly nine o'clock stays at nine across a change to summer time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

DAY_SECONDS: Final = 86_400
EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
FIRST_DAY: Final = date.min.toordinal() - EPOCH_ORDINAL
LAST_DAY: Final = date.max.toordinal() - EPOCH_ORDINAL
CYCLE_DAYS: Final = 146_097  # 400 years, after which the calendar repeats
LONGEST_PERIOD_DAYS: Final = 366 + 6  # a leap year, and a week that began before it


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A recurrence rule, read: what ``parse_rule`` returns. Implied parts (the day of a birthday) are explicit."""

    frequency: str
    start: int
    """Wall second of the first possible occurrence."""
    interval: int = 1
    until: int | None = None
    """Wall second of the last possible occurrence, from UNTIL or COUNT; None: without end."""
    week_start: int = 0
    months: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[tuple[int, int], ...] = ()
    """(n, weekday from Monday = 0); n = 0 is every one, 1 the first, -1 the last of the month or year."""
    times: tuple[int, ...] = (0,)
    """Seconds of the day, ascending."""
    positions: tuple[int, ...] = ()
    clamped: bool = False
    """Whether a day that a month lacks means its last day (the words) or no day at all (RFC 5545)."""


@dataclass(frozen=True, slots=True)
class Days:
    """A stretch of consecutive days with the calendar's facts about each; ``day`` counts from 1970-01-01."""

    day: IntArray
    year: IntArray
    month: IntArray
    """Months since January 1970."""
    weekday: IntArray
    of_month: IntArray
    of_year: IntArray
    month_length: IntArray
    year_length: IntArray


def stretch(first_day: int, last_day: int) -> Days:
    """The days from ``first_day`` to ``last_day``, both included."""
    day = np.arange(first_day, last_day + 1, dtype=np.int64)
    dates = day.astype("datetime64[D]")
    months, years = dates.astype("datetime64[M]"), dates.astype("datetime64[Y]")
    month_start, year_start = months.astype("datetime64[D]"), years.astype("datetime64[D]")
    return Days(
        day=day,
        year=years.astype(np.int64) + 1970,
        month=months.astype(np.int64),
        weekday=(day + 3) % 7,  # 1970-01-01 was a Thursday
        of_month=(dates - month_start).astype(np.int64) + 1,
        of_year=(dates - year_start).astype(np.int64) + 1,
        month_length=((months + np.timedelta64(1, "M")).astype("datetime64[D]") - month_start).astype(np.int64),
        year_length=((years + np.timedelta64(1, "Y")).astype("datetime64[D]") - year_start).astype(np.int64),
    )


def occurrences(rule: Recurrence, first_day: int, last_day: int) -> IntArray:
    """The rule's wall seconds from ``first_day`` to ``last_day``, both included, ascending."""
    earliest = max(rule.start, first_day * DAY_SECONDS)
    latest = min(_end(rule), last_day * DAY_SECONDS + DAY_SECONDS - 1)
    margin = LONGEST_PERIOD_DAYS if rule.positions else 0  # a position counts within its whole period
    first, last = earliest // DAY_SECONDS - margin, latest // DAY_SECONDS + margin
    days = stretch(max(first, FIRST_DAY), min(last, LAST_DAY))
    period = period_index(rule, days)
    picked = day_mask(rule, days) & (period % rule.interval == 0)
    moments = (days.day[picked, None] * DAY_SECONDS + np.asarray(rule.times, dtype=np.int64)).ravel()
    if rule.positions:
        moments = moments[position_mask(np.repeat(period[picked], len(rule.times)), rule.positions)]
    return moments[(moments >= earliest) & (moments <= latest)]


def nth_occurrence(rule: Recurrence, n: int) -> int | None:
    """The wall second of the rule's ``n``-th occurrence, from 1; None if it lies beyond the 400 years after the start.

    The calendar repeats after 400 years, so a rule without an interval that found nothing by then never will.
    """
    first, span = rule.start // DAY_SECONDS, 400
    end = min(first + CYCLE_DAYS, LAST_DAY + 1)
    while first < end:
        found = occurrences(rule, first, min(first + span, end) - 1)
        if len(found) >= n:
            return int(found[n - 1])
        n -= len(found)
        first, span = first + span, 2 * span
    return None


def period_index(rule: Recurrence, days: Days) -> IntArray:
    """How many periods (years, months, weeks or days) each day lies after the rule's first one."""
    start = stretch(rule.start // DAY_SECONDS, rule.start // DAY_SECONDS)
    if rule.frequency == "YEARLY":
        return days.year - start.year
    if rule.frequency == "MONTHLY":
        return days.month - start.month
    if rule.frequency == "WEEKLY":
        return (_week_first_day(rule, days) - _week_first_day(rule, start)) // 7
    return days.day - start.day


def day_mask(rule: Recurrence, days: Days) -> BoolArray:
    """Which days satisfy every BY part of the rule."""
    mask = np.ones(len(days.day), dtype=np.bool_)
    if rule.months:
        mask &= np.isin(days.month % 12 + 1, rule.months)
    if rule.weeks:
        mask &= week_mask(rule, days)
    if rule.year_days:
        mask &= _counted(days.of_year, days.year_length, rule.year_days)
    if rule.month_days and rule.clamped:
        mask &= days.of_month == np.minimum(days.month_length, rule.month_days[0])
    elif rule.month_days:
        mask &= _counted(days.of_month, days.month_length, rule.month_days)
    if rule.weekdays:
        mask &= weekday_mask(rule, days)
    return mask


def weekday_mask(rule: Recurrence, days: Days) -> BoolArray:
    """Which days are one of the rule's weekdays, counted within the month, or the year of a yearly rule."""
    by_year = rule.frequency == "YEARLY" and not rule.months
    place, length = (days.of_year, days.year_length) if by_year else (days.of_month, days.month_length)
    from_front, from_back = (place - 1) // 7 + 1, -((length - place) // 7 + 1)
    mask = np.zeros(len(days.day), dtype=np.bool_)
    for n, weekday in rule.weekdays:
        counted = (n == 0) | (from_front == n) | (from_back == n)
        mask |= (days.weekday == weekday) & counted
    return mask


def week_mask(rule: Recurrence, days: Days) -> BoolArray:
    """Which days lie in the rule's weeks; week 1 is the first with four days in the year (ISO 8601, RFC 5545)."""
    middle = _week_first_day(rule, days) + 3  # the fourth day of a week decides which year the week belongs to
    year = middle.astype("datetime64[D]").astype("datetime64[Y]")
    year_start: IntArray = year.astype("datetime64[D]").astype(np.int64)
    next_start: IntArray = (year + np.timedelta64(1, "Y")).astype("datetime64[D]").astype(np.int64)
    number, weeks = (middle - year_start) // 7 + 1, (next_start - 1 - middle) // 7
    return np.isin(number, rule.weeks) | np.isin(-1 - weeks, rule.weeks)


def position_mask(period: IntArray, positions: tuple[int, ...]) -> BoolArray:
    """BYSETPOS: which entries stand at one of ``positions`` among the entries of their period (periods ascend)."""
    _, first, inverse, size = np.unique(period, return_index=True, return_inverse=True, return_counts=True)
    place = np.arange(len(period)) - first[inverse] + 1
    return _counted(place, size[inverse], positions)


def _counted(place: IntArray, length: IntArray, wanted: tuple[int, ...]) -> BoolArray:
    """Whether a place, counted from the front (1, 2, …) or from the back (-1, -2, …), is wanted."""
    return np.isin(place, wanted) | np.isin(place - length - 1, wanted)


def _week_first_day(rule: Recurrence, days: Days) -> IntArray:
    return days.day - (days.weekday - rule.week_start) % 7


def _end(rule: Recurrence) -> int:
    return LAST_DAY * DAY_SECONDS + DAY_SECONDS - 1 if rule.until is None else rule.until
