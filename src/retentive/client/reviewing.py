"""The verbs of a remote space that review: conflicts, repetitions, and what language models have taken."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from functools import partial
from typing import Any

from retentive.client.minding import LONG, Progress
from retentive.client.paging import listed
from retentive.client.sending import fields_of, keyed
from retentive.client.transport import segment
from retentive.jobs.spending import Spent
from retentive.judging import Judged
from retentive.pages import Listed
from retentive.review import Conflict, Repetition
from retentive.types import Memory
from retentive.wire.values import read
from retentive.writing import checked_id


class RemoteReview:
    """The reviewing part of `RemoteSpace`."""

    @abstractmethod
    def _ask(self, method: str, path: str, **more: Any) -> Any: ...

    def conflicts(
        self, *, status: str | None = "open", limit: int = 100, cursor: str | None = None
    ) -> Listed[Conflict]:
        """List memories that deny older ones, newest first: those that wait for a decision, unless asked otherwise."""
        asked = "all" if status is None else status
        return listed(Conflict, "conflicts", partial(self._ask, "GET", "/conflicts"), limit, cursor, status=asked)

    def find_conflicts(
        self,
        *,
        limit: int = 10_000,
        progress: Progress | None = None,  # noqa: ARG002 -- told only where the work is done
    ) -> builtins.list[Conflict]:
        """Let the server look for conflicts among the newest ``limit`` memories."""
        told = self._ask("POST", "/conflicts/find", body={"limit": limit}, headers=keyed(), timeout=LONG)
        return [read(Conflict, one) for one in told["conflicts"]]

    def judge_conflicts(
        self,
        *,
        limit: int = 100,
        dry_run: bool = False,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Judged:
        """Have the server's language model decide conflicts that wait."""
        body = {"limit": limit, "dry_run": dry_run}
        return read(Judged, self._ask("POST", "/conflicts/judge", body=body, headers=keyed(), timeout=LONG))

    def accept(self, conflict: str, *, reason: str = "", once: str | None = None) -> Conflict:
        """Let the newer memory of a conflict (by its id) supersede the older."""
        return read(Conflict, self._decide("conflicts", conflict, "accept", reason, once))

    def dismiss(self, conflict: str, *, reason: str = "", once: str | None = None) -> Conflict:
        """Say that a conflict (by its id) is none; a memory that was retired for it comes back."""
        return read(Conflict, self._decide("conflicts", conflict, "dismiss", reason, once))

    def repetitions(
        self, memory: str | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> Listed[Repetition]:
        """List what was said again and only reinforced a memory (one of them, by its id), newest first."""
        get = partial(self._ask, "GET", "/repetitions")
        return listed(Repetition, "repetitions", get, limit, cursor, memory=memory)

    def separate(self, repetition: str, *, reason: str = "", once: str | None = None) -> Memory:
        """Keep a repetition (by its id) as a memory of its own after all; return that."""
        return read(Memory, self._decide("repetitions", repetition, "separate", reason, once))

    def usage(self) -> builtins.list[Spent]:
        """List what language models have taken for this space, by kind of work and model."""
        return [read(Spent, one) for one in self._ask("GET", "/usage")["usage"]]

    def _decide(self, what: str, name: str, verdict: str, reason: str, once: str | None) -> Any:
        path = f"/{what}/{segment(checked_id(name))}/{verdict}"
        return self._ask("POST", path, body=fields_of(reason=reason or None), headers=keyed(once))
