"""What comes first: age, importance, use and meaning weighed against each other (1-4, 7, 13, 14, 23, 29)."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from retentive.evaluate.scenarios.crowds import crowd
from retentive.evaluate.scenarios.geometry import Placed, small_talk, spread
from retentive.evaluate.scenarios.stage import (
    Stage,
    expect,
    expect_among,
    expect_close,
    expect_first,
    expect_order,
    scenario,
)
from retentive.evaluate.scenarios.subject import Subject
from retentive.recall.outcome import Hit

LOOK_ALIKES = (
    ("How do we deploy the shop?", "We deploy the shop with Jenkins jobs", "We deploy the shop with a release script"),
    ("Where is the team lunch?", "The team lunch is at Rosa's", "The team lunch is at the pier"),
    ("Which database backs billing?", "The billing database is MySQL", "The billing database is Postgres"),
)


@scenario(1, "stale look-alike", "a stale look-alike loses to the three-day-old right one")
def stale_look_alike(stage: Stage) -> None:
    """The stale one even has the slightly higher cosine, as a text of the same topic may."""
    placed = Placed()
    subject = stage.open(placed)
    pairs = []
    for cue, stale, right in LOOK_ALIKES:
        topic = placed.cue(f"the topic of: {cue}")
        placed.put(stale, {placed.cue(cue): 0.64, topic: 0.6})
        placed.put(right, {cue: 0.62, topic: 0.6})
        pairs.append(
            (cue, subject.remember(right, at=stage.clock.ago(3)), subject.remember(stale, at=stage.clock.ago(150)))
        )
    crowd(subject, placed, LOOK_ALIKES[0][0], spread(0.05, 0.2, 20), stage.clock)
    for cue, right_id, stale_id in pairs:
        expect_order(subject.recall(cue, touch=False), right_id, stale_id, cue)
        expect_first(subject.recall(cue, touch=False), right_id, cue)


VITAL = (
    ("What should I cook for dinner?", "Peanuts send him into anaphylactic shock"),
    ("Plan my weekend trip", "Her passport has been confiscated until the hearing"),
    ("Which colours suit the logo?", "The chairman is colour-blind, red and green look alike to him"),
)


@scenario(2, "important though off-topic", "an important memory surfaces though its wording is off the topic")
def important_though_off_topic(stage: Stage) -> None:
    """Fifteen pieces of chatter are nearer in meaning, so the ten nearest are without the one that matters."""
    for cue, vital in VITAL:
        placed = Placed()
        subject = stage.open(placed)
        placed.put(vital, {placed.cue(cue): 0.30})
        wanted = subject.remember(vital, importance=0.95, at=stage.clock.ago(40))
        crowd(subject, placed, cue, spread(0.0, 0.2, 25) + spread(0.31, 0.35, 15), stage.clock, importance=0.2)
        expect_among(subject.recall(cue, limit=10, touch=False), [wanted], cue)


@scenario(3, "tight cosine band", "a tight cosine band is not drowned by wide signals")
def tight_cosine_band(stage: Stage) -> None:
    """Some embedders put everything between .70 and .80: the best match must still lead over age and importance."""
    for number, (cue, _, right) in enumerate(LOOK_ALIKES):
        placed = Placed()
        subject = stage.open(placed)
        placed.put(right, {placed.cue(cue): 0.79})
        wanted = subject.remember(right, importance=0.5, at=stage.clock.ago(25 + 10 * number))
        for at, (text, cosine) in enumerate(zip(small_talk(24), spread(0.70, 0.735, 24), strict=True)):
            placed.put(text, {cue: cosine})
            fresh = at % 2 == 0
            subject.remember(text, importance=0.2 if fresh else 0.95, at=stage.clock.ago(0.2 if fresh else 200 + at))
        expect_first(subject.recall(cue, touch=False), wanted, cue)


@scenario(4, "old but in use", "a memory written six months ago and read often last week has recency near 1")
def old_but_in_use(stage: Stage) -> None:
    """Its twin, three months younger and never asked for, must not win; and the number itself must say so."""
    placed = Placed()
    subject = stage.open(placed)
    cue = placed.cue("Which pump feeds the north tank?")
    used = placed.put("North tank: feed pump P-7", {cue: 0.60, placed.cue("Tell me about P-7"): 0.79})
    unused = placed.put("North tank: feed pump P-9", {cue: 0.60})
    used_id = subject.remember(used, at=stage.clock.ago(180))
    unused_id = subject.remember(unused, at=stage.clock.ago(90))
    crowd(subject, placed, cue, spread(0.1, 0.3, 20), stage.clock)
    for _ in range(7):
        stage.clock.pass_(days=0.5)
        for _ in range(2):
            stage.clock.pass_(minutes=90)
            expect_first(subject.recall("Tell me about P-7", limit=1), used_id, "while it is read")
    stage.clock.pass_(days=0.5)
    expect_order(subject.recall(cue, touch=False), used_id, unused_id, cue)
    _expect_recency_near_one(stage, placed, used_id, cue)


def _expect_recency_near_one(stage: Stage, placed: Placed, used_id: str, cue: str) -> None:
    """Run the same life again on a policy that shows its recency, so that the promise is checked as a number."""
    for policy in ("blend", "operational", "focus"):
        subject = stage.open_ours(placed)
        used_id = subject.remember("North tank: feed pump P-7", at=stage.clock.ago(180))
        for _ in range(3):
            subject.ask("Tell me about P-7", limit=1, policy=policy)
            stage.clock.pass_(minutes=90)
        hits = {hit.memory.id: hit for hit in subject.ask(cue, policy=policy, touch=False)}
        expect(used_id in hits, f"{policy}: the memory in use is not in the answer")
        recency = hits[used_id].signals["recency"].raw
        expect(recency > 0.9, f"{policy}: recency of a memory read this morning is {recency:.3f}")


@scenario(7, "runaway count", "a runaway access count is bounded and decays")
def runaway_count(stage: Stage) -> None:
    """Three hundred readings must not lift a weak match over a clearly better one, nor count for ever."""
    placed = Placed()
    subject = stage.open(placed)
    cue, loop = placed.cue("Who signs the export papers?"), placed.cue("Where are the stamps?")
    hot = placed.put("Stamps lie in the blue drawer", {cue: 0.25, loop: 0.9})
    right = placed.put("Export papers are signed by Ottilie", {cue: 0.60})
    hot_id = subject.remember(hot, at=stage.clock.ago(30))
    right_id = subject.remember(right, at=stage.clock.ago(30))
    crowd(subject, placed, cue, spread(0.05, 0.15, 10), stage.clock)
    for _ in range(300):
        stage.clock.pass_(seconds=61)
        subject.recall(loop, limit=1)
    stage.clock.pass_(minutes=61)
    expect_order(subject.recall(cue, touch=False), right_id, hot_id, "after 300 readings of another memory")
    _expect_bounded_count(stage, placed, loop)


def _expect_bounded_count(stage: Stage, placed: Placed, loop: str) -> None:
    subject = stage.open_ours(placed)
    subject.remember("Stamps lie in the blue drawer", at=stage.clock.ago(30))
    for _ in range(300):
        stage.clock.pass_(seconds=61)
        subject.ask(loop, limit=1, policy="operational")

    def frequency() -> float:
        hit: Hit = subject.ask(loop, policy="operational", touch=False)[0]
        return hit.signals["frequency"].raw

    hot = frequency()
    expect(0.6 < hot <= 1.0, f"frequency after 300 readings is {hot:.3f}, not within (0.6, 1]")
    stage.clock.pass_(days=730)
    cold = frequency()
    expect(cold < 0.1, f"frequency two years after the last reading is still {cold:.3f}")


DECIDED = (
    (91, "What did we decide three months ago about caching?", "Decision: caching goes to Redis with a one-hour limit"),
    (8, "What did we agree on last week about the launch?", "We agreed that the launch waits for the audit"),
    (None, "Which supplier did we choose in February 2024?", "Chose the supplier Norden for all glass"),
)


@scenario(13, "asked about the past", "“what did we decide three months ago” finds the old decision over fresh chatter")
def asked_about_the_past(stage: Stage) -> None:
    """The chatter is nearer in meaning, newer, and plentiful; only the time that was named tells them apart."""
    for days, cue, decision in DECIDED:
        placed = Placed()
        subject = stage.open(placed)
        at = stage.clock.ago(days) if days else datetime(2024, 2, 14, 10, tzinfo=UTC)
        placed.put(decision, {placed.cue(cue): 0.50})
        wanted = subject.remember(decision, kind="decision", at=at)
        for number, (text, cosine) in enumerate(zip(small_talk(15), spread(0.45, 0.58, 15), strict=True)):
            placed.put(text, {cue: cosine})
            subject.remember(text, kind="episode", at=stage.clock.ago(0.1 * (1 + number)))
        expect_first(subject.recall(cue, touch=False), wanted, cue)


CHANGED = (
    ("Where does Liv currently live?", ("Liv lives in Bergen", "Liv lives in Lisbon", "Liv lives in Ghent")),
    (
        "What is the latest price of the annual plan?",
        ("The annual plan is 90", "The annual plan is 120", "The annual plan is 150"),
    ),
    (
        "Who leads the platform team now?",
        ("Anders leads the platform team", "Bela leads the platform team", "Chloe leads the platform team"),
    ),
)


@scenario(14, "asked about the present", "“currently” prefers the newest")
def asked_about_the_present(stage: Stage) -> None:
    """Three values of one thing; the oldest has the highest cosine."""
    for cue, values in CHANGED:
        placed = Placed()
        subject = stage.open(placed)
        topic = placed.cue(f"the topic of: {cue}")
        ids = []
        for text, cosine, days in zip(values, (0.66, 0.64, 0.62), (300, 120, 12), strict=True):
            placed.put(text, {placed.cue(cue): cosine, topic: 0.6})
            ids.append(subject.remember(text, at=stage.clock.ago(days)))
        crowd(subject, placed, cue, spread(0.05, 0.25, 15), stage.clock)
        answer = subject.recall(cue, touch=False)
        expect_first(answer, ids[-1], cue)
        expect_order(answer, ids[-1], ids[0], cue)


@scenario(23, "vector store within", "with every weight but similarity's at 0 the order is a vector store's")
def vector_store_within(stage: Stage) -> None:
    """Compared with brute force over the same vectors, for policies of quite different make."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("What is nearest?")
    cosines = dict(zip(small_talk(60), spread(-0.3, 0.9, 60), strict=True))
    shuffled = sorted(cosines, key=lambda text: (text.split()[-1], text))
    for number, text in enumerate(shuffled):
        placed.put(text, {cue: cosines[text]})
        subject.remember(text, importance=(number * 7 % 10) / 10, at=stage.clock.ago(number * 11 % 200))
    matrix = placed.embed(shuffled)
    brute = np.argsort(-(matrix @ placed.vector_of(cue)), kind="stable")[:15]
    wanted = [shuffled[row] for row in brute]
    for name in ("retentive", "blend", "stream", "focus", "operational"):
        _expect_vector_order(subject, cue, wanted, name)


def _expect_vector_order(subject: Subject, cue: str, wanted: list[str], name: str) -> None:
    from retentive.policy import presets  # noqa: PLC0415 - policies are read only where a scenario bends one

    policy = presets.get(name)
    plain = policy.replace(
        weights=dict.fromkeys(policy.signals, 0.0) | {"similarity": 1.0},
        temporal_intent=False, window_bonus=0.0, rotation="off", tiers=False, succession=0.0, claims=0.0,
        track_record=0.0, diversity="none", near_duplicate=None, floor=None, pool=60, token_budget=None,
    )  # fmt: skip
    got = [hit.text for hit in subject.recall(cue, limit=15, policy=plain, touch=False)]
    expect(got == wanted, f"{name}: differs from brute force at rank {_first_difference(got, wanted)}")


def _first_difference(got: list[str], wanted: list[str]) -> int:
    pairs = zip(got, wanted, strict=False)
    return next(
        (rank for rank, (one, other) in enumerate(pairs, start=1) if one != other), min(len(got), len(wanted)) + 1
    )


@scenario(29, "over-fetch", "over-fetching lets a right answer of low cosine win")
def over_fetch(stage: Stage) -> None:
    """It stands at rank 26 by cosine where 10 are wanted: only a pool deeper than the answer can see it."""
    for name in ("operational", None):
        placed = Placed()
        subject = stage.open(placed)
        cue = placed.cue("Is the bridge safe?")
        wanted = subject.remember(
            placed.put("Load test failed: closed until the beams are replaced", {cue: 0.455}),
            importance=1.0, at=stage.clock.ago(0.2),
        )  # fmt: skip
        near = crowd(subject, placed, cue, spread(0.46, 0.50, 25), stage.clock, oldest_days=400, importance=0.1)
        crowd_below(subject, placed, cue, stage)
        answer = subject.recall(cue, limit=10, policy=name, touch=False)
        expect_order(answer, wanted, near[-1], f"{name or 'the default'}: {cue}")
        expect(answer[0].id == wanted or name is None, f"{name}: the right one is not first")
        expect_close(len(answer), 10, "the length of the answer")


def crowd_below(subject: Subject, placed: Placed, cue: str, stage: Stage) -> None:
    """Remember thirty more that are farther than everything else."""
    for number, text in enumerate(small_talk(85)[55:]):
        subject.remember(placed.put(text, {cue: 0.2 + number / 300}), importance=0.1, at=stage.clock.ago(100 + number))
