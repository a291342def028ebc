"""What upkeep takes out of recall, how it comes back, and how one learns why; what rests until its day (36 to 39)."""

from __future__ import annotations

from typing import Any

from retentive.evaluate.scenarios.gates import TASK, every_policy
from retentive.evaluate.scenarios.geometry import Placed
from retentive.evaluate.scenarios.stage import (
    Stage,
    expect,
    expect_among,
    expect_first,
    expect_none_of,
    expect_order,
    scenario,
)
from retentive.evaluate.scenarios.subject import RetentiveSubject

AGED = 1000.0
"""Days: old, idle, weak and unread by every limit of the contract."""


@scenario(36, "pruning", "only all five conditions together prune, each alone is not enough; nothing is deleted")
def pruning(stage: Stage) -> None:
    """What is taken out stays out under every preset and stays readable; what one condition saves, stays."""
    _suppressed_stays_hidden(stage)
    subject = stage.open("hash")
    if isinstance(subject, RetentiveSubject):
        _five_conditions(stage, subject)


def _suppressed_stays_hidden(stage: Stage) -> None:
    """The gate's side: whatever the cosine, under every preset; its text stays readable by id."""
    placed = Placed()
    subject = stage.open(placed)
    cue = placed.cue("What did the old contract say?")
    texts = ("The old contract ran for two years", "The old contract had a penalty clause")
    hidden = {
        subject.remember(placed.put(text, {cue: 0.95}), tags=[TASK], importance=0.9, at=stage.clock.ago(400))
        for text in texts
    }
    new = placed.put("The new contract is open-ended", {cue: 0.5})
    kept = subject.remember(new, tags=[TASK], at=stage.clock.ago(3))
    for memory_id in hidden:
        subject.forget(memory_id)
    for policy in every_policy():
        answer = subject.recall(cue, limit=20, policy=policy, touch=False, tags=[TASK])
        expect_none_of(answer, hidden, policy)
        expect_among(answer, [kept], policy)
    if isinstance(subject, RetentiveSubject):
        listed = {memory.id for memory in subject.space().list(hidden=True)}
        expect(hidden <= listed, "what was suppressed is not even in the list of hidden ones: it was deleted")


def _told(subject: RetentiveSubject, stage: Stage, what: str, age: float = AGED, **facts: Any) -> str:
    said = {"at": stage.clock.ago(age), "kind": "event", **facts}
    return subject.space().remember(f"The note about {what}", **said).id


def _read(subject: RetentiveSubject, stage: Stage, memory_id: str, ago: float) -> None:
    """Have a memory read so many days ago."""
    stage.clock.pass_(days=-ago)
    subject.space().get(memory_id)
    stage.clock.pass_(days=ago)


def _five_conditions(stage: Stage, subject: RetentiveSubject) -> None:
    """Two memories for which all five hold, and beside them one for each condition that alone does not."""
    ripe = {_told(subject, stage, "nothing that anybody ever read"), _replaced(subject, stage, "the tariff", ago=500)}
    leant_on = _told(subject, stage, "two who work together")
    kept = {
        "too young": _told(subject, stage, "something a year old, almost", age=364),
        "still strong": _told(subject, stage, "a lasting thing", kind="entity", age=1200),
        "evidence": leant_on,
        "pinned": _told(subject, stage, "a pin", pinned=True),
        "permanent": _told(subject, stage, "what always holds", permanent=True),
        "used lately": _told(subject, stage, "a thing in use"),
        "read and not replaced": _told(subject, stage, "a thing read once"),
        "replaced lately": _replaced(subject, stage, "the timetable", ago=300),
    }
    _read(subject, stage, kept["used lately"], ago=170)
    _read(subject, stage, kept["read and not replaced"], ago=900)
    subject.remember("Ada works with Boris", kind="relation", derived_from=[leant_on], at=stage.clock.ago(1))
    foretold = {verdict.id for verdict in subject.space().maintain(dry_run=True).pruned}
    expect(foretold == ripe, f"the dry run names {len(foretold)} memories, {len(foretold ^ ripe)} of them wrongly")
    expect(not _suppressed(subject), "the dry run suppressed something")
    subject.space().maintain()
    for why, memory_id in kept.items():
        expect(memory_id not in _suppressed(subject), f"{why}: one condition failed, and it was pruned all the same")
    expect(_suppressed(subject) == ripe, f"pruned: {len(_suppressed(subject))} memories instead of {len(ripe)}")
    before = subject.space().journal()
    subject.space().maintain()
    expect(subject.space().journal() == before, "a second run pruned something again")


def _replaced(subject: RetentiveSubject, stage: Stage, what: str, ago: float) -> str:
    """Tell something, have it read, and replace it later."""
    memory_id = _told(subject, stage, what)
    _read(subject, stage, memory_id, ago=900)
    subject.remember(f"News of {what}", kind="event", supersedes=[memory_id], at=stage.clock.ago(ago), pinned=True)
    return memory_id


def _suppressed(subject: RetentiveSubject) -> set[str]:
    return {memory.id for memory in subject.space().list(hidden=True, limit=1000) if memory.suppressed_at is not None}


@scenario(37, "direct fetch", "fetching a pruned memory by its id counts as an access and brings it back")
def direct_fetch(stage: Stage) -> None:
    """Pruned, fetched, recalled again; what a person forgot is fetched and stays forgotten."""
    subject = stage.open_ours("hash")
    pruned = _told(subject, stage, "the spare key under the fern")
    forgotten = _told(subject, stage, "the spare key under the doormat")
    subject.forget(forgotten)
    subject.space().maintain()
    cue = "The note about the spare key under the fern"
    expect_none_of(subject.recall(cue, touch=False), {pruned, forgotten}, "after pruning")
    looked = subject.space().get(pruned, touch=False)
    expect(looked.suppressed_at is not None, "a look without touch brought it back")
    fetched = subject.space().get(pruned)
    expect(fetched.access.last_at == stage.clock.now, "the fetch did not count as an access")
    expect(fetched.retrievable, "it was fetched, and is still suppressed")
    expect_among(subject.recall(cue, touch=False), [pruned], "after the fetch")
    expect(not subject.space().get(forgotten).retrievable, "a fetch took back what a person had forgotten")
    subject.space().maintain()
    expect(subject.space().get(pruned, touch=False).retrievable, "it was pruned again although it was just used")


@scenario(38, "journal of suppressions", "the journal explains every suppression: when, what, and each condition")
def journal_of_suppressions(stage: Stage) -> None:
    """Pruned, brought back and forgotten: three lines, each with its reason, before and after."""
    subject = stage.open_ours("hash")
    memory_id = _told(subject, stage, "the old heating")
    subject.space().maintain()
    subject.space().get(memory_id)
    subject.space().forget(memory_id, reason="asked to")
    lines = {line.action: line for line in subject.space().journal(memory_id)}
    expect({"suppress", "reactivate", "forget"} <= lines.keys(), f"the journal has only {sorted(lines)}")
    for part in ("age 1000 days > 365", "> 180", "strength", "< 0.1", "never read", "no active relation"):
        expect(part in lines["suppress"].reason, f"the suppression says {lines['suppress'].reason!r}, not {part!r}")
    expect("last used 0 days ago" in lines["reactivate"].reason, "the reactivation does not say which condition fell")
    expect(lines["forget"].reason == "asked to", "the reason a person gave is not in the journal")
    for action, line in lines.items():
        before, after = line.before or {}, line.after or {}
        changed = bool(before.get("suppressed_at")) != bool(after.get("suppressed_at"))
        expect(changed or action == "remember", f"{action}: before and after do not show the flag")
    hidden = _suppressed(subject)
    explained = {line.memory_id for line in subject.space().journal() if line.action in {"suppress", "forget"}}
    expect(hidden <= explained, "something is suppressed that the journal does not explain")


@scenario(39, "birthday", "a recurring memory rests all year, is never pruned, and resurfaces near its day")
def birthday(stage: Stage) -> None:
    """The same question in spring, three days before the day and on it; the freshness preset is what reads the rule."""
    placed = Placed()
    subject = stage.open(placed)
    cue = placed.cue("What is there to know about Ada?")
    day, spring = stage.clock.ago(3 * 365 + 1), stage.clock.ago(75)  # Saturday's date, three years back
    text = placed.put("Ada's birthday", {cue: 0.6})
    yearly = subject.remember(text, kind="event", recurs="yearly", at=day)
    chatter = placed.put("Ada wrote about the weather", {cue: 0.55})
    now, stage.clock.now = stage.clock.now, spring
    fresh = subject.remember(chatter, at=stage.clock.ago(15))
    expect_order(subject.recall(cue, policy="freshness", touch=False), fresh, yearly, "far from the day")
    if isinstance(subject, RetentiveSubject):
        subject.space().maintain()
        expect(yearly not in _suppressed(subject), "the birthday was pruned in its off-season")
    for before in (3, 0):
        stage.clock.now = now
        stage.clock.pass_(days=-before)
        answer = subject.recall(cue, policy="freshness", touch=False)
        expect_first(answer, yearly, f"{before} days before the day")
