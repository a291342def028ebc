"""What can be computed by hand: freshness through a real recall, explanations, bounded work (21, 31-34, 42)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from retentive.evaluate.baselines import VECTOR
from retentive.evaluate.scenarios.gates import TASK, every_policy
from retentive.evaluate.scenarios.geometry import Placed, small_talk, spread
from retentive.evaluate.scenarios.stage import Stage, expect, expect_close, expect_order, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject
from retentive.recall.outcome import Hit, Work
from retentive.testing.fakes import HashEmbedder

FLOOR = 61
"""Seconds after which a reading counts again; read by plain similarity, so that it is certain what is read."""


def effective(tau: float, days: float, reads: int, *, floor: float = 0.1, k: float = 1.0) -> float:
    """Return freshness as policy.md §3 writes it, from the paper and not from our code."""
    return max(2 ** (-days / tau), floor) * (1 + k * math.log1p(reads))


def _freshness_of(hits: Mapping[str, Hit], memory_id: str) -> float:
    expect(memory_id in hits, f"the memory {memory_id!r} is not in the answer")
    return hits[memory_id].signals["freshness"].raw


def _hits(subject: RetentiveSubject, cue: str, policy: str = "freshness") -> dict[str, Hit]:
    return {hit.memory.id: hit for hit in subject.ask(cue, limit=50, policy=policy, touch=False)}


def _read(stage: Stage, subject: RetentiveSubject, cue: str, times: int) -> None:
    for _ in range(times):
        stage.clock.pass_(seconds=FLOOR)
        subject.ask(cue, limit=1, policy=VECTOR)


AGES = {30: 0.891, 90: 0.707, 180: 0.5, 360: 0.25, 540: 0.125, 720: 0.0625}
"""Days and the undamped freshness of a fact that policy.md prints; under the floor of 0.1 the last becomes 0.1."""


@scenario(31, "exact freshness", "freshness is exactly as computed, through a real recall")
def exact_freshness(stage: Stage) -> None:
    """Ages of the table in policy.md, kinds with their own half-lives, and boosts for 1, 5, 10 and 100 readings."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("How fresh is it?")
    facts = {}
    for (days, printed), text in zip(AGES.items(), small_talk(len(AGES)), strict=True):
        facts[days] = subject.remember(placed.put(text, {cue: 0.5}), at=stage.clock.ago(days))
        expect_close(max(printed, 0.1), effective(180, days, 0), f"the table's value at {days} days", within=5e-4)
    kinds = {"preference": 90, "event": 30, "entity": 365, "decision": 90, "procedure": 135, "reflection": 180}
    told = {}
    for kind, text in zip(kinds, small_talk(40)[20:], strict=False):
        told[kind] = subject.remember(placed.put(text, {cue: 0.5}), kind=kind, at=stage.clock.ago(60))
    hits = _hits(subject, cue)
    for days, memory_id in facts.items():
        expect_close(_freshness_of(hits, memory_id), effective(180, days, 0), f"a fact after {days} days")
    for kind, memory_id in told.items():
        expect_close(_freshness_of(hits, memory_id), effective(kinds[kind], 60, 0), f"a {kind} after 60 days")
    _expect_boosts(stage)


def _expect_boosts(stage: Stage) -> None:
    """Each reading decays by 1 % a day, so a hundred of them within two hours lose less than 1e-3."""
    for reads, printed in {1: 1.693, 5: 2.792, 10: 3.398, 100: 5.615}.items():
        placed = Placed()
        subject = stage.open_ours(placed)
        cue = placed.cue("How often was it read?")
        memory_id = subject.remember(placed.put("It was read", {cue: 0.5}), permanent=True, at=stage.clock.ago(10))
        _read(stage, subject, cue, reads)
        got = _freshness_of(_hits(subject, cue), memory_id)
        expect_close(got, printed, f"the boost of {reads} readings", within=2e-3)


@scenario(32, "freshness floor", "freshness stops at its floor, which clamps before the boost")
def freshness_floor(stage: Stage) -> None:
    """Ten years old: 0.1, or 0.2 for records; read five times it is the floor times the boost, not the boost alone."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("What is ancient?")
    memory_id = subject.remember(placed.put("An ancient fact", {cue: 0.5}), at=stage.clock.ago(3650))
    for policy, floor in (("freshness", 0.1), ("freshness.records", 0.2)):
        expect_close(_freshness_of(_hits(subject, cue, policy), memory_id), floor, f"{policy}: ten years old")
    _read(stage, subject, cue, 5)
    got = _freshness_of(_hits(subject, cue), memory_id)
    expect_close(got, effective(180, 3650, 5), "ten years old and read five times", within=1e-4)


@scenario(33, "permanent", "a permanent memory skips decay")
def permanent(stage: Stage) -> None:
    """Five years old it weighs as on the first day, and its twin without the flag does not."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("What always holds?")
    lasting = subject.remember(placed.put("Always holds", {cue: 0.5}), permanent=True, at=stage.clock.ago(1825))
    fading = subject.remember(placed.put("Held once", {cue: 0.5}), at=stage.clock.ago(1825))
    hits = _hits(subject, cue)
    expect_close(_freshness_of(hits, lasting), 1.0, "a permanent fact after five years")
    expect_close(_freshness_of(hits, fading), 0.1, "its twin without the flag")
    expect_order(subject.recall(cue, policy="freshness", touch=False), lasting, fading, cue)


WORKED = (
    ("fact", (200, 7, 180), (10, 0, 180)),
    ("preference", (120, 8, 90), (30, 0, 90)),
    ("event", (40, 4, 30), (20, 0, 30)),
)
"""Kind, then (age in days, readings, τ) of the old one in use and of the young one nobody asked for."""


@scenario(34, "boost against youth", "an access boost outranks youth exactly where the numbers say so")
def boost_against_youth(stage: Stage) -> None:
    """The worked examples of policy.md; and with no reading the order is the other way round."""
    for kind, old, young in WORKED:
        for reads in (old[1], 0):
            placed = Placed()
            subject = stage.open_ours(placed)
            cue = placed.cue("Which one now?")
            used = placed.put("Old and in use", {cue: 0.5, placed.cue("Only the old one"): 0.8})
            old_id = subject.remember(used, kind=kind, at=stage.clock.ago(old[0]))
            young_id = subject.remember(placed.put("Young", {cue: 0.5}), kind=kind, at=stage.clock.ago(young[0]))
            _read(stage, subject, "Only the old one", reads)
            hits = _hits(subject, cue)
            expected = effective(old[2], old[0], reads) - effective(young[2], young[0], 0)
            got = _freshness_of(hits, old_id) - _freshness_of(hits, young_id)
            expect_close(got, expected, f"{kind}, {reads} readings: the lead of the old one", within=2e-3)
            first, second = (old_id, young_id) if expected > 0 else (young_id, old_id)
            answer = subject.recall(cue, policy="freshness", touch=False)
            expect_order(answer, first, second, f"{kind} with {reads} readings")


@scenario(42, "explained score", "`explain` reproduces the score")
def explained_score(stage: Stage) -> None:
    """For every hit under every preset the shown numbers multiply and add up to the score; the table names them."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("What did Marta say last week?")
    kinds = ("fact", "reflection", "preference", "event")
    for at, (text, cosine) in enumerate(zip(small_talk(30), spread(0.1, 0.8, 30), strict=True)):
        subject.remember(
            placed.put(text, {cue: cosine}), kind=kinds[at % 4], importance=(1 + at % 9) / 10,
            tags=[TASK], trust=0.6 if at % 5 == 0 else 1.0, at=stage.clock.ago(0.5 + at * 3),
        )  # fmt: skip
    subject.ask(cue, limit=4, policy="operational")
    stage.clock.pass_(minutes=10)
    for policy in every_policy():
        unlimited = subject.policy(policy).replace(token_budget=None)
        recall = subject.ask(cue, limit=12, policy=unlimited, touch=False, tags=[TASK])
        expect(len(recall), f"{policy}: the answer is empty")
        for hit in recall:
            expect_close(hit.reproduced(), hit.score, f"{policy}: the shown arithmetic of {hit.memory.text!r}")
        table = recall.explain()
        unnamed = [name for name in recall[0].signals if name not in table]
        expect(not unnamed, f"{policy}: the table does not show {unnamed}")
        json.dumps(recall.as_dict())
    expect(_any_modified(subject, cue), "no hit was modified: rotation and trust were not even tried")


def _any_modified(subject: RetentiveSubject, cue: str) -> bool:
    return any(hit.modifiers for hit in subject.ask(cue, limit=12, policy="operational", touch=False))


SMALL, LARGE = 2_100, 4_200
"""Both beyond the 2,000 up to which `stream` looks at everything, and beyond what six channels of 200 can bring."""


@scenario(21, "bounded work", "work is bounded: candidates scored do not grow with the store")
def bounded_work(stage: Stage) -> None:
    """Twice the memories, the same number of candidates scored and texts read."""
    subjects = [_filled(stage, size) for size in (SMALL, LARGE)]
    for policy in ("retentive", "blend", "operational", "stream"):
        small, large = (_work(subject, policy) for subject in subjects)
        expect(small.candidates_scored > 0, f"{policy}: the trace counts no work")
        for what in ("candidates_scored", "texts_read"):
            before, after = getattr(small, what), getattr(large, what)
            growth = f"{what} grew from {before} to {after} from {SMALL} to {LARGE} memories"
            expect(after <= 1.25 * before + 5, f"{policy}: {growth}")


def _filled(stage: Stage, size: int) -> RetentiveSubject:
    subject = stage.open_ours(HashEmbedder(32))
    words = small_talk(640)
    subject.space().remember_many(
        {"text": f"{words[at % 640]} number {at}", "at": stage.clock.ago(1 + at / 50), "importance": at % 10 / 10}
        for at in range(size)
    )
    return subject


def _work(subject: RetentiveSubject, policy: str) -> Work:
    work: Work = subject.ask("Who repaired the kettle and the canoe?", policy=policy, touch=False).trace.work
    return work
