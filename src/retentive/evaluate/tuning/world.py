"""Where tuning asks its questions: a set in temporary spaces, asked through the real engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np

from retentive.embedders.protocol import Embedder
from retentive.evaluate.cache import Known, cached
from retentive.evaluate.datasets import Dataset, Question
from retentive.evaluate.ingest import History, ingested, kinds_of, position
from retentive.evaluate.metrics import NDCG_DEPTH, ndcg_at
from retentive.policy.policy import Policy
from retentive.recall.channels import find
from retentive.recall.cue import Cue, read_cue, with_names
from retentive.recall.evidence import Evidence, gather
from retentive.recalling import Filters, question_of

if TYPE_CHECKING:
    from retentive.memory import Space


class Step(Protocol):
    """Called whenever something is done."""

    def __call__(self, by: int = 1) -> None:
        """Count so many steps."""


DEPTH: Final = NDCG_DEPTH


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question that can be judged, and the conversation it belongs to."""

    conversation: int
    question: Question

    @property
    def group(self) -> tuple[int, str]:
        """What must not be torn apart by a split: the same thing asked again is no new question."""
        return (self.conversation, " ".join(self.question.text.casefold().split()))

    def value(self, ranked: Sequence[str]) -> float:
        """Return what an answer is worth: nDCG@10, or, where none is right, whether it is empty."""
        return float(not ranked) if self.question.abstains else ndcg_at(ranked, self.question.gold)


def labelled(dataset: Dataset) -> list[Labelled]:
    """Return the questions of a set that can be judged."""
    return [
        Labelled(number, question)
        for number, conversation in enumerate(dataset.conversations)
        for question in conversation.questions
        if question.scored or question.abstains
    ]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with the evidence that the engine gathered for it, and where the right answers stand in it."""

    one: Labelled
    cue: Cue
    evidence: Evidence
    gold: tuple[tuple[int, ...], ...]  # for each right answer its positions among the candidates; empty: not found


class World:
    """A set, remembered; a context manager, for it leaves nothing behind."""

    def __init__(self, dataset: Dataset, embedder: Embedder, policy: Policy, known: Known | None = None) -> None:
        from retentive.memory import Retentive  # noqa: PLC0415 - the façade is heavy, and `--help` comes through here

        self.dataset = dataset
        self._close = ExitStack()
        folder = self._close.enter_context(TemporaryDirectory(prefix="retentive-tune-"))
        self._memories = self._close.enter_context(Retentive(folder, embedder=cached(embedder, known)))
        self._histories = {
            number: History(conversation.items, policy.reinforcement)
            for number, conversation in enumerate(dataset.conversations)
        }
        self._spaces: dict[int, Space] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close.close()

    def space(self, number: int) -> Space:
        """Return a conversation's space, remembered at the first need."""
        if number not in self._spaces:
            conversation = self.dataset.conversations[number]
            self._memories.register_kind(*kinds_of(conversation))
            space = self._memories.space(("tuning", f"conversation-{number}"))
            self._spaces[number] = ingested(space, conversation)
        return self._spaces[number]

    def _standing_at(self, one: Labelled) -> Space:
        space = self.space(one.conversation)
        self._histories[one.conversation].stand_at(space, one.question.at)
        return space

    def names(self, number: int) -> Mapping[str, str]:
        """Return a set's own ids by ours."""
        items = self.dataset.conversations[number].items
        return {position(at): item.id for at, item in enumerate(items)}

    def values(self, policy: Policy, questions: Sequence[Labelled], step: Step) -> list[float]:
        """Ask questions through the real recall and return what each answer is worth."""
        asked = at_depth(policy)
        values = []
        for one in questions:
            space = self._standing_at(one)
            recall = space.recall(one.question.text, policy=asked, now=one.question.at, touch=False)
            names = self.names(one.conversation)
            ids = [hit.memory.id for hit in recall] + list(recall.compacted.ids if recall.compacted else ())
            values.append(one.value(list(dict.fromkeys(names[memory_id] for memory_id in ids))))
            step()
        return values

    def gather(self, policy: Policy, questions: Sequence[Labelled], step: Step) -> list[Asked]:
        """Measure every candidate of every question once."""
        gathered = []
        for one in questions:
            gathered.append(self._gathered(at_depth(policy), one))
            step()
        return gathered

    def _gathered(self, policy: Policy, one: Labelled) -> Asked:
        store, tools = self._standing_at(one).store, self._memories.tools
        asked = question_of(one.question.text, None, None, policy, Filters(), one.question.at)
        cue = read_cue(asked, tools)
        with store.snapshot():
            cue = with_names(cue, asked, store)
            evidence = gather(asked, cue, find(asked, cue, store), store, tools)
        names = self.names(one.conversation)
        ids = [names[memory_id] for memory_id in evidence.columns.ids]
        gold = tuple(tuple(at for at, name in enumerate(ids) if name == wanted) for wanted in one.question.gold)
        return Asked(one, cue, _light(evidence), gold)


def at_depth(policy: Policy) -> Policy:
    """Return the policy with room for all that is judged."""
    return policy.replace(limit=max(DEPTH, policy.selection.limit))


def _light(evidence: Evidence) -> Evidence:
    """Let go of the vectors: no signal reads them, and they are most of the memory."""
    columns = replace(evidence.columns, vectors=np.zeros((0, 0), dtype=np.float32))
    return replace(evidence, pool=replace(evidence.pool, columns=columns))
