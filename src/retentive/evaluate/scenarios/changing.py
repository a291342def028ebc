"""What a later saying does to an earlier one (40)."""

from __future__ import annotations

from retentive.evaluate.scenarios.stage import Stage, expect, expect_among, expect_none_of, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject

NEGATIONS = (
    ("Works at Acme as an engineer", "No longer works at Acme", "Where does he work, at Acme?"),
    ("Uses Postgres as the main database", "Switched from Postgres to MySQL", "Is Postgres the main database?"),
    ("The API supports pagination", "The API does not support pagination", "Does the API support pagination?"),
    ("Has a dog called Bruno", "Doesn't have the dog Bruno anymore", "Does he have the dog Bruno?"),
    ("The dinner with Paul is on Friday", "The dinner with Paul on Friday is cancelled", "Is the dinner on Friday?"),
    ("Owns a red Vespa", "Sold the red Vespa", "Does she own a Vespa?"),
)
"""Said, later denied, asked."""

LOOK_ALIKES = (
    ("Works at Globex as an engineer", "No longer works on the Globex payments team", "Who works at Globex?"),
    ("The staging cluster uses Redis", "The billing cluster does not use Redis", "Which cluster uses Redis?"),
    ("Lukas is allergic to nuts", "Julia is not allergic to nuts", "Who is allergic to nuts?"),
    ("Drives a Volvo", "Might switch from the Volvo to a Tesla one day", "What does he drive, a Volvo?"),
    ("Likes horror films", "Does not like horror novels", "Does she like horror films?"),
    ("Moved from Rome to Oslo in March", "Moved into a bigger flat in Oslo in June", "When did she move from Rome?"),
)
"""The same words, and nothing of the earlier denied."""


@scenario(40, "negation", "a negation supersedes what it denies, and nothing that only sounds like it")
def negation(stage: Stage) -> None:
    """Six denials in six forms, each of which retires one memory; six look-alikes, which retire none."""
    subject = stage.open("potion")
    retired: dict[str, str] = {}
    kept: dict[str, str] = {}
    for pairs, olds in ((NEGATIONS, retired), (LOOK_ALIKES, kept)):
        for said, later, asked in pairs:
            olds[asked] = subject.remember(said, at=stage.clock.ago(30), kind="fact")
            subject.remember(later, at=stage.clock.ago(2), kind="fact")
    for asked, old in retired.items():
        expect_none_of(subject.recall(asked, limit=20, touch=False), {old}, asked)
    for asked, old in kept.items():
        expect_among(subject.recall(asked, limit=20, touch=False), [old], asked)
    if isinstance(subject, RetentiveSubject):
        _explained(subject, set(retired.values()))


def _explained(subject: RetentiveSubject, retired: set[str]) -> None:
    """The journal says why, the finding says how sure, and a word undoes it."""
    found = {conflict.older.id: conflict for conflict in subject.space().conflicts(status="applied")}
    expect(found.keys() == retired, f"{len(found)} conflicts were applied instead of {len(retired)}")
    for memory_id in retired:
        line = subject.space().journal(memory_id)[-1]
        expect(
            line.action == "supersede" and "conflict (" in line.reason, f"the journal gives no reason: {line.reason!r}"
        )
    one = next(iter(found.values()))
    subject.space().dismiss(one.id)
    expect(
        subject.space().get(one.older.id, touch=False).retrievable, "a dismissed conflict did not bring the memory back"
    )
