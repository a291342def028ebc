"""What may be looked at: validity, supersession, and the walls between spaces (15, 18, 20, 35)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Unpack

from retentive.errors import RetentiveError
from retentive.evaluate.scenarios.crowds import crowd, household
from retentive.evaluate.scenarios.geometry import Placed, spread
from retentive.evaluate.scenarios.stage import (
    Stage,
    expect,
    expect_among,
    expect_first,
    expect_none_of,
    ids_of,
    scenario,
)
from retentive.evaluate.scenarios.subject import HOME, Asked, Facts, RetentiveSubject, Subject

if TYPE_CHECKING:
    from retentive.memory import Space

TASK = "migration"


def every_policy() -> tuple[str, ...]:
    """Return the names of the presets; ask them with the tag TASK, for `planning` refuses to be asked without one."""
    from retentive.policy import presets  # noqa: PLC0415 - policies are read only where a scenario needs them

    return presets.names()


@scenario(15, "expired or superseded", "an expired or superseded memory never appears, whatever its cosine")
def expired_or_superseded(stage: Stage) -> None:
    """Five ways of no longer (or not yet) being true, all nearly identical to the question, against every preset."""
    placed = Placed()
    subject = stage.open(placed)
    cue = placed.cue("Which plan is she on?")
    clock = stage.clock

    def tell(text: str, cosine: float, **facts: Unpack[Facts]) -> str:
        told: Facts = {"tags": [TASK], "importance": 0.9, **facts}
        return subject.remember(placed.put(text, {cue: cosine}), **told)

    keyed = tell("She is on the free plan", 0.99, key="plan", at=clock.ago(30))
    named = tell("She is on the student plan", 0.98, at=clock.ago(40))
    expired = tell("She is on the trial plan", 0.97, at=clock.ago(50), valid_until=clock.ago(1))
    coming = tell("She is on the gold plan", 0.96, at=clock.ago(2), valid_from=clock.now + timedelta(days=1))
    right = tell("She is on the family plan", 0.55, key="plan", supersedes=[named], at=clock.ago(3))
    denied = tell("She is on the press plan", 0.94, at=clock.ago(20))
    tell("She is no longer on the press plan", 0.1, at=clock.ago(1))
    crowd(subject, placed, cue, spread(0.05, 0.4, 12), clock, tags=[TASK])
    for policy in every_policy():
        answer = subject.recall(cue, limit=20, policy=policy, touch=False, tags=[TASK])
        expect_none_of(answer, {keyed, named, expired, coming, denied}, policy)
        expect_among(answer, [right], policy)


@scenario(35, "supersession", "supersession is immediate and its chain walks both ways")
def supersession(stage: Stage) -> None:
    """Four values of one key, one after the other; at each step only the newest answers."""
    placed = Placed()
    subject = stage.open_ours(placed)
    cue = placed.cue("Who is on call?")
    names = ("Ada", "Boris", "Carmen", "Dilip")
    ids: list[str] = []
    for at, name in enumerate(names):
        stage.clock.pass_(days=7)
        ids.append(subject.remember(placed.put(f"{name} is on call", {cue: 0.9 - at / 10}), key="on-call"))
        answer = subject.recall(cue, limit=10, touch=False)
        expect(ids_of(answer) == {ids[-1]}, f"after {name} took over, the answer is {[hit.text for hit in answer]}")
    for memory_id in ids:
        chain = [memory.id for memory in subject.space().chain(memory_id)]
        expect(chain == ids, f"the chain from {memory_id!r} is {chain}, not oldest first {ids}")
    then = subject.recall(cue, limit=10, touch=False, as_of=stage.clock.ago(8))
    expect(ids_of(then) == {ids[1]}, f"as of last week the answer is {[hit.text for hit in then]}")
    _superseded_again(stage, subject, ids)


def _superseded_again(stage: Stage, subject: RetentiveSubject, ids: list[str]) -> None:
    """A link that is set stays set; chains that bad data bent into a ring come to an end; nothing is inherited."""
    stage.clock.pass_(days=1)
    beside = subject.space().remember("The rota was drawn up anew", supersedes=[ids[0]])
    expect(
        subject.space().get(ids[0], touch=False).superseded_by == ids[1], "a superseded memory changed its successor"
    )
    with subject.space().store.transaction() as tx:
        first, last = tx.get(ids[0]), tx.get(ids[-1])
        if first is not None and last is not None:
            tx.replace(last.changed(superseded_by=first.id, superseded_at=stage.clock.now))
            tx.replace(first.changed(supersedes=(last.id,)))
    ring = {memory.id for memory in subject.space().chain(beside.id)}
    expect(ring == {*ids, beside.id}, f"a ring of {len(ids)} links and one beside it walks through {len(ring)}")
    old = subject.space().remember("The pager is blue", key="pager", tags=["desk"], importance=0.9, pinned=True)
    new = subject.space().remember("The pager is black", key="pager")
    inherited = (new.tags, new.importance, new.pinned)
    expect(inherited == ((), 0.5, False), f"the successor of {old.id!r} inherited {inherited}")


HANDBOOK = "acme/handbook"
RULES = (
    ("How many days of leave do we have?", "Everyone has thirty days of leave a year"),
    ("When may I work from home?", "Work from home is possible on two days a week"),
    ("Who repairs laptops?", "Laptops are repaired by the service desk in the basement"),
)


@scenario(18, "cold start", "a cold start answers nothing, and an opted-in shared space answers without leaking back")
def cold_start(stage: Stage) -> None:
    """Alice opts in, Bob does not; the handbook learns nothing from either."""
    subject = stage.open("potion", shared={HOME: HANDBOOK})
    for cue, _ in RULES:
        expect(not subject.recall(cue), f"an empty space answered {cue!r}")
    rules = [subject.remember(text, space=HANDBOOK, at=stage.clock.ago(90)) for _, text in RULES]
    for (cue, _), rule in zip(RULES, rules, strict=True):
        expect_first(subject.recall(cue), rule, f"through the shared space: {cue}")
        expect(not subject.recall(cue, space="acme/bob"), f"Bob did not opt in but was answered {cue!r}")
    own = subject.remember("Alice has forty days of leave a year", at=stage.clock.ago(2))
    household(subject, stage.clock)
    answer = subject.recall(RULES[0][0])
    expect_first(answer, own, "once Alice has memories of her own")
    leaked = subject.recall(RULES[0][0], space=HANDBOOK, limit=20)
    expect(ids_of(leaked) <= set(rules), f"the shared space knows {[hit.text for hit in leaked]}")


NEIGHBOURS = (
    "acme",
    "acme-corp",
    "acme/alice",
    "acme/alice2",
    "acme/alice/private",
    "Acme/Alice",
    "acme%2Falice",
    "acmé/alice",
)
LOCKED = "The vault code of {space} is {code}"


@scenario(20, "walls", "no cue, filter, id or import reads another space")
def walls(stage: Stage) -> None:
    """Eight spaces with names that a careless prefix, case fold or decoding would mix up, and every way of asking."""
    subject = stage.open("hash")
    owned: dict[str, set[str]] = {}
    for number, space in enumerate(NEIGHBOURS):
        text = LOCKED.format(space=space, code=1000 + number)
        facts: Facts = {"tags": ["secret"], "metadata": {"room": 7}, "session": "s1", "speaker": "Vera"}
        facts |= {"at": stage.clock.ago(1), "importance": 1.0}
        owned[space] = {subject.remember(text, space=space, **facts)}
    for space in NEIGHBOURS:
        _expect_only_own(subject, space, owned)
        if isinstance(subject, RetentiveSubject):
            _expect_no_way_in(stage, subject, space, owned)


def _expect_only_own(subject: Subject, space: str, owned: dict[str, set[str]]) -> None:
    cues = [LOCKED.format(space=other, code=1000 + number) for number, other in enumerate(NEIGHBOURS)]
    filters: list[Asked] = [{}, {"tags": ["secret"]}, {"where": {"room": 7}}, {"session": "s1"}, {"kinds": ["fact"]}]
    for cue in [*cues, f"space:{space} OR 1=1", "../alice", "vault code Vera"]:
        for asked in filters:
            seen = ids_of(subject.recall(cue, space=space, limit=50, **asked))
            foreign = seen - owned[space]
            expect(not foreign, f"{space!r} read {len(foreign)} foreign memories with {cue!r} {asked}")


def _expect_no_way_in(stage: Stage, subject: RetentiveSubject, space: str, owned: dict[str, set[str]]) -> None:
    """Try ids, keys, cursors, supersession, feedback and import against every other space."""
    mine = subject.space(space)
    foreign = sorted(set().union(*owned.values()) - owned[space])
    for memory_id in foreign:
        for name, attempt in _attempts(mine, memory_id).items():
            _expect_refused_or_empty(attempt, f"{space!r}: {name} of a foreign id")
    recall = subject.ask("vault code", space=space)
    with suppress(RetentiveError):
        recall.feedback(used=foreign, outcome="bad")
    file = stage.folder() / "own.jsonl"
    mine.export(file)
    exported = file.read_text("utf-8")
    expect(not any(memory_id in exported for memory_id in foreign), f"{space!r}: its export holds foreign memories")
    for other, ids in owned.items():
        for memory_id in ids:
            memory = subject.space(other).get(memory_id, touch=False)
            expect(memory.retrievable and memory.importance == 1.0, f"{space!r} changed a memory of {other!r}")


def _attempts(mine: Space, memory_id: str) -> dict[str, Callable[[], object]]:
    return {
        "get": lambda: mine.get(memory_id),
        "update": lambda: mine.update(memory_id, pinned=True),
        "forget": lambda: mine.forget(memory_id, erase=True),
        "history": lambda: mine.history(memory_id),
        "chain": lambda: mine.chain(memory_id),
        "journal": lambda: mine.journal(memory_id),
        "supersedes": lambda: mine.forget(
            mine.remember("Supersedes a stranger", supersedes=[memory_id]).id, erase=True
        ),
    }


def _expect_refused_or_empty(attempt: Callable[[], object], what: str) -> None:
    try:
        answer = attempt()
    except RetentiveError:
        return
    expect(not answer, f"{what} gave {answer!r}")
