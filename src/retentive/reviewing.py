"""What was noticed when a space's memories were written, and what people do about it.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from retentive.keeping import Keeper
from retentive.pages import Listed
from retentive.stores.protocol import SpaceStore
from retentive.types import Memory

if TYPE_CHECKING:
    from retentive.judging import Judged
    from retentive.review import Conflict, Repetition

Progress = Callable[[int, int], None]


class Reviewing:
    """The verbs of a space about conflicts and repetitions."""

    _home: Any  # a `Retentive`, which is defined further out

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    def conflicts(
        self, *, status: str | None = "open", limit: int = 100, cursor: str | None = None
    ) -> Listed[Conflict]:
        """List memories that deny older ones, newest first: those that wait for a decision, unless asked otherwise.

        ``status`` is "open", "applied" (sure enough when it was written), "accepted" or "dismissed"; None is all.
        The page says in ``cursor`` where the next begins.
        """
        from retentive.review import list_conflicts  # noqa: PLC0415

        return list_conflicts(self._kept, status, limit, cursor)

    def accept(self, conflict: str, *, reason: str = "", once: str | None = None) -> Conflict:
        """Let the newer memory of a conflict (by its id) supersede the older."""
        from retentive.review import accept  # noqa: PLC0415

        keeper = self._keeper(self._kept)
        return accept(keeper.store, conflict, keeper.author, reason, once)

    def dismiss(self, conflict: str, *, reason: str = "", once: str | None = None) -> Conflict:
        """Say that a conflict (by its id) is none; a memory that was retired for it comes back. Not found again."""
        from retentive.review import dismiss  # noqa: PLC0415

        keeper = self._keeper(self._kept)
        return dismiss(keeper.store, conflict, keeper.author, reason, once)

    def find_conflicts(self, *, limit: int = 10_000, progress: Progress | None = None) -> builtins.list[Conflict]:
        """Look for conflicts among the newest ``limit`` memories that are there already; lists, and never applies."""
        from retentive.review import find_conflicts  # noqa: PLC0415

        keeper = self._keeper(self._kept)
        return find_conflicts(keeper, keeper.noticing, limit, progress)

    def judge_conflicts(self, *, limit: int = 100, dry_run: bool = False, progress: Progress | None = None) -> Judged:
        """Have the language model decide conflicts that wait; where it is unsure or fails, nothing changes.

        ``dry_run`` only says how many there are, and what asking would take.
        """
        from retentive.judging import judge_conflicts  # noqa: PLC0415

        keeper, llm = self._keeper(self._kept), self._home.llm
        return judge_conflicts(
            keeper.store, llm, keeper.author, keeper.noticing, limit, dry_run=dry_run, progress=progress
        )

    def repetitions(
        self, memory: str | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> Listed[Repetition]:
        """List what was said again and only reinforced a memory (one of them, by its id), newest first."""
        from retentive.review import list_repetitions  # noqa: PLC0415

        return list_repetitions(self._kept, memory, limit, cursor)

    def separate(self, repetition: str, *, reason: str = "", once: str | None = None) -> Memory:
        """Keep a repetition (by its id) as a memory of its own after all; return that."""
        from retentive.review import separate  # noqa: PLC0415

        return separate(self._keeper(self._kept), repetition, reason, once)
