"""Putting a set's conversations into spaces, with what is known of their use at the moment of each question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retentive.evaluate.datasets import Conversation, Item
from retentive.policy.policy import Reinforcement
from retentive.recall.reinforce import touched
from retentive.types import NEVER_READ, SLUG, Access

if TYPE_CHECKING:
    from retentive.memory import Space

TEXT_FORMS = ("fields", "dated")
"""Speaker and time beside the text, as the façade takes them; or written into it, as published baselines have them."""


def ingested(space: Space, conversation: Conversation, text_form: str = "fields") -> Space:
    """Remember everything that was said, under ids that are positions."""
    write = _fields if text_form == "fields" else _dated
    space.remember_many(write(position(number), item) for number, item in enumerate(conversation.items))
    return space


def position(number: int) -> str:
    """Return the id of the item at a position: a set's own ids may name the answer, and ties are broken by id."""
    return f"m{number:06d}"


def kinds_of(conversation: Conversation) -> set[str]:
    """Return the kinds that must be registered before a conversation can be remembered."""
    return {item.kind for item in conversation.items if item.kind and SLUG.fullmatch(item.kind)}


def _fields(name: str, item: Item) -> dict[str, Any]:
    fields = {"id": name, "text": item.said, "at": item.at, "speaker": item.speaker, "session": item.session}
    return fields | _weight(item)


def _dated(name: str, item: Item) -> dict[str, Any]:
    speaker = f"{item.speaker}: " if item.speaker else ""
    text = f"[{item.at:%Y-%m-%d %H:%M}] {speaker}{item.said}"
    return {"id": name, "text": text, "at": item.at, "session": item.session} | _weight(item)


def _weight(item: Item) -> dict[str, Any]:
    return {name: value for name in ("kind", "importance") if (value := getattr(item, name)) is not None}


class History:
    """What was read when: sets the access states of a space to what they were at a moment.

    Without it a question of the past would meet memories that count as read because it was asked: the answer to it
    would be among the most recently used ones.
    """

    def __init__(self, items: Sequence[Item], rule: Reinforcement | None = None) -> None:
        self._items = {position(number): item.read for number, item in enumerate(items) if item.read}
        self._rule = rule or Reinforcement()

    def stand_at(self, space: Space, moment: datetime) -> None:
        """Set every access state to what earlier reads had made of it."""
        if self._items:
            states = {name: self._state(read, moment) for name, read in self._items.items()}
            with space.store.transaction() as tx:
                tx.set_access(states)

    def _state(self, read: Sequence[datetime], moment: datetime) -> Access:
        state = NEVER_READ
        for one in read:
            if one < moment:
                state = touched(state, one, self._rule)
        return state
