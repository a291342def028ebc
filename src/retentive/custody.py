"""What a space can say and do about the memories in its keeping: why one was not recalled.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from retentive.keeping import Keeper
from retentive.policy.policy import Policy
from retentive.recall.request import Question, Tools
from retentive.recalling import Filters
from retentive.stores.protocol import SpaceStore
from retentive.types import AgentState, Json, Moment

if TYPE_CHECKING:
    from retentive.recall.absence import WhyNot


class Custody:
    """The verbs of a space that look after what it keeps."""

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    @property
    @abstractmethod
    def _recall_tools(self) -> Tools: ...

    @abstractmethod
    def _question(
        self,
        asked: tuple[str | None, AgentState | None, str | None],
        policy: Policy | str | None,
        filters: Filters,
        now: datetime | None,
        session: str | None,
        **settings: int | None,
    ) -> Question: ...

    def why_not(
        self,
        id: str,  # noqa: A002 - the name is the contract
        cue: str | None = None,
        *,
        state: AgentState | None = None,
        utterance: str | None = None,
        policy: Policy | str | None = None,
        limit: int | None = None,
        kinds: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        where: Mapping[str, Json] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: Moment | None = None,
        now: datetime | None = None,
        token_budget: int | None = None,
        session: str | None = None,
    ) -> WhyNot:
        """Say what kept a memory out of the answer to a question: which gate, channel, floor, rotation, rank, budget.

        Takes what `recall` takes and asks the same, without leaving a trace.
        """
        from retentive.recall.absence import look_for  # noqa: PLC0415

        filters = Filters(kinds, tags, where, since, until, as_of)
        question = self._question(
            (cue, state, utterance), policy, filters, now, session, limit=limit, token_budget=token_budget
        )
        keeper = self._keeper(self._kept)
        memory = keeper.get(id, touch=False)
        keeper.check_embedder()
        return look_for(memory, question, keeper.store, self._recall_tools)
