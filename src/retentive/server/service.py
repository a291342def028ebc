"""What one server has: the store it serves, its keys, threads and figures, and whether it is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retentive.errors import RetentiveError
from retentive.server.deeds import Deeds
from retentive.server.metrics import Metrics
from retentive.server.pools import SLOW_QUEUE, SLOW_THREADS, Pool
from retentive.server.settings import ServeSettings
from retentive.server.worker import Worker, tasks_of

if TYPE_CHECKING:
    from retentive.memory import Retentive
    from retentive.server.keys import KeyRing


@dataclass(slots=True)
class Service:
    """Everything that requests share. Give it up with `close`, once no request is under way."""

    home: Retentive
    keys: KeyRing
    settings: ServeSettings = field(default_factory=ServeSettings)
    metrics: Metrics = field(default_factory=Metrics)
    draining: bool = False
    when_changed: list[Callable[[str], None]] = field(default_factory=list)  # are told which space was written to
    when_ending: list[Callable[[], None]] = field(default_factory=list)  # end what would not end by itself
    loop: asyncio.AbstractEventLoop | None = None  # where both are called, while the server runs
    short: Pool = field(init=False)
    long: Pool = field(init=False)
    worker: Worker = field(init=False)
    deeds: Deeds = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.short = Pool("short", settings.threads, settings.queue, settings.timeout)
        self.long = Pool("long", SLOW_THREADS, SLOW_QUEUE, settings.slow_timeout)
        self.metrics.watch((self.short, self.long))
        self.metrics.watch_store(self.home.store)
        self.home.watch = self.metrics.stage_of_recall
        self.deeds = Deeds(self.keys.path.parent / "done")
        tasks = tasks_of(settings) if settings.worker else []
        self.worker = Worker(self.home, self.metrics, tasks, self.changed)

    def pool(self, lane: str) -> Pool:
        """Return the threads of a lane."""
        return self.long if lane == "long" else self.short

    def warm_up(self) -> None:
        """Load what the first request would have to wait for."""
        self.home.tools.embedder.embed(["warm"])

    def ready(self) -> str:
        """Say what stands in the way of serving; nothing when all is well."""
        if self.draining:
            return "the server is shutting down"
        try:
            self.home.spaces()
        except RetentiveError as error:
            return error.message
        return ""

    def changed(self, space: str) -> None:
        """Say that a space was written to; from any thread."""
        for told in self.when_changed:
            self._soon(told, space)

    def end(self) -> None:
        """Begin to end: say that no more is taken on, and end what waits for nothing; from any thread."""
        self.draining = True
        for told in self.when_ending:
            self._soon(told)

    def _soon(self, call: Callable[..., None], *given: str) -> None:
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(call, *given)

    def close(self) -> None:
        """Finish what was taken on; the store stays open, for it is the caller's."""
        self.worker.stop(self.settings.drain)
        self.short.close()
        self.long.close()
