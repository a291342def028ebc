"""Doing a write once, however often it is asked for: what was done under a key is noted in the same transaction.

So there is no moment in which the write is there and the note is not. A second request under the key is answered from
the note, in whatever process, also after a crash. Notes lie with the settings of the space, are not exported, and go
with upkeep after a week.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import Json
from retentive.writing import checked_name

PREFIX: Final = "once:"
WORK: Final = "work:"
"""The settings in which workers note what they are doing and have done."""
MOVED: Final = "move:"
"""The settings in which a space knows that it is the copy that a move between stores made."""
NOT_EXPORTED: Final = (PREFIX, WORK, MOVED)
KEPT: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Once:
    """A write that is to happen once: the caller's key, and what was asked, so that another write is told apart."""

    key: str
    asked: str

    @property
    def name(self) -> str:
        """The setting in which it is noted."""
        return PREFIX + self.key

    def done(self, noted: Json) -> list[str] | None:
        """Return the ids that the write gave when it happened; None if it did not yet."""
        if not isinstance(noted, dict):
            return None
        if noted.get("asked") != self.asked:
            raise InvalidInput(
                f"once={self.key!r} was used for another request; a key (over HTTP: Idempotency-Key) stands for one.",
                once=self.key,
            )
        return [str(name) for name in noted.get("ids", ())]

    def note(self, tx: Transaction, ids: Sequence[str], now: datetime) -> None:
        """Note that it happened."""
        tx.set_setting(self.name, {"asked": self.asked, "ids": list(ids), "at": now.isoformat()})


def once_of(key: str | None, verb: str, *asked: Any) -> Once | None:
    """Return a write under a key; None where no key was given."""
    name = checked_name(key, "once")
    if name is None:
        return None
    digest = hashlib.blake2b(repr((verb, *asked)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return Once(name, digest)


def done_before(asked: Once | None, kept: SpaceStore | Transaction) -> list[str] | None:
    """Return what a write gave when it happened under its key; None if it did not yet, or has no key."""
    return asked.done(kept.setting(asked.name)) if asked else None


def note_done(asked: Once | None, tx: Transaction, ids: Sequence[str], now: datetime) -> None:
    """Note in its transaction that a write happened, if it has a key."""
    if asked:
        asked.note(tx, ids, now)


def forget_notes(store: SpaceStore, now: datetime) -> int:
    """Remove the notes of writes that nobody will ask for again; returns how many."""
    old = [name for name, value in store.settings().items() if name.startswith(PREFIX) and _expired(value, now)]
    if old:
        with store.transaction() as tx:
            for name in old:
                tx.set_setting(name, None)
    return len(old)


def _expired(noted: Json, now: datetime) -> bool:
    at = noted.get("at") if isinstance(noted, dict) else None
    return not isinstance(at, str) or now - datetime.fromisoformat(at) > KEPT
