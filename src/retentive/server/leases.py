"""Who does a task in a space: one process at a time, and no sooner again than it is due.

A lease is a setting of the space, taken and given back in transactions: the store decides between processes. One whose
holder died ends by itself.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from retentive.once import WORK
from retentive.stores.protocol import SpaceStore, Transaction

LASTS: Final = timedelta(minutes=15)
"""A holder that has neither ended nor renewed by then has died."""


def take(store: SpaceStore, task: str, holder: str, now: datetime, every: float) -> bool:
    """Take the lease if nobody holds it and the task is due; False says that there is nothing to do."""
    if not _free(_read(store.setting(WORK + task)), now, every):
        return False  # most of the time: seen without writing
    with store.transaction() as tx:
        kept = _kept(tx, task)
        if not _free(kept, now, every):
            return False
        _write(tx, task, {**kept, "holder": holder, "until": (now + LASTS).isoformat()})
    return True


def renew(store: SpaceStore, task: str, holder: str, now: datetime) -> None:
    """Hold it for longer, if it is still ours."""
    with store.transaction() as tx:
        kept = _kept(tx, task)
        if kept.get("holder") == holder:
            _write(tx, task, {**kept, "until": (now + LASTS).isoformat()})


def give_back(store: SpaceStore, task: str, holder: str, now: datetime, *, ended: bool) -> None:
    """Let go, and note that the task was done, unless it failed."""
    with store.transaction() as tx:
        kept = _kept(tx, task)
        if kept.get("holder") == holder:
            before = {"ended": kept["ended"]} if "ended" in kept else {}
            _write(tx, task, {"ended": now.isoformat()} if ended else before)


def _free(kept: dict[str, Any], now: datetime, every: float) -> bool:
    held = _moment(kept.get("until"))
    if kept.get("holder") and held is not None and now < held <= now + LASTS:
        return False
    ended = _moment(kept.get("ended"))
    return ended is None or not timedelta(0) <= now - ended < timedelta(seconds=every)


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else None


def _kept(tx: Transaction, task: str) -> dict[str, Any]:
    return _read(tx.setting(WORK + task))


def _read(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _write(tx: Transaction, task: str, value: dict[str, Any]) -> None:
    tx.set_setting(WORK + task, value)
