"""Observing a conversation: read, align with what is stored, cut into episodes, take memories, write all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from retentive.embedders.protocol import Calibrated, checked_vectors
from retentive.errors import InvalidInput, StoreBusy
from retentive.indexing import passage
from retentive.keeping import Keeper
from retentive.llm.protocol import Llm, Usage
from retentive.observe.admit import Statements, insert_turns, taken_drafts
from retentive.observe.asking import estimate
from retentive.observe.extracting import enqueue_turns
from retentive.observe.outcome import NO_COST, Episode, Observation
from retentive.observe.segments import GAP, LOOKED_BACK, Said, begins, content_terms, shift_below
from retentive.observe.sessions import OBSERVED, STATED, Kept, Place, find_session, places, trusted
from retentive.observe.turns import Read, read_messages
from retentive.recall.request import Tools
from retentive.text.tokens import query_terms
from retentive.types import Draft, Memory, Vectors, aware
from retentive.writing import checked_name, checked_unit, memory_of

LLM, PATTERNS, NONE = "llm", "patterns", "none"
EXTRACTIONS: Final = (LLM, PATTERNS, NONE)
_BATCH: Final = 64  # texts embedded between two steps of the progress bar
_ATTEMPTS: Final = 5  # others may observe the same conversation at the same moment
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """How a caller wants a conversation observed."""

    session: str | None = None
    at: datetime | None = None
    trust: Mapping[str, float] = field(default_factory=dict)
    extract: str = PATTERNS
    gap: timedelta = GAP
    dry_run: bool = False
    llm: Llm | None = None  # what jobs will ask: named here to tell their cost


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be written: turns with their vectors, and what is taken from them."""

    kept: Kept
    turns: tuple[Memory, ...]
    vectors: Sequence[Vectors]
    episodes: tuple[Episode, ...]
    stated: Statements


def observe(
    keeper: Keeper, tools: Tools, messages: Iterable[Any], wish: Wish, progress: Progress | None = None
) -> Observation:
    """Store what is new of a conversation, and what its new turns state."""
    _check(wish)
    read = read_messages(messages)
    if not read.turns:
        return Observation(wish.session or "", (), skipped=read.skipped, method=wish.extract, dry_run=wish.dry_run)
    keeper.check_embedder()
    for _ in range(_ATTEMPTS):
        told = _Run(keeper, tools, wish, progress).observe(read)
        if told is not None:
            return told
    raise StoreBusy(f"Others kept adding to this conversation of {keeper.store.path!r}; observe it again.")


def _check(wish: Wish) -> None:
    checked_name(wish.session, "session")
    if wish.at is not None:
        aware(wish.at, "at")
    for name, value in wish.trust.items():
        checked_unit(value, f"trust[{name!r}]")
    if wish.extract == LLM and wish.llm is None:
        raise InvalidInput("extract='llm' needs a language model: Retentive(..., llm='openai:...').", value=LLM)
    if wish.extract not in EXTRACTIONS:
        raise InvalidInput(
            f"extract={wish.extract!r} is none of {', '.join(map(repr, EXTRACTIONS))}.", value=wish.extract
        )
    gap: object = wish.gap
    if not isinstance(gap, timedelta) or gap <= timedelta(0):
        raise InvalidInput(f"gap={wish.gap!r} is no positive timedelta.", value=wish.gap)


class _Run:
    def __init__(self, keeper: Keeper, tools: Tools, wish: Wish, progress: Progress | None) -> None:
        self._keeper, self._tools, self._wish, self._progress = keeper, tools, wish, progress
        self._store, self._author = keeper.store, keeper.author

    def observe(self, read: Read) -> Observation | None:
        """Plan and write; None where somebody else wrote into the same places meanwhile."""
        kept = find_session(self._store, self._wish.session, read.turns)
        now = self._wish.at or self._author.now
        fresh = places(kept, read.turns, now, named=self._wish.session is not None)
        told = Observation(
            kept.session, (), len(read.turns) - len(fresh), read.skipped, method=self._wish.extract
        )  # fmt: skip
        if not fresh:
            return replace(told, dry_run=self._wish.dry_run)
        planned = self._plan(kept, fresh)
        if self._wish.dry_run:
            told = replace(told, cost=self._cost(planned.turns))
            return self._told(told, planned, planned.stated.memories)
        return self._write(planned, told)

    def _cost(self, turns: Sequence[Memory]) -> Usage:
        return estimate(turns, self._wish.llm) if self._wish.extract == LLM else NO_COST

    def _plan(self, kept: Kept, fresh: Sequence[Place]) -> Planned:
        drafts = [self._draft(kept.session, place) for place in fresh]
        vectors = self._embedded([passage(draft) for draft in drafts])
        turns, episodes = self._cut(kept, drafts, vectors)
        taken = taken_drafts(turns, self._author) if self._wish.extract == PATTERNS else []
        stated = Statements.of(self._keeper, taken, self._embedded([passage(one) for one in taken]))
        return Planned(kept, turns, vectors, episodes, stated)

    def _draft(self, session: str, place: Place) -> Memory:
        turn = place.turn
        draft = Draft(
            turn.text,
            kind="episode",
            id=place.id,
            at=place.at,
            speaker=turn.speaker,
            session=session,
            source=session,  # so that a whole conversation can be forgotten by its source
            trust=trusted(turn, self._wish.trust),
            metadata={"origin": turn.role, "turn": place.number, "time": STATED if turn.at else OBSERVED},
        )
        return memory_of(draft, self._author)

    def _embedded(self, texts: Sequence[str]) -> list[Vectors]:
        found: list[Vectors] = []
        for start in range(0, len(texts), _BATCH):
            found += list(checked_vectors(self._tools.embedder, texts[start : start + _BATCH]))
            if self._progress is not None:
                self._progress(len(found), len(texts))
        return found

    def _cut(
        self, kept: Kept, drafts: Sequence[Memory], vectors: Sequence[Vectors]
    ) -> tuple[tuple[Memory, ...], tuple[Episode, ...]]:
        """Give every new turn its episode; the first ones may go on with the last that was stored."""
        embedder = self._tools.embedder
        shift = shift_below(embedder.band if isinstance(embedder, Calibrated) else None)
        number, current = self._open_episode(kept)
        turns: list[Memory] = []
        begun: dict[int, str] = {}
        for draft, vector in zip(drafts, vectors, strict=True):
            said = self._said(draft, vector)
            why = begins(current, said, gap=self._wish.gap, shift=shift)
            if why:
                number, current = number + 1, []
            begun.setdefault(number, why)
            current = [*current[-LOOKED_BACK:], said]
            turns.append(draft.changed(metadata={**draft.metadata, "episode": f"{kept.session}/{number}"}))
        return tuple(turns), tuple(_episode(f"{kept.session}/{at}", why, turns) for at, why in begun.items())

    def _open_episode(self, kept: Kept) -> tuple[int, list[Said]]:
        """Return the last stored episode's number and its latest turns."""
        last = kept.last
        if last is None:
            return 0, []
        name = str(last.metadata.get("episode", ""))
        latest = [turn for turn in kept.turns if turn is not None and turn.metadata.get("episode") == name]
        latest = latest[-LOOKED_BACK - 1 :]
        vectors = self._store.vectors([turn.id for turn in latest])
        number = name.rpartition("/")[2]
        said = [self._said(turn, vectors[turn.id]) for turn in latest if turn.id in vectors]
        return (int(number) if number.isdigit() else 0), said

    def _said(self, memory: Memory, vector: Vectors) -> Said:
        terms = query_terms(memory.text, language=self._tools.language)
        return Said(memory.created_at, memory.speaker or "", memory.text, content_terms(terms), vector)

    def _write(self, planned: Planned, told: Observation) -> Observation | None:
        rating = self._keeper.rating(range(len(planned.vectors)), np.array(planned.vectors))
        with self._store.transaction() as tx:
            began = tx.last_line()
            taken_by_others = any(tx.get(turn.id) is not None for turn in planned.turns)
            if taken_by_others or not planned.stated.unchanged(self._keeper, tx):
                return None
            self._keeper.stamp(tx)
            turns = insert_turns(self._keeper, tx, planned.turns, planned.vectors, rating)
            taken = planned.stated.write(self._keeper, tx)
            jobs = enqueue_turns(tx, turns, self._author.now) if self._wish.extract == LLM else []
            lines = began, tx.last_line()
        self._keeper.told(turns, lines)  # what was taken from them counts with them
        told = replace(told, jobs=tuple(jobs), cost=self._cost(turns))
        return self._told(told, replace(planned, turns=tuple(turns)), taken)

    def _told(self, told: Observation, planned: Planned, taken: Sequence[Memory]) -> Observation:
        return replace(
            told,
            turns=planned.turns,
            episodes=planned.episodes,
            memories=tuple(taken),
            refused=tuple(planned.stated.refused),
            dry_run=self._wish.dry_run,
        )


def _episode(name: str, why: str, turns: Sequence[Memory]) -> Episode:
    held = [turn for turn in turns if turn.metadata["episode"] == name]
    times = [turn.created_at for turn in held]
    return Episode(name, min(times), max(times), why, tuple(turn.id for turn in held))
