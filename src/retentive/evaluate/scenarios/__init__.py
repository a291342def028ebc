"""The behaviours of policy.md §8 as plays that can fail: `retentive eval scenarios`."""

from retentive.evaluate.scenarios import (
    answers,
    changing,
    finding,
    gates,
    numbers,
    ranking,
    reading,
    reflecting,
    rendering,
    tuning,
    upkeep,
)
from retentive.evaluate.scenarios.run import Verdict, run_all, run_one, select
from retentive.evaluate.scenarios.stage import REGISTRY, Broken, NotOffered, Scenario, Stage
from retentive.evaluate.scenarios.subject import Answered, Clock, RetentiveSubject, Setting, Subject

SCENARIOS: tuple[Scenario, ...] = tuple(REGISTRY[number] for number in sorted(REGISTRY))
"""In the order of policy.md; importing the modules above registered them."""

__all__ = [
    "SCENARIOS",
    "Answered",
    "Broken",
    "Clock",
    "NotOffered",
    "RetentiveSubject",
    "Scenario",
    "Setting",
    "Stage",
    "Subject",
    "Verdict",
    "answers",
    "changing",
    "finding",
    "gates",
    "numbers",
    "ranking",
    "reading",
    "reflecting",
    "rendering",
    "run_all",
    "run_one",
    "select",
    "tuning",
    "upkeep",
]
