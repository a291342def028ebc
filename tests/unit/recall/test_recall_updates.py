"""Updates: the newest value of what the cue asks for goes before older ones, and nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from facade_making import NOW, Opening, ids

from retentive import Space, policies
from retentive.recall.asked import asked
from retentive.recall.claims import Matter, claims_in

PLAIN = policies.retentive.replace(name="plain", claims=0.0, succession=0.0, floor=None, limit=20)
CLAIMING = PLAIN.replace(name="claiming", claims=1.0)
RENT = "How much rent do we pay for the studio?"
OLD = (
    "We pay 900 dollars rent for the studio, how much we pay for rent and for the studio is a matter of the studio's"
    " rent"
)
RAISED = "The rent for the studio was raised to 950 dollars."


def said(opening: Opening, *texts: str, speakers: Sequence[str] = ()) -> Space:
    """Remember texts, each a minute after the one before; the first is "m0"."""
    space = opening(embedder="hash").space("a")
    for number, text in enumerate(texts):
        speaker = speakers[number] if speakers else None
        space.remember(text, id=f"m{number}", at=NOW - timedelta(minutes=60 - number), speaker=speaker)
    return space


def before(space: Space, cue: str, first: str, second: str) -> tuple[bool, bool]:
    """Whether one stands before another without claims, and with them."""
    orders = [ids(space.recall(cue, policy=policy, now=NOW, touch=False)) for policy in (PLAIN, CLAIMING)]
    return orders[0].index(first) < orders[0].index(second), orders[1].index(first) < orders[1].index(second)


def test_the_newer_value_goes_first_and_says_why(opening: Opening) -> None:
    """Minutes apart, in a message about something else: still the sentence that answers is found."""
    newer = f"The gallery opens soon. By the way: {RAISED} Who brings the wine?"
    space = said(opening, OLD, newer, "We like the studio", "The rent is due on Fridays")
    assert before(space, RENT, "m1", "m0") == (False, True)
    recall = space.recall(RENT, policy=CLAIMING, now=NOW, touch=False)
    by_id = {hit.memory.id: hit for hit in recall}
    assert by_id["m1"].signals["claims"].contribution > 0
    assert all(hit.reproduced() == hit.score for hit in recall)
    assert all(by_id[other].signals["claims"].contribution == 0 for other in ("m0", "m2", "m3"))
    note = "m1 was put before m0: it states a newer value for what was asked"
    assert note in recall.trace.notes
    assert note in recall.explain()


def test_the_others_stay_where_they_are(opening: Opening) -> None:
    """Without the one that was lifted, both orders are the same."""
    space = said(opening, OLD, RAISED, *(f"Studio note {n}" for n in range(8)))
    orders = [ids(space.recall(RENT, policy=policy, now=NOW, touch=False)) for policy in (PLAIN, CLAIMING)]
    assert orders[0] != orders[1]
    assert [one for one in orders[0] if one != "m1"] == [one for one in orders[1] if one != "m1"]


@pytest.mark.parametrize(
    "newer",
    [
        "The rent for the studio is still 900 dollars.",
        "The heating of the workshop was raised to 950 dollars.",
        "The rent for the studio was raised on Friday.",
        "rent = 950  # for the studio",
    ],
)
def test_what_is_no_newer_value_stays(opening: Opening, newer: str) -> None:
    """The same value, another matter, another kind of value, code."""
    assert before(said(opening, OLD, newer), RENT, "m1", "m0") == (False, False)


@pytest.mark.parametrize(
    "cue", ["How much rent did we pay for the studio before?", "Why do we pay rent for the studio?", "The rent we pay"]
)
def test_only_questions_for_a_value_as_it_is_now(opening: Opening, cue: str) -> None:
    """The past, reasons and statements are left alone."""
    space = said(opening, OLD, RAISED)
    assert before(space, cue, "m1", "m0") == (False, False)


def test_repeating_a_value_makes_it_no_newer(opening: Opening) -> None:
    """A value is as old as its first statement, whoever repeats it; an assistant states nothing of its own."""
    echo = "You pay 900 dollars rent for the studio."
    space = said(opening, OLD, RAISED, echo, "Rent for the studio: 970", speakers=["user", "user", "assistant", "user"])
    order = ids(space.recall(RENT, policy=CLAIMING, now=NOW, touch=False))
    assert order.index("m1") < order.index("m0")


def test_who_repeats_an_old_value_states_nothing_newer(opening: Opening) -> None:
    """Even one's own words: 900 was said before 950."""
    space = said(opening, OLD, RAISED, "We pay 900 dollars rent for the studio.", speakers=["user"] * 3)
    order = ids(space.recall(RENT, policy=CLAIMING, now=NOW, touch=False))
    assert order.index("m1") < min(order.index("m0"), order.index("m2"))


def test_what_returns_to_an_old_value_is_new(opening: Opening) -> None:
    """From 900 to 950 and back to 900: the last word counts, for it says itself that something changed."""
    space = said(opening, OLD, RAISED, "The rent for the studio is now 900 dollars.")
    order = ids(space.recall(RENT, policy=CLAIMING, now=NOW, touch=False))
    assert order.index("m2") < order.index("m1")


def test_another_speaker_states_something_else(opening: Opening) -> None:
    """What Ann pays is not denied by what Bob pays."""
    space = said(opening, OLD, RAISED, speakers=["Ann", "Bob"])
    assert before(space, RENT, "m1", "m0") == (False, False)


def test_the_reach_bounds_the_lift(opening: Opening) -> None:
    """What lies farther below than the policy reaches stays below."""
    space = said(opening, OLD, RAISED)
    scores = {hit.memory.id: hit.score for hit in space.recall(RENT, policy=PLAIN, now=NOW, touch=False)}
    gap = scores["m0"] - scores["m1"]
    for reach, first in ((gap * 0.9, "m0"), (gap * 1.1, "m1")):
        policy = PLAIN.replace(claims=reach)
        assert ids(space.recall(RENT, policy=policy, now=NOW, touch=False))[0] == first


# Reading questions and sentences


@pytest.mark.parametrize(
    ("text", "head", "kinds"),
    [
        ("How many open tickets do we have?", "ticket", "number"),
        ("How much do I pay?", None, "money"),
        ("How long is the commute?", None, "number"),
        ("When is the launch party planned?", "parti", "date"),
        ("When do we leave?", None, "time"),
        ("What time does the train leave?", None, "time"),
        ("What's my monthly budget for books?", "budget", "money"),
        ("What is the deadline?", "deadlin", "date"),
        ("What percentage of tests pass?", None, "share"),
    ],
)
def test_what_a_question_asks_for(text: str, head: str | None, kinds: str) -> None:
    """The kind of value, and what it is of."""
    wanted = asked(text)
    assert wanted is not None
    assert wanted.head == head
    assert kinds in wanted.kinds


@pytest.mark.parametrize("text", ["Who is Ann?", "Tell me about the budget", "Where do I live?", "What should I read?"])
def test_questions_for_no_value(text: str) -> None:
    """Names and places are not compared, and advice is no value."""
    assert asked(text) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("There are 12 open support tickets.", {"12"}),
        ("The number of tickets has now reached 15.", {"15"}),
        ("Tickets went down from 15 to 9, which is nice.", {"9"}),
        ("The tickets were sold by 4 agents.", set()),
        ("1. Close the tickets", set()),
        ("We had pasta. 3 people ate.", set()),
    ],
)
def test_a_count_stands_beside_what_is_counted(text: str, values: set[str]) -> None:
    """Or behind it, where it counts nothing else."""
    wanted = asked("How many open tickets do we have?")
    assert wanted is not None
    (claims,) = claims_in([text], Matter(wanted, {"open": 1.0, "ticket": 1.0}))
    found = {value for claim in claims for _, value in claim.values}
    assert found == values


def test_of_a_moment_date_and_time_are_read() -> None:
    """The nearest of each; a change of the time alone is a change."""
    wanted = asked("When is the dentist appointment?")
    assert wanted is not None
    texts = ["The dentist appointment is on May 3 at 2 pm.", "The dentist appointment on May 3 was moved to 4 pm."]
    (first,), (second,) = claims_in(texts, Matter(wanted, {"dentist": 1.0, "appoint": 1.0}))
    assert first.values == {("date", "5/3"), ("time", "14:00")}
    assert second.denies(first)
    assert second.changed
    assert not first.changed


def test_only_sentences_that_share_enough_are_claims() -> None:
    """Whatever line of a long text they stand in, however their words end; no others are."""
    wanted = asked("How many ties did the clerk file in the city archive?")
    assert wanted is not None
    matter = Matter(wanted, {"tie": 1.0, "clerk": 1.0, "file": 1.0, "citi": 1.0, "archiv": 1.0})
    text = "Agenda\n- 7 ties are nice\n- The clerks of the archives have been filing 12 ties\nGoodbye. It is 4 pm."
    (claims, none) = claims_in([text, "The clerk of the city archive has 3 files."], matter)
    assert [claim.values for claim in claims] == [{("number", "12")}]
    assert none == []


@pytest.mark.parametrize("letter", ["", "\u0130", "\u00e9"])
def test_letters_that_fold_to_more_or_less_move_no_value(letter: str) -> None:
    """A capital dotted i is two characters in lower case, and an accent goes away."""
    wanted = asked("How many open tickets do we have?")
    assert wanted is not None
    matter = Matter(wanted, {"open": 1.0, "ticket": 1.0})
    (claims,) = claims_in([f"{letter * 9} We have 12 OPEN TICKETS since MAY 3."], matter)
    assert [claim.values for claim in claims] == [{("number", "12")}]
