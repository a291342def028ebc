"""The verbs of a remote space that think: upkeep, reflection, conversations, jobs, and policies of its own."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from retentive.adaptive.book import Adaptation
from retentive.client.paging import listed
from retentive.client.sending import fields_of, keyed, plain, policy_data
from retentive.errors import InvalidInput
from retentive.jobs.run import Forecast, Ran
from retentive.maintain.decide import PruneRules, Verdict
from retentive.maintain.prune import BATCH
from retentive.maintain.report import Upkeep
from retentive.observe.outcome import Observation
from retentive.pages import Listed
from retentive.policy.policy import Policy
from retentive.reflect.outcome import Reflection, Shaken
from retentive.space_policy import Applied
from retentive.thinking.again import Rerated
from retentive.types import Job, JobState
from retentive.wire.values import read
from retentive.writing import checked_id

if TYPE_CHECKING:
    from retentive.client.home import RemoteRetentive

Progress = Callable[[int, int], None]
LONG: Final = 3_600.0
"""Seconds to wait for upkeep, and for moving a space."""


class RemoteMind:
    """The thinking part of `RemoteSpace`: the server thinks, these verbs ask it to."""

    _home: RemoteRetentive

    @abstractmethod
    def _ask(self, method: str, path: str, **more: Any) -> Any: ...

    def maintain(
        self,
        *,
        re_embed: bool = False,
        pruning: PruneRules | bool = True,
        dry_run: bool = False,
        batch: int = BATCH,
        progress: Progress | None = None,  # noqa: ARG002 -- told only where the work is done
    ) -> Upkeep:
        """Run upkeep once on the server."""
        rules = {"rules": pruning.as_dict()} if isinstance(pruning, PruneRules) else {"prune": pruning}
        body = {"re_embed": re_embed, "dry_run": dry_run, "batch": batch, **rules}
        done = self._ask("POST", "/maintain", body=body, headers=keyed(), timeout=LONG)
        return Upkeep(done["counts"], tuple(read(Verdict, one) for one in done["pruned"]), dry_run=done["dry_run"])

    def reflect(
        self,
        *,
        force: bool = False,
        budget: float | None = None,
        method: str | None = None,
        later: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Reflection:
        """Draw insights on the server, if it is due."""
        body = fields_of(force=force, budget=budget, method=method, later=later, dry_run=dry_run)
        return read(Reflection, self._ask("POST", "/reflect", body=body, headers=keyed(), timeout=LONG))

    def language(self) -> str:
        """Return the language in which this space's words are stemmed."""
        return str(self._ask("GET", "/language")["language"])

    def set_language(self, language: str, *, progress: Progress | None = None) -> int:  # noqa: ARG002
        """Let the server stem this space's words in another language; returns how many memories it indexed anew."""
        body = fields_of(language=language)
        return int(self._ask("PUT", "/language", body=body, headers=keyed(), timeout=LONG)["reindexed"])

    def shaken(self) -> builtins.list[Shaken]:
        """List the insights whose evidence no longer stands, with the reason."""
        return [read(Shaken, one) for one in self._ask("GET", "/shaken")["shaken"]]

    def observe(
        self,
        messages: Iterable[Any],
        *,
        gap: timedelta = timedelta(minutes=30),
        progress: Progress | None = None,  # noqa: ARG002
        **asked: Any,
    ) -> Observation:
        """Store a conversation's turns as episodes, and the memories they hold; again, it adds nothing."""
        body = {"messages": plain(messages, "messages"), "gap": gap.total_seconds(), **fields_of(**asked)}
        return read(Observation, self._ask("POST", "/observe", body=body, headers=keyed(), timeout=LONG))

    def jobs(
        self,
        *,
        state: JobState | None = None,
        kind: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listed[Job]:
        """List the jobs that are not done, oldest first: all, or those of a state or a kind."""
        return listed(Job, "jobs", partial(self._ask, "GET", "/jobs"), limit, cursor, state=state, kind=kind)

    def run_jobs(
        self,
        *,
        kinds: Iterable[str] | None = None,
        limit: int | None = None,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Ran:
        """Let the server do what is due."""
        body = fields_of(kinds=kinds, limit=limit)
        return read(Ran, self._ask("POST", "/jobs/run", body=body, headers=keyed(), timeout=LONG))

    def forecast_jobs(self) -> builtins.list[Forecast]:
        """Say what the jobs that are due would take of the language model, by kind; nothing is begun."""
        return [read(Forecast, one) for one in self._ask("GET", "/jobs/forecast")["forecasts"]]

    def retry_jobs(self, *ids: str, once: str | None = None) -> builtins.list[Job]:
        """Let jobs be tried again at once: those named, or all that are dead."""
        told = self._ask("POST", "/jobs/retry", body=_named(ids), headers=keyed(once))
        return [read(Job, job) for job in told["jobs"]]

    def drop_jobs(self, *ids: str, once: str | None = None) -> int:
        """Remove jobs undone: those named, or all that are dead; returns how many."""
        return int(self._ask("POST", "/jobs/drop", body=_named(ids), headers=keyed(once))["dropped"])

    def policy_in_force(self) -> Policy:
        """Return the policy of recalls that name none: this space's own, else the default."""
        told = self._ask("GET", "/policy")
        if told["applied"] is None and self._home.asked_policy is not None:
            return self._home.asked_policy
        return read(Policy, told["in_force"])

    def applied_policy(self) -> Applied | None:
        """Return the policy that this space has of its own; None where the default holds."""
        return _applied(self._ask("GET", "/policy"))

    def apply_policy(self, policy: Policy | str, note: str = "", *, once: str | None = None) -> Applied:
        """Make a policy this space's own."""
        body = {**policy_data(policy), "note": note}
        return read(Applied, self._ask("PUT", "/policy", body=body, headers=keyed(once)))

    def undo_policy(self, *, once: str | None = None) -> Applied | None:
        """Take back the latest `apply_policy`."""
        return _applied(self._ask("DELETE", "/policy", headers=keyed(once)))

    def rate(
        self,
        *,
        rater: Any = None,
        dry_run: bool = False,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Rerated:
        """Let the server rate anew how important memories are; ``rater`` is the name of one."""
        if rater is not None and not isinstance(rater, str):
            raise InvalidInput(f"rater={rater!r} cannot be sent; over HTTP name one: 'offline', 'llm', …", value=rater)
        body = fields_of(rater=rater, dry_run=dry_run)
        return read(Rerated, self._ask("POST", "/rate", body=body, headers=keyed(), timeout=LONG))

    def adapt(self, *, on: bool = True, reset: bool = False, undo: int = 0, once: str | None = None) -> Adaptation:
        """Let the weights follow feedback in this space; or stop it."""
        body = {"on": on, "reset": reset, "undo": undo}
        return read(Adaptation, self._ask("PUT", "/adaptation", body=body, headers=keyed(once)))

    def adaptation(self) -> Adaptation:
        """Return how this space adapts, and what it has learnt so far."""
        return read(Adaptation, self._ask("GET", "/adaptation"))


def _named(ids: Sequence[str]) -> dict[str, Any]:
    return {"ids": [checked_id(one) for one in ids]} if ids else {}


def _applied(told: Mapping[str, Any]) -> Applied | None:
    return read(Applied, told["applied"]) if told["applied"] is not None else None
