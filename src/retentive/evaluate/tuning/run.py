"""Tuning from end to end: split, gather, search, ask the finalists through the real recall, judge on held-out ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from retentive.embedders import resolve
from retentive.embedders.protocol import Embedder
from retentive.errors import InvalidInput
from retentive.evaluate.cache import Known
from retentive.evaluate.datasets import Dataset
from retentive.evaluate.statistics import LEVEL, difference
from retentive.evaluate.tuning.knobs import Knobs, Points
from retentive.evaluate.tuning.outcome import Tuning
from retentive.evaluate.tuning.search import Search, nested
from retentive.evaluate.tuning.split import folds, held_out
from retentive.evaluate.tuning.table import Table
from retentive.evaluate.tuning.world import Labelled, Step, World, labelled
from retentive.policy import presets
from retentive.policy.policy import Policy

FEWEST: Final = 20  # labelled questions: of fewer, what is held out cannot tell a gain from luck
FOLDS: Final = 3
SEARCHES: Final = FOLDS + 1
SETTINGS: Final = 4_000
MOST_LEARNT: Final = 300  # questions searched on; more add time and hardly certainty
HELD_OUT: Final = 0.35
SUFFIX: Final = "+tuned"

Progress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what is running."""


@dataclass(slots=True)
class _Steps:
    """Counts what is done for whoever watches."""

    total: int
    progress: Progress | None
    done: int = 0
    label: str = "remembering"

    def step(self, by: int = 1) -> None:
        self.done += by
        if self.progress:
            self.progress(min(self.done, self.total), self.total, self.label)


@dataclass(frozen=True, slots=True)
class _InForce:
    """What must be beaten: one policy, or each space's own."""

    default: Policy
    own: Mapping[str, Policy]

    @classmethod
    def of(cls, current: Policy | Mapping[str, Policy] | None, base: Policy) -> _InForce:
        if current is None or isinstance(current, Policy):
            return cls(current or base, {})
        return cls(base, current)

    def named(self, dataset: Dataset) -> str:
        names = {self.at(one.space).name for one in dataset.conversations if one.questions}
        return repr(names.pop()) if len(names) == 1 else "the policies in force"

    def at(self, space: str) -> Policy:
        return self.own.get(space, self.default)


@dataclass(slots=True)
class _Job:
    """One tuning under way."""

    world: World
    policy: Policy
    in_force: _InForce
    learning: list[Labelled]
    judging: list[Labelled]
    settings: int
    seed: int
    steps: _Steps
    tried: int = 0
    seconds: float = 0.0  # of the search alone
    share: float = 1.0
    finalists: list[Policy] = field(default_factory=list)

    def search(self) -> None:
        """Find a setting on the evidence as the policy gathers it, then once more as the setting itself gathers it."""
        found = self.policy
        for _ in range(2 if _looks_around(self.policy) else 1):
            gathered = self.world.gather(found, self.learning, self._step("gathering evidence"))
            floor = any(one.question.abstains for one in self.learning)
            table = Table(Knobs.of(found, floor=floor), gathered)
            table = Table(Knobs.of(found, bands=_bands(table), floor=floor), gathered)
            if not table.knobs.free:
                return
            search = Search(table, self.seed, self._step("searching"))
            started = time.perf_counter()
            points, self.share = nested(search, folds(self.learning, FOLDS, self.seed + 1), self.settings // SEARCHES)
            self.seconds += time.perf_counter() - started
            self.tried += search.tried
            found = _named(table.knobs, points, self.policy)
            self.finalists.append(found)

    def outcome(self, level: float) -> Tuning:
        """Ask what is in force and the finalists for real: learnt-from questions choose, the held-out ones judge."""
        usual = float(np.mean(self._standing(self.learning)))
        tried = [*self.finalists, *([self.policy] if self._elsewhere() else [])]
        means = [(float(np.mean(self._values(one, self.learning))), one) for one in tried]
        learnt, best = max(means, key=lambda pair: pair[0], default=(usual, self.policy))
        stays = learnt <= usual
        before = self._standing(self.judging)
        after = before if stays else self._values(best, self.judging)
        return Tuning(
            dataset=self.world.dataset.name,
            base=self.policy,
            policy=self.policy if stays else best,
            beaten=self.in_force.named(self.world.dataset),
            stays=stays,
            learnt_from=len(self.learning),
            gain=difference(after, before, level),
            before=float(np.mean(before)),
            after=float(np.mean(after)),
            learnt=(usual, max(usual, learnt)),
            share=self.share,
            settings=self.tried,
            seed=self.seed,
            seconds=self.seconds,
        )

    def _elsewhere(self) -> bool:
        """Whether something else than the policy tuned is in force anywhere: then that one may be better by itself."""
        return any(self._in_force(one) != self.policy for one in (*self.learning, *self.judging))

    def _in_force(self, one: Labelled) -> Policy:
        return self.in_force.at(self.world.dataset.conversations[one.conversation].space)

    def _standing(self, questions: Sequence[Labelled]) -> list[float]:
        """Return what the answers of the policies in force are worth."""
        groups: list[tuple[Policy, list[int]]] = []
        for at, one in enumerate(questions):
            policy = self._in_force(one)
            group = next((places for known, places in groups if known == policy), None)
            if group is None:
                groups.append((policy, [at]))
            else:
                group.append(at)
        values = [0.0] * len(questions)
        for policy, places in groups:
            for at, value in zip(places, self._values(policy, [questions[at] for at in places]), strict=True):
                values[at] = value
        return values

    def _values(self, policy: Policy, questions: Sequence[Labelled]) -> list[float]:
        return self.world.values(policy, questions, self._step("asking for real"))

    def _step(self, label: str) -> Step:
        def step(by: int = 1) -> None:
            self.steps.label = label
            self.steps.step(by)

        return step


def tune(
    dataset: Dataset,
    policy: Policy | str = "retentive",
    *,
    embedder: Embedder | str | None = None,
    settings: int = SETTINGS,
    share: float = HELD_OUT,
    level: float = LEVEL,
    seed: int = 0,
    progress: Progress | None = None,
    known: Known | None = None,
    current: Policy | Mapping[str, Policy] | None = None,
) -> Tuning:
    """Learn a policy's weights, half-lives, floor and band from a set's labelled questions.

    A ``share`` of the questions is held out and judges once, at the end, through the real recall; the outcome is
    ``accepted`` only where its bootstrap interval at ``level`` lies above 0. The same arguments give the same outcome.
    ``known`` are vectors that the embedder has made before (`ledger.known_vectors`): a hosted one is not paid twice.
    ``current`` is the policy in force, which has to be beaten whatever the search begins at; by the name of their
    space where spaces have their own. None: the policy that is tuned.
    """
    base = presets.get(policy) if isinstance(policy, str) else policy
    questions = labelled(dataset)
    _check(len(questions), settings, share, level)
    learning, judging = held_out(questions, share, seed)
    learning = _sampled(learning, seed)
    rounds = 2 if _looks_around(base) else 1
    asked = len(learning) * (2 * rounds + 2) + 2 * len(judging)
    steps = _Steps(asked + rounds * settings, progress)
    with World(dataset, resolve(embedder), base, known) as world:
        job = _Job(world, base, _InForce.of(current, base), learning, judging, settings, seed, steps)
        job.search()
        return job.outcome(level)


def _check(questions: int, settings: int, share: float, level: float) -> None:
    if questions < FEWEST:
        raise InvalidInput(
            f"{questions} labelled questions are too few to tell a gain from luck; at least {FEWEST} are needed. Give "
            "more feedback with recall.feedback(used=[...]), or tune on a set of your own.",
            questions=questions,
        )
    for name, value, low, high in (("share", share, 0.1, 0.9), ("level", level, 0.5, 0.999)):
        if not low <= value <= high:
            raise InvalidInput(f"{name}={value!r} is outside {low:g}..{high:g}.", value=value)
    if settings < SEARCHES * 20:
        raise InvalidInput(f"settings={settings!r} is no search; try at least {SEARCHES * 20}.", value=settings)


def _sampled(questions: list[Labelled], seed: int) -> list[Labelled]:
    if len(questions) <= MOST_LEARNT:
        return questions
    rows = np.sort(np.random.default_rng(seed).permutation(len(questions))[:MOST_LEARNT])
    return [questions[row] for row in rows]


def _looks_around(policy: Policy) -> bool:
    """Whether weights decide which texts are read and who joins the candidates: the evidence then follows them."""
    return bool({"late", "context"} & set(policy.signals)) or policy.sources.neighbours > 0


def _bands(table: Table) -> list[tuple[float, float]]:
    """Return cosine bands between what is usual here and what right answers reach."""
    every, right = table.cosines()
    if not len(right):
        return []
    lows, highs = np.quantile(every, (0.25, 0.5, 0.75)), np.quantile(right, (0.75, 0.95))
    return [(round(float(a), 4), round(float(b), 4)) for a in lows for b in highs if b - a > 0.01]


def _named(knobs: Knobs, points: Points, base: Policy) -> Policy:
    """Return the setting as a policy named after the one it came from; the base itself where nothing was turned."""
    name = base.name if base.name.endswith(SUFFIX) else base.name + SUFFIX
    found = knobs.policy_of(points, 0, name)
    return base if found.replace(name=base.name) == base else found
