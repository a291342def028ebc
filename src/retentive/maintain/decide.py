"""What may be pruned: five conditions that must all hold. Pure: memories, rules and a moment in, verdicts out."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.scoring.counts import decayed_count
from retentive.scoring.freshness import access_boost, tau_for, unclamped_strength
from retentive.types import Memory, strings

DAY: Final = 86_400.0
SUPPRESS: Final = "suppress"
"""The journal's word for what pruning does; `forget` is what a person does, and only a person takes that back."""
REACTIVATE: Final = "reactivate"


@dataclass(frozen=True, slots=True)
class PruneRules:
    """When a memory may leave retrieval (policy.md §7); every limit can be moved, none can be moved per memory."""

    age_days: float = 365.0  # older than this
    idle_days: float = 180.0  # not used for longer than this
    strength: float = 0.1  # 2^(-age/τ) · (1 + boost · ln(1 + n)) below this
    boost: float = 1.0
    superseded_days: float | None = 365.0  # superseded for longer than this, or never read; None: do not ask
    evidence_kinds: tuple[str, ...] = ("relation",)  # what an active memory of these kinds was derived from stays
    tau_days: Mapping[str, float] = field(default_factory=dict)  # half-lives by kind, where not the usual ones

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence_kinds", strings(self.evidence_kinds, "evidence_kinds"))
        for name in ("age_days", "idle_days", "strength", "boost", "superseded_days"):
            value = getattr(self, name)
            if value is not None or name != "superseded_days":
                _require_limit(name, value)
        for kind in self.tau_days:
            _tau(kind, self.tau_days)

    def as_dict(self) -> dict[str, Any]:
        """Return the rules as JSON-ready data."""
        data = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**data, "evidence_kinds": list(self.evidence_kinds), "tau_days": dict(self.tau_days)}


def _require_limit(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or math.isnan(value) or value < 0:
        raise InvalidInput(f"{name}={value!r} is not a number from 0 up.", value=value)


def _tau(kind: str, overrides: Mapping[str, float]) -> float:
    try:
        return tau_for(kind, overrides)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"tau_days={overrides.get(kind)!r}: {error}.", value=overrides.get(kind)) from None


RULES: Final = PruneRules()


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the five: whether it holds, and the numbers in words."""

    name: str
    holds: bool
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one memory, and why."""

    id: str
    prune: bool
    conditions: tuple[Condition, ...]
    spared: str = ""  # why the conditions do not count: pinned, permanent, recurring

    @property
    def reason(self) -> str:
        """The verdict in words: every condition where all hold, else what stands against it."""
        if self.spared:
            return self.spared
        said = [condition.says for condition in self.conditions if condition.holds == self.prune]
        return "; ".join(said)


def judge(memory: Memory, rules: PruneRules, now: datetime, evidence_of: Collection[str] = ()) -> Verdict:
    """Decide about one memory. ``evidence_of`` names the active memories, of the kinds that count, derived from it."""
    conditions = (
        _old(memory, rules, now),
        _idle(memory, rules, now),
        _weak(memory, rules, now),
        _replaced_or_unread(memory, rules, now),
        _no_evidence(rules, evidence_of),
    )
    spared = _spared(memory)
    return Verdict(memory.id, not spared and all(condition.holds for condition in conditions), conditions, spared)


def _spared(memory: Memory) -> str:
    """A recurring memory is spared too: a birthday rests for a year and has its day none the less."""
    marks = {"permanent": memory.permanent, "pinned": memory.pinned, "recurring": memory.recurs is not None}
    return " and ".join(name for name, holds in marks.items() if holds)


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / DAY)


def _compared(what: str, value: float, sign: str, limit: float, unit: str = "") -> str:
    return f"{what} {value:.4g}{unit} {sign} {limit:g}"


def _old(memory: Memory, rules: PruneRules, now: datetime) -> Condition:
    age = _days(memory.created_at, now)
    holds = age > rules.age_days
    return Condition("old", holds, _compared("age", age, ">" if holds else "≤", rules.age_days, " days"))


def _idle(memory: Memory, rules: PruneRules, now: datetime) -> Condition:
    last = memory.access.last_at
    idle = _days(last or memory.created_at, now)
    holds = idle > rules.idle_days
    what = "last used" if last else "never used, said"
    return Condition("idle", holds, _compared(what, idle, ">" if holds else "≤", rules.idle_days, " days ago"))


def _weak(memory: Memory, rules: PruneRules, now: datetime) -> Condition:
    """Strength has no floor here: the floor keeps old things findable, and this asks whether they still need to be."""
    access = memory.access
    count = float(decayed_count(access.count, _days(access.last_at or now, now)))
    tau = _tau(memory.kind, rules.tau_days)
    strength = float(unclamped_strength(_days(memory.created_at, now), tau, count, rules.boost))
    holds = strength < rules.strength
    compared = _compared("strength", strength, "<" if holds else "≥", rules.strength)
    boost = float(access_boost(count, rules.boost))
    return Condition("weak", holds, f"{compared} (half-life {tau:g} days, boost {boost:.3g})")


def _replaced_or_unread(memory: Memory, rules: PruneRules, now: datetime) -> Condition:
    if rules.superseded_days is None:
        return Condition("replaced or unread", holds=True, says="supersession and reads were not asked for")
    if memory.access.last_at is None:
        return Condition("replaced or unread", holds=True, says="never read")
    if memory.superseded_at is None:
        return Condition("replaced or unread", holds=False, says="it was read, and nothing supersedes it")
    since = _days(memory.superseded_at, now)
    holds = since > rules.superseded_days
    compared = _compared("superseded", since, ">" if holds else "≤", rules.superseded_days, " days ago")
    return Condition("replaced or unread", holds, compared if holds else f"it was read, and {compared}")


def _no_evidence(rules: PruneRules, evidence_of: Collection[str]) -> Condition:
    names = ", ".join(sorted(evidence_of)[:3])
    kinds = " or ".join(rules.evidence_kinds) or "memory"
    if not evidence_of:
        return Condition("no evidence", holds=True, says=f"evidence of no active {kinds}")
    return Condition("no evidence", holds=False, says=f"evidence of the active {kinds} {names}")


def active(memory: Memory, now: datetime) -> bool:
    """Whether a memory still counts: it may be recalled, and is true now."""
    began = memory.valid_from is None or memory.valid_from <= now
    return memory.retrievable and began and (memory.valid_until is None or now < memory.valid_until)
