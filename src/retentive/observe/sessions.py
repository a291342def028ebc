"""Where a conversation is kept: its turns lie in places that follow from its name, so that they are found again.

A turn's id is made of the conversation's name and its place in it. So the turns of one conversation are fetched by id,
whatever the size of the space, and two processes that observe the same message write the same row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from retentive.observe.align import Heard, continues, new_turns
from retentive.observe.turns import TOOL, USER, Turn
from retentive.stores.protocol import SpaceStore
from retentive.types import Memory

STATED, OBSERVED = "stated", "observed"
MILLISECOND: Final = timedelta(milliseconds=1)
_CHUNK: Final = 256


@dataclass(frozen=True, slots=True)
class Kept:
    """The turns of a conversation as they are stored; None in the place of one that was erased."""

    session: str
    turns: tuple[Memory | None, ...] = ()

    @property
    def last(self) -> Memory | None:
        """The latest turn that still has its words."""
        return next((turn for turn in reversed(self.turns) if turn is not None), None)


@dataclass(frozen=True, slots=True)
class Place:
    """A new turn, where it goes: its id, its place in the conversation, and its time."""

    id: str
    turn: Turn
    number: int
    at: datetime


def turn_id(session: str, number: int) -> str:
    """Return the id of a turn by its place."""
    return "t" + _digest("turn", session, str(number))


def memory_id(turn: str, kind: str, words: str) -> str:
    """Return the id of what is taken from a turn: the same taken twice is one memory."""
    return "o" + _digest("taken", turn, kind, words)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=10).hexdigest()


def find_session(store: SpaceStore, session: str | None, turns: Sequence[Turn]) -> Kept:
    """Return the conversation with this name; without one, the one that begins with the same turn and goes on alike.

    Conversations that begin alike and go apart ("Hi", "Hello!") get names with a number behind.
    """
    if session is not None:
        return stored_turns(store, session)
    heard = [heard_turn(turn) for turn in turns]
    first = turns[0]
    stated = first.at.isoformat() if first.at else ""
    name = f"talk-{_digest('talk', first.role, first.speaker, first.text, stated)[:12]}"
    for number in count(1):
        kept = stored_turns(store, name if number == 1 else f"{name}-{number}")
        if not kept.turns or continues(heard_turns(kept), heard):
            return kept
    raise AssertionError("counting ends only with an answer")


def stored_turns(store: SpaceStore, session: str) -> Kept:
    """Fetch a conversation's turns in order; a place without a row and without a journal is its end.

    From one state of the store: a turn that others write between the two looks would pass for an erased one.
    """
    with store.snapshot():
        return _stored_turns(store, session)


def _stored_turns(store: SpaceStore, session: str) -> Kept:
    found: list[Memory | None] = []
    while True:
        ids = [turn_id(session, number) for number in range(len(found), len(found) + _CHUNK)]
        rows = store.get(ids)
        for name in ids:
            if name not in rows and not store.read_journal(name, limit=1):
                return Kept(session, tuple(found))
            found.append(rows.get(name))


def heard_turn(turn: Turn) -> Heard:
    """Return a coming turn as it is compared."""
    return Heard(turn.role, turn.speaker, turn.text, turn.at)


def heard_turns(kept: Kept) -> list[Heard]:
    """Return stored turns as they are compared; one whose words somebody changed is known by its place."""
    return [_heard(memory) for memory in kept.turns]


def _heard(memory: Memory | None) -> Heard:
    if memory is None or memory.updated_at is not None:
        return Heard(erased=True)
    stated = memory.metadata.get("time") == STATED
    role = str(memory.metadata.get("origin", USER))
    return Heard(role, memory.speaker or "", memory.text, memory.created_at if stated else None)


def places(kept: Kept, turns: Sequence[Turn], now: datetime, *, named: bool) -> list[Place]:
    """Return the turns that are new, each with its place and time."""
    heard = [heard_turn(turn) for turn in turns]
    fresh = new_turns(heard_turns(kept), heard, same_start=not named)
    times = _times([turns[at] for at in fresh], kept.last, now)
    begin = len(kept.turns)
    return [
        Place(turn_id(kept.session, begin + offset), turns[at], begin + offset, moment)
        for offset, (at, moment) in enumerate(zip(fresh, times, strict=True))
    ]


def _times(turns: Sequence[Turn], last: Memory | None, now: datetime) -> list[datetime]:
    """Give every turn a time: its own, else a millisecond after the one before; the last without one is told now."""
    known = next((at for at, turn in enumerate(turns) if turn.at is not None), None)
    first = turns[known].at if known is not None else None
    start = (first or now) - MILLISECOND * (known if known is not None else max(len(turns) - 1, 0))
    if last is not None and turns and turns[0].at is None:
        start = max(start, last.created_at + MILLISECOND)
    found: list[datetime] = []
    for turn in turns:
        found.append(turn.at or (found[-1] + MILLISECOND if found else start))
    return found


def trusted(turn: Turn, trust: Mapping[str, float]) -> float:
    """Return how far a turn is believed: as its message says, else by its speaker, else by its role."""
    if turn.trust is not None:
        return turn.trust
    return trust.get(turn.speaker, trust.get(turn.role, DEFAULT_TRUST[turn.role]))


DEFAULT_TRUST: Final = {USER: 1.0, "assistant": 1.0, TOOL: 0.5}
"""What tools return was written by strangers: web pages, mails, tickets."""
