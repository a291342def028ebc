"""A language model decides what waits; whatever it does wrong changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from facade_making import Opening

from retentive import Space
from retentive.errors import InvalidInput
from retentive.testing.llm import ScriptedLlm, injected, looping, malformed, raising, refusing, truncated

PAIRS = (("Noor studies physics", "Noor studies medicine"), ("Ada studies law", "Ada studies art"))


def verdict(what: str, sure: float = 0.97) -> str:
    return json.dumps({"verdict": what, "confidence": sure})


@pytest.fixture
def waiting(opening: Opening) -> Callable[..., Space]:
    """Return a space with two open conflicts, and a model that answers these."""

    def opened(*answers: Any, **more: Any) -> Space:
        space = opening(llm=ScriptedLlm(*answers, **more)).space("a")
        for old, new in PAIRS:
            space.remember(old)
            space.remember(new)
        assert len(space.conflicts()) == 2
        return space

    return opened


def test_a_sure_model_decides(waiting: Callable[..., Space]) -> None:
    """One is accepted, one dismissed, each with the model's name in the journal."""
    space = waiting(verdict("denies"), verdict("compatible"))
    steps: list[tuple[int, int]] = []
    told = space.judge_conflicts(progress=lambda done, total: steps.append((done, total)))
    (accepted,), (dismissed,) = told.accepted, told.dismissed
    assert (told.left, told.failed, told.usage.calls, steps) == (0, 0, 2, [(1, 2), (2, 2)])
    assert space.get(accepted.older.id).superseded_by == accepted.newer.id
    assert space.journal(accepted.older.id)[-1].reason.endswith("accepted: judged by scripted (0.97)")
    assert space.get(dismissed.older.id).retrievable
    assert space.conflicts() == []


@pytest.mark.parametrize(
    "answer", [verdict("unsure"), verdict("denies", 0.6), verdict("compatible", 0.5)], ids=["unsure", "less", "little"]
)
def test_an_unsure_model_decides_nothing(waiting: Callable[..., Space], answer: str) -> None:
    """Below the confidence that rules need as well, everything stays as it was."""
    space = waiting(answer, repeat=True)
    before = space.journal()
    assert (told := space.judge_conflicts()).left == 2
    assert (told.accepted, told.dismissed, told.failed) == ((), (), 0)
    assert (space.journal(), len(space.conflicts())) == (before, 2)


@pytest.mark.parametrize(
    "broken",
    [
        malformed(),
        refusing(),
        looping(),
        truncated({"verdict": "denies", "confidence": 1}, 0.3),
        raising(OSError("down")),
    ],
    ids=["malformed", "refusing", "looping", "truncated", "raising"],
)
def test_a_failing_model_changes_nothing(waiting: Callable[..., Space], broken: Any) -> None:
    """No crash, no decision, no line in the journal; what failed is counted."""
    space = waiting(broken, repeat=True)
    before = space.journal()
    assert space.judge_conflicts().failed == 2
    assert (space.journal(), len(space.conflicts())) == (before, 2)


def test_a_model_that_is_down_is_not_asked_for_ever(opening: Opening) -> None:
    """After three failures in a row the rest waits."""
    llm = ScriptedLlm(raising(OSError("down")), repeat=True)
    space = opening(llm=llm).space("a")
    for name in ("Ada", "Ben", "Cleo", "Dan", "Eve"):
        space.remember(f"{name} studies physics")
        space.remember(f"{name} studies medicine")
    assert space.judge_conflicts().failed == 3
    assert len(llm.calls) == 3


def test_memories_are_data(waiting: Callable[..., Space]) -> None:
    """Texts stand in the user's message as JSON, and what the model adds to its answer is ignored."""
    space = waiting(injected({"verdict": "unsure", "confidence": 1}), repeat=True)
    assert space.judge_conflicts().left == 2
    llm: Any = space._home.llm
    system, user = llm.calls[0].messages
    assert "studies" not in system["content"]
    assert json.loads(user["content"])["newer"]["text"] in {new for _, new in PAIRS}


def test_what_only_a_person_retires(opening: Opening) -> None:
    """A pinned memory is not retired on a model's word."""
    space = opening(llm=ScriptedLlm(verdict("denies"), repeat=True)).space("a")
    space.remember("Lives in Rome", pinned=True)
    space.remember("Lives in Oslo")
    assert (space.judge_conflicts().left, len(space.conflicts())) == (1, 1)


def test_what_was_settled_meanwhile(waiting: Callable[..., Space]) -> None:
    """A conflict whose memory was forgotten while the model thought is left alone."""
    space = waiting(verdict("denies"), repeat=True)
    for conflict in space.conflicts():
        space.forget(conflict.newer.id)
    assert space.judge_conflicts().left == 2


def test_a_dry_run_asks_nobody(waiting: Callable[..., Space]) -> None:
    """How many wait and what it would take; without a model even that is an error that says what to do."""
    space = waiting()
    told = space.judge_conflicts(dry_run=True)
    assert (told.left, told.usage.calls, told.usage.estimated) == (2, 2, True)


def test_no_model(space: Space) -> None:
    """Nothing is judged without one."""
    space.remember("Likes tea")
    with pytest.raises(InvalidInput, match="language model"):
        space.judge_conflicts()
