"""The behaviours of policy.md §8, one case each; `retentive eval scenarios` plays the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_subjects import BROKEN, Maker, PlainVectorStore

from retentive.evaluate.scenarios import SCENARIOS, RetentiveSubject, Scenario, run_all, run_one
from retentive.evaluate.scenarios.stage import REGISTRY

COVERED = set(range(1, 44))


def _name(scenario: Scenario) -> str:
    return f"{scenario.number:02d}-{scenario.name.replace(' ', '-')}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=_name)
def test_behaviour_holds(scenario: Scenario) -> None:
    """Our engine keeps the promise under the default policy."""
    verdict = run_one(scenario, RetentiveSubject)
    assert verdict.outcome == "pass", f"{scenario.promise}\n{verdict.reason}"


def test_every_behaviour_of_the_issue_has_a_scenario() -> None:
    """1-43 are played."""
    assert {scenario.number for scenario in SCENARIOS} == COVERED


def test_every_scenario_has_teeth() -> None:
    """No scenario goes without a subject that fails it."""
    assert set(BROKEN) == COVERED


TEETH = [
    pytest.param(REGISTRY[number], maker, id=f"{number:02d}-{name.replace(' ', '-')}")
    for number, makers in BROKEN.items()
    for name, maker in makers.items()
]


@pytest.mark.parametrize(("scenario", "broken"), TEETH)
def test_broken_subject_is_caught(scenario: Scenario, broken: Maker) -> None:
    """A subject that breaks the promise fails the scenario, by the promise and not by an accident."""
    verdict = run_one(scenario, broken)
    assert verdict.outcome == "fail", f"{scenario.name} let it pass: {verdict}"
    assert "InvalidInput" not in verdict.reason


def test_the_documented_scale_is_true() -> None:
    """docs/evaluation.md says how many promises a plain vector store keeps; a changed scenario may change that."""
    outcomes = [verdict.outcome for verdict in run_all(PlainVectorStore, SCENARIOS)]
    kept, asked = outcomes.count("pass"), len(outcomes) - outcomes.count("not offered")
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text("utf-8")
    assert f"keeps {kept} of the {asked} behaviours" in page


def test_scenarios_play_the_same_twice() -> None:
    """A scenario is deterministic: the same reason, to the letter, both times."""
    scenario = REGISTRY[29]
    plain = BROKEN[29]["plain vector store"]
    assert run_one(scenario, plain).reason == run_one(scenario, plain).reason
