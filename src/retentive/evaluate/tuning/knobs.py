"""What tuning may turn of a policy: weights, half-lives, the similarity band, the floor. Everything else stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from retentive.policy.policy import Policy, SignalSpec
from retentive.scoring.freshness import TAU_DAYS
from retentive.scoring.signals import options_of
from retentive.types import Floats, RowIds

HALF_LIVES: Final = (7.0, 10.0, 14.0, 21.0, 30.0)  # the advised band: beyond it lies a cliff, or nothing
FADING: Final = (7.0, 14.0, 30.0, 60.0, 120.0)
HOURLY_BASES: Final = (0.99, 0.995, 0.998)
STRETCHES: Final = (0.5, 2.0)  # of every half-life of freshness alike
FLOORS: Final = (0.4, 0.6, 0.8, 0.9, 1.1, 1.2, 1.4)  # times the floor in force
FIRST_FLOORS: Final = (0.1, 0.2, 0.3, 0.4, 0.5)  # where none is in force
NO_FLOOR: Final = -np.inf


@dataclass(frozen=True, slots=True)
class Points:
    """Some settings side by side: a row of weights, a row of choices among each signal's variants, and a floor each."""

    weights: Floats  # settings by signals
    choices: RowIds  # likewise
    floors: Floats

    def __len__(self) -> int:
        return len(self.floors)

    def take(self, rows: RowIds | Sequence[int]) -> Points:
        """Return some of the settings."""
        return Points(self.weights[rows], self.choices[rows], self.floors[rows])

    @staticmethod
    def joined(parts: Sequence[Points]) -> Points:
        """Put batches one behind the other."""
        return Points(
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.choices for part in parts]),
            np.concatenate([part.floors for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Knobs:
    """A policy's knobs: the variants of each signal (the policy's own first) and the floors to try (its own first)."""

    policy: Policy
    names: tuple[str, ...]
    variants: tuple[tuple[SignalSpec, ...], ...]
    floors: tuple[float, ...]

    @classmethod
    def of(cls, policy: Policy, *, bands: Sequence[tuple[float, float]] = (), floor: bool = False) -> Knobs:
        """Return what may be turned of a policy. ``bands`` are cosine bands worth trying; ``floor`` moves the floor."""
        variants = tuple((spec, *_variants(name, spec, bands)) for name, spec in policy.signals.items())
        return cls(policy, tuple(policy.signals), variants, (_floor_of(policy), *(_floors(policy) if floor else ())))

    @property
    def start(self) -> Points:
        """The policy as it stands, as a setting."""
        weights = np.array([list(self.policy.weights.values())], dtype=np.float64)
        return Points(weights, np.zeros_like(weights, dtype=np.int64), np.array([self.floors[0]]))

    def spread(self, points: Points) -> Floats:
        """Return settings by variants: each signal's weight in the place of its chosen variant, 0 in the others'."""
        widths = np.array([len(found) for found in self.variants])
        starts = np.cumsum(widths) - widths
        spread = np.zeros((len(points), int(widths.sum())))
        np.put_along_axis(spread, points.choices + starts, points.weights, axis=1)
        return spread

    @property
    def free(self) -> bool:
        """Whether there is anything to turn: one weight alone changes no order."""
        return len(self.names) > 1 or len(self.floors) > 1 or any(len(found) > 1 for found in self.variants)

    def policy_of(self, points: Points, at: int, name: str) -> Policy:
        """Return one setting as a policy."""
        signals = {
            signal: replace(self.variants[k][points.choices[at, k]], weight=_rounded(points.weights[at, k]))
            for k, signal in enumerate(self.names)
        }
        floor = float(points.floors[at])
        selection = replace(self.policy.selection, floor=None if floor == NO_FLOOR else _rounded(floor))
        return replace(self.policy, name=name, signals=signals, selection=selection)


def _rounded(value: float) -> float:
    """Write four digits: more would say nothing, and a file is there to be read."""
    return float(f"{value:.4g}")


def _floor_of(policy: Policy) -> float:
    return NO_FLOOR if policy.selection.floor is None else policy.selection.floor


def _floors(policy: Policy) -> tuple[float, ...]:
    floor = policy.selection.floor
    if floor is None:
        return FIRST_FLOORS if policy.selection.floor_on == "relevance" else ()
    return (NO_FLOOR, *(floor * factor for factor in FLOORS)) if floor > 0 else ()


def _variants(name: str, spec: SignalSpec, bands: Sequence[tuple[float, float]]) -> Iterator[SignalSpec]:
    """Yield other shapes of a signal's column."""
    known = {**options_of(name), **spec.options}
    if known.get("decay_by") in {"half_life", "ebbinghaus"}:
        yield from _with(spec, "half_life_days", known["half_life_days"], HALF_LIVES)
    if known.get("decay_by") == "hourly_base":
        yield from _with(spec, "hourly_base", known["hourly_base"], HOURLY_BASES)
    if "fades_in_days" in known:
        yield from _with(spec, "fades_in_days", known["fades_in_days"], FADING)
    if "tau_days" in known:
        for factor in STRETCHES:
            taus = {kind: days * factor for kind, days in {**TAU_DAYS, **known["tau_days"]}.items()}
            yield replace(spec, options={**spec.options, "tau_days": taus})
    if name == "similarity" and spec.normalise in {"band", "scaled"}:
        yield from (replace(spec, normalise="band", low=low, high=high) for low, high in bands)


def _with(spec: SignalSpec, option: str, present: float, values: Sequence[float]) -> Iterator[SignalSpec]:
    yield from (replace(spec, options={**spec.options, option: value}) for value in values if value != present)
