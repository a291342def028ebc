"""A reranker may fail in any way: the blend's order stays, and the note says why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from retentive.recall.rerank import Breaker, Reranker, RerankResult, rerank

TEXTS = ("a", "b", "c")
FOREVER = 60_000.0
"""A deadline that only a broken test would reach."""


class Fake:
    """A reranker that answers what it is told, or raises it."""

    id = "fake"

    def __init__(self, answer: Any) -> None:
        self.answer, self.calls = answer, 0

    def score(self, query: str, texts: Sequence[str]) -> Any:
        self.calls += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer() if callable(self.answer) else self.answer


class Hanging:
    """A reranker that answers only once it is let go."""

    id = "hanging"

    def __init__(self) -> None:
        self.let_go, self.entered, self.calls = threading.Event(), threading.Event(), 0

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls += 1
        self.entered.set()
        self.let_go.wait()
        return [0.0] * len(texts)


class Clock:
    """A monotonic clock that moves when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    reranker = Hanging()
    yield reranker
    reranker.let_go.set()


def asked(reranker: Reranker, breaker: Breaker | None = None, deadline_ms: float = FOREVER) -> RerankResult:
    return rerank(reranker, "query", TEXTS, deadline_ms, breaker)


def workers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "retentive-worker"}


@pytest.mark.parametrize(
    "scores", [[0.1, 0.9, 0.5], (1, 3, 2), np.array([0.1, 0.9, 0.5], np.float32), [Fraction(1, 9), 5, 0.5]]
)
def test_usable_scores_give_a_better_order(scores: Any) -> None:
    """Numbers of any kind, best first."""
    result = asked(Fake(scores))
    assert result.order == (1, 2, 0)
    assert "fake" in result.note


def test_ties_keep_the_blends_order() -> None:
    """Equal scores change nothing."""
    assert asked(Fake([0.5, 0.7, 0.5])).order == (1, 0, 2)


def test_one_text_needs_no_reranker() -> None:
    """There is nothing to reorder, so nobody is asked."""
    reranker = Fake([1.0])
    assert rerank(reranker, "query", ["a"]).order == (0,)
    assert reranker.calls == 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([0.1, 0.2], "2 scores for 3 texts"),
        ([0.1] * 4, "more than 3 scores"),
        (lambda: repeat(0.5), "more than 3 scores"),
        ([], "0 scores"),
        ([0.1, float("nan"), 0.2], "not finite"),
        ([0.1, float("inf"), 0.2], "not finite"),
        ([0.1, "0.2", 0.3], "no number (str)"),
        ([0.1, True, 0.3], "no number (bool)"),
        ([0.1, None, 0.3], "no number (NoneType)"),
        ([0.1, 10**400, 0.3], "OverflowError"),
        (np.zeros((3, 1)), "no number (ndarray)"),
        (None, "TypeError"),
        ("abc", "no number (str)"),
        (RuntimeError("the model\nis gone"), "RuntimeError: the model is gone"),
        (RuntimeError("x" * 500), "..."),
        (SystemExit(3), "SystemExit"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_junk_leaves_the_order_and_says_why(answer: Any, reason: str) -> None:
    """Exceptions, wrong lengths, NaN and junk types are all the same to the caller: no order, and a note."""
    result = asked(Fake(answer))
    assert result.order is None
    assert reason in result.note
    assert "the blend's order stays" in result.note
    assert len(result.note) < 300


def test_lateness_leaves_the_order(hanging: Hanging) -> None:
    """The caller goes on at the deadline."""
    result = asked(hanging, deadline_ms=1)
    assert result.order is None
    assert "no answer within 1 ms" in result.note


def test_a_hanging_reranker_costs_one_thread(hanging: Hanging) -> None:
    """However many recalls follow, and however late, a stuck call is not joined by another."""
    clock = Clock()
    breaker = Breaker(cool_down_seconds=1, clock=clock)
    before = workers()
    notes = []
    for _ in range(20):
        notes.append(asked(hanging, breaker, deadline_ms=1).note)
        clock.now += 100
    hanging.entered.wait()
    assert hanging.calls == 1
    assert len(workers() - before) == 1
    assert all("still hangs" in note for note in notes[1:])
    assert breaker.state == "open"


def test_a_reranker_that_comes_back_is_asked_again(hanging: Hanging) -> None:
    """Once the stuck call has ended, the next recall asks."""
    breaker = Breaker(clock=Clock())
    asked(hanging, breaker, deadline_ms=1)
    hanging.let_go.set()
    while breaker.thread.stuck:
        threading.Event().wait(0.001)
    assert asked(hanging, breaker).order == (0, 1, 2)


def test_the_breaker_opens_and_closes() -> None:
    """Three failures in a row open it; after the cool-down one success closes it."""
    clock, reranker = Clock(), Fake(RuntimeError("down"))
    breaker = Breaker(failures=3, cool_down_seconds=30, clock=clock)
    for _ in range(3):
        assert "down" in asked(reranker, breaker).note
    assert breaker.state == "open"
    assert "failed 3 times in a row; next try in 30 s" in asked(reranker, breaker).note
    assert reranker.calls == 3
    clock.now += 30
    assert breaker.state == "half-open"
    reranker.answer = [0.1, 0.2, 0.3]
    assert asked(reranker, breaker).order == (2, 1, 0)
    assert breaker.state == "closed"


def test_a_failed_probe_opens_it_again_at_once() -> None:
    """One failure is enough where the last three were."""
    clock, reranker = Clock(), Fake(RuntimeError("down"))
    breaker = Breaker(failures=3, cool_down_seconds=30, clock=clock)
    for _ in range(3):
        asked(reranker, breaker)
    clock.now += 30
    asked(reranker, breaker)
    assert breaker.state == "open"
    asked(reranker, breaker)
    assert reranker.calls == 4


def test_a_success_wipes_the_record() -> None:
    """Only failures in a row count."""
    breaker = Breaker(failures=2, clock=Clock())
    for answer in (RuntimeError("x"), [1, 2, 3], RuntimeError("x")):
        asked(Fake(answer), breaker)
    assert breaker.state == "closed"


def test_only_one_recall_probes() -> None:
    """While one tries a reranker after its failures, the others stay away."""
    clock = Clock()
    breaker = Breaker(failures=1, cool_down_seconds=30, clock=clock)
    breaker.failed()
    clock.now += 30
    assert breaker.refusal() is None
    assert breaker.refusal() == "another recall is trying it after its failures"
    breaker.gave_way()
    assert breaker.refusal() is None


def test_waiting_for_another_recall_is_no_failure(hanging: Hanging) -> None:
    """A reranker in use by a recall that still has time is busy, not broken."""
    breaker = Breaker(failures=1, clock=Clock())
    other = threading.Thread(target=asked, args=(hanging, breaker), daemon=True)
    other.start()
    hanging.entered.wait()
    assert "another recall held it" in asked(hanging, breaker, deadline_ms=1).note
    assert breaker.state == "closed"
    hanging.let_go.set()
    other.join()


def test_a_system_without_threads_is_a_failure_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread is free again for the next recall."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    breaker = Breaker(clock=Clock())
    start: Callable[[threading.Thread], None] = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert "can't start new thread" in asked(Fake([1, 2, 3]), breaker).note
    monkeypatch.setattr(threading.Thread, "start", start)
    assert asked(Fake([1, 2, 3]), breaker).order == (2, 1, 0)
