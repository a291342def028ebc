"""Where a recall's time goes, for whoever watches: the one place of the pipeline that reads a clock.

Nothing that is decided depends on it; without a watcher not even the clock is read.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeAlias

Watch: TypeAlias = Callable[[str, float], None]
"""Is told the name of a stage and how many seconds it took; must be quick, and may be called by several threads."""

STAGES: Final = ("cue", "gate", "channel:*", "evidence", "rank", "select", "read", "core", "budget", "write")
"""In order: the cue is read and embedded, who may answer is counted, each channel of the policy is asked, candidates
are measured, ranked, chosen, read, and pinned memories with them; the answer is fitted to the budget, and noted."""


class Stages:
    """Tells a watcher how long each stage took."""

    __slots__ = ("_last", "_watch")

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch
        self._last = perf_counter() if watch is not None else 0.0

    def ended(self, stage: str) -> None:
        """End a stage; the next one begins."""
        if self._watch is not None:
            now = perf_counter()
            self._watch(stage, now - self._last)
            self._last = now


UNWATCHED: Final = Stages()
"""For whoever asks where nobody watches."""
