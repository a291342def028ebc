"""What a space shows of itself to whoever looks after it: recalls as they were answered, and how a memory fades.

The verbs are a base of `retentive.Space`, and only delegate. What they need is imported when they are called.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from retentive.errors import NotFound
from retentive.pages import Listed, Walk, checked_size
from retentive.policy.policy import Policy
from retentive.recalling import policy_of
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.types import LedgerEntry, aware

if TYPE_CHECKING:
    from retentive.recall.fading import Fading

AHEAD = timedelta(days=90)


class _Home(Protocol):
    def now(self) -> datetime: ...


class Looking:
    """The verbs of a space that show and change nothing."""

    _home: _Home

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def policy_in_force(self) -> Policy: ...  # noqa: D102 - as in `Space`

    def recalls(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Listed[LedgerEntry]:
        """List recalls out of the ledger, newest first: what was asked, what came back, what proved useful.

        The page says in ``cursor`` where the next begins.
        """
        store, start = self._kept, None if since is None else aware(since, "since")
        walk = Walk("recalls", store.path, since=start, policy=policy)
        after, more = walk.begin(cursor), checked_size(limit) + 1
        entries = store.read_ledger(since=start, policy=policy, limit=more, after=after)
        page = walk.page(entries, limit, lambda entry: Cursor(entry.at, entry.id))
        return Listed((replace(entry, cue_vector=None) for entry in page), page.cursor)

    def recall_entry(self, id: str) -> LedgerEntry:  # noqa: A002 - as everywhere here
        """Return one recall out of the ledger."""
        entry = self._kept.recall_entry(id)
        if entry is None:
            raise NotFound(f"There is no recall {id!r} in the ledger; it keeps the latest ones.", id=id)
        return replace(entry, cue_vector=None)

    def fading(
        self,
        id: str,  # noqa: A002
        *,
        policy: Policy | str | None = None,
        ahead: timedelta | None = None,
        points: int = 181,
        now: datetime | None = None,
    ) -> Fading:
        """Return how a memory faded and will fade under a policy (the next 90 days), with each time it was read."""
        from retentive.recall.fading import fading  # noqa: PLC0415

        asked = self._home.now() if now is None else aware(now, "now")
        return fading(
            self._kept, id, policy_of(policy, self.policy_in_force()), asked, AHEAD if ahead is None else ahead, points
        )
