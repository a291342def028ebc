"""What temporal phrases mean on Wednesday 15 November 2023 at ten in the morning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from retentive.text.temporal import TemporalIntent, date_terms, temporal_intent

NOW = datetime(2023, 11, 15, 10, 0, tzinfo=UTC)

# The fields: text, direction, phrase, start, end (exclusive).
MEANT = """
What did I do yesterday? | past | yesterday | 2023-11-14 | 2023-11-15
the day before yesterday | past | the day before yesterday | 2023-11-13 | 2023-11-14
yesterday's lunch | past | yesterday's | 2023-11-14 | 2023-11-15
yesterday evening | past | yesterday evening | 2023-11-14 | 2023-11-15
last night | past | last night | 2023-11-14T17:00 | 2023-11-15T06:00
today | current | today | 2023-11-15 | 2023-11-16
today's plan | current | today's | 2023-11-15 | 2023-11-16
tonight | current | tonight | 2023-11-15T17:00 | 2023-11-16T06:00
this morning | past | this morning | 2023-11-15 | 2023-11-15T13:00
earlier today | past | earlier today | 2023-11-15 | 2023-11-16
this afternoon | current | this afternoon | 2023-11-15T12:00 | 2023-11-15T19:00
this evening | current | this evening | 2023-11-15T17:00 | 2023-11-16T06:00
just now | past | just now | 2023-11-15T09:30 | 2023-11-15T10:00:01
2 days ago | past | 2 days ago | 2023-11-12 | 2023-11-15
one day ago | past | one day ago | 2023-11-14 | 2023-11-15
three days ago | past | three days ago | 2023-11-11 | 2023-11-14
20 days ago | past | 20 days ago | 2023-10-23 | 2023-10-30
a few days ago | past | a few days ago | 2023-11-09 | 2023-11-14
a couple of days ago | past | a couple of days ago | 2023-11-12 | 2023-11-14
couple of weeks ago | past | couple of weeks ago | 2023-10-25 | 2023-11-06
several weeks ago | past | several weeks ago | 2023-09-20 | 2023-10-26
two weeks ago | past | two weeks ago | 2023-10-28 | 2023-11-06
a week ago | past | a week ago | 2023-11-05 | 2023-11-12
a fortnight ago | past | a fortnight ago | 2023-10-25 | 2023-11-09
three months ago | past | three months ago | 2023-07-31 | 2023-09-01
a month ago | past | a month ago | 2023-09-30 | 2023-11-01
6 months ago | past | 6 months ago | 2023-04-18 | 2023-06-13
two quarters ago | past | two quarters ago | 2023-03-31 | 2023-07-01
a year ago | past | a year ago | 2022-05-15 | 2023-05-16
over a year ago | past | over a year ago | 2021-11-15 | 2022-11-16
more than two years ago | past | more than two years ago | 2019-11-15 | 2021-11-16
almost a year ago | past | almost a year ago | 2022-05-15 | 2023-05-16
about five years ago | past | five years ago | 2018-02-15 | 2019-08-16
ten years ago | past | ten years ago | 2012-05-15 | 2015-05-16
a decade ago | past | a decade ago | 2008-11-15 | 2018-11-16
half a year ago | past | half a year ago | 2023-02-15 | 2023-08-16
a year and a half ago | past | a year and a half ago | 2021-11-15 | 2022-11-16
two or three weeks ago | past | two or three weeks ago | 2023-10-22 | 2023-11-06
2-3 months ago | past | 2-3 months ago | 2023-07-31 | 2023-10-01
within a week ago | past | within a week ago | 2023-11-08 | 2023-11-16
an hour ago | past | an hour ago | 2023-11-15T08:30 | 2023-11-15T09:30
3 hours ago | past | 3 hours ago | 2023-11-15T06:15 | 2023-11-15T07:45
20 minutes ago | past | 20 minutes ago | 2023-11-15T09:35 | 2023-11-15T09:45
half an hour ago | past | half an hour ago | 2023-11-15T09:15 | 2023-11-15T09:45
years ago | past | years ago | 2011-11-15 | 2021-11-16
months ago | past | months ago | 2022-11-15 | 2023-09-16
two years back | past | two years back | 2021-05-15 | 2022-05-16
a few minutes ago | past | a few minutes ago | 2023-11-15T09:54 | 2023-11-15T09:58
the other day | past | the other day | 2023-11-08 | 2023-11-15
the other night | past | the other night | 2023-11-08 | 2023-11-15
the other week | past | the other week | 2023-10-25 | 2023-11-09
last week | past | last week | 2023-11-06 | 2023-11-15
previous week | past | previous week | 2023-11-06 | 2023-11-15
the previous month | past | the previous month | 2023-10-01 | 2023-11-01
last month | past | last month | 2023-10-01 | 2023-11-01
last quarter | past | last quarter | 2023-07-01 | 2023-10-01
last year | past | last year | 2022-01-01 | 2023-01-01
last weekend | past | last weekend | 2023-11-11 | 2023-11-13
last spring | past | last spring | 2023-03-01 | 2023-06-22
last summer | past | last summer | 2023-06-01 | 2023-09-23
last autumn | past | last autumn | 2022-09-01 | 2022-12-22
last fall | past | last fall | 2022-09-01 | 2022-12-22
last winter | past | last winter | 2022-12-01 | 2023-03-21
this week | current | this week | 2023-11-13 | 2023-11-20
this month | current | this month | 2023-11-01 | 2023-12-01
this quarter | current | this quarter | 2023-10-01 | 2024-01-01
this year | current | this year | 2023-01-01 | 2024-01-01
this weekend | current | this weekend | 2023-11-18 | 2023-11-20
this summer | current | this summer | 2023-06-01 | 2023-09-23
this winter | current | this winter | 2023-12-01 | 2024-03-21
the past week | past | the past week | 2023-11-08 | 2023-11-16
in the last month | past | the last month | 2023-10-15 | 2023-11-16
the last year | past | the last year | 2022-11-15 | 2023-11-16
last 3 days | past | last 3 days | 2023-11-12 | 2023-11-16
last 10 minutes | past | last 10 minutes | 2023-11-15T09:50 | 2023-11-15T10:00:01
past two weeks | past | past two weeks | 2023-11-01 | 2023-11-16
past 6 months | past | past 6 months | 2023-05-15 | 2023-11-16
the last few days | past | last few days | 2023-11-09 | 2023-11-16
the last couple of months | past | last couple of months | 2023-08-15 | 2023-11-16
in the last hour | past | in the last hour | 2023-11-15T09:00 | 2023-11-15T10:00:01
over the past year | past | the past year | 2022-11-15 | 2023-11-16
earlier this week | past | earlier this week | 2023-11-13 | 2023-11-16
earlier this year | past | earlier this year | 2023-01-01 | 2023-11-16
this past weekend | past | this past weekend | 2023-11-11 | 2023-11-13
last year's report | past | last year's | 2022-01-01 | 2023-01-01
last Monday | past | last Monday | 2023-11-13 | 2023-11-14
last Wednesday | past | last Wednesday | 2023-11-08 | 2023-11-09
on Tuesday | past | on Tuesday | 2023-11-14 | 2023-11-15
on Wednesday | past | on Wednesday | 2023-11-08 | 2023-11-09
this Monday | past | this Monday | 2023-11-13 | 2023-11-14
since Friday | past | since Friday | 2023-11-10 | 2023-11-16
last Friday | past | last Friday | 2023-11-10 | 2023-11-11
in May | past | in May | 2023-05-01 | 2023-06-01
in may | past | in may | 2023-05-01 | 2023-06-01
in May 2023 | past | in May 2023 | 2023-05-01 | 2023-06-01
May 2023 | past | May 2023 | 2023-05-01 | 2023-06-01
in Dec | past | in Dec | 2022-12-01 | 2023-01-01
in December | past | in December | 2022-12-01 | 2023-01-01
in November | past | in November | 2023-11-01 | 2023-12-01
last May | past | last May | 2023-05-01 | 2023-06-01
last November | past | last November | 2022-11-01 | 2022-12-01
this March | past | this March | 2023-03-01 | 2023-04-01
back in June | past | back in June | 2023-06-01 | 2023-07-01
during August | past | during August | 2023-08-01 | 2023-09-01
in Sept 2022 | past | in Sept 2022 | 2022-09-01 | 2022-10-01
May of 2021 | past | May of 2021 | 2021-05-01 | 2021-06-01
early March | past | early March | 2023-03-01 | 2023-03-12
in mid-April | past | in mid-April | 2023-04-10 | 2023-04-22
late October 2022 | past | late October 2022 | 2022-10-20 | 2022-11-01
at the end of August | past | at the end of August | 2023-08-20 | 2023-09-01
in the beginning of May 2022 | past | in the beginning of May 2022 | 2022-05-01 | 2022-05-12
May '22 | past | May '22 | 2022-05-01 | 2022-06-01
on 5 May | past | on 5 May | 2023-05-05 | 2023-05-06
on May 5 | past | on May 5 | 2023-05-05 | 2023-05-06
May 5th, 2023 | past | May 5th, 2023 | 2023-05-05 | 2023-05-06
5th of May | past | 5th of May | 2023-05-05 | 2023-05-06
the 5th of May 2022 | past | the 5th of May 2022 | 2022-05-05 | 2022-05-06
on December 24 | past | on December 24 | 2022-12-24 | 2022-12-25
March 3rd | past | March 3rd | 2023-03-03 | 2023-03-04
Jan 2 | past | Jan 2 | 2023-01-02 | 2023-01-03
Feb 29 | past | Feb 29 | 2020-02-29 | 2020-03-01
on 20 November | past | on 20 November | 2022-11-20 | 2022-11-21
2023-05-12 | past | 2023-05-12 | 2023-05-12 | 2023-05-13
2023/05/12 | past | 2023/05/12 | 2023-05-12 | 2023-05-13
in 2023-05 | past | in 2023-05 | 2023-05-01 | 2023-06-01
on 25/12/2022 | past | on 25/12/2022 | 2022-12-25 | 2022-12-26
12/25/2022 | past | 12/25/2022 | 2022-12-25 | 2022-12-26
5/5/2023 | past | 5/5/2023 | 2023-05-05 | 2023-05-06
24.12.2022 | past | 24.12.2022 | 2022-12-24 | 2022-12-25
in 2019 | past | in 2019 | 2019-01-01 | 2020-01-01
since 2019 | past | since 2019 | 2019-01-01 | 2023-11-16
before 2020 | past | before 2020 | - | 2020-01-01
after 2021 | past | after 2021 | 2022-01-01 | 2023-11-16
by 2022 | past | by 2022 | - | 2023-01-01
during 2023 | past | during 2023 | 2023-01-01 | 2024-01-01
mid-2022 | past | mid-2022 | 2022-05-01 | 2022-09-02
early 2023 | past | early 2023 | 2023-01-01 | 2023-05-03
in the 1990s | past | in the 1990s | 1990-01-01 | 2000-01-01
in the 90s | past | in the 90s | 1990-01-01 | 2000-01-01
in Q3 | past | in Q3 | 2023-07-01 | 2023-10-01
Q1 2023 | past | Q1 2023 | 2023-01-01 | 2023-04-01
in Q4 of 2022 | past | in Q4 of 2022 | 2022-10-01 | 2023-01-01
last Q2 | past | last Q2 | 2023-04-01 | 2023-07-01
since March | past | since March | 2023-03-01 | 2023-11-16
since May 2022 | past | since May 2022 | 2022-05-01 | 2023-11-16
before 3 June | past | before 3 June | - | 2023-06-03
after 3 June | past | after 3 June | 2023-06-04 | 2023-11-16
before June | past | before June | - | 2023-06-01
until August | past | until August | - | 2023-09-01
after March 2022 | past | after March 2022 | 2022-04-01 | 2023-11-16
from May 2023 | past | from May 2023 | 2023-05-01 | 2023-06-01
since yesterday | past | since yesterday | 2023-11-14 | 2023-11-16
between May and July | past | between May and July | 2023-05-01 | 2023-08-01
between 3 May and 10 June | past | between 3 May and 10 June | 2023-05-03 | 2023-06-11
from November to February | past | from November to February | 2022-11-01 | 2023-03-01
between March 2022 and May 2023 | past | between March 2022 and May 2023 | 2022-03-01 | 2023-06-01
between 2019 and 2021 | past | between 2019 and 2021 | 2019-01-01 | 2022-01-01
from Monday to Wednesday | past | from Monday to Wednesday | 2023-11-06 | 2023-11-09
between December and March | past | between December and March | 2022-12-01 | 2023-04-01
at Christmas | past | at Christmas | 2022-12-23 | 2022-12-28
last Christmas | past | last Christmas | 2022-12-23 | 2022-12-28
Christmas 2021 | past | Christmas 2021 | 2021-12-23 | 2021-12-28
over Christmas | past | over Christmas | 2022-12-23 | 2022-12-28
on Halloween | past | on Halloween | 2023-10-31 | 2023-11-01
on New Year's Eve | past | on New Year's Eve | 2022-12-31 | 2023-01-02
at Easter | past | at Easter | 2023-04-06 | 2023-04-11
on Valentine's Day | past | on Valentine's Day | 2023-02-14 | 2023-02-15
at Thanksgiving | past | at Thanksgiving | 2022-11-24 | 2022-11-28
Easter 2022 | past | Easter 2022 | 2022-04-14 | 2022-04-19
Thanksgiving 2021 | past | Thanksgiving 2021 | 2021-11-25 | 2021-11-29
in the summer | past | in the summer | 2023-06-01 | 2023-09-23
in the summer of 2021 | past | in the summer of 2021 | 2021-06-01 | 2021-09-23
summer 2022 | past | summer 2022 | 2022-06-01 | 2022-09-23
over the winter | past | over the winter | 2022-12-01 | 2023-03-21
in the fall | past | in the fall | 2023-09-01 | 2023-12-22
spring 2023 | past | spring 2023 | 2023-03-01 | 2023-06-22
originally | past | originally | - | -
initially | past | initially | - | -
at first | past | at first | - | -
back then | past | back then | - | -
we used to live there | past | we used to | - | -
previously | past | previously | - | -
in the beginning | past | in the beginning | - | -
in the past | past | in the past | - | -
a long time ago | past | a long time ago | - | -
ages ago | past | ages ago | - | -
a while back | past | a while back | - | -
did you use to smoke | past | did you use to | - | -
currently | current | currently | - | -
right now | current | right now | - | -
nowadays | current | nowadays | - | -
these days | current | these days | - | -
lately | current | lately | - | -
the latest version | current | latest | - | -
at the moment | current | at the moment | - | -
as of now | current | as of now | - | -
up to date | current | up to date | - | -
up-to-date | current | up-to-date | - | -
most recent | current | most recent | - | -
newest | current | newest | - | -
my current job | current | current | - | -
recently | current | recently | 2023-10-16 | 2023-11-16
where does he live now? | current | now | - | -
What is she doing now | current | now | - | -
Where does Anna now work? | current | now | - | -
Tell me where he lives now | current | now | - | -
"""

NOT_MEANT = """
You may be right
may I come in
May I come in?
We will march tomorrow
They march 5 miles
now that I know
I know him
wait a second
the second one
Sunday school
my last name
The Last of Us
April said hello
June told me a story
What did April say?
Is June coming?
I'm used to it
she got used to the noise
from now on
Can you now list the files?
Now list all users
Please show it now
every now and then
now and again
by now
until now
next week
next Monday
tomorrow
in three days
in a week
on Monday next week
What will I do on Friday?
on Mondays
every Tuesday
the last straw
last but not least
at last
at first glance
love at first sight
in 2000 words
write 2000 lines
call 2023
room 2019
version 2.2023
5/12/2023
first past the post
walk past the shop
The tool used to configure it
a hammer is used to hit nails
Could you do it now?
Let's begin now
should I buy now?
spring cleaning
a hot summer
the current flows
electric current
currents
fall down
the fall was hard
1990
Black Friday
for Christmas
Merry Christmas
Christmas cake
since June told me
after April left
in April's opinion
quarterly report
day by day
week after week
this is a test
for three days
two years old
a 3-month-old baby
two weeks from now
six days later
one day
a year in Paris
before long
on the second floor
this may take long
last may be first
the march of time
on march orders
12.5.2023.1
192.168.2023.1
2023-13-45
Mayor of London
Marchetti
Augustus
Decide
Janet
Seconds matter
It was a weekend
minute details
the other one
nowhere
snow
known
knowledge
a decade of work
ten years
back to the future
back in the box
May we go?
Will May come?
Q3
the 90s music
"""


def _moment(text: str) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("row", MEANT.strip().splitlines())
def test_a_phrase_means_its_window(row: str) -> None:
    """Direction, phrase and window are as a person would read them."""
    text, direction, phrase, start, end = (field.strip() for field in row.split("|"))
    found = temporal_intent(text, NOW)
    assert found is not None
    assert (found.direction, found.phrase) == (direction, phrase)
    assert (found.start, found.end) == (_moment(start), _moment(end))


@pytest.mark.parametrize("text", NOT_MEANT.strip().splitlines())
def test_a_look_alike_means_nothing(text: str) -> None:
    """Words that only look like a time do not make an intent."""
    assert temporal_intent(text, NOW) is None


def test_an_empty_cue_means_nothing() -> None:
    """No text, no intent."""
    assert temporal_intent("", NOW) is None


def test_a_window_wins_over_a_word_without_one() -> None:
    """The more exact phrase decides, wherever it stands."""
    found = temporal_intent("What was the latest plan we made last month?", NOW)
    assert found is not None
    assert found.phrase == "last month"


def test_the_first_of_two_windows_wins() -> None:
    """Of two windows the one read first counts."""
    found = temporal_intent("Did I go out yesterday or last week?", NOW)
    assert found is not None
    assert found.phrase == "yesterday"


def test_a_naive_now_is_refused_with_the_remedy() -> None:
    """Without a zone "yesterday" has no meaning; the message says what to pass."""
    with pytest.raises(ValueError, match=r"datetime\(2023.*time zone.*datetime\.now\(UTC\)"):
        temporal_intent("yesterday", datetime(2023, 11, 15))  # noqa: DTZ001


def test_days_follow_the_wall_clock_over_a_clock_change() -> None:
    """Yesterday is midnight to midnight even when it had 25 hours."""
    berlin = ZoneInfo("Europe/Berlin")
    found = temporal_intent("yesterday", datetime(2023, 10, 30, 9, tzinfo=berlin))
    assert found is not None
    assert found.start == datetime(2023, 10, 29, tzinfo=berlin)
    assert found.end == datetime(2023, 10, 30, tzinfo=berlin)
    assert found.start is not None
    assert found.end is not None
    assert found.end.astimezone(UTC) - found.start.astimezone(UTC) == timedelta(hours=25)


@pytest.mark.parametrize("fold", [0, 1])
def test_an_hour_ago_is_an_hour_long_within_a_clock_change(fold: int) -> None:
    """Short windows count real time, in whichever of the doubled hours now is."""
    now = datetime(2023, 10, 29, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=fold)
    found = temporal_intent("an hour ago", now)
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    assert now.astimezone(UTC) - found.start.astimezone(UTC) == timedelta(minutes=90)
    assert found.end - found.start == timedelta(hours=1)


@pytest.mark.parametrize("now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
@pytest.mark.parametrize("row", MEANT.strip().splitlines())
def test_the_ends_of_the_calendar_are_safe(now: datetime, row: str) -> None:
    """Near year 1 and 9999 nothing raises, and what comes back can be converted to any zone."""
    found = temporal_intent(row.split("|", maxsplit=1)[0], now)
    for moment in (found.start, found.end) if found else ():
        if moment is not None:
            moment.astimezone(timezone(timedelta(hours=-14)))
            moment.astimezone(timezone(timedelta(hours=14)))


def test_only_the_beginning_of_a_very_long_cue_is_read() -> None:
    """A pasted document is not a question about time."""
    assert temporal_intent("x " * 5_000 + "yesterday", NOW) is None


def test_an_intent_is_a_frozen_value() -> None:
    """Two readings of the same cue are equal."""
    assert temporal_intent("currently", NOW) == TemporalIntent("current", "currently", None, None)


def test_date_terms_are_the_words_people_ask_by() -> None:
    """ISO date, weekday, day, month and year."""
    assert date_terms(datetime(2023, 5, 8, tzinfo=UTC)) == ("2023-05-08", "monday", "8", "may", "2023")


def test_a_day_that_a_zone_skipped_has_no_window() -> None:
    """Samoa had no 30 December 2011; asking for it is still about the past."""
    found = temporal_intent("yesterday", datetime(2011, 12, 31, 9, tzinfo=ZoneInfo("Pacific/Apia")))
    assert found == TemporalIntent("past", "yesterday", None, None)
