"""Work off the event loop: a bounded number of threads, a bounded queue before them, a limit on waiting.

Short work and long work have threads of their own, so that a maintenance run keeps no recall waiting. What waits too
long is answered with an error while the work itself runs to its end: a write is never half-done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from retentive.server.refusals import Overloaded, TooSlow

T = TypeVar("T")
SLOW_THREADS: Final = 2
SLOW_QUEUE: Final = 16


class Pool:
    """Some threads and the queue before them. ``waiting`` and ``working`` may be read by anybody."""

    def __init__(self, name: str, threads: int, queue: int, timeout: float) -> None:
        self.name = name
        self.timeout = timeout
        self._most = threads + queue
        self._threads = threads
        self._under_way = 0
        self._turns: dict[Hashable, asyncio.Future[Any]] = {}
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"retentive-{name}")

    @property
    def working(self) -> int:
        """How many requests are being worked on."""
        return min(self._under_way, self._threads)

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return max(0, self._under_way - self._threads)

    async def run(self, work: Callable[[], T], *, turn: Hashable = None) -> T:
        """Do some work in a thread; too much at once is `Overloaded`, too long a wait `TooSlow`.

        Work of the same ``turn`` is done one after the other, also when nobody waits for the first any more.
        """
        future: asyncio.Future[T] | None = None
        try:
            async with asyncio.timeout(self.timeout):
                await self._turn_of(turn)
                future = self._begun(work, turn)
                return await asyncio.shield(future)
        except TimeoutError:
            if future is not None and future.done():
                raise
            raise TooSlow(
                f"No answer within {self.timeout:g} seconds. The work goes on; if it writes, ask again with the same "
                "Idempotency-Key to learn what came of it.",
                timeout=self.timeout,
            ) from None

    async def _turn_of(self, turn: Hashable) -> None:
        while (before := self._turns.get(turn)) is not None:
            await asyncio.wait([before])

    def _begun(self, work: Callable[[], T], turn: Hashable) -> asyncio.Future[T]:
        if self._under_way >= self._most:
            raise Overloaded(
                f"The server has {self.waiting} requests waiting and takes no more just now. Try again in a moment.",
                waiting=self.waiting,
            )
        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._under_way += 1
        future.add_done_callback(self._done)
        if turn is not None:
            self._turns[turn] = future
            future.add_done_callback(lambda _: self._turns.pop(turn, None))
        return future

    def _done(self, future: asyncio.Future[T]) -> None:
        self._under_way -= 1
        if not future.cancelled():
            future.exception()  # it was raised where somebody waited; if nobody did any more, nobody missed it

    def close(self) -> None:
        """Wait until everything under way has ended; nothing that was taken on is lost."""
        self._executor.shutdown(wait=True)
