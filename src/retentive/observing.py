"""What a space does with conversations. The verb is a base of `retentive.Space`, and only delegates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from retentive.keeping import Keeper
from retentive.recall.request import Tools
from retentive.stores.protocol import SpaceStore

if TYPE_CHECKING:
    from retentive.observe.outcome import Observation

Progress = Callable[[int, int], None]


class Observing:
    """The verb of a space that listens."""

    @property
    @abstractmethod
    def store(self) -> SpaceStore:
        """The rows underneath."""

    _home: Any  # a `Retentive`, which is defined further out

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    @property
    @abstractmethod
    def _recall_tools(self) -> Tools: ...

    def observe(
        self,
        messages: Iterable[Any],
        *,
        session: str | None = None,
        at: datetime | None = None,
        trust: Mapping[str, float] | None = None,
        extract: str | None = None,
        gap: timedelta = timedelta(minutes=30),
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Observation:
        """Store a conversation's turns as episodes, and the memories they hold; what was observed before adds nothing.

        ``messages`` are chat messages as OpenAI, Anthropic or LangChain shape them. ``session`` names the conversation;
        ``at`` is the time of messages without one. ``trust`` is how far a role or speaker is believed. ``extract`` is
        "llm" (as a job of the queue; what is done where a language model is named), "patterns" or "none". ``dry_run``
        only says what would be stored, and what that would cost.
        """
        from retentive.observe.run import Wish, observe  # noqa: PLC0415

        keeper = self._keeper(self._kept if dry_run else self.store)
        llm = self._home.llm
        wish = Wish(session, at, trust or {}, extract or ("llm" if llm else "patterns"), gap, dry_run, llm)
        return observe(keeper, self._recall_tools, messages, wish, progress)
