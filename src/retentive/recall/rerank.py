"""The optional cross-encoder: a second opinion on the blend's top, never a dependency of the answer.

A cross-encoder reads question and memory together, which is better and slower than comparing vectors. It may be
missing, slow, broken or talk nonsense, and the answer must not suffer: whatever goes wrong, the blend's order stays and
a note in the trace says why (policy.md §6 and §8.19).

What bounds it:

- a deadline: the caller waits that long and no longer, whatever the reranker does;
- one thread: a call runs in a thread of its own that ends with it, and while one runs no other is started, so a
  reranker that hangs costs one thread and not one per recall;
- a breaker: after some failures in a row nobody asks for a while, then one recall tries. While a call that overran
  its deadline is still running, the breaker stays open however long ago that was.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

DEADLINE_MS = 200.0
FAILURES = 3
COOL_DOWN_SECONDS = 30.0

T = TypeVar("T")


@runtime_checkable
class Reranker(Protocol):
    """Says how well each text answers a query.

    - ``score`` returns one finite number per text, in the order given; greater is better. The scale is its own.
    - It is called from another thread than the caller's, one call at a time, and may be abandoned at the deadline: it
      then runs to its end, and nobody reads the answer.
    - It raises rather than return a placeholder.
    """

    @property
    def id(self) -> str:
        """Name the model, as notes and the ledger will."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text answers the query."""
        ...


@dataclass(frozen=True, slots=True)
class RerankResult:
    """The better order as indexes into the texts, or None and the reason why the blend's order stays."""

    order: tuple[int, ...] | None
    note: str
    scores: tuple[float, ...] = ()


class Failed(Exception):
    """A bounded call gave nothing; the message says why."""


class Busy(Failed):
    """Another recall's call was still within its time: nobody's fault, so no failure of the reranker."""


class Late(Failed):
    """The answer did not come in time; the call may still be running."""


@dataclass(slots=True, eq=False)
class _Call(Generic[T]):
    """One call in its thread; ``late`` once its caller has gone."""

    work: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    late: bool = False
    answers: list[T] = field(default_factory=list)
    error: BaseException | None = None

    def carry_out(self, release: Callable[[], None]) -> None:
        """Do the work in the worker's thread, and whatever happens give the thread free again."""
        try:
            self.answers.append(self.work())
        except BaseException as error:  # noqa: BLE001 - the worker's edge: foreign code may raise anything at all
            self.error = error
        finally:
            self.done.set()
            release()

    def wait(self, seconds: float) -> T:
        """Return the answer, or raise ``Failed`` with the reason why there is none."""
        if not self.done.wait(max(0.0, seconds)):
            self.late = True
            raise Late("no answer in time")
        if isinstance(self.error, Failed):
            raise self.error
        if self.error is not None:
            raise Failed(f"{type(self.error).__name__}: {_short(self.error)}") from self.error
        return self.answers[0]


class OneThread:
    """Runs one call at a time in a thread of its own and waits for it no longer than a deadline."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(1)
        self._running: _Call[Any] | None = None

    @property
    def stuck(self) -> bool:
        """Whether a call that overran its deadline still occupies the thread."""
        running = self._running
        return running is not None and running.late and not running.done.is_set()

    def run(self, work: Callable[[], T], deadline_seconds: float) -> T:
        """Return what ``work`` returns; raise ``Failed`` with the reason when it raises or comes too late."""
        until = time.monotonic() + deadline_seconds
        if not self._free.acquire(timeout=max(0.0, deadline_seconds)):
            raise Busy("another recall held it all the time")
        call = _Call(work)
        self._running = call
        try:
            threading.Thread(
                target=call.carry_out, args=(self._free.release,), name="retentive-worker", daemon=True
            ).start()
        except RuntimeError as error:  # the system has no more threads to give
            self._free.release()
            raise Failed(str(error)) from error
        return call.wait(until - time.monotonic())


def _short(error: BaseException) -> str:
    """Return an error's message as a note can carry it: one line, not a page."""
    text = " ".join(str(error).split())
    return text if len(text) <= 120 else f"{text[:117]}..."


class Breaker:
    """Stops asking a reranker that keeps failing; one per reranker, shared by all threads.

    Closed until ``failures`` in a row, then open for ``cool_down_seconds``; then one call may try (the others still
    stay away), and its outcome closes the breaker or opens it anew.
    """

    def __init__(
        self,
        failures: int = FAILURES,
        cool_down_seconds: float = COOL_DOWN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.thread = OneThread()
        self._limit, self._cool_down, self._clock = failures, cool_down_seconds, clock
        self._lock = threading.Lock()
        self._failed = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> str:
        """``closed``, ``open`` or ``half-open``, as a status page shows it."""
        with self._lock:
            if self.thread.stuck:
                return "open"
            if self._opened_at is None:
                return "closed"
            return "open" if self._left() > 0 else "half-open"

    def refusal(self) -> str | None:
        """Say why nobody may call now, or return None and let the caller in (as the one probe, when half-open)."""
        with self._lock:
            if self.thread.stuck:
                return "an earlier call still hangs"
            if self._opened_at is None:
                return None
            if self._left() > 0:
                return f"it failed {self._failed} times in a row; next try in {math.ceil(self._left())} s"
            if self._probing:
                return "another recall is trying it after its failures"
            self._probing = True
            return None

    def _left(self) -> float:
        return 0.0 if self._opened_at is None else self._opened_at + self._cool_down - self._clock()

    def succeeded(self) -> None:
        """Note a usable answer: the breaker closes."""
        with self._lock:
            self._failed, self._opened_at, self._probing = 0, None, False

    def failed(self) -> None:
        """Note a failure: the breaker opens at the limit, and at once where this was the probe."""
        with self._lock:
            self._failed += 1
            if self._probing or self._failed >= self._limit:
                self._opened_at, self._probing = self._clock(), False

    def gave_way(self) -> None:
        """Note that the call was never made: the next one may probe."""
        with self._lock:
            self._probing = False


def rerank(
    reranker: Reranker,
    query: str,
    texts: Sequence[str],
    deadline_ms: float = DEADLINE_MS,
    breaker: Breaker | None = None,
) -> RerankResult:
    """Order texts by the reranker's scores, ties as they stood; on any failure say so and order nothing.

    Keep one ``breaker`` per reranker: without one every call starts with a clean record.
    """
    breaker = breaker or Breaker()
    if len(texts) < 2:
        return RerankResult(tuple(range(len(texts))), "")
    if reason := breaker.refusal():
        return _unchanged(reranker, reason)
    try:
        scores = breaker.thread.run(lambda: _scores(reranker, query, texts), deadline_ms / 1000)
    except Busy as busy:
        breaker.gave_way()
        return _unchanged(reranker, f"{busy} ({deadline_ms:.0f} ms)")
    except Late:
        breaker.failed()
        return _unchanged(reranker, f"no answer within {deadline_ms:.0f} ms")
    except Failed as failure:
        breaker.failed()
        return _unchanged(reranker, str(failure))
    breaker.succeeded()
    order = tuple(sorted(range(len(texts)), key=lambda at: (-scores[at], at)))
    return RerankResult(order, f"Reordered by {_name(reranker)}.", scores)


def _scores(reranker: Reranker, query: str, texts: Sequence[str]) -> tuple[float, ...]:
    """Read the answer in the worker's thread: it may be a generator that hangs, or one that never ends."""
    answer = list(islice(iter(reranker.score(query, list(texts))), len(texts) + 1))
    return _usable(answer, len(texts))


def _usable(answer: Sequence[object], expected: int) -> tuple[float, ...]:
    if len(answer) != expected:
        more = "more than " if len(answer) > expected else ""
        raise Failed(f"{more}{min(len(answer), expected)} scores for {expected} texts")
    for value in answer:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise Failed(f"a score that is no number ({type(value).__name__})")
    scores = tuple(float(value) for value in answer if isinstance(value, Real))
    if not all(map(math.isfinite, scores)):
        raise Failed("a score that is not finite (NaN or infinity)")
    return scores


def _unchanged(reranker: Reranker, reason: str) -> RerankResult:
    return RerankResult(None, f"Reranker {_name(reranker)} left out, the blend's order stays: {reason}.")


def _name(reranker: Reranker) -> str:
    return repr(str(getattr(reranker, "id", type(reranker).__name__)))
