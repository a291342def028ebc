"""What reading does to later answers: reinforcement with its limits, rotation, feedback (5, 6, 8, 27, 43)."""

from __future__ import annotations

from collections.abc import Sequence

from retentive.evaluate.metrics import ndcg_at
from retentive.evaluate.scenarios.facts import FACTS, vocabulary
from retentive.evaluate.scenarios.geometry import Placed, small_talk
from retentive.evaluate.scenarios.stage import Stage, expect, expect_close, ids_of, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject, Subject
from retentive.policy.policy import Policy
from retentive.types import Memory

LOOPS = ("Who waters the plants?", "Which gate is broken?", "Where is the toolbox?")


@scenario(5, "hot loop", "a hot query loop within the refresh floor changes nothing")
def hot_loop(stage: Stage) -> None:
    """Fifty times in a minute leaves what one time left; and reading does count once the floor is over.

    The answer holds all there is, so that rotation cannot reach deeper and touch something else for the first time.
    """
    for policy in (None, "blend", "operational"):
        placed = Placed()
        subject = stage.open_ours(placed)
        cue = placed.cue(LOOPS[0])
        ids = [
            subject.remember(placed.put(text, {cue: 0.5 + at / 100}), at=stage.clock.ago(20 + at))
            for at, text in enumerate(small_talk(8))
        ]
        subject.recall(cue, limit=8, policy=policy)
        before = _accesses(subject, ids)
        for _ in range(50):
            stage.clock.pass_(seconds=1)
            subject.recall(cue, limit=8, policy=policy)
        expect(_accesses(subject, ids) == before, f"{policy or 'the default'}: fifty loops moved counts or times")
        for _ in range(3):
            stage.clock.pass_(minutes=70)
            subject.recall(cue, limit=8, policy=policy)
        expect(_accesses(subject, ids) != before, f"{policy or 'the default'}: reading never counts at all")


def _accesses(subject: RetentiveSubject, ids: Sequence[str]) -> list[tuple[object, float]]:
    memories = [subject.space().get(memory_id, touch=False) for memory_id in ids]
    return [(memory.access.last_at, memory.access.count) for memory in memories]


@scenario(6, "one-shot scan", "a one-shot scan does not evict the working set (second touch)")
def one_shot_scan(stage: Stage) -> None:
    """Five memories are in daily use; then a scan reads old ones once, and the five must still lead.

    In second-touch mode they lead among forty that match equally well; the default knows them by a nearer match.
    """
    from retentive.policy import presets  # noqa: PLC0415 - policies are read only where a scenario bends one

    careful = presets.get("blend").replace(name="careful", refresh_on="second", weights={"importance": 0.0})
    policies: tuple[Policy | None, ...] = (None, careful)
    for policy in policies:
        placed = Placed()
        subject = stage.open(placed)
        cue = placed.cue("What am I working on?")
        working = _working_set(stage, subject, placed, cue, policy)
        old = small_talk(40)
        for at, text in enumerate(old):
            placed.put(text, {cue: 0.5, placed.cue(f"scan {at}"): 0.8} if at < 12 else {cue: 0.5})
            subject.remember(text, at=stage.clock.ago(200 + at))
        for at in range(12):
            stage.clock.pass_(minutes=2)
            subject.recall(f"scan {at}", limit=3, policy=policy)
        stage.clock.pass_(minutes=70)
        kept = working & ids_of(subject.recall(cue, limit=5, touch=False, policy=policy))
        name = policy.name if policy else "the default"
        expect(len(kept) == 5, f"{name}: after the scan only {len(kept)} of the five in use are in the answer")


def _working_set(stage: Stage, subject: Subject, placed: Placed, cue: str, policy: Policy | None) -> set[str]:
    cosine = 0.51 if policy is None else 0.5
    texts = [f"Draft chapter {name}" for name in ("one", "two", "three", "four", "five")]
    ids = {
        subject.remember(placed.put(text, {cue: cosine, placed.cue("Open the drafts"): 0.8}), at=stage.clock.ago(30))
        for text in texts
    }
    for _ in range(6):
        stage.clock.pass_(days=0.5)
        subject.recall("Open the drafts", limit=5, policy=policy)
        stage.clock.pass_(minutes=61)
        subject.recall("Open the drafts", limit=5, policy=policy)
    return ids


@scenario(8, "gentle feedback", "feedback moves importance by at most 5 % a call, within [0.05, 1]")
def gentle_feedback(stage: Stage) -> None:
    """One call moves a little and in the right direction; four hundred calls stay within the bounds."""
    subject = stage.open_ours("hash")
    for start in (0.2, 0.5, 0.9):
        for outcome in ("good", "bad"):
            text = f"Likes {outcome} coffee {start} in the morning"
            memory_id = subject.remember(text, importance=start, at=stage.clock.ago(1))
            after = _told(subject, text, memory_id, outcome, times=1)
            moved = (after - start) / start
            expect(abs(moved) <= 0.05 + 1e-9, f"{outcome} moved importance {start} by {moved:+.1%}")
            expect(moved > 0 if outcome == "good" else moved < 0, f"{outcome} moved importance {start} by {moved:+.1%}")
            far = _told(subject, text, memory_id, outcome, times=100)
            bound = 1.0 if outcome == "good" else 0.05
            expect_close(far, bound, f"importance after a hundred times {outcome}", within=1e-6)


def _told(subject: RetentiveSubject, cue: str, memory_id: str, outcome: str, *, times: int) -> float:
    for _ in range(times):
        subject.setting.clock.pass_(minutes=90)
        recall = subject.ask(cue, limit=20)
        recall.feedback(used=[memory_id], outcome="good" if outcome == "good" else "bad")
    memory: Memory = subject.space().get(memory_id, touch=False)
    return memory.importance


@scenario(27, "rotation", "the same five do not loop: asking again reaches deeper, also after a restart")
def rotation(stage: Stage) -> None:
    """Twelve memories answer about equally well; the second ask must not bring the same five, restarted or not."""
    for policy in (None, "operational"):
        for restart in (False, True):
            placed = Placed()
            subject = stage.open(placed, on_disk=True)
            cue = placed.cue("Ideas for the evening?")
            for at, text in enumerate(small_talk(12)):
                placed.put(text, {cue: 0.60 - at / 1000})
                subject.remember(text, kind=("fact", "preference", "event")[at % 3], at=stage.clock.ago(5 + at / 10))
            first = ids_of(subject.recall(cue, limit=5, policy=policy))
            stage.clock.pass_(minutes=5)
            if restart:
                subject.reopen()
            second = ids_of(subject.recall(cue, limit=5, policy=policy))
            when = f"{policy or 'the default'}{', restarted' if restart else ''}"
            expect(len(first) == len(second) == 5, f"{when}: the answers hold {len(first)} and {len(second)}, not 5")
            expect(len(second - first) >= 3, f"{when}: asked again, only {len(second - first)} of 5 were new")


QUESTIONS_BETWEEN = 150


@scenario(43, "reading does not poison", "a stream of unrelated questions with write-back on leaves quality within .01")
def reading_does_not_poison(stage: Stage) -> None:
    """Forty probes before and after 150 questions that return and touch the same memories for other reasons."""
    subject = stage.open("potion")
    gold = {
        question: {subject.remember(fact, importance=0.3 + at % 4 / 10, at=stage.clock.ago(20 + at * 37 % 150))}
        for at, (question, fact) in enumerate(FACTS)
    }
    before = _quality(subject, gold)
    words = vocabulary()
    for at in range(QUESTIONS_BETWEEN):
        stage.clock.pass_(minutes=3)
        subject.recall(f"Anything new about {words[at * 7 % len(words)]}?", limit=10)
    stage.clock.pass_(minutes=61)
    after = _quality(subject, gold)
    expect(abs(after - before) <= 0.01, f"nDCG@10 went from {before:.3f} to {after:.3f} by being asked")
    expect(before > 0.8, f"nDCG@10 is {before:.3f} before and after: too poor to keep anything")


def _quality(subject: Subject, gold: dict[str, set[str]]) -> float:
    answers = {cue: [hit.id for hit in subject.recall(cue, limit=10, touch=False)] for cue in gold}
    return sum(ndcg_at(answers[cue], wanted) for cue, wanted in gold.items()) / len(gold)
