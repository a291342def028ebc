"""What tuning found: a policy, what it changes, what that gained where, and whether it may be believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from retentive.evaluate.statistics import Difference
from retentive.policy.policy import Policy


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that the tuned policy has otherwise."""

    name: str  # as `signals.recency.weight`
    before: Any
    after: Any

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON-ready data."""
        return {"name": self.name, "before": _plain(self.before), "after": _plain(self.after)}


@dataclass(frozen=True, slots=True)
class Tuning:
    """The outcome of one tuning."""

    dataset: str
    base: Policy
    policy: Policy  # what was found; the base itself where nothing better was
    beaten: str  # what it had to beat, in words: the policy in force, or the base
    stays: bool  # nothing better was found on the questions learnt from
    learnt_from: int  # questions
    gain: Difference  # of the found policy over that one on the held-out questions, through the real recall
    before: float  # what an answer of the one in force is worth there, on average
    after: float
    learnt: tuple[float, float]  # the same two on the questions that were learnt from: what held-out ones are for
    share: float  # how far the setting found was followed; the rest pulled it back to the base
    settings: int  # tried
    seed: int
    seconds: float = field(default=0.0, compare=False)  # of the search alone: the rest is asking

    @property
    def settings_a_second(self) -> float:
        """How many settings were scored a second, each on every question of its fold."""
        return self.settings / self.seconds if self.seconds else 0.0

    @property
    def accepted(self) -> bool:
        """Whether the found policy beats what is in force on questions it never saw, by more than chance."""
        return self.gain.interval.low > 0

    @property
    def verdict(self) -> str:
        """Say in a sentence why it may be applied, or why not."""
        found = self.gain.interval
        figures = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}] on {self.gain.questions} held-out questions"
        if self.stays:
            return f"Nothing better than {self.beaten} was found; it stays."
        if self.accepted:
            return f"Better than {self.beaten}: {figures}."
        if found.high < 0:
            return f"Worse than {self.beaten}: {figures}. It stays."
        return f"Not clearly better than {self.beaten}: {figures}, and 0 lies within. It stays."

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the found policy has otherwise than the base."""
        return tuple(_changes(self.base, self.policy))

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON-ready data."""
        return {
            "dataset": self.dataset,
            "base": self.base.name,
            "beaten": self.beaten,
            "policy": self.policy.name,
            "accepted": self.accepted,
            "verdict": self.verdict,
            "held_out": {"before": round(self.before, 4), "after": round(self.after, 4), "gain": self.gain.as_dict()},
            "learnt": {
                "questions": self.learnt_from,
                "before": round(self.learnt[0], 4),
                "after": round(self.learnt[1], 4),
            },
            "followed": self.share,
            "settings": self.settings,
            "seed": self.seed,
            "changes": [change.as_dict() for change in self.changes],
        }

    def as_text(self) -> str:
        """Return the outcome as lines for a terminal."""
        rows = [("", "before", "after")]
        rows += [(f"learnt from {self.learnt_from}", f"{self.learnt[0]:.3f}", f"{self.learnt[1]:.3f}")]
        rows += [(f"held out {self.gain.questions}", f"{self.before:.3f}", f"{self.after:.3f}")]
        rows += [(change.name, _shown(change.before), _shown(change.after)) for change in self.changes]
        widths = [max(len(row[at]) for row in rows) for at in range(3)]
        table = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]
        return "\n".join([*table, "", *self._searched(), self.verdict])

    def _searched(self) -> list[str]:
        if not self.seconds:
            return []
        return [f"{self.settings:,} settings in {self.seconds:.1f} s, {self.settings_a_second:,.0f} a second."]


def _changes(base: Policy, found: Policy) -> Iterator[Change]:
    for name, spec in found.signals.items():
        old = base.signals[name]
        for part in ("weight", "normalise", "low", "high"):
            if getattr(spec, part) != getattr(old, part):
                yield Change(f"signals.{name}.{part}", getattr(old, part), getattr(spec, part))
        for option, value in spec.options.items():
            if old.options.get(option) != value:
                yield Change(f"signals.{name}.{option}", old.options.get(option), value)
    if found.selection.floor != base.selection.floor:
        yield Change("selection.floor", base.selection.floor, found.selection.floor)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {days:g}" for name, days in value.items())
    return f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)
