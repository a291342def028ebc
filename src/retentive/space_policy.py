"""A space's own policy: what recall uses there when none is named, kept with the space, and undone step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from retentive.errors import NotFound
from retentive.once import Once, done_before, note_done
from retentive.policy.policy import Policy
from retentive.policy.toml import restored_policy
from retentive.stores.protocol import SpaceStore, Transaction

SETTING: Final = "policy"
STEPS_KEPT: Final = 10  # how far back `undo` reaches


@dataclass(frozen=True, slots=True)
class Applied:
    """A policy that was made a space's own: when, and why."""

    policy: Policy
    at: datetime
    note: str = ""

    def told(self) -> str:
        """Say in a sentence what is in force since when, and why."""
        why = f": {self.note}" if self.note else ""
        return f"{self.policy.name!r} is this space's own since {self.at:%Y-%m-%d}{why}"

    def as_dict(self) -> dict[str, str]:
        """Return what identifies it, as JSON-ready data."""
        return {"policy": self.policy.name, "at": self.at.isoformat(), "note": self.note}


def own(store: SpaceStore | Transaction) -> dict[str, Any]:
    """Return all that a space keeps of its own way to recall, by part: one setting, for every recall reads it."""
    kept: Any = store.setting(SETTING)
    return kept or {}


def keep(tx: Transaction, part: str, value: Any) -> None:
    """Keep one part; None removes it."""
    parts = {name: kept for name, kept in {**own(tx), part: value}.items() if kept}
    tx.set_setting(SETTING, parts or None)


def applied(kept: Mapping[str, Any], space: str) -> Applied | None:
    """Return the policy that a space has of its own, None where the default holds."""
    steps = _steps(kept)
    if not steps:
        return None
    last = steps[-1]
    return Applied(_restored(last["toml"], space), datetime.fromisoformat(last["at"]), last["note"])


def apply(store: SpaceStore, policy: Policy, at: datetime, note: str = "", asked: Once | None = None) -> Applied:
    """Make a policy the space's own; the one before it stays for `undo`."""
    with store.transaction() as tx:
        if (done := done_before(asked, tx)) is not None:
            return Applied(policy, datetime.fromisoformat(done[0]), note)
        steps = _steps(own(tx))
        step = {"toml": policy.dump(), "at": at.isoformat(), "note": note}
        keep(tx, "applied", [*steps, step][-STEPS_KEPT:])
        note_done(asked, tx, [at.isoformat()], at)
    return Applied(policy, at, note)


def undo(store: SpaceStore, now: datetime, asked: Once | None = None) -> Applied | None:
    """Go back to the policy before, and return it: None is the default again."""
    with store.transaction() as tx:
        if done_before(asked, tx) is None:
            steps = _steps(own(tx))
            if not steps:
                raise NotFound(f"Space {store.path!r} has no policy of its own: nothing to undo.", space=store.path)
            keep(tx, "applied", steps[:-1])
            note_done(asked, tx, [], now)
    return applied(own(store), store.path)


def _steps(kept: Mapping[str, Any]) -> list[dict[str, str]]:
    return list(kept.get("applied", ()))


@lru_cache(maxsize=256)
def _restored(text: str, space: str) -> Policy:
    """Read a kept policy; every recall asks for it, and it changes as good as never."""
    return restored_policy(text, f"the policy applied to {space!r} (`retentive tune --undo` takes it back)")
