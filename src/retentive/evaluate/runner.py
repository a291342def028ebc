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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from retentive.embedders.protocol import Embedder, query_vector
from retentive.errors import unknown_name
from retentive.evaluate.cache import cached
from retentive.evaluate.datasets import Conversation, Dataset, Item, Question
from retentive.evaluate.metrics import newest_first, ranking_metrics
from retentive.evaluate.report import Asked, Report, summarise
from retentive.policy.policy import Policy

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space

DEPTHS = (1, 5, 10, 20)
TEXT_FORMS = ("fields", "dated")
"""Speaker and time beside the text, as the façade takes them; or written into it, as published baselines have them."""
Progress = Callable[[int, int, str], None]
"""Called with questions answered, questions in all, and what is running."""


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
    asked: list[Asked] = field(default_factory=list)
    done: int = 0

    @property
    def total(self) -> int:
        return self.dataset.questions * len(self.policies) * len(self.passes)

    def step(self, label: str) -> None:
        self.done += 1
        if self.progress:
            self.progress(self.done, self.total, label)


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
) -> Report:
    """Ask every question under every policy and return the measured report.

    Without ``touch`` a conversation is remembered once and read by all policies in turn, leaving no trace. With it,
    each policy also gets a fresh space and answers the questions in file order with write-back on, so that the report
    holds the difference. ``store`` is a folder for the embedded store; None takes a temporary one.
    ``text_form`` is one of `TEXT_FORMS`, for all policies of the run.
    """
    from retentive.embedders import resolve  # noqa: PLC0415 - models are loaded only where something is measured
    from retentive.memory import Retentive  # noqa: PLC0415 - the façade is heavy, and `--help` comes through here

    if text_form not in TEXT_FORMS:
        raise unknown_name("text form", text_form, TEXT_FORMS)
    depths = tuple(sorted(set(k)))
    chosen = [_policy(one).replace(limit=max(depths)) for one in policies]
    inner = resolve(embedder)
    passes = (False, True) if touch else (False,)
    run = _Run(dataset, chosen, cached(inner), depths, passes, text_form, progress)
    with _folder(store) as folder, Retentive(folder, embedder=run.embedder) as memories:
        for number, conversation in enumerate(dataset.conversations):
            _conversation(run, memories, conversation, number)
    return summarise(dataset, inner, run.asked, depths, text_form)


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
    if not conversation.questions:
        return
    for question in conversation.questions:
        query_vector(run.embedder, question.text)  # embedding is measured apart, so no policy pays for it
    for touch in run.passes:
        for policies in ([policy] for policy in run.policies) if touch else [run.policies]:
            path = ("evaluation", f"conversation-{number}")
            _ask_all(
                run, _ingested(memories.space(path), conversation, run.text_form), conversation, policies, touch=touch
            )
            memories.drop(path)


def _ingested(space: Space, conversation: Conversation, text_form: str) -> Space:
    write = _fields if text_form == "fields" else _dated
    space.remember_many(write(_position(number), item) for number, item in enumerate(conversation.items))
    return space


def _fields(position: str, item: Item) -> dict[str, Any]:
    return {"id": position, "text": item.said, "at": item.at, "speaker": item.speaker, "session": item.session}


def _dated(position: str, item: Item) -> dict[str, Any]:
    speaker = f"{item.speaker}: " if item.speaker else ""
    text = f"[{item.at:%Y-%m-%d %H:%M}] {speaker}{item.said}"
    return {"id": position, "text": text, "at": item.at, "session": item.session}


def _position(number: int) -> str:
    return f"m{number:06d}"


def _ask_all(run: _Run, space: Space, conversation: Conversation, policies: Sequence[Policy], *, touch: bool) -> None:
    names = {_position(number): item.id for number, item in enumerate(conversation.items)}
    for policy in policies:
        for question in conversation.questions:
            run.asked.append(_asked(run, space, question, policy, names, touch=touch))
            run.step(f"{policy.name}{' with write-back' if touch else ''}")


def _asked(run: _Run, space: Space, question: Question, policy: Policy, names: dict[str, str], *, touch: bool) -> Asked:
    started = time.perf_counter()
    recall = space.recall(question.text, policy=policy, limit=policy.selection.limit, now=question.at, touch=touch)
    seconds = time.perf_counter() - started
    ranked = list(dict.fromkeys(names[memory_id] for memory_id in _ids(recall)))
    scores = {}
    if question.scored:
        scores = {name: metric(ranked, question.gold) for name, metric in ranking_metrics(run.depths).items()}
    newest = newest_first(ranked, question.current, question.outdated) if _orders(question) else None
    return Asked(policy.name, touch, question, tuple(ranked), scores, newest, seconds)


def _ids(recall: Any) -> Iterator[str]:
    """Walk the answer: hits best first, then what the token budget squeezed into the compacted block."""
    yield from (hit.memory.id for hit in recall)
    if recall.compacted is not None:
        yield from recall.compacted.ids


def _orders(question: Question) -> bool:
    """Whether the question tells a current fact from an outdated one."""
    return bool(question.current and question.outdated)
