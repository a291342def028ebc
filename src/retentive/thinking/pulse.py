"""When a reflection is due by itself: importance that gathers is counted as it is written, and a job put on the queue.

What counts is the journal behind the mark of the last reflection (`reflect.run`); here is only how that is known
without reading it at every write. As long as nobody else writes, the number is what it was plus what was written; where
the journal has lines that are not ours, it is read again, up to the budget and no further. While a reflection waits on
the queue nothing is counted, and now and then a look tells whether it has taken place.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from retentive.errors import RetentiveError
from retentive.stores.protocol import SpaceStore
from retentive.types import Json, Memory

MOST_SPACES: Final = 4_096  # whose pulse is kept; one that was let go is read from the journal again
REFLECTIONS: Final = ("queue", "off")


@dataclass(frozen=True, slots=True)
class Pulse:
    """What is known of one space: up to which line, how much may still gather, and the state a job waits in."""

    line: int = -1
    left: float = 0.0
    waiting: Json = None  # the space's reflection setting as it was when a job was put


class Pulses:
    """The pulses of the spaces that this process writes into; safe to share between threads."""

    def __init__(self) -> None:
        self.mode = "queue"
        self._known: dict[str, Pulse] = {}
        self._lock = threading.Lock()

    def after(self, store: SpaceStore, kept: Sequence[Memory], lines: tuple[int, int], now: datetime) -> None:
        """Count what was written between two lines of the journal; a write is never lost over it."""
        if self.mode == "off":
            return
        began, ended = lines
        points = 10 * sum(memory.importance for memory in kept if _counts(memory))
        with self._lock:
            known = self._known.get(store.path, Pulse())
            counted = replace(known, line=ended, left=known.left - points)
            alone = known.line == began
            quiet = counted.left > 0 and (alone or known.waiting is not None)
            if len(self._known) >= MOST_SPACES and store.path not in self._known:
                self._known.clear()
            self._known[store.path] = counted
        if quiet:
            return
        with suppress(RetentiveError):  # busy, full or not ours to write: the next write tries again
            found = _looked(store, counted, now)
            with self._lock:
                self._known[store.path] = found

    def forget(self, space: str) -> None:
        """Read what has gathered anew at the next write: the budget is another one."""
        with self._lock:
            self._known.pop(space, None)


def _counts(memory: Memory) -> bool:
    """Whether a memory adds to the pressure, as `reflect.decide.weight` has it."""
    return memory.kind != "reflection" and not memory.derived_from


def _looked(store: SpaceStore, known: Pulse, now: datetime) -> Pulse:
    """Read how much has gathered, and put a reflection on the queue where it is enough."""
    from retentive.reflect.decide import read_standing  # noqa: PLC0415 - writers need it once in a while
    from retentive.reflect.run import SETTING, gathered  # noqa: PLC0415

    setting = store.setting(SETTING)
    budget = read_standing(setting).budget
    if known.waiting is not None and known.waiting == _place(setting):
        return replace(known, left=budget)
    _, pressure = gathered(store, read_standing(setting).mark, enough=budget)
    if pressure < budget:
        return Pulse(known.line, budget - pressure)
    put(store, now)
    return Pulse(known.line, budget, _place(setting))


def _place(setting: Json) -> Json:
    """Return how far a space was reflected on; never None."""
    return [setting.get(name) for name in ("sequence", "at", "memory")] if isinstance(setting, dict) else []


def put(store: SpaceStore, now: datetime) -> None:
    """Put the reflection on the queue that whoever runs jobs will do, if it is still due then."""
    from retentive.jobs.queue import enqueue  # noqa: PLC0415
    from retentive.thinking.reflecting import KIND, payload  # noqa: PLC0415

    with store.transaction() as tx:
        enqueue(tx, KIND, now, payload=payload(), key=KIND)
