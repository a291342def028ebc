"""A stopwatch for code that must not know of it: functions and methods are wrapped from outside, for a while.

The ranking code has no hooks for this; a recall that nobody measures pays nothing. Wrapping changes attributes of
modules and classes, so it is for a process that does nothing else meanwhile; a name that is gone is passed over, and
its time then counts for the stage around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from typing import Any, Final

Naming = Callable[[str | None], str | None]
"""From the stage under way to the stage of a call; None leaves the call's time where it is."""

SPOKEN: Final = {
    "retentive.recall.pipeline": {
        "read_cue": "reading the cue",
        "with_names": "names",
        "find": "candidates",
        "gather": "evidence",
        "rank": "ranking and selection",
        "succeed": "ranking and selection",
        "prove": "ranking and selection",
        "shown_lately": "ranking and selection",
        "select": "ranking and selection",
        "_hits": "answer",
        "_within_budget": "answer",
        "trace_of": "answer",
    },
    "retentive.recall.cue": {"query_vector": "cue embedding"},
    "retentive.memory": {"recall": "answer", "write_back": "write-back"},
    "retentive.stores.sqlite.cache.Cache": {"sync": "catching up"},
}
"""Functions by module (or class) and the stage that each of them is."""

CHANNELS: Final = {
    "nearest": "channel: vector",
    "matching": "channel: lexical",
    "mentioning": "channel: entity",
    "entity_links": "channel: entity",
    "within": "channel: temporal",
    "recent": "channel: recent",
    "important": "channel: important",
}
"""What a store is asked while candidates are sought, and the channel that asks it."""

EMBEDDING: Final = "cue embedding"
STAGES: Final = (
    "reading the cue",
    EMBEDDING,
    "catching up",
    "names",
    *dict.fromkeys(CHANNELS.values()),
    "candidates",
    "evidence",
    "ranking and selection",
    "answer",
    "write-back",
)
"""Every stage, in the order of a recall. "answer" also has what stands between the others."""


@dataclass(slots=True)
class Stopwatch:
    """Time by stage, each moment counted once: for the innermost stage under way."""

    clock: Callable[[], float] = time.perf_counter
    seconds: dict[str, float] = field(default_factory=dict)
    _under_way: list[str] = field(default_factory=list)
    _since: float = 0.0

    @property
    def stage(self) -> str | None:
        """The innermost stage under way."""
        return self._under_way[-1] if self._under_way else None

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Count what happens inside for a stage."""
        self._book()
        self._under_way.append(stage)
        try:
            yield
        finally:
            self._book()
            self._under_way.pop()

    def _book(self) -> None:
        now = self.clock()
        if stage := self.stage:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now

    def taken(self) -> dict[str, float]:
        """Return the seconds of each stage, and begin at zero again."""
        seconds, self.seconds = self.seconds, {}
        return seconds


@contextmanager
def watched(watch: Stopwatch, store: type) -> Iterator[None]:
    """Time the stages of every recall meanwhile; ``store`` is the class whose methods the channels ask."""
    wrapped = [
        *(_wrap(watch, _owner(place), names) for place, names in SPOKEN.items()),
        _wrap_methods(watch, store),
    ]
    try:
        yield
    finally:
        for owner, originals in wrapped:
            for name, original in originals.items():
                setattr(owner, name, original)


Wrapped = tuple[Any, dict[str, Any]]


def _owner(place: str) -> Any:
    """Return a module, or a class in one."""
    module, _, name = place.rpartition(".")
    if not name[:1].isupper():
        return import_module(place)
    return getattr(import_module(module), name, None)


def _wrap(watch: Stopwatch, owner: Any, stages: dict[str, str]) -> Wrapped:
    originals = {name: vars(owner)[name] for name in stages if owner is not None and name in vars(owner)}
    for name, original in originals.items():
        setattr(owner, name, _timed(watch, original, _always(stages[name])))
    return owner, originals


def _wrap_methods(watch: Stopwatch, store: type) -> Wrapped:
    owners: Iterable[type] = store.__mro__
    originals = {}
    for name, stage in CHANNELS.items():
        if any(name in vars(owner) for owner in owners):
            originals[name] = getattr(store, name)
            setattr(store, name, _timed(watch, originals[name], _within("candidates", stage)))
    return store, originals


def _always(stage: str) -> Naming:
    return lambda _around: stage


def _within(around: str, stage: str) -> Naming:
    return lambda now: stage if now == around else None


def _timed(watch: Stopwatch, function: Callable[..., Any], naming: Naming) -> Callable[..., Any]:
    @wraps(function)
    def timed(*args: Any, **options: Any) -> Any:
        stage = naming(watch.stage)
        if stage is None:
            return function(*args, **options)
        with watch.timing(stage):
            return function(*args, **options)

    return timed
