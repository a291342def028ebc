"""What does the work of a kind of job: the protocol, what it is given, and the handlers that come with Retentive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, Protocol, runtime_checkable

from retentive.keeping import Keeper
from retentive.llm.protocol import Llm, Usage
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.recall.request import Tools
from retentive.stores.protocol import Transaction
from retentive.types import Job

BUILT_IN: Final[Mapping[str, str]] = {
    "extract": "retentive.observe.extracting:Extracting",
    "reflect": "retentive.thinking.reflecting:ReflectHandler",
    "rate": "retentive.thinking.rate:RateHandler",
}
"""The handlers that come with Retentive, by kind, as "module:Class"; imported when such a job is due."""


class LeaseLost(Exception):
    """Somebody else took the jobs over, or they were dropped: there is nothing left to do, and nobody to tell."""


@dataclass(slots=True)
class Desk:
    """What a handler works with: the space at this moment, the models, and its lease."""

    keeper: Keeper  # `keeper.store` reads, `keeper.author.now` is the time, `keeper.insert` writes
    tools: Tools
    llm: Llm | None
    hold: Callable[[], None]  # renews the lease before a long step; raises `LeaseLost` when there is none to renew
    usage: Usage = field(default_factory=Usage)
    policy: Policy = presets.retentive  # of recalls that name none: the space's own, else the home's

    def spend(self, usage: Usage) -> None:
        """Count what a call took; goes into `ask_json(..., spend=desk.spend)`."""
        self.usage += usage


def _nothing(_tx: Transaction, _job: Job) -> None:
    """Write nothing."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of a batch.

    ``finish`` writes the result of one job; it runs once for every job that did not fail and is still held, in the
    transaction that takes the job off the queue: so a result is written once, whoever else did the work as well.
    """

    finish: Callable[[Transaction, Job], None] = _nothing
    failed: Mapping[str, str] = field(default_factory=dict)  # job id → why; these are tried again, alone


@runtime_checkable
class Handler(Protocol):
    """Does the work of one kind of job.

    `work` reads and thinks, outside of any transaction, and may take its time. Whatever it raises fails the batch: it
    is tried again later with growing pauses, and buried after five attempts; `InvalidInput` and `NotFound` bury at
    once, for trying again would not help. A memory that is gone or hidden is no failure: there is nothing left to do.
    """

    @property
    def needs_llm(self) -> bool:
        """Whether the job waits until a language model is named."""

    @property
    def batch(self) -> int:
        """How many jobs may go into one `work`."""

    def work(self, jobs: Sequence[Job], desk: Desk) -> Worked:
        """Do the work of these jobs."""


@runtime_checkable
class ForecastingHandler(Protocol):
    """Optional: a handler that can say beforehand what its work would take."""

    def forecast(self, jobs: Sequence[Job], desk: Desk) -> Usage:
        """Return what the work of these jobs would take of the model at most; asks nobody, writes nothing."""


class Handlers:
    """The handlers by kind: those of this installation, and those that a program registered."""

    def __init__(self, registered: Mapping[str, Handler]) -> None:
        self._made: dict[str, Handler] = dict(registered)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of job that can be done at all."""
        return frozenset({*BUILT_IN, *self._made})

    def get(self, kind: str) -> Handler:
        """Return the handler of a kind in `kinds`."""
        if kind not in self._made:
            module, _, name = BUILT_IN[kind].partition(":")
            self._made[kind] = getattr(import_module(module), name)()
        return self._made[kind]

    def ready(self, llm: Llm | None) -> frozenset[str]:
        """Return the kinds that can be done now: without a language model some wait."""
        return frozenset(kind for kind in self.kinds if llm is not None or not self.get(kind).needs_llm)
