"""Tuning: what is scored again agrees with the real pipeline, and only what holds on held-out questions is believed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest

from retentive import policies
from retentive.errors import InvalidInput
from retentive.evaluate.datasets import Conversation, Dataset, Item, Question
from retentive.evaluate.tuning import Change, tune
from retentive.evaluate.tuning.knobs import NO_FLOOR, Knobs, Points
from retentive.evaluate.tuning.search import Search, shrunk
from retentive.evaluate.tuning.split import folds, held_out
from retentive.evaluate.tuning.table import Table
from retentive.evaluate.tuning.world import Labelled, World, at_depth, labelled
from retentive.policy.policy import Policy
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
TOPICS = ("bees", "roof", "tram", "piano", "garden", "sauna", "kitchen", "harbour")
ASPECTS = ("paint", "price", "repair", "owner")
KINDS = ("fact", "preference", "event", "reflection")


def history(*, noise: bool = False, abstaining: int = 0) -> Dataset:
    """A talk about some topics; what is asked for is what fits, or what chance says."""
    chance = np.random.default_rng(3)
    keys = list(product(TOPICS, ASPECTS))
    items = tuple(
        Item(
            id=f"{topic}-{aspect}",
            text=f"the {topic}: {aspect}",
            at=NOW - timedelta(days=2 + at * 7 % 40, hours=at),
            speaker=("Ann", "Ben")[at % 2],
            session=f"s{at // 8}",
            kind=KINDS[at % 4],
            importance=0.2 + 0.15 * (at * 3 % 5),
            read=tuple(NOW - timedelta(hours=5 * at + n) for n in range(at % 3, 0, -1)),
        )
        for at, (topic, aspect) in enumerate(keys)
    )
    wanted = [keys[int(chance.integers(len(keys)))] if noise else key for key in keys]
    asked = [
        Question(f"q{n}-{at}", form.format(*key), NOW, frozenset({"-".join(gold)}), "single")
        for n, form in enumerate(("{} {} news", "what of the {} {}"))
        for at, (key, gold) in enumerate(zip(keys, wanted, strict=True))
    ]
    strange = [Question(f"none-{at}", f"zebra {at} quux", NOW, frozenset(), "abstention") for at in range(abstaining)]
    return Dataset("talk", "ours", "a test", (Conversation("talk", items, (*asked, *strange)),))


PLAIN = {  # nothing that changes the order after the scores
    "blend": policies.blend,
    "stream": policies.stream,
    "focus": policies.focus.replace(token_budget=None),
    "operational": policies.operational.replace(diversity="none", near_duplicate=None, rotation="off"),
    "freshness": policies.freshness,
    "tiers": policies.blend.replace(name="tiers", tiers=True),
    "banded": policies.blend.replace(
        name="banded", signals={**policies.blend.signals, "similarity": {"normalise": "scaled", "weight": 1.0}}
    ),
    "retentive": policies.retentive.replace(
        diversity="none", near_duplicate=None, succession=0.0, neighbours=2, pool=200
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_scoring_again_agrees_with_the_pipeline(name: str) -> None:
    """Under many settings every candidate's score and the value of every answer are what a real recall gives."""
    base = PLAIN[name]
    dataset = history(abstaining=2)
    kept = dataset.conversations[0].questions[::9] + dataset.conversations[0].questions[-2:]
    kept += (replace(kept[0], id="past", text="what did Ann say of the roof price last week"),)
    kept += (replace(kept[0], id="now", text="currently, the roof price"),)
    dataset = replace(dataset, conversations=(replace(dataset.conversations[0], questions=kept),))
    with World(dataset, HashEmbedder(), base) as world:
        questions = labelled(dataset)
        table = Table(Knobs.of(base, bands=[(0.05, 0.4), (0.1, 0.7)], floor=True), world.gather(base, questions, _idle))
        points = Search(table, 5, _idle)._around(table.knobs.start, 12, 0.5)
        points = Points(_rounded(points.weights), points.choices, _rounded(points.floors))
        values = table.values(points)
        for at in range(len(points)):
            policy = table.knobs.policy_of(points, at, "tried")
            assert values[at].tolist() == pytest.approx(world.values(policy, questions, _idle), abs=1e-9)
            for number, one in enumerate(questions):
                _agree(world, policy, one, table.sheets[number].by_id(points.take([at])))


def _agree(world: World, policy: Policy, one: Labelled, scores: dict[str, float]) -> None:
    recall = world.space(0).recall(one.question.text, policy=at_depth(policy), now=one.question.at, touch=False)
    for hit in recall:
        assert scores[hit.memory.id] == pytest.approx(hit.score, rel=1e-9, abs=1e-9), hit.memory.text


def _idle(by: int = 1) -> None:
    """Nobody watches."""


def _rounded(values: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
    return np.array([float(f"{value:.4g}") for value in values.ravel()]).reshape(values.shape)


def test_a_clear_habit_is_learnt() -> None:
    """What fits is wanted, the policy puts weight and age first: tuning finds out, with real figures."""
    outcome = tune(history(), "support", embedder=HashEmbedder(), settings=400)
    assert outcome.accepted
    assert outcome.after > outcome.before + 0.1
    assert outcome.gain.interval.mean == pytest.approx(outcome.after - outcome.before)
    found = outcome.policy.weights
    assert found["similarity"] / found["importance"] > policies.support.weights["similarity"]
    assert outcome.policy.name == "support+tuned"
    assert "Better than 'support'" in outcome.as_text()
    assert Policy.parse(outcome.policy.dump()) == outcome.policy
    changed = {change.name for change in outcome.changes}
    assert "signals.similarity.weight" in changed
    assert {change["name"] for change in outcome.as_dict()["changes"]} == changed


def test_noise_is_refused() -> None:
    """Evidence by the toss of a coin moves the figures learnt from, and nothing that is believed."""
    outcome = tune(history(noise=True), "support", embedder=HashEmbedder(), settings=400)
    assert not outcome.accepted
    assert "stays" in outcome.verdict


def test_the_same_seed_finds_the_same() -> None:
    """Everything is drawn from the seed; another one splits and searches otherwise."""
    first, again, other = (
        tune(history(), "blend", embedder=HashEmbedder(), settings=160, seed=seed) for seed in (1, 1, 2)
    )
    assert first.as_dict() == again.as_dict()
    assert first.policy == again.policy
    assert first.as_dict() != other.as_dict()


def test_a_floor_is_learnt_where_answers_should_be_empty() -> None:
    """Questions that nothing answers make an empty answer worth something; the floor moves for them alone."""
    base = policies.focus.replace(token_budget=None, floor=0.05)
    assert Knobs.of(base).floors == (0.05,)
    outcome = tune(history(abstaining=30), base, embedder=HashEmbedder(), settings=400)
    assert outcome.accepted
    assert outcome.policy.selection.floor is not None
    assert outcome.policy.selection.floor > 0.05
    assert Change("selection.floor", 0.05, outcome.policy.selection.floor) in outcome.changes


def test_the_default_policy_can_be_tuned() -> None:
    """Where weights decide which texts are read, evidence is gathered anew under what was found."""
    steps: list[tuple[int, int, str]] = []
    outcome = tune(history(), embedder=HashEmbedder(), settings=160, progress=lambda *step: steps.append(step))
    assert outcome.settings > 160
    assert {label for _, _, label in steps} == {"gathering evidence", "searching", "asking for real"}
    assert all(done <= total for done, total, _ in steps)
    assert steps == sorted(steps, key=lambda step: step[0])


def test_a_policy_without_knobs_stays() -> None:
    """One weight alone changes no order: there is nothing to learn."""
    alone = policies.blend.replace(name="alone", signals={"similarity": {"weight": 1.0, "normalise": "none"}})
    outcome = tune(history(), alone, embedder=HashEmbedder(), settings=80)
    assert outcome.policy is alone
    assert outcome.verdict == "Nothing better than 'alone' was found; it stays."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"share": 0.95}, "share=0.95 is outside"),
        ({"level": 0.2}, "level=0.2 is outside"),
        ({"settings": 10}, "settings=10 is no search"),
    ],
)
def test_what_cannot_work_is_refused(change: dict[str, float], message: str) -> None:
    """With the value and the range."""
    with pytest.raises(InvalidInput, match=message):
        tune(history(), "blend", embedder=HashEmbedder(), **change)  # type: ignore[arg-type]  # wrong on purpose


def test_too_few_questions_are_refused() -> None:
    """A handful of questions cannot tell a gain from luck."""
    with pytest.raises(InvalidInput, match="5 labelled questions are too few"):
        tune(history().first(5), "blend", embedder=HashEmbedder())


def test_splits_never_tear_a_question_apart() -> None:
    """What was asked twice, in whatever case and spacing, stands on one side."""
    questions = [
        Labelled(0, Question(f"{copy}-{at}", text.format(at), NOW, frozenset({"m"}), "c"))
        for copy, text in enumerate(("Where is {}?", "where  is {}?"))
        for at in range(30)
    ]
    kept, judging = held_out(questions, 0.3, seed=4)
    assert len(kept) + len(judging) == 60
    assert 18 <= len(judging) <= 20
    assert not {one.group for one in kept} & {one.group for one in judging}
    parts = folds(kept, 3, seed=4)
    assert sorted(at for part in parts for at in part) == list(range(len(kept)))
    groups = [{kept[at].group for at in part} for part in parts]
    assert not groups[0] & groups[1]
    assert not groups[1] & groups[2]


def test_pulling_back_ends_at_the_policy() -> None:
    """A share of 0 is the policy itself, of 1 the setting found; what does not lie between goes with the greater."""
    start = Points(np.array([[1.0, 1.0]]), np.array([[0, 0]]), np.array([0.2]))
    found = Points(np.array([[3.0, 0.0]]), np.array([[2, 0]]), np.array([NO_FLOOR]))
    assert shrunk(found, start, 1.0).weights.tolist() == found.weights.tolist()
    half = shrunk(found, start, 0.5)
    assert (half.weights.tolist(), half.choices.tolist(), half.floors.tolist()) == ([[2.0, 0.5]], [[0, 0]], [0.2])


def test_the_past_is_asked_as_it_was() -> None:
    """A question meets the access states of its moment: what was read later was not yet read."""
    dataset = history()
    talk = dataset.conversations[0]
    early = replace(talk.questions[0], at=NOW - timedelta(days=1))
    late = replace(talk.questions[0], id="late", at=NOW)
    dataset = replace(dataset, conversations=(replace(talk, questions=(late, early, late)),))
    with World(dataset, HashEmbedder(), policies.blend) as world:
        asked = world.gather(policies.blend, labelled(dataset), _idle)
    counts = [float(one.evidence.columns.count.sum()) for one in asked]
    assert counts[1] < counts[0] == counts[2]
