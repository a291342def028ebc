"""Recurrence: birthdays, rules, zones, ends, refusals, and work that does not grow with a rule's age."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from retentive.scoring import occurrences as calendar
from retentive.scoring.recurrence import days_to_nearest, parse_rule

NOON = datetime(2024, 5, 10, 12, tzinfo=UTC)
LEAP_DAY = datetime(2024, 2, 29, 12, tzinfo=UTC)


def utc(year: int, month: int, day: int, hour: int = 12) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rule", "now", "days"),
    [
        ("yearly", utc(2025, 5, 10), 0.0),
        ("yearly", utc(2025, 5, 9), 1.0),
        ("yearly", utc(2025, 5, 11), 1.0),
        ("yearly", utc(2030, 5, 3), 7.0),
        ("monthly", utc(2024, 9, 8), 2.0),
        ("weekly", utc(2024, 5, 27), 3.0),
        ("daily", utc(2024, 8, 1, 18), 0.25),
        (" Yearly ", utc(2025, 5, 10), 0.0),
        ("FREQ=YEARLY", utc(2025, 5, 9), 1.0),
        ("rrule:freq=yearly;", utc(2025, 5, 9), 1.0),
        ("FREQ=YEARLY;INTERVAL=2", utc(2025, 5, 10), 365.0),
        ("FREQ=MONTHLY;BYDAY=2TU", utc(2024, 6, 12), 1.0),
        ("FREQ=MONTHLY;BYDAY=-1FR", utc(2024, 5, 30), 1.0),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", utc(2024, 6, 30), 2.0),
        ("FREQ=WEEKLY;BYDAY=MO", utc(2024, 5, 20), 0.0),
        ("FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0", utc(2024, 6, 1, 15), 2 / 24),
        ("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", utc(2024, 12, 26), 2.0),
    ],
)
def test_distance_to_the_nearest(rule: str, now: datetime, days: float) -> None:
    """Past or future, whichever is nearer, in days."""
    assert days_to_nearest(rule, NOON, now) == pytest.approx(days)


@pytest.mark.parametrize(
    ("now", "days"),
    [(utc(2025, 2, 28), 0.0), (utc(2025, 3, 2), 2.0), (utc(2028, 2, 29), 0.0), (utc(2028, 2, 28), 1.0)],
)
def test_a_birthday_on_the_leap_day(now: datetime, days: float) -> None:
    """Kept on 28 February in common years."""
    assert days_to_nearest("yearly", LEAP_DAY, now) == days


def test_an_rrule_on_the_leap_day_is_the_rfc_one() -> None:
    """RFC 5545 skips years without the day."""
    assert days_to_nearest("FREQ=YEARLY", LEAP_DAY, utc(2025, 2, 28)) == 365.0


def test_the_last_of_the_month() -> None:
    """Monthly from the 31st is met on the 30th of April; the RRULE skips April."""
    start = utc(2024, 1, 31)
    assert days_to_nearest("monthly", start, utc(2024, 4, 30)) == 0.0
    assert days_to_nearest("FREQ=MONTHLY", start, utc(2024, 4, 30)) == 30.0


def test_weeks_count_from_their_first_day() -> None:
    """With weeks from Saturday, 1 January 2015 lies in week 52 of 2014 (27 December to 2 January)."""
    start = utc(2014, 1, 1)
    assert days_to_nearest("FREQ=YEARLY;BYWEEKNO=52;WKST=SA", start, utc(2015, 1, 1)) == 0.0
    assert days_to_nearest("FREQ=YEARLY;BYWEEKNO=-1;WKST=SA", start, utc(2015, 1, 4)) == 2.0


def test_nothing_before_the_start() -> None:
    """Before its start, a rule is as far as its start."""
    assert days_to_nearest("daily", NOON, utc(2024, 5, 1)) == 9.0
    assert days_to_nearest("yearly", utc(2099, 1, 1), utc(2024, 1, 1)) == pytest.approx(27_394.0)


@pytest.mark.parametrize(
    "end", ["COUNT=3", "UNTIL=20240512", "UNTIL=20240512T120000Z", "UNTIL=20240513T115959", "UNTIL=20240513T115959Z"]
)
def test_nothing_after_the_end(end: str) -> None:
    """COUNT and every form of UNTIL end at the third day, noon."""
    assert days_to_nearest(f"FREQ=DAILY;{end}", NOON, utc(2024, 5, 22)) == 10.0


def test_until_in_utc_is_read_in_the_zone_of_the_start() -> None:
    """17:00 in Tokyo is 08:00 UTC: a rule until 07:59 UTC ends the day before."""
    start = datetime(2024, 5, 10, 17, tzinfo=ZoneInfo("Asia/Tokyo"))
    now = datetime(2024, 5, 12, 17, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert days_to_nearest("FREQ=DAILY;UNTIL=20240512T080000Z", start, now) == 0.0
    assert days_to_nearest("FREQ=DAILY;UNTIL=20240512T075959Z", start, now) == 1.0


def test_an_end_before_the_start_is_refused() -> None:
    """A rule that can never occur is said to be so, not silently far away."""
    with pytest.raises(ValueError, match="never occurs"):
        parse_rule("FREQ=DAILY;UNTIL=20200101", NOON)


def test_a_zone_keeps_its_clock() -> None:
    """Nine o'clock in Berlin stays nine o'clock when summer time ends, so the nearest is where the clock says."""
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(2024, 7, 1, 9, tzinfo=berlin)
    assert days_to_nearest("weekly", start, datetime(2024, 12, 2, 8, tzinfo=UTC)) == 0.0
    assert days_to_nearest("daily", start, datetime(2024, 10, 27, 7, tzinfo=UTC)) == pytest.approx(1 / 24)


def test_distance_is_real_time() -> None:
    """Across the end of summer time two clock days are 49 hours."""
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(2024, 10, 26, 12, tzinfo=berlin)
    now = datetime(2024, 10, 28, 12, tzinfo=berlin)
    assert days_to_nearest("FREQ=YEARLY", start, now) == pytest.approx(49 / 24)


def test_a_parsed_rule_is_as_good_as_its_text() -> None:
    """A rule may be read once and asked often."""
    parsed = parse_rule("FREQ=MONTHLY;BYDAY=2TU", NOON)
    now = utc(2024, 6, 12)
    assert days_to_nearest(parsed, NOON, now) == days_to_nearest("FREQ=MONTHLY;BYDAY=2TU", NOON, now)


@pytest.mark.parametrize("now", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize("offset", [-12, 0, 14])
@pytest.mark.parametrize("year", [1, 2024, 9999])
@pytest.mark.parametrize("rule", ["yearly", "daily", "FREQ=MONTHLY;BYSETPOS=-1;BYDAY=SU"])
def test_the_ends_of_the_calendar(rule: str, year: int, offset: int, now: datetime) -> None:
    """No date is out of range: the answer is a distance, or infinity beyond 400 years."""
    start = datetime(year, 6, 15, tzinfo=timezone(timedelta(hours=offset)))
    distance = days_to_nearest(rule, start, now)
    assert distance >= 0.0
    assert math.isinf(distance) == (abs(now.year - max(year, now.year)) > 400)


def test_work_does_not_grow_with_the_age_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daily rule from 1900 looks at eighty days, and a rule that rarely holds at no more than 800 years."""
    seen: list[int] = []
    stretch = calendar.stretch

    def counting(first_day: int, last_day: int) -> calendar.Days:
        seen.append(last_day - first_day + 1)
        return stretch(first_day, last_day)

    old = parse_rule("FREQ=DAILY", utc(1900, 1, 1))
    rare = parse_rule("FREQ=DAILY;INTERVAL=100000", utc(1600, 1, 1))
    monkeypatch.setattr(calendar, "stretch", counting)
    assert days_to_nearest(old, utc(1900, 1, 1), NOON) == 0.0
    assert sum(seen) < 100
    days_to_nearest(rare, utc(1600, 1, 1), NOON)
    assert sum(seen) < 2 * 146_097 * 1.1


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("FREQ=SECONDLY", "memories recur by the day"),
        ("FREQ=HOURLY;INTERVAL=24", "FREQ=HOURLY is not one of YEARLY, MONTHLY, WEEKLY, DAILY"),
        ("FREQ=DAILY;BYHOUR=0,6,12,18;BYMINUTE=0,10,20,30,40,50,55", "more than 24 times a day"),
        ("", "neither a known word"),
        ("fortnightly", "'FORTNIGHTLY' is neither a known word"),
        ("INTERVAL=2", "no FREQ"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ is given twice"),
        ("FREQ=DAILY;BYEASTER=1", "'BYEASTER' is not one of FREQ"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL=0 is not a whole number"),
        ("FREQ=DAILY;INTERVAL=999999999999999999999", "not a whole number from 1 to 100000"),
        ("FREQ=DAILY;COUNT=-1", "COUNT=-1"),
        ("FREQ=YEARLY;COUNT=999", "runs beyond 400 years"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20300101", "exclude each other"),
        ("FREQ=DAILY;UNTIL=tomorrow", "UNTIL=TOMORROW is not like"),
        ("FREQ=DAILY;UNTIL=20240230", "UNTIL=20240230 is not like"),
        ("FREQ=YEARLY;BYMONTH=13", "'13' is not within 1 to 12"),
        ("FREQ=YEARLY;BYMONTH=", "'' is not within"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "within 1 to 31 or -31 to -1"),
        ("FREQ=WEEKLY;BYDAY=XX", "'XX' is not one of MO"),
        ("FREQ=WEEKLY;BYDAY=Monday", "'MONDAY' is not like"),
        ("FREQ=WEEKLY;BYDAY=1MO", "only MONTHLY and YEARLY"),
        ("FREQ=MONTHLY;BYDAY=54MO", "outside 1 to 53"),
        ("FREQ=WEEKLY;WKST=1", "WKST '1'"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never occurs"),
        ("FREQ=DAILY;BYMONTH=" + ",".join(["1"] * 300), "longer than 500"),
    ],
)
def test_refusals_name_the_rule_the_reason_and_the_remedy(rule: str, why: str) -> None:
    """What was given, what is wrong with it, what would be accepted."""
    with pytest.raises(ValueError, match="Give yearly, monthly, weekly, daily or an RFC 5545 rule") as refusal:
        parse_rule(rule, NOON)
    assert repr(rule) in str(refusal.value)
    assert why in str(refusal.value)


def test_naive_datetimes_refused() -> None:
    """A time without a zone is named, with the remedy."""
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(ValueError, match=r"start must be an aware datetime, got .*tzinfo=UTC"):
        parse_rule("yearly", naive)
    with pytest.raises(ValueError, match="now must be an aware datetime"):
        days_to_nearest("yearly", NOON, naive)
    with pytest.raises(ValueError, match="start must be an aware datetime"):
        days_to_nearest(parse_rule("yearly", NOON), naive, NOON)
