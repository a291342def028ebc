"""What an answer is made of: emptiness, variety, room, and the second opinion (12, 16, 17, 19, 24, 25, 28)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import product

from retentive.evaluate.scenarios.crowds import HOUSEHOLD, crowd, household
from retentive.evaluate.scenarios.geometry import Placed, small_talk, spread
from retentive.evaluate.scenarios.stage import Stage, expect, expect_first, ids_of, scenario
from retentive.evaluate.scenarios.subject import RetentiveSubject, Subject
from retentive.types import AgentState


@scenario(12, "pinned once", "pinned content is never repeated in recall")
def pinned_once(stage: Stage) -> None:
    """Pinned memories stand in the core block, and however near they are they do not come back as hits."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("What matters to her?")
    pinned = {
        subject.remember(placed.put(text, {cue: 0.95}), pinned=True, at=stage.clock.ago(9))
        for text in ("Her name is Wilhelmina", "She signs with W.", "She writes to us from Delft")
    }
    loose = subject.remember(placed.put("She collects fossils", {cue: 0.5}), at=stage.clock.ago(9))
    crowd(subject, placed, cue, spread(0.1, 0.3, 8), stage.clock)
    for policy, budget in product(("retentive", "blend", "focus", "operational", "freshness"), (None, 60)):
        limited = subject.policy(policy).replace(token_budget=budget)
        recall = subject.ask(cue, limit=5, policy=limited, touch=False)
        core = {memory.id for memory in recall.core}
        compacted = set(recall.compacted.ids) if recall.compacted else set()
        hits = {hit.memory.id for hit in recall}
        expect(core == pinned, f"{policy}: {len(core)} of {len(pinned)} pinned memories are in the core block")
        expect(not pinned & (hits | compacted), f"{policy}: a pinned memory is repeated among the recalled ones")
        expect(loose in hits | compacted, f"{policy}: nothing else is recalled beside the pinned ones")


TWINS = (
    ("What does he drink?", "He orders an oat flat white", ("He is off sugar", "Tea in the evening", "No ice, ever")),
    ("How is the heating?", "The heating rattles at night", ("Bled in May", "Valve two is stuck", "Meter: east wall")),
    ("Any news from Ravi?", "Ravi is thinking of moving", ("Ravi sold his van", "Ravi learns Dutch", "He has wed")),
)


@scenario(16, "near-duplicates", "near-duplicates do not fill the top")
def near_duplicates(stage: Stage) -> None:
    """Eight ways of saying the same, all nearer than three other answers: five places must not be five times one."""
    for cue, original, others in TWINS:
        placed = Placed()
        subject = stage.open(placed)
        placed.put(original, {placed.cue(cue): 0.70})
        twins = {subject.remember(original, at=stage.clock.ago(20))}
        for at in range(7):
            text = placed.put_beside(f"{original}, said for the {at + 2}. time", original, 0.99)
            twins.add(subject.remember(text, at=stage.clock.ago(19 - at)))
        rest = {subject.remember(placed.put(text, {cue: 0.5}), at=stage.clock.ago(15)) for text in others}
        crowd(subject, placed, cue, spread(0.0, 0.15, 10), stage.clock)
        answer = ids_of(subject.recall(cue, limit=5, touch=False))
        expect(answer & twins, f"{cue}: none of the eight is in the answer")
        expect(len(answer & twins) <= 2, f"{cue}: {len(answer & twins)} of 5 places went to one thing said again")
        expect(rest <= answer, f"{cue}: only {len(rest & answer)} of 3 other answers found a place")


IRRELEVANT = (
    "How do I compile the Linux kernel with debug symbols?",
    "What is the melting point of tungsten?",
    "Who won the chess olympiad of 1972?",
    "Explain quantum entanglement",
)
RELEVANT = (
    ("Where is the spare key?", 0),
    ("When is the rubbish collected?", 1),
    ("How often does the dishwasher need salt?", 2),
    ("When is the bakery closed?", 7),
    ("When was the piano tuned?", 9),
)


@scenario(17, "nothing relevant", "nothing relevant gives an empty answer, and relevant memories are not emptied")
def nothing_relevant(stage: Stage) -> None:
    """Questions of another world against a household; and five that it can answer, old memories among them."""
    subject = stage.open("potion")
    ids = household(subject, stage.clock)
    for cue in IRRELEVANT:
        answer = subject.recall(cue, touch=False)
        expect(not answer, f"{cue!r} was answered with {[hit.text for hit in answer]}")
    for cue, number in RELEVANT:
        expect_first(subject.recall(cue, touch=False), ids[number], f"{cue} ({HOUSEHOLD[number]!r} is there)")


class _Reranker:
    """A cross-encoder that does what a scenario tells it."""

    id = "scenario"

    def __init__(self, behave: Callable[[int], Sequence[float]]) -> None:
        self._behave = behave

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return whatever this one returns."""
        del query
        return self._behave(len(texts))


def _raise(_: int) -> Sequence[float]:
    raise RuntimeError("the model file is gone")


@scenario(19, "unreliable reranker", "a reranker that fails, hangs or returns junk leaves the blend's order")
def unreliable_reranker(stage: Stage) -> None:
    """Five ways of going wrong; and one that works, to show that it would have been listened to."""
    released = threading.Event()
    bad: dict[str, Callable[[int], Sequence[float]]] = {
        "raising": _raise,
        "hanging": lambda count: [0.0] * count if released.wait(30) else [],
        "too few scores": lambda count: [1.0] * (count - 1),
        "NaN": lambda count: [float("nan")] * count,
        "text instead of numbers": lambda count: ["best"] * count,  # type: ignore[list-item]  # the point of it
    }
    try:
        blend = _order_with(stage, None)[0]
        for name, behave in bad.items():
            order, notes = _order_with(stage, _Reranker(behave))
            expect(order == blend, f"{name}: the order is {order}, not the blend's {blend}")
            expect(any("rerank" in note.lower() for note in notes), f"{name}: the answer does not say so")
        upside_down, _ = _order_with(stage, _Reranker(lambda count: [float(at) for at in range(count)]))
        expect(upside_down != blend, "a reranker that works is not listened to")
    finally:
        released.set()


def _order_with(stage: Stage, reranker: _Reranker | None) -> tuple[list[str], tuple[str, ...]]:
    from retentive.policy import presets  # noqa: PLC0415 - policies are read only where a scenario bends one

    placed = Placed()
    subject = stage.open_ours(placed, reranker=reranker)
    cue = placed.cue("What is the best order?")
    for at, text in enumerate(small_talk(8)):
        subject.remember(placed.put(text, {cue: 0.8 - at / 20}), at=stage.clock.ago(10))
    policy = presets.get("blend").replace(rerank_ms=2_000.0 if reranker is None else 100.0)
    recall = subject.ask(cue, policy=policy, touch=False)
    return [hit.memory.text for hit in recall], recall.trace.notes


STEPS = (
    ("create the tables", "Tables are created with the tool alembic"),
    ("move the files", "Files are moved by the nightly job"),
    ("inform the customers", "Customers hear from us by letter"),
)


@scenario(
    24, "cue follows the state", "the cue follows the state, and an unchanged cue over a changed state is flagged"
)
def cue_follows_the_state(stage: Stage) -> None:
    """The same goal at three steps brings three answers; the same hand-written cue at two steps draws a note."""
    placed = Placed()
    subject = stage.open_ours(placed)
    for step, text in STEPS:
        placed.put(text, {placed.cue(step): 0.7})
    ids = {step: subject.remember(text, at=stage.clock.ago(10)) for step, text in STEPS}
    crowd(subject, placed, STEPS[0][0], spread(0.0, 0.3, 15), stage.clock)
    for step, _ in STEPS:
        state = AgentState(goal="finish the release", step=step)
        answer = subject.recall(None, state=state, utterance="go on", touch=False)
        expect_first(answer, ids[step], f"at the step {step!r}")
    _expect_flag(subject)


def _expect_flag(subject: RetentiveSubject) -> None:
    states = [AgentState(goal="finish the release", step=step, session="s1") for step, _ in STEPS[:2]]
    first = subject.ask("what next?", state=states[0], session="s1").trace.notes
    same = subject.ask("what next?", state=states[0], session="s1").trace.notes
    changed = subject.ask("what next?", state=states[1], session="s1").trace.notes
    expect(not _flags(first) and not _flags(same), f"flagged without a change: {first + same}")
    expect(_flags(changed), f"the state changed under an unchanged cue and nothing says so: {changed}")


def _flags(notes: Sequence[str]) -> list[str]:
    return [note for note in notes if "state" in note.lower() and "cue" in note.lower()]


@scenario(25, "over budget", "over budget the rest is compacted into one block, nothing silently dropped")
def over_budget(stage: Stage) -> None:
    """Whatever the budget, hits and compacted block together name the same memories as without one."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("Tell me about the harbour")
    for at, text in enumerate(small_talk(8)):
        long = f"{text} on the day that the harbour was closed because of the fog and all the tugs lay idle, part {at}"
        subject.remember(placed.put(long, {cue: 0.7 - at / 50}), at=stage.clock.ago(9 + at))
    whole = [hit.memory.id for hit in subject.ask(cue, limit=8, touch=False)]
    expect(len(whole) == 8, f"without a budget {len(whole)} of 8 are returned")
    compacted = [_squeezed_to(subject, cue, budget, whole) for budget in (300, 150, 80)]
    expect(compacted[-1], "a budget of 80 tokens for eight long memories compacted nothing")


def _squeezed_to(subject: RetentiveSubject, cue: str, budget: int, whole: Sequence[str]) -> list[str]:
    """Check one budget and return what was compacted for it."""
    from retentive.text.budget import count_tokens  # noqa: PLC0415 - only here tokens are counted

    recall = subject.ask(cue, limit=8, token_budget=budget, touch=False)
    block = recall.compacted
    compacted = list(block.ids) if block else []
    named = [hit.memory.id for hit in recall] + compacted
    expect(
        sorted(named) == sorted(whole),
        f"budget {budget}: of 8 memories {len(set(named))} are named, {len(named)} times",
    )
    spent = sum(count_tokens(hit.memory.text) for hit in recall) + (block.tokens if block else 0)
    expect(spent <= budget, f"budget {budget}: {spent} tokens were spent")
    if block:
        missing = [memory_id for memory_id in compacted if memory_id not in block.text]
        owned_up = f"{len(missing)} not named" in block.text
        expect(not missing or owned_up, f"budget {budget}: the block is silent about {len(missing)} of its memories")
        expect(compacted[0] in str(recall.render()), f"budget {budget}: the prompt does not hold the block")
    return compacted


@scenario(28, "no kind floods", "no kind floods the answer while others wait")
def no_kind_floods(stage: Stage) -> None:
    """Twelve facts are a little nearer than three preferences and three decisions; half of the places is enough."""
    for policy in ("operational", None):
        placed = Placed()
        subject = stage.open(placed)
        cue = placed.cue("How should the report look?")
        facts = _told_as(stage, subject, placed, cue, "fact", 12, 0.62)
        others = _told_as(stage, subject, placed, cue, "preference", 3, 0.58)
        others |= _told_as(stage, subject, placed, cue, "decision", 3, 0.57)
        for limit in (5, 6):
            answer = subject.recall(cue, limit=limit, policy=policy, touch=False)
            when = f"{policy or 'the default'}, {limit} places"
            expect(len(answer) == limit, f"{when}: only {len(answer)} were filled")
            flood = len(ids_of(answer) & facts)
            expect(flood <= (limit + 1) // 2, f"{when}: {flood} went to facts while {len(others)} others waited")
            expect(flood >= 1, f"{when}: the nearest kind got none")


def _told_as(
    stage: Stage, subject: Subject, placed: Placed, cue: str, kind: str, count: int, cosine: float
) -> set[str]:
    topics = {"fact": 0, "preference": 20, "decision": 40}
    texts = small_talk(topics[kind] + count)[topics[kind] :]
    return {
        subject.remember(placed.put(text, {cue: cosine - at / 1000}), kind=kind, at=stage.clock.ago(20 + at))
        for at, text in enumerate(texts)
    }
