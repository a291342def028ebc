"""What is taken from turns, before it is stored: as drafts that name their turn, and without what is known already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from retentive.conflicts.find import Notice
from retentive.keeping import Keeper
from retentive.observe.outcome import NotTaken
from retentive.observe.patterns import COMMITMENT, Extract, extract
from retentive.observe.sessions import memory_id
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.text.sameness import folded, says_the_same, states_the_same
from retentive.types import Draft, Gate, Memory, Vectors
from retentive.weighing.rating import Rating
from retentive.writing import Author, memory_of

SAME: Final = 0.95  # policy.md §6: a near-duplicate; figures, names and negations must agree as well
_LOOKED_AT: Final = 5
PATTERNS: Final = "patterns"


def taken_drafts(turns: Iterable[Memory], author: Author) -> list[Memory]:
    """Return what the turns state by the patterns, in their order."""
    return [
        as_memory([turn], item, author, PATTERNS)
        for turn in turns
        for item in extract(turn.text, str(turn.metadata.get("origin", "")), turn.speaker or "")
    ]


def as_memory(
    turns: Sequence[Memory],
    item: Extract,
    author: Author,
    method: str,
    *,
    importance: float | None = None,
    model: str | None = None,
) -> Memory:
    """Return one thing taken from turns: it names them, and is trusted as far as the least trusted of them.

    It has no session: between two turns it would push their neighbours out of reach (decision 64).
    """
    turn = min(turns, key=lambda one: one.trust)
    promised = item.kind == COMMITMENT
    draft = Draft(
        item.text,
        kind="decision" if promised else item.kind,
        id=memory_id(turns[0].id, item.kind, folded(item.text)),
        importance=importance,
        key=item.key,
        tags=(COMMITMENT,) if promised else (),
        at=max(one.created_at for one in turns),
        speaker=turn.speaker if len({one.speaker for one in turns}) == 1 else None,
        source=f"turn:{turns[0].id}",
        derived_from=tuple(one.id for one in turns),
        trust=turn.trust,
        metadata={"origin": turn.metadata.get("origin"), "method": method, **({"model": model} if model else {})},
    )
    return memory_of(draft, author)


def insert_turns(
    keeper: Keeper, tx: Transaction, turns: Sequence[Memory], vectors: Sequence[Vectors], rating: Rating
) -> list[Memory]:
    """Write turns in a stamped transaction, those that nobody rated with the rater's importance."""
    rated, reasons = rating.rated(tx, list(turns))
    kept = [keeper.insert(tx, *one) for one in zip(rated, vectors, reasons, strict=True)]
    rating.finish(tx, kept)
    return kept


@dataclass(frozen=True, slots=True)
class Statements:
    """What is to be written of what was taken from turns: sifted, and looked at for what it denies."""

    memories: Sequence[Memory]
    vectors: Sequence[Vectors]
    rating: Rating
    notices: Sequence[Notice]
    refused: Sequence[NotTaken] = ()

    @classmethod
    def of(
        cls, keeper: Keeper, taken: Sequence[Memory], vectors: Sequence[Vectors], unrated: Collection[int] | None = None
    ) -> Self:
        """Sift, rate and look for conflicts, before any transaction; ``unrated`` are those without an importance."""
        places, refused = Admission(keeper.store, keeper.author).sift(taken, vectors)
        chosen, found = [taken[at] for at in places], [vectors[at] for at in places]
        asked = [at for at, place in enumerate(places) if unrated is None or place in unrated]
        rating = keeper.rating(asked, np.array(found))
        return cls(chosen, found, rating, keeper.noticed(chosen, found) if chosen else (), refused)

    def unchanged(self, keeper: Keeper, tx: Transaction) -> bool:
        """Whether all of it may still be written, now that the transaction has begun."""
        return len(self.standing(keeper, tx)) == len(self.memories)

    def standing(self, keeper: Keeper, tx: Transaction) -> list[int]:
        """Return the places of what may still be written."""
        return Admission(keeper.store, keeper.author, tx).sift(self.memories, self.vectors)[0]

    def write(self, keeper: Keeper, tx: Transaction, standing: Sequence[int] | None = None) -> list[Memory]:
        """Write it in a stamped transaction, with what it retires.

        Where only some of it still stands, that is written without a look at what it denies: the look was at all of it.
        """
        rated, reasons = self.rating.rated(tx, list(self.memories))
        if standing is not None and len(standing) < len(rated):
            return [keeper.insert(tx, rated[at], self.vectors[at], reasons[at]) for at in standing]
        kept: list[Memory] = []
        for memory, vector, notice, reason in zip(rated, self.vectors, self.notices, reasons, strict=True):
            kept.append(keeper.admit(tx, memory, vector, notice, kept, reason))
        self.rating.finish(tx, kept)
        return kept


class Admission:
    """Sifts what was taken: each once, and nothing that the space says already or that somebody had erased."""

    def __init__(self, store: SpaceStore, author: Author, tx: Transaction | None = None) -> None:
        self._store, self._author, self._tx = store, author, tx
        self._gate = Gate(true_at=author.now)
        self._seen: set[tuple[str, str | None, str]] = set()

    def sift(self, taken: Sequence[Memory], vectors: Sequence[Vectors]) -> tuple[list[int], list[NotTaken]]:
        """Return the places of what may be stored, and what may not with the reason."""
        admitted, refused = [], []
        for place, (memory, vector) in enumerate(zip(taken, vectors, strict=True)):
            reason = self._refusal(memory, vector)
            if reason is None:
                admitted.append(place)
            else:
                refused.append(NotTaken(memory.text, memory.kind, reason))
        return admitted, refused

    def _refusal(self, memory: Memory, vector: Vectors) -> str | None:
        said = (memory.kind, memory.speaker, folded(memory.text))
        if said in self._seen:
            return "said twice here"
        self._seen.add(said)
        if self._known(memory.id):
            return "taken from this turn before"
        same = self._same(memory, vector)
        return f"{same.id} says it already" if same else None

    def _known(self, name: str) -> bool:
        row = self._tx.get(name) if self._tx else self._store.get([name]).get(name)
        return row is not None or bool(self._store.read_journal(name, limit=1))

    def _same(self, memory: Memory, vector: Vectors) -> Memory | None:
        """Return a standing memory of the same kind and speaker that says the same."""
        gate = replace(self._gate, kinds=frozenset({memory.kind}))
        like = self._store.memories(self._store.nearest(vector, gate, _LOOKED_AT).rows)
        vectors = self._store.vectors([one.id for one in like])
        for one in like:
            if one.speaker != memory.speaker:
                continue
            near = float(vector @ vectors[one.id]) if one.id in vectors else 0.0
            if says_the_same(one.text, memory.text) or (near > SAME and states_the_same(one.text, memory.text)):
                return one
        return None
