"""Where scenarios play: a clock, the subjects they open, and the checks that can fail."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from retentive.embedders.protocol import Embedder
from retentive.evaluate.scenarios.subject import Answered, Clock, RetentiveSubject, Setting, Subject, SubjectMaker


class Broken(AssertionError):
    """A promise was not kept; the message says what came instead."""


class NotOffered(Exception):
    """The subject has nothing of the kind that the behaviour is about."""


class Stage:
    """Opens subjects for a scenario and closes them, with their folders, when it is over."""

    def __init__(self, make: SubjectMaker) -> None:
        self.clock = Clock()
        self._make = make
        self._close = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close.close()

    def open(self, embedder: Embedder | str, *, on_disk: bool = False, **setting: Any) -> Subject:
        """Open a fresh, empty subject."""
        folder = self._folder() if on_disk else None
        subject = self._make(Setting(self.clock, embedder, folder, **setting))
        self._close.callback(subject.close)
        return subject

    def open_ours(self, embedder: Embedder | str, **options: Any) -> RetentiveSubject:
        """Open a subject that has explanations, rendering and traces, or give up the scenario as not offered."""
        subject = self.open(embedder, **options)
        if not isinstance(subject, RetentiveSubject):
            raise NotOffered(f"{getattr(subject, 'name', type(subject).__name__)} has no explained answers")
        return subject

    def folder(self) -> Path:
        """Return a new folder that goes away with the stage."""
        return self._folder()

    def _folder(self) -> Path:
        return Path(self._close.enter_context(tempfile.TemporaryDirectory(prefix="retentive-scenario-")))


@dataclass(frozen=True, slots=True)
class Scenario:
    """One behaviour of policy.md §8: its number, its name, what it promises, and the play that would show it broken."""

    number: int
    name: str
    promise: str
    run: Callable[[Stage], None]


REGISTRY: dict[int, Scenario] = {}


def scenario(number: int, name: str, promise: str) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    """Register a play under its number in policy.md §8."""

    def register(run: Callable[[Stage], None]) -> Callable[[Stage], None]:
        if number in REGISTRY:
            raise ValueError(f"Scenario {number} is taken by {REGISTRY[number].name!r}; give each its own number.")
        REGISTRY[number] = Scenario(number, name, promise, run)
        return run

    return register


def expect(kept: object, otherwise: str) -> None:
    """Fail the scenario with a reason unless the promise was kept."""
    if not kept:
        raise Broken(otherwise)


def expect_first(answer: Sequence[Answered], memory_id: str, when: str) -> None:
    """The answer must begin with this memory."""
    expect(answer, f"{when}: the answer is empty")
    expect(answer[0].id == memory_id, f"{when}: {_quoted(answer[0].text)} came first")


def expect_among(answer: Sequence[Answered], memory_ids: Iterable[str], when: str) -> None:
    """The answer must hold all these memories, in any order."""
    missing = set(memory_ids) - ids_of(answer)
    shown = ", ".join(_quoted(hit.text) for hit in answer[:5]) or "nothing"
    expect(not missing, f"{when}: {len(missing)} right ones missing; got {shown}")


def expect_none_of(answer: Iterable[Answered], memory_ids: Collection[str], when: str) -> None:
    """The answer must hold none of these memories."""
    for hit in answer:
        expect(hit.id not in memory_ids, f"{when}: {_quoted(hit.text)} came back")


def expect_order(answer: Sequence[Answered], better: str, worse: str, when: str) -> None:
    """One memory must be there, and above another (which may be missing)."""
    ranks = {hit.id: rank for rank, hit in enumerate(answer, start=1)}
    expect(better in ranks, f"{when}: the right one is not in the answer of {len(answer)}")
    found, other = ranks[better], ranks.get(worse, len(answer) + 1)
    expect(found < other, f"{when}: the right one is at rank {found}, behind the other at {other}")


def expect_close(got: float, wanted: float, what: str, *, within: float = 1e-9) -> None:
    """A number must be as computed."""
    expect(abs(got - wanted) <= within, f"{what} is {got!r}, expected {wanted!r} ± {within:g}")


def ids_of(answer: Iterable[Answered]) -> set[str]:
    """Return the ids of an answer."""
    return {hit.id for hit in answer}


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
