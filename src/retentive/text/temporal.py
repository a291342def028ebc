"""When a cue is about: a small grammar of temporal phrases, read without a model.

A phrase points to the past, with a window where it names one, or to how things stand now. Where a cue has several, one
with a window wins over one without, then the earlier, then the longer. What was decided where English is loose:

- ``today``, ``tonight``, ``this week`` and the like are *current* with a window; ``this morning``, ``earlier today``
  and ``earlier this week`` are *past* with one. ``recently`` is *current* over the last thirty days: it asks for what
  is new.
- "last week" is the previous Monday up to, and not including, today: both the calendar week and the last seven days.
  Last month, quarter and year are those of the calendar; "the last month", "past 3 weeks" roll and include today.
- "three months ago" is a window of half a unit either way, or 15 % of the distance if that is more.
- A month or day without a year is the latest that has begun. Seasons are northern.
- ``now`` counts only in a question about a state ("Where does he live now?"): "now list them" and "now that" are not
  about time. Anything about the future ("next week", "in three days") is no intent: there are no memories of it.
- An ambiguous 5/12/2023 does not fire; 25/12/2023 does.

A cue is read up to its first 4,000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timezone, tzinfo
from typing import Final, Literal

from retentive.errors import InvalidInput
from retentive.text.commonwords import MONTHS, WEEKDAYS
from retentive.text.datephrases import dated
from retentive.text.relativephrases import Found, relative
from retentive.text.windows import Span

READ: Final = 4_000


@dataclass(frozen=True, slots=True)
class TemporalIntent:
    """What a cue's words say about time.

    ``start`` is inclusive and ``end`` exclusive, both in the zone of ``now``. Both ``None``: no window. One ``None``:
    the window is open on that side ("before June").
    """

    direction: Literal["past", "current"]
    phrase: str
    start: datetime | None = None
    end: datetime | None = None


def temporal_intent(text: str, now: datetime) -> TemporalIntent | None:
    """The intent of a cue asked at ``now``, or ``None`` when it says nothing about time."""
    if now.utcoffset() is None:
        raise InvalidInput(f"now={now!r} has no time zone; pass an aware datetime such as datetime.now(UTC).", now=now)
    text = text[:READ]
    local = now.replace(tzinfo=None)
    found = list(_all(text, local))
    if not found:
        return None
    best = min(found, key=lambda each: (each.span is None, each.start, -len(each.phrase)))
    start, end = _zoned(best.span, now)
    return TemporalIntent(best.direction, best.phrase, start, end)


def date_terms(at: datetime) -> tuple[str, ...]:
    """The words by which people ask for a date, as plain text: run them through ``terms`` like any other."""
    day = at.date()
    return (day.isoformat(), WEEKDAYS[day.weekday()], str(day.day), MONTHS[day.month - 1], str(day.year))


def _all(text: str, now: datetime) -> Iterator[Found]:
    yield from relative(text, now)
    yield from dated(text, now.date())


def _zoned(span: Span | None, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The span in the zone of ``now``. One shorter than a day keeps now's own offset, so that it cannot fold."""
    if span is None:
        return None, None
    offset = now.utcoffset()
    zone = timezone(offset) if span.timed and offset is not None else now.tzinfo
    start, end = _at(span.start, zone), _at(span.end, zone)
    if start and end and (start >= end or start.astimezone(UTC) >= end.astimezone(UTC)):
        return None, None  # clamped away at an end of the calendar, or a day that its zone skipped
    return start, end


def _at(moment: datetime | None, zone: tzinfo | None) -> datetime | None:
    return moment and moment.replace(tzinfo=zone)
