"""Running scenarios: one at a time, each on a stage of its own, with a verdict in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from retentive.errors import RetentiveError, unknown_name
from retentive.evaluate.scenarios.stage import REGISTRY, Broken, NotOffered, Scenario, Stage
from retentive.evaluate.scenarios.subject import SubjectMaker


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one scenario went."""

    number: int
    name: str
    promise: str
    outcome: Literal["pass", "fail", "not offered"]
    reason: str
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether the promise was broken (what is not offered is no failure)."""
        return self.outcome == "fail"

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data."""
        return asdict(self)


def run_one(scenario: Scenario, make: SubjectMaker) -> Verdict:
    """Play one scenario. An error of the subject is a broken promise too; an error of ours is raised."""
    started = time.perf_counter()
    outcome: Literal["pass", "fail", "not offered"] = "pass"
    reason = ""
    try:
        with Stage(make) as stage:
            scenario.run(stage)
    except Broken as broken:
        outcome, reason = "fail", str(broken)
    except NotOffered as missing:
        outcome, reason = "not offered", str(missing)
    except RetentiveError as error:
        outcome, reason = "fail", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - started
    return Verdict(scenario.number, scenario.name, scenario.promise, outcome, reason, seconds)


def run_all(
    make: SubjectMaker, scenarios: Iterable[Scenario], progress: Callable[[Verdict], None] | None = None
) -> list[Verdict]:
    """Play scenarios in order, telling ``progress`` of each verdict as it falls."""
    verdicts = []
    for scenario in scenarios:
        verdict = run_one(scenario, make)
        verdicts.append(verdict)
        if progress:
            progress(verdict)
    return verdicts


def select(only: Sequence[str]) -> list[Scenario]:
    """Return the scenarios named by number or name, all without any; an unknown one is refused with those there are."""
    every = [REGISTRY[number] for number in sorted(REGISTRY)]
    if not only:
        return every
    by_name = {str(scenario.number): scenario for scenario in every} | {scenario.name: scenario for scenario in every}
    for wanted in only:
        if wanted not in by_name:
            raise unknown_name("scenario", wanted, [f"{item.number} ({item.name})" for item in every])
    chosen = {by_name[wanted].number for wanted in only}
    return [scenario for scenario in every if scenario.number in chosen]
