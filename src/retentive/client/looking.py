"""The verbs that show and change nothing, asked of a server."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from retentive.client.paging import listed
from retentive.client.sending import fields_of, policy_data
from retentive.looking import AHEAD, Looking
from retentive.pages import Listed
from retentive.policy.policy import Policy
from retentive.recall.fading import Fading
from retentive.types import LedgerEntry
from retentive.wire.values import read
from retentive.writing import checked_id


class RemoteLooking(Looking):
    """A base of `RemoteSpace`."""

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        raise NotImplementedError  # the space itself asks

    def _one(self, id: str, more: str = "") -> str:  # noqa: A002
        raise NotImplementedError

    def recalls(
        self,
        *,
        since: datetime | None = None,
        policy: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Listed[LedgerEntry]:
        """List recalls out of the ledger, newest first."""
        get = partial(self._ask, "GET", "/recalls")
        return listed(LedgerEntry, "recalls", get, limit, cursor, since=since, policy=policy)

    def recall_entry(self, id: str) -> LedgerEntry:  # noqa: A002
        """Return one recall out of the ledger."""
        return read(LedgerEntry, self._ask("GET", f"/recalls/{checked_id(id)}"))

    def fading(
        self,
        id: str,  # noqa: A002
        *,
        policy: Policy | str | None = None,
        ahead: timedelta | None = None,
        points: int = 181,
        now: datetime | None = None,
    ) -> Fading:
        """Return how a memory faded and will fade under a policy."""
        days = (AHEAD if ahead is None else ahead) / timedelta(days=1)
        query = {**fields_of(ahead_days=days, points=points, now=now), **policy_data(policy)}
        return read(Fading, self._ask("GET", self._one(id, "/fading"), query=query))
