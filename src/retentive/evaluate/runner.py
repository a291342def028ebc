"""Asking a policy every question of a set through the real façade, and measuring what comes back.

One `Retentive` per set, one space per conversation, the same stored memories for every policy: a difference between two
rows of a table is a difference between two policies and nothing else. Ids are positions: ties are broken by id, and a
set's own ids may name the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from retentive.embedders.protocol import Embedder, query_vector
from retentive.errors import unknown_name
from retentive.evaluate import misses
from retentive.evaluate.cache import cached
from retentive.evaluate.datasets import Conversation, Dataset, Question
from retentive.evaluate.ingest import TEXT_FORMS, History, ingested, kinds_of, position
from retentive.evaluate.metrics import newest_first, ranking_metrics
from retentive.evaluate.report import Asked, Report, summarise
from retentive.policy.policy import Policy

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space
    from retentive.recall.request import Tools

DEPTHS = (1, 5, 10, 20)
Progress = Callable[[int, int, str], None]
"""Called with questions answered, questions in all, and what is running."""


Block = tuple[str, str, bool]
"""What is asked in one go: a conversation's questions under one policy, with or without write-back."""


class Journal(Protocol):
    """Where finished blocks are kept, so that a run can go on where it was interrupted."""

    def known(self, block: Block, conversation: Conversation) -> list[Asked] | None:
        """Return a block that an earlier run finished, None if none did."""

    def keep(self, block: Block, asked: Sequence[Asked]) -> None:
        """Keep a finished block."""


@dataclass(slots=True)
class _Run:
    """One evaluation under way."""

    dataset: Dataset
    policies: Sequence[Policy]
    embedder: Embedder
    depths: tuple[int, ...]
    passes: tuple[bool, ...]  # with touch or without, in the order they are run
    text_form: str = "fields"
    progress: Progress | None = None
    journal: Journal | None = None
    blocks: dict[Block, list[Asked]] = field(default_factory=dict)
    done: int = 0

    @property
    def total(self) -> int:
        return self.dataset.questions * len(self.policies) * len(self.passes)

    def step(self, label: str, by: int = 1) -> None:
        self.done += by
        if self.progress:
            self.progress(self.done, self.total, label)

    def remembered(self, block: Block, conversation: Conversation) -> bool:
        """Take a block from the journal of an earlier run, if it is there."""
        known = self.journal.known(block, conversation) if self.journal else None
        if known is not None:
            self.blocks[block] = known
            self.step("taken from the run before", len(known))
        return known is not None

    def finish(self, block: Block, asked: list[Asked]) -> None:
        """Keep a block whole: an interrupted run resumes between blocks, never within one."""
        self.blocks[block] = asked
        if self.journal:
            self.journal.keep(block, asked)

    def asked(self) -> list[Asked]:
        """Return everything asked in one order, whether it was asked just now or in the run before."""
        order = product(self.dataset.conversations, self.passes, self.policies)
        blocks = ((conversation.space, policy.name, touch) for conversation, touch, policy in order)
        return [one for block in blocks for one in self.blocks.get(block, ())]


def evaluate(
    dataset: Dataset,
    policies: Sequence[Policy | str],
    *,
    embedder: Embedder | str | None = None,
    touch: bool = False,
    k: Sequence[int] = DEPTHS,
    store: Path | None = None,
    text_form: str = "fields",
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> Report:
    """Ask every question under every policy and return the measured report.

    Without ``touch`` a conversation is remembered once and read by all policies in turn, leaving no trace. With it,
    each policy also gets a fresh space and answers the questions in file order with write-back on, so that the report
    holds the difference. ``store`` is a folder for the embedded store; None takes a temporary one.
    ``text_form`` is one of `TEXT_FORMS`, for all policies of the run. With a ``journal`` (`saved.SavedRun`) what an
    earlier run finished is not asked again.
    """
    from retentive.embedders import resolve  # noqa: PLC0415 - models are loaded only where something is measured
    from retentive.memory import Retentive  # noqa: PLC0415 - the façade is heavy, and `--help` comes through here

    if text_form not in TEXT_FORMS:
        raise unknown_name("text form", text_form, TEXT_FORMS)
    depths = tuple(sorted(set(k)))
    chosen = [_policy(one).replace(limit=max(depths)) for one in policies]
    inner = resolve(embedder)
    passes = (False, True) if touch else (False,)
    run = _Run(dataset, chosen, cached(inner), depths, passes, text_form, progress, journal)
    with _folder(store) as folder, Retentive(folder, embedder=run.embedder) as memories:
        for number, conversation in enumerate(dataset.conversations):
            _conversation(run, memories, conversation, number)
    return summarise(dataset, inner, run.asked(), depths, text_form)


def _folder(store: Path | None) -> AbstractContextManager[str]:
    """Return the folder to measure in: the store that users have, not the in-memory reference, which is slow."""
    return nullcontext(str(store)) if store else TemporaryDirectory(prefix="retentive-eval-")


def _policy(policy: Policy | str) -> Policy:
    """Return a policy by name, or from a file where the name ends in ``.toml``."""
    from retentive.policy import presets  # noqa: PLC0415 - only the names are known before

    if isinstance(policy, Policy):
        return policy
    return Policy.load(policy) if policy.endswith(".toml") else presets.get(policy)


def _conversation(run: _Run, memories: Retentive, conversation: Conversation, number: int) -> None:
    """Play one conversation in every pass and drop its spaces: a set of 250 must not hold them all open."""
    for touch in run.passes if conversation.questions else ():
        for policies in ([policy] for policy in run.policies) if touch else [run.policies]:
            left = [one for one in policies if not run.remembered((conversation.space, one.name, touch), conversation)]
            if left:
                _played(run, memories, conversation, number, left, touch=touch)


def _played(
    run: _Run,
    memories: Retentive,
    conversation: Conversation,
    number: int,
    policies: Sequence[Policy],
    *,
    touch: bool,
) -> None:
    """Remember a conversation and ask it everything under some policies."""
    path = ("evaluation", f"conversation-{number}")
    memories.register_kind(*kinds_of(conversation))
    space = ingested(memories.space(path), conversation, run.text_form)
    for question in conversation.questions:
        query_vector(run.embedder, question.text)  # embedding is measured apart, so no policy pays for it
    for policy in policies:
        asked = _ask_all(run, _Place(space, memories.tools, conversation), policy, touch=touch)
        run.finish((conversation.space, policy.name, touch), asked)
    memories.drop(path)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where questions are asked: a space that holds a conversation, and the tools to look closer at what was missed."""

    space: Space
    tools: Tools
    conversation: Conversation

    def names(self) -> dict[str, str]:
        """Return the set's own ids by ours."""
        return {position(number): item.id for number, item in enumerate(self.conversation.items)}


def _ask_all(run: _Run, place: _Place, policy: Policy, *, touch: bool) -> list[Asked]:
    names, said = place.names(), {item.id: item.at for item in place.conversation.items}
    asked = []
    history = None if touch else History(place.conversation.items)
    for question in place.conversation.questions:
        if history:
            history.stand_at(place.space, question.at)
        asked.append(_asked(run.depths, place, question, policy, names, said, touch=touch))
        run.step(f"{policy.name}{' with write-back' if touch else ''}")
    return asked


def _asked(
    depths: Sequence[int],
    place: _Place,
    question: Question,
    policy: Policy,
    names: dict[str, str],
    said: dict[str, datetime],
    *,
    touch: bool,
) -> Asked:
    started = time.perf_counter()
    recall = place.space.recall(
        question.text, policy=policy, limit=policy.selection.limit, now=question.at, touch=touch
    )
    seconds = time.perf_counter() - started
    ranked = list(dict.fromkeys(names[memory_id] for memory_id in _ids(recall)))
    scores = {}
    if question.scored:
        scores = {name: metric(ranked, question.gold) for name, metric in ranking_metrics(depths).items()}
    return Asked(
        policy=policy.name,
        touched=touch,
        question=question,
        ranked=tuple(ranked),
        scores=scores,
        newest=newest_first(ranked, question.current, question.outdated) if _orders(question) else None,
        seconds=seconds,
        age_days=_age(question, said),
        tokens=sum(place.tools.count_tokens(hit.memory.text) for hit in recall),
        candidates=recall.trace.work.candidates_scored,
        lost=misses.lost(recall, question, names, place.space.store, place.tools) if question.scored else {},
        parts=misses.parts(recall, question, names) if question.scored else {},
    )


def _age(question: Question, said: dict[str, datetime]) -> float | None:
    """Return how old the evidence is when it is asked for, in days, on average over its pieces."""
    ages = [max(0.0, (question.at - said[one]).total_seconds() / 86_400) for one in question.gold]
    return sum(ages) / len(ages) if ages else None


def _ids(recall: Any) -> Iterator[str]:
    """Walk the answer: hits best first, then what the token budget squeezed into the compacted block."""
    yield from (hit.memory.id for hit in recall)
    if recall.compacted is not None:
        yield from recall.compacted.ids


def _orders(question: Question) -> bool:
    """Whether the question tells a current fact from an outdated one."""
    return bool(question.current and question.outdated)
