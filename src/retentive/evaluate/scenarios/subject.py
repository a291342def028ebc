"""What takes the test: the few verbs that any memory has, and our own engine behind them.

A peer joins with an adapter of these five methods. What it cannot express (a key, a policy) it ignores, and then fails
the behaviour that depends on it: that is the comparison. Behaviours of things that only we have (an explanation, a
rendered prompt) ask for a `RetentiveSubject` and are "not offered" by others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from retentive.embedders.protocol import Embedder
from retentive.policy.policy import Policy
from retentive.types import AgentState, Json

if TYPE_CHECKING:
    from retentive.answer import Recall
    from retentive.evaluate.tuning import Tuning
    from retentive.memory import Retentive, Space
    from retentive.reflect.outcome import Reflection

HOME = "acme/alice"
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
"""Every scenario plays around this Saturday; no scenario reads the wall clock."""


class Clock:
    """The time of a scenario: it stands still until it is moved."""

    def __init__(self, start: datetime = NOON) -> None:
        self.now = start

    def __call__(self) -> datetime:
        """Return the time, as the engine asks for it."""
        return self.now

    def ago(self, days: float) -> datetime:
        """Return the moment so many days back."""
        return self.now - timedelta(days=days)

    def pass_(self, *, days: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Let time go by."""
        self.now += timedelta(days=days, minutes=minutes, seconds=seconds)


class Facts(TypedDict, total=False):
    """What can be said about a text when it is remembered."""

    kind: str
    importance: float
    key: str
    tags: Sequence[str]
    metadata: Mapping[str, Json]
    source: str
    at: datetime
    speaker: str
    session: str
    valid_from: datetime
    valid_until: datetime
    supersedes: Sequence[str]
    derived_from: Sequence[str]
    pinned: bool
    permanent: bool
    recurs: str
    trust: float
    id: str


class Asked(TypedDict, total=False):
    """What can be asked of a recall beside its cue."""

    state: AgentState
    utterance: str
    kinds: Sequence[str]
    tags: Sequence[str]
    where: Mapping[str, Json]
    as_of: datetime
    token_budget: int
    session: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One memory of an answer, best first."""

    id: str
    text: str
    score: float


class Subject(Protocol):
    """The least that a memory must do to take the test."""

    def remember(self, text: str, *, space: str = HOME, **facts: Unpack[Facts]) -> str:
        """Keep a text and return its id."""

    def recall(
        self,
        cue: str | None,
        *,
        space: str = HOME,
        limit: int = 5,
        policy: Policy | str | None = None,
        touch: bool = True,
        **asked: Unpack[Asked],
    ) -> list[Answered]:
        """Return what is worth bringing up, best first; ``touch=False`` leaves no trace of having asked."""

    def forget(self, memory_id: str, *, space: str = HOME) -> None:
        """Take a memory out of every later answer."""

    def reopen(self) -> None:
        """Close and open again, as after a restart."""

    def close(self) -> None:
        """Release everything."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scenario gives to the subject it opens."""

    clock: Clock
    embedder: Embedder | str
    location: Path | None = None  # None: nothing has to outlive the scenario
    shared: Mapping[str, str] = field(default_factory=dict)  # space -> the shared space it opted into
    reranker: Any = None


SubjectMaker = Callable[[Setting], Subject]
Bend = Callable[[Policy], Policy]


class RetentiveSubject:
    """Our engine through its public façade. ``bend`` changes every policy on its way in: how tests break it."""

    def __init__(self, setting: Setting, policy: Policy | str = "retentive", bend: Bend | None = None) -> None:
        self.setting = setting
        self._policy = policy
        self._bend = bend
        self.memories = self._open()

    def _open(self) -> Retentive:
        from retentive.memory import Retentive  # noqa: PLC0415 - the façade is heavy, and `--help` comes through here

        location = self.setting.location or ":memory:"
        return Retentive(
            location,
            embedder=self.setting.embedder,
            policy=self.policy(None),
            clock=self.setting.clock,
            reranker=self.setting.reranker,
        )

    def policy(self, asked: Policy | str | None) -> Policy:
        """Return the policy that a recall runs under: the one asked for, else the subject's own; bent."""
        from retentive.policy import presets  # noqa: PLC0415

        policy = self._policy if asked is None else asked
        value = presets.get(policy) if isinstance(policy, str) else policy
        return self._bend(value) if self._bend else value

    def space(self, path: str = HOME) -> Space:
        """Return the real space, for what only we have."""
        return self.memories.space(path, shared=self.setting.shared.get(path))

    def ask(
        self,
        cue: str | None,
        *,
        space: str = HOME,
        limit: int | None = None,
        policy: Policy | str | None = None,
        touch: bool = True,
        **asked: Unpack[Asked],
    ) -> Recall:
        """Return the whole answer, with its trace and its rendering."""
        return self.space(space).recall(cue, limit=limit, policy=self.policy(policy), touch=touch, **asked)

    def remember(self, text: str, *, space: str = HOME, **facts: Unpack[Facts]) -> str:
        """Keep a text and return its id."""
        return self.space(space).remember(text, **facts).id

    def recall(
        self,
        cue: str | None,
        *,
        space: str = HOME,
        limit: int = 5,
        policy: Policy | str | None = None,
        touch: bool = True,
        **asked: Unpack[Asked],
    ) -> list[Answered]:
        """Return what is worth bringing up, best first."""
        hits = self.ask(cue, space=space, limit=limit, policy=policy, touch=touch, **asked)
        return [Answered(hit.memory.id, hit.memory.text, hit.score) for hit in hits]

    def reflect(self, **how: Any) -> Reflection:
        """Reflect on the space, if it is due."""
        return self.space().reflect(**how)

    def tune(self, **how: Any) -> Tuning:
        """Learn from the space's own recalls, and apply what is better on those held out."""
        from retentive.evaluate.ledger import from_ledger  # noqa: PLC0415
        from retentive.evaluate.tuning import tune  # noqa: PLC0415

        space = self.space()
        dataset = from_ledger({space.path: space.store})
        outcome = tune(dataset, space.policy_in_force(), embedder=self.setting.embedder, **how)
        if outcome.accepted:
            space.apply_policy(outcome.policy, outcome.verdict)
        return outcome

    def forget(self, memory_id: str, *, space: str = HOME) -> None:
        """Suppress a memory: hidden, not deleted."""
        self.space(space).forget(memory_id, reason="scenario")

    def reopen(self) -> None:
        """Close and open again; without a location on disk nothing would be left, so only the handle is renewed."""
        if self.setting.location is not None:
            self.memories.close()
            self.memories = self._open()

    def close(self) -> None:
        """Release everything."""
        self.memories.close()
