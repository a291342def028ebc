"""Doing something again and again in the background until told to stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from retentive.errors import RetentiveError

_log = logging.getLogger(__name__)


class Sweeper:
    """A thread that calls ``sweep`` every ``seconds``; one that fails is logged and tried again."""

    def __init__(self, sweep: Callable[[], object], seconds: float) -> None:
        self._sweep = sweep
        self._seconds = seconds
        self._stop = threading.Event()
        self.done: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="retentive-sweeper", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._sweep()
            except RetentiveError as error:
                _log.warning("a sweep of expired items failed and will be tried again: %s", type(error).__name__)
        self.done.set_result(None)

    def stop(self, timeout: float | None = None) -> bool:
        """Stop; False if it is still at it after ``timeout`` seconds."""
        self._stop.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()
