"""Recurrence against dateutil, which steps through every occurrence and is the oracle here."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.scoring.occurrences import EPOCH_ORDINAL, Recurrence, stretch, week_mask
from retentive.scoring.recurrence import days_to_nearest, parse_rule

starts = st.integers(0, 4_000 * 86_400).map(lambda after: datetime(2015, 1, 1, tzinfo=UTC) + timedelta(seconds=after))
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
OPTIONS: dict[str, st.SearchStrategy[str]] = {
    "INTERVAL": st.integers(1, 5).map(str),
    "BYMONTH": st.lists(st.integers(1, 12).map(str), min_size=1, max_size=4, unique=True).map(",".join),
    "BYMONTHDAY": st.lists(st.integers(-31, 31).filter(bool).map(str), min_size=1, max_size=5, unique=True).map(
        ",".join
    ),
    "BYYEARDAY": st.lists(st.integers(-366, 366).filter(bool).map(str), min_size=1, max_size=9, unique=True).map(
        ",".join
    ),
    # dateutil 2.9 counts 53 weeks in some years of 52 when it looks back from January; the last weeks are tested below
    "BYWEEKNO": st.lists(st.integers(1, 51).map(str), min_size=1, max_size=5, unique=True).map(",".join),
    "BYDAY": st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=4, unique=True).map(",".join),
    "BYHOUR": st.lists(st.integers(0, 23).map(str), min_size=1, max_size=2, unique=True).map(",".join),
    "WKST": st.sampled_from(WEEKDAYS),
}
NTH = st.lists(
    st.tuples(st.sampled_from([-2, -1, 1, 2, 4]), st.sampled_from(WEEKDAYS)).map(lambda pair: f"{pair[0]}{pair[1]}"),
    min_size=1,
    max_size=3,
    unique=True,
).map(",".join)


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Rules of every frequency; positions only where RFC 5545 and dateutil agree on the first, partial, week."""
    frequency = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]))
    names = draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=3, unique=True))
    parts = {"FREQ": frequency} | {name: draw(OPTIONS[name]) for name in names}
    if frequency in {"YEARLY", "MONTHLY"} and "BYDAY" in parts and draw(st.booleans()):
        parts["BYDAY"] = draw(NTH)
    if frequency != "WEEKLY" and draw(st.booleans()):
        parts["BYSETPOS"] = draw(st.sampled_from(["1", "-1", "2", "1,-1"]))
    if draw(st.booleans()):
        parts["COUNT"] = str(draw(st.integers(1, 30)))
    return ";".join(f"{name}={value}" for name, value in parts.items())


def stepped(rule: str, start: datetime, now: datetime, reach: timedelta) -> float:
    """The nearest occurrence within ``reach``, found by stepping through them all."""
    found = rrulestr(rule, dtstart=start).between(now - reach, now + reach, inc=True)
    return min((abs(moment - now) / timedelta(days=1) for moment in found), default=math.inf)


@settings(deadline=None, max_examples=300)
@given(rule=rules(), start=starts, after=st.floats(-400.0, 3_000.0))
def test_agrees_with_dateutil(rule: str, start: datetime, after: float) -> None:
    """Wherever a rule can occur, the nearest occurrence is the one stepping finds."""
    try:
        parsed = parse_rule(rule, start)
    except ValueError as refusal:
        assert "never occurs" in str(refusal) or "runs beyond" in str(refusal)  # noqa: PT017 -- both are allowed
        return
    now = start + timedelta(days=after)
    reach = timedelta(days=500)
    distance = days_to_nearest(parsed, start, now)
    oracle = stepped(rule, start, now, reach)
    assert distance == pytest.approx(oracle) if distance <= 500 else math.isinf(oracle)


@given(start=starts, after=st.floats(-1e5, 1e6), word=st.sampled_from(["yearly", "monthly", "weekly", "daily"]))
def test_words_are_never_further_than_half_a_period(start: datetime, after: float, word: str) -> None:
    """After its start a word recurs for ever; before it, the start is the nearest."""
    distance = days_to_nearest(word, start, start + timedelta(days=after))
    half = {"yearly": 183.0, "monthly": 15.5, "weekly": 3.5, "daily": 0.5}[word]
    assert 0.0 <= distance <= half + 1e-6 or distance == pytest.approx(-after)


@given(after=st.integers(0, 400 * 366), week=st.integers(1, 53))
def test_week_numbers_are_those_of_iso_8601(after: int, week: int) -> None:
    """Weeks from Monday, counted from either end of their year, are those of ``date.isocalendar``."""
    day = date(1800, 1, 1) + timedelta(days=after)
    days = stretch(day.toordinal() - EPOCH_ORDINAL, day.toordinal() - EPOCH_ORDINAL)
    year, number, _ = day.isocalendar()
    weeks = date(year, 12, 28).isocalendar().week
    assert bool(week_mask(Recurrence("YEARLY", 0, weeks=(week,)), days)[0]) == (number == week)
    assert bool(week_mask(Recurrence("YEARLY", 0, weeks=(-week,)), days)[0]) == (number - weeks - 1 == -week)
