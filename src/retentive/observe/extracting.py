"""The job that takes memories from turns with a language model; the turns were stored before it was on the queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from retentive.embedders.protocol import checked_vectors
from retentive.errors import LlmFailed
from retentive.indexing import passage
from retentive.jobs import Desk, Worked, enqueue
from retentive.jobs.decide import ATTEMPTS
from retentive.llm.asking import ask_json
from retentive.llm.protocol import Llm, model_id
from retentive.observe.admit import Statements, as_memory, taken_drafts
from retentive.observe.asking import SCHEMA, asked_about, batches, claims
from retentive.observe.outcome import NotTaken
from retentive.observe.patterns import Extract
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import Job, JournalEntry, Memory

KIND: Final = "extract"
METHOD: Final = "llm"


def enqueue_turns(tx: Transaction, turns: Sequence[Memory], now: datetime) -> list[Job]:
    """Put the turns on the queue, in the transaction that stores them; a job for each question."""
    return [enqueue(tx, KIND, now, memories=[turn.id for turn in group]) for group in batches(turns)]


@dataclass(frozen=True, slots=True)
class Found:
    """What the turns hold: the memories, which of them nobody rated, and what was refused."""

    taken: Sequence[Memory] = ()
    unrated: Sequence[int] = ()
    refused: Sequence[NotTaken] = ()


class Extracting:
    """Takes memories from the turns that a job names.

    A model that fails is asked again later; at the last attempt the patterns take its place, so that a conversation is
    never left unread because a model could not read it.
    """

    needs_llm = True
    batch = 1

    def work(self, jobs: Sequence[Job], desk: Desk) -> Worked:
        """Ask about the turns that are still there, and write what holds with the job's end."""
        (job,) = jobs
        turns = _standing(desk.keeper.store, job.memories)
        found = self._found(job, turns, desk) if turns else Found()
        if not found.taken:
            return Worked(lambda tx, _job: _note(tx, desk, turns, 0, found.refused))
        vectors = checked_vectors(desk.tools.embedder, [passage(memory) for memory in found.taken])
        stated = Statements.of(desk.keeper, found.taken, list(vectors), set(found.unrated))

        def finish(tx: Transaction, _job: Job) -> None:
            standing = [at for at in stated.standing(desk.keeper, tx) if _evidence_stands(tx, stated.memories[at])]
            if standing:
                desk.keeper.stamp(tx)
            kept = stated.write(desk.keeper, tx, standing)
            _note(tx, desk, turns, len(kept), [*found.refused, *stated.refused])

        return Worked(finish)

    def _found(self, job: Job, turns: Sequence[Memory], desk: Desk) -> Found:
        try:
            return _asked(turns, desk)
        except LlmFailed:
            if job.attempts < ATTEMPTS:
                raise
            taken = taken_drafts(turns, desk.keeper.author)
            return Found(taken, range(len(taken)))


def _standing(store: SpaceStore, names: Iterable[str]) -> list[Memory]:
    """Return the turns that nobody forgot or erased meanwhile, in order."""
    names = list(names)
    found = store.get(names)
    return [found[name] for name in names if name in found and found[name].retrievable]


def _asked(turns: Sequence[Memory], desk: Desk) -> Found:
    llm: Llm | None = desk.llm
    if llm is None:  # the queue promises one; this is for the types
        raise LlmFailed("No language model is named.")
    desk.hold()
    parsed = ask_json(llm, asked_about(turns), SCHEMA, spend=desk.spend)
    claimed, refused = claims(parsed.data, turns, desk.tools.language)
    author, model = desk.keeper.author, model_id(llm)
    made = [
        as_memory(item.turns, Extract(item.kind, item.text), author, METHOD, importance=item.importance, model=model)
        for item in claimed
    ]
    return Found(made, [at for at, item in enumerate(claimed) if item.importance is None], refused)


def _evidence_stands(tx: Transaction, memory: Memory) -> bool:
    """Whether a turn that was read is still there now that the answer has come."""
    found = [tx.get(name) for name in memory.derived_from]
    return any(turn is not None and turn.retrievable for turn in found)


def _note(tx: Transaction, desk: Desk, turns: Sequence[Memory], kept: int, refused: Sequence[NotTaken]) -> None:
    """Leave a line in the journal: what came of it. No text of the turns or the model is in it."""
    author = desk.keeper.author
    about = turns[0].id if turns else ""
    reason = f"{kept} memories taken from {len(turns)} turns, {len(refused)} refused"
    tx.journal(JournalEntry(author.now, "observe", about, author.actor, reason))
