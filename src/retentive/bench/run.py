"""Ask, and take the time: every cue once as users ask it, for the total, and once more under the stopwatch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from retentive.answer import Recall
from retentive.bench.cues import Probe, probes
from retentive.bench.report import Report, Spread
from retentive.bench.watch import Stopwatch, watched
from retentive.errors import InvalidInput
from retentive.memory import Retentive, Space
from retentive.policy.policy import Policy
from retentive.types import Gate

Progress = Callable[[int, int], None]

STEP: Final = timedelta(minutes=10)
"""How far apart the recalls stand: beyond the refresh floor of every preset, so that each write-back has to write."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is asked, and how."""

    queries: int = 200
    warmup: int = 20
    policy: Policy | str | None = None
    touch: bool = True
    seed: int = 0


@dataclass(slots=True)
class _Asking:
    """One space being asked: each recall a step later than the one before."""

    space: Space
    plan: Plan
    now: datetime
    progress: Progress | None
    of: int
    done: int = 0

    def ask(self, cue: str) -> Recall:
        answer = self.space.recall(cue, policy=self.plan.policy, touch=self.plan.touch, now=self.now)
        self.now += STEP
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.of)
        return answer


def measure(space: Space, home: Retentive, plan: Plan, *, progress: Progress | None = None) -> Report:
    """Measure a space. With ``plan.touch`` the recalls are written back: give a copy (`copied`) of what is dear."""
    store, now = space.store, home.now()
    asked = probes(store, plan.queries + plan.warmup, now, seed=plan.seed)
    if not asked:
        raise InvalidInput(f"Space {space.path!r} holds nothing that could be asked for; try --synthetic 10000.")
    warm, timed = asked[: plan.warmup], asked[plan.warmup :] or asked
    asking = _Asking(space, plan, now, progress, len(warm) + 2 * len(timed))
    for probe in warm:
        asking.ask(probe.cue)
    answers, totals = _whole(asking, timed)
    staged = _staged(asking, timed, type(store))
    stages = sorted({name for seconds in staged for name in seconds})
    return Report(
        space=space.path,
        memories=store.count(Gate(true_at=now)),
        policy=answers[0].policy.name,
        embedder=home.embedder.id,
        queries=len(timed),
        touched=plan.touch,
        total=Spread.of(totals),
        stages={name: Spread.of([seconds.get(name, 0.0) for seconds in staged]) for name in stages},
        work=_work(answers),
        found=sum(_holds(answer, probe) for answer, probe in zip(answers, timed, strict=True)) / len(timed),
    )


def _whole(asking: _Asking, timed: Sequence[Probe]) -> tuple[list[Recall], list[float]]:
    """Time recalls whole, nothing wrapped."""
    answers, totals = [], []
    for probe in timed:
        start = time.perf_counter()
        answers.append(asking.ask(probe.cue))
        totals.append(time.perf_counter() - start)
    return answers, totals


def _staged(asking: _Asking, timed: Sequence[Probe], store: type) -> list[dict[str, float]]:
    """Time recalls stage by stage."""
    watch = Stopwatch()
    with watched(watch, store):
        seconds = []
        for probe in timed:
            asking.ask(probe.cue)
            seconds.append(watch.taken())
    return seconds


def _work(answers: Sequence[Recall]) -> dict[str, float]:
    counters = [asdict(answer.trace.work) for answer in answers]
    return {name: sum(counter[name] for counter in counters) / len(counters) for name in counters[0]}


def _holds(answer: Recall, probe: Probe) -> bool:
    return any(hit.memory.id == probe.id for hit in answer)
