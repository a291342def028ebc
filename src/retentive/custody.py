"""What a store and its spaces can say and do about what is in their keeping: why not, backups.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from retentive.embedders.protocol import Embedder, identity
from retentive.indexing import EMBEDDER_SETTING, identity_of
from retentive.keeping import Keeper
from retentive.pages import Listed
from retentive.paths import space_path
from retentive.policy.policy import Policy
from retentive.recall.request import Question, Tools
from retentive.recall.stages import Watch
from retentive.recalling import Filters
from retentive.stores.protocol import SpaceStore, Store
from retentive.tools import token_windows
from retentive.types import AgentState, EmbedderIdentity, Json, Moment

if TYPE_CHECKING:
    from retentive.backup import Backup
    from retentive.maintain.dropping import Dropped
    from retentive.recall.absence import WhyNot


Progress = Callable[[int, int], None]


class HomeCustody:
    """The verbs of a store that look after all its spaces."""

    store: Store
    actor: str
    previous: Embedder | None = None
    """The embedder that is being given up: spaces whose vectors are still its own are asked and written by it."""
    watch: Watch | None = None
    """Is told how long each stage of a recall took, where somebody wants to know: a server's metrics do."""

    @property
    @abstractmethod
    def tools(self) -> Tools: ...  # noqa: D102 - as in `Retentive`

    @abstractmethod
    def now(self) -> datetime: ...  # noqa: D102 - as in `Retentive`

    def tools_for(self, store: SpaceStore) -> Tools:
        """Return the models for one space: those in use, or with the previous embedder until the space has moved."""
        tools = self.tools if self.watch is None else replace(self.tools, watch=self.watch)
        if self.previous is None or not _made_by(self.previous, store):
            return tools
        return replace(tools, embedder=self.previous, windows=token_windows(self.previous))

    def drop(self, path: str | tuple[str, ...], *, reason: str = "") -> bool:
        """Remove a space and everything in it; False if there was none. A certificate without content is left."""
        from retentive.maintain.dropping import drop_space  # noqa: PLC0415

        return drop_space(self.store, space_path(path), self.now(), self.actor, reason)

    def certificates(
        self, path: str | tuple[str, ...] | None = None, *, limit: int | None = None, cursor: str | None = None
    ) -> Listed[Dropped]:
        """List the certificates of spaces that were dropped, oldest first: all, or those of one that had this path.

        With ``limit`` the page says in ``cursor`` where the next begins.
        """
        from retentive.maintain.dropping import certificates_of  # noqa: PLC0415

        return certificates_of(self.store, None if path is None else space_path(path), limit, cursor)

    def backup(
        self, folder: str | Path, *, spaces: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Backup:
        """Copy all spaces, or those named, into a new folder while the store is in use; nobody waits for it."""
        from retentive.backup import back_up  # noqa: PLC0415

        return back_up(self.store, Path(folder), self.now(), spaces=spaces, progress=progress)

    def restore(
        self,
        folder: str | Path,
        *,
        spaces: Sequence[str] | None = None,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Backup:
        """Put the spaces of a backup, or those named, back; one that exists is left alone unless ``replace``.

        Everything is verified before anything is touched, and each space takes its place in one step.
        """
        from retentive.backup import restore  # noqa: PLC0415

        return restore(self.store, Path(folder), spaces=spaces, replace=replace, progress=progress)


def _made_by(embedder: Embedder, store: SpaceStore) -> bool:
    """Whether a space holds vectors of this embedder."""
    found = identity(embedder)
    ours = EmbedderIdentity(found.id, found.dimension, found.fingerprint)
    return identity_of(store.setting(EMBEDDER_SETTING)) == ours


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
