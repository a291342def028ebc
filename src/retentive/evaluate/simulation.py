"""A simulated user whose habits are known: does what adapts follow when they change, and harm nothing when they do not?

The user asks about topics; of a topic's memories the one wanted is decided by the user's habit, weights over how well
a memory fits the words, how new and how important it is. What is not in the answer is asked for again with room for
more, as people do, and used from there. Everything goes through the real façade; every number comes from the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from retentive.policy import presets
from retentive.policy.policy import Policy

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space

START: Final = datetime(2024, 1, 1, tzinfo=UTC)
TOPICS: Final = ("bees", "roof", "tram", "piano", "garden", "sauna", "kitchen", "harbour", "violin", "cellar")
ASPECTS: Final = ("paint", "price", "repair", "owner", "weather", "noise", "colour", "origin", "weight", "future")
LIMIT: Final = 5
AGAIN: Final = 12  # how many are asked for the second time
HALF_LIFE_DAYS: Final = 14.0
CONTENT: Final = 0.8  # how often a user who is served well wants what stands first
ADAPTIVE: Final = "adaptive"

Habit = Mapping[str, float]  # weights over similarity, recency, importance
HABITS: Final[Mapping[str, Habit]] = {
    "words": {"similarity": 3.0, "recency": 0.2, "importance": 0.2},
    "news": {"similarity": 0.6, "recency": 3.0, "importance": 0.2},
    "weight": {"similarity": 0.6, "recency": 0.2, "importance": 3.0},
    "even": {"similarity": 1.0, "recency": 1.0, "importance": 1.0},
    "served": {},  # wants what the base policy puts first, and now and then another of its first five
}
USERS: Final[Mapping[str, Sequence[str]]] = {
    "drifting": ("words", "news", "weight"),
    "stable, served by the preset": ("served",),
    "stable, even": ("even",),
    "stable, words": ("words",),
    "stable, news": ("news",),
    "stable, weight": ("weight",),
}
"""What each user wants, phase after phase of equal length."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory as the user knows it."""

    id: str
    topic: str
    aspect: str
    importance: float
    at: datetime


@dataclass(slots=True)
class Life:
    """One user's days under one policy."""

    space: Space
    base: Policy
    chance: np.random.Generator
    now: datetime = START
    kept: list[Kept] = field(default_factory=list)

    def remember(self, days_ago: float = 0.0) -> None:
        """Keep something about a topic."""
        topic, aspect = str(self.chance.choice(TOPICS)), str(self.chance.choice(ASPECTS))
        importance, at = round(float(self.chance.uniform(0.05, 0.95)), 3), self.now - timedelta(days=days_ago)
        name = f"m{len(self.kept)}"
        self.space.remember(f"the {topic}: {aspect}, note {len(self.kept)}", importance=importance, at=at, id=name)
        self.kept.append(Kept(name, topic, aspect, importance, at))

    def ask(self, habit: Habit) -> float:
        """Ask, use what was wanted, say so; returns what the first answer was worth (nDCG@5 of the one wanted)."""
        topic, aspect = str(self.chance.choice(TOPICS)), str(self.chance.choice(ASPECTS))
        wanted = self._wanted(topic, aspect, habit) if habit else self._served(f"{topic} {aspect}")
        recall = self.space.recall(f"{topic} {aspect}", limit=LIMIT, now=self.now)
        ids = [hit.memory.id for hit in recall]
        if wanted in ids:
            recall.feedback(used=[wanted])
            return 1 / math.log2(2 + ids.index(wanted))
        again = self.space.recall(f"{topic} {aspect}, more", limit=AGAIN, now=self.now + timedelta(minutes=1))
        if wanted in [hit.memory.id for hit in again]:
            again.feedback(used=[wanted])
        return 0.0

    def _served(self, cue: str) -> str:
        answer = self.space.recall(cue, policy=self.base, limit=LIMIT, now=self.now, touch=False)
        place = 0 if self.chance.random() < CONTENT else int(self.chance.integers(len(answer)))
        return answer[place].memory.id

    def _wanted(self, topic: str, aspect: str, habit: Habit) -> str:
        """Return the memory of the topic that the habit ranks first, on scales from 0 to 1 among its memories."""
        found = [one for one in self.kept if one.topic == topic]
        ages = np.array([(self.now - one.at).total_seconds() / 86_400 for one in found])
        columns = {
            "similarity": np.array([float(one.aspect == aspect) for one in found]),
            "recency": 2 ** (-ages / HALF_LIFE_DAYS),
            "importance": np.array([one.importance for one in found]),
        }
        scaled = {name: _spread(column) for name, column in columns.items()}
        worth = sum((habit[name] * column for name, column in scaled.items()), np.zeros(len(found)))
        return found[int(np.argmax(worth))].id


def _spread(column: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
    low, high = float(column.min()), float(column.max())
    return (column - low) / (high - low) if high > low else np.zeros_like(column)


def contenders(base: str) -> Iterator[tuple[str, Policy, bool]]:
    """Yield every summed preset as it is, and the base once more with adaptation; all by age since creation.

    Reading refreshes recency otherwise, and the user's own sense of what is new does not follow what was asked.
    """
    for name in presets.names():
        policy = presets.get(name)
        if policy.combine == "sum" and not policy.sources.require_tags:
            yield name, by_creation(policy), False
    yield ADAPTIVE, by_creation(presets.get(base)), True


def by_creation(policy: Policy) -> Policy:
    """Return the policy as it takes part: by age since creation, and with nothing that reorders after the scores."""
    policy = policy.replace(rotation="off", token_budget=None, pool=60, near_duplicate=None, diversity="none")
    return policy.replace(since="creation") if "recency" in policy.signals else policy


def live(user: Sequence[str], policy: Policy, *, adapts: bool, base: str, seed: int, steps: int) -> list[float]:
    """Let a user live for so many questions; returns what each answer was worth."""
    from retentive.memory import Retentive  # noqa: PLC0415 - the façade is heavy, and `--help` comes through here

    with Retentive(":memory:", embedder="hash", policy=policy, clock=lambda: life.now) as memories:
        life = _born(memories, by_creation(presets.get(base)), seed)
        if adapts:
            life.space.adapt()
        return list(_days(life, user, steps))


def _born(memories: Retentive, base: Policy, seed: int) -> Life:
    life = Life(memories.space("user"), base, np.random.default_rng(seed))
    memories.clock = lambda: life.now
    for _ in range(80):
        life.remember(days_ago=float(life.chance.uniform(0, 60)))
    return life


def _days(life: Life, user: Sequence[str], steps: int) -> Iterator[float]:
    for step in range(steps):
        life.now += timedelta(hours=6)
        if step % 4 == 0:
            life.remember()
        yield life.ask(HABITS[user[step * len(user) // steps]])


@dataclass(frozen=True, slots=True)
class Row:
    """One user under every contender: the mean worth of an answer, and each seed's."""

    user: str
    means: Mapping[str, float]
    base: str

    @property
    def best_fixed(self) -> tuple[str, float]:
        """The fixed preset that serves this user best, chosen in hindsight."""
        return max(((n, v) for n, v in self.means.items() if n != ADAPTIVE), key=lambda pair: pair[1])

    @property
    def over_base(self) -> float:
        """What adaptation gained over the preset it bends."""
        return self.means[ADAPTIVE] - self.means[self.base]

    @property
    def over_best(self) -> float:
        """What adaptation gained over the best fixed preset."""
        return self.means[ADAPTIVE] - self.best_fixed[1]


def simulate(users: Iterable[str] = USERS, *, base: str = "blend", seeds: int = 3, steps: int = 600) -> list[Row]:
    """Let every user live under every contender, over some seeds."""
    rows = []
    for user in users:
        means = {
            name: float(np.mean([
                live(USERS[user], policy, adapts=adapts, base=base, seed=seed, steps=steps) for seed in range(seeds)
            ]))
            for name, policy, adapts in contenders(base)
        }  # fmt: skip
        rows.append(Row(user, means, base))
    return rows
