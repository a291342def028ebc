"""A policy: everything that decides a recall, as one frozen value. Data, not code.

``policy.replace(...)`` makes a variant. It takes whole sections (``selection=Selection(...)``), any single field of a
section by its own name (``limit=3``), any option of a signal (``hourly_base=0.99``), and ``weights={"recency": 2}``.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from retentive.errors import InvalidInput, unknown_name
from retentive.scoring.signals import SIGNALS, options_of
from retentive.types import CHANNELS

NORMALISERS: Final = ("minmax", "population", "band", "scaled", "none")
DECAYS: Final = ("half_life", "hourly_base", "ebbinghaus", "power_law", "none")
HALF_LIFE_DAYS_ADVISED: Final = (7.0, 30.0)

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "decompose": ("never", "clauses", "questions"),
    "method": ("none", "rrf"),
    "normalise": NORMALISERS,
    "past_intent": ("zero", "invert"),
    "rotation": ("off", "any", "similar"),
    "floor_on": ("score", "relevance"),
    "diversity": ("none", "mmr", "quota", "balanced"),
    "compaction": ("extractive", "llm"),
    "refresh_on": ("first", "second"),
    "combine": ("sum", "product"),
    "decay_by": DECAYS,
    "since": ("access", "creation"),
}


class PolicyWarning(UserWarning):
    """A policy is legal but likely not what its author wants."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where candidates come from: which channels, and how many each may bring."""

    channels: tuple[str, ...] = ("vector",)
    pool: int = 20  # per channel
    background: int = 0  # the same for `recent` and `important`, which do not look at the cue; 0: as many
    over_fetch: float = 1.0  # the pool is at least limit × this
    whole_space_up_to: int = 0  # below this many memories every one is a candidate
    decompose: str = "never"  # ask also for each of the cue's "clauses", or only for those that are "questions"
    require_tags: bool = False  # asking without a tag is an error
    neighbours: int = 0  # turns beside a strong one, on each side, that become candidates too


@dataclass(frozen=True, slots=True)
class Fusion:
    """How channels' ranks become one number, for policies that use it as a signal."""

    method: str = "none"
    rank_constant: float = 60.0


@dataclass(frozen=True, slots=True)
class SignalSpec:
    """One signal of a policy: its weight, how it is normalised, and its options."""

    weight: float = 1.0
    normalise: str = "minmax"
    constant: float = 0.5  # what a constant column becomes under min-max
    low: float | None = None  # a fixed band; None: the embedder's calibrated one
    high: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


@dataclass(frozen=True, slots=True)
class Modifiers:
    """What bends scores after they are combined, or weights before."""

    temporal_intent: bool = True
    past_intent: str = "zero"
    window_bonus: float = 0.0  # weight of the `window` signal when the cue names a time
    rotation: str = "off"
    rotation_minutes: float = 60.0
    rotation_similarity: float = 0.9  # cosine from which two cues of the same words are the same question
    tiers: bool = False  # reflections weigh importance × 1.25, facts weigh similarity × 1.25
    succession: float = 0.0  # among near-equal memories on one matter, how much the newer gains
    claims: float = 0.0  # how far a newer value of what was asked may lie below an older one and still go before it
    track_record: float = 0.0  # how far feedback on a procedure moves its score, at most


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the scored candidates are returned."""

    limit: int = 5
    floor: float | None = None
    floor_on: str = "score"
    diversity: str = "none"
    balance: float = 0.7  # λ of MMR
    near_duplicate: float | None = None  # cosine above which two of a kind are one
    token_budget: int | None = None
    compaction: str = "extractive"  # how what is over the budget is shortened
    rerank_ms: float = 200.0  # deadline of a configured cross-encoder


@dataclass(frozen=True, slots=True)
class Reinforcement:
    """How being read feeds back."""

    touch: bool = True
    refresh_floor_seconds: float = 60.0
    refresh_on: str = "first"
    second_within_hours: float = 24.0
    ledger: bool = True


_SECTIONS: Final[dict[str, type]] = {
    "sources": Sources,
    "fusion": Fusion,
    "modifiers": Modifiers,
    "selection": Selection,
    "reinforcement": Reinforcement,
}
_SECTION_OF: Final[dict[str, str]] = {
    item.name: section for section, kind in _SECTIONS.items() for item in dataclasses.fields(kind)
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A retrieval policy. See ``retentive.policies`` for the presets and docs/policy.md for every formula."""

    name: str
    sources: Sources = Sources()
    fusion: Fusion = Fusion()
    signals: Mapping[str, SignalSpec] = field(default_factory=dict)
    combine: str = "sum"
    modifiers: Modifiers = Modifiers()
    selection: Selection = Selection()
    reinforcement: Reinforcement = Reinforcement()

    def __post_init__(self) -> None:
        object.__setattr__(self, "signals", MappingProxyType(dict(self.signals)))
        check(self)

    def __hash__(self) -> int:
        return hash(self.dump())

    def replace(self, **changes: Any) -> Self:
        """Return a variant; see the module's first lines for what may be named."""
        policy = self
        for name, value in changes.items():
            policy = _changed(policy, name, value)
        return policy

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each signal."""
        return {name: spec.weight for name, spec in self.signals.items()}

    def dump(self) -> str:
        """Write the policy as TOML; `Policy.parse` reads it back to an equal value."""
        from retentive.policy.toml import dump_policy  # noqa: PLC0415 - the reader imports this module

        return dump_policy(self)

    @classmethod
    def parse(cls, text: str, source: str = "policy") -> Policy:
        """Read a policy from TOML text; ``base = "blend"`` starts from a preset."""
        from retentive.policy.toml import parse_policy  # noqa: PLC0415

        return parse_policy(text, source)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file."""
        from retentive.policy.toml import load_policy  # noqa: PLC0415

        return load_policy(Path(path))


def _changed(policy: Any, name: str, value: Any) -> Any:
    if name == "weights":
        return _with_weights(policy, value)
    if name == "signals":
        return dataclasses.replace(policy, signals={key: as_spec(key, spec) for key, spec in value.items()})
    if name in {"name", "combine"} or name in _SECTIONS:
        return dataclasses.replace(policy, **{name: value})
    if name in _SECTION_OF:
        section = _SECTION_OF[name]
        changed = dataclasses.replace(getattr(policy, section), **{name: value})
        return dataclasses.replace(policy, **{section: changed})
    return _with_option(policy, name, value)


def _with_weights(policy: Policy, weights: Mapping[str, float]) -> Policy:
    specs = dict(policy.signals)
    for name, weight in weights.items():
        if name not in specs:
            raise unknown_name(f"signal of policy {policy.name!r}", name, specs)
        specs[name] = dataclasses.replace(specs[name], weight=weight)
    return dataclasses.replace(policy, signals=specs)


def _with_option(policy: Policy, option: str, value: Any) -> Policy:
    owners = [name for name in policy.signals if option in options_of(name)]
    if not owners:
        known = {o for name in policy.signals for o in options_of(name)} | set(_SECTION_OF) | set(_SECTIONS)
        raise unknown_name(f"setting of policy {policy.name!r}", option, known | {"name", "combine", "weights"})
    specs = dict(policy.signals)
    for name in owners:
        specs[name] = dataclasses.replace(specs[name], options={**specs[name].options, option: value})
    changed = dataclasses.replace(policy, signals=specs)
    if option == "half_life_days":
        warn(changed)
    return changed


def as_spec(name: str, value: SignalSpec | Mapping[str, Any]) -> SignalSpec:
    """Accept a `SignalSpec` or a flat mapping in which the signal's options stand beside the common fields."""
    if isinstance(value, SignalSpec):
        return value
    common = {item.name for item in dataclasses.fields(SignalSpec)} - {"options"}
    options = {key: item for key, item in value.items() if key not in common and key != "options"}
    plain = {key: item for key, item in value.items() if key in common}
    if name not in SIGNALS:
        raise unknown_name("signal", name, SIGNALS)
    return SignalSpec(**plain, options={**dict(value.get("options", {})), **options})


def check(policy: Policy) -> None:
    """Refuse what cannot work, naming value and remedy; warn of what likely is not meant."""
    if not policy.name or not isinstance(policy.name, str):
        raise InvalidInput(f"A policy needs a name, got {policy.name!r}.")
    _check_choice("combine", policy.combine, policy.name)
    for name, kind in _SECTIONS.items():
        section: Any = getattr(policy, name)
        if not isinstance(section, kind):
            raise InvalidInput(f"Policy {policy.name!r}: {name} must be a {kind.__name__}, got {section!r}.")
        for item in dataclasses.fields(kind):
            _check_field(policy.name, item, getattr(section, item.name))
    _check_channels(policy)
    _check_ranges(policy)
    for name, spec in policy.signals.items():
        _check_signal(policy.name, name, spec)
        if policy.combine == "product" and spec.weight < 0:
            raise InvalidInput(
                f"Policy {policy.name!r}: weight of {name!r} is {spec.weight!r}, but in a product a weight is an "
                "exponent and a factor may be 0; use a weight of 0 or more, or combine='sum'.",
                value=spec.weight,
            )


def _check_choice(name: str, value: Any, policy: str) -> None:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise unknown_name(f"{name} in policy {policy!r}:", value, _CHOICES[name])


def _check_field(policy: str, item: dataclasses.Field[Any], value: Any) -> None:
    _check_choice(item.name, value, policy)
    expected = str(item.type)
    fits = {
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": _is_number(value),
        "float | None": value is None or _is_number(value),
        "int | None": value is None or (isinstance(value, int) and not isinstance(value, bool)),
        "str": isinstance(value, str),
    }.get(expected, True)
    if not fits:
        raise InvalidInput(f"Policy {policy!r}: {item.name} must be {expected}, got {value!r}.", value=value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_channels(policy: Policy) -> None:
    channels: Any = policy.sources.channels
    if isinstance(channels, str):
        raise InvalidInput(f"Policy {policy.name!r}: channels={channels!r} is one string; pass a list of names.")
    if not channels and not policy.sources.whole_space_up_to:
        raise InvalidInput(f"Policy {policy.name!r} has no channel; name at least one of {', '.join(CHANNELS)}.")
    for channel in channels:
        if channel not in CHANNELS:
            raise unknown_name(f"channel in policy {policy.name!r}:", channel, CHANNELS)


_RANGES: Final[dict[str, tuple[float, float]]] = {
    "pool": (1, 100_000),
    "background": (0, 100_000),
    "over_fetch": (1, 100),
    "whole_space_up_to": (0, 1_000_000),
    "neighbours": (0, 10),
    "rank_constant": (0, 1e6),
    "window_bonus": (0, 100),
    "rotation_minutes": (0, 525_600),
    "rotation_similarity": (-1, 1),
    "succession": (0, 1),
    "claims": (0, 10),
    "track_record": (0, 0.5),
    "limit": (1, 10_000),
    "balance": (0, 1),
    "near_duplicate": (-1, 1),
    "token_budget": (1, 10_000_000),
    "rerank_ms": (0, 600_000),
    "refresh_floor_seconds": (0, 1e9),
    "second_within_hours": (0, 1e6),
}


def _check_ranges(policy: Policy) -> None:
    for name, (low, high) in _RANGES.items():
        value = getattr(getattr(policy, _SECTION_OF[name]), name)
        if value is not None and not low <= value <= high:
            raise InvalidInput(f"Policy {policy.name!r}: {name}={value!r} is outside {low:g}..{high:g}.", value=value)


def _check_signal(policy: str, name: str, spec: Any) -> None:
    if name not in SIGNALS:
        raise unknown_name(f"signal in policy {policy!r}:", name, SIGNALS)
    if not isinstance(spec, SignalSpec):
        raise InvalidInput(f"Policy {policy!r}: signal {name!r} must be a SignalSpec, got {spec!r}.")
    _check_choice("normalise", spec.normalise, policy)
    if not _is_number(spec.weight):
        raise InvalidInput(f"Policy {policy!r}: weight of {name!r} must be a finite number, got {spec.weight!r}.")
    if (spec.low is None) != (spec.high is None) or (
        spec.low is not None and spec.high is not None and spec.low >= spec.high
    ):
        raise InvalidInput(
            f"Policy {policy!r}: the band of {name!r} is low={spec.low!r}, high={spec.high!r}; give both, low < high."
        )
    known = options_of(name)
    for option, value in spec.options.items():
        if option not in known:
            raise unknown_name(f"option of signal {name!r} in policy {policy!r}:", option, known)
        _check_option(policy, name, option, value, known[option])


def _check_option(policy: str, name: str, option: str, value: Any, default: Any) -> None:
    _check_choice(option, value, policy)
    where = f"Policy {policy!r}: {name}.{option}"
    if isinstance(default, bool) != isinstance(value, bool):
        raise InvalidInput(f"{where} must be {type(default).__name__}, got {value!r}.", value=value)
    if isinstance(default, float) and not _is_number(value):
        raise InvalidInput(f"{where} must be a finite number, got {value!r}.", value=value)
    if isinstance(default, Mapping):
        _check_tau(where, value)
    if option in {"half_life_days", "d"} and not value > 0:
        raise InvalidInput(f"{where}={value!r} must be above 0.", value=value)
    if option == "hourly_base" and not 0 < value < 1:
        raise InvalidInput(f"{where}={value!r} must lie between 0 and 1, e.g. 0.995.", value=value)


def _check_tau(where: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not all(_is_number(v) and v > 0 for v in value.values()):
        raise InvalidInput(f"{where} must map kinds to days above 0, got {value!r}.", value=value)


def advice(policy: Policy) -> list[str]:
    """Say what is legal but likely not meant."""
    return [*_cliff(policy), *_forgetful_rotation(policy)]


def _forgetful_rotation(policy: Policy) -> list[str]:
    if policy.modifiers.rotation == "off" or policy.reinforcement.ledger:
        return []
    return [f"Policy {policy.name!r}: rotation reads the ledger, and ledger = false keeps none: nothing will rotate."]


def _cliff(policy: Policy) -> list[str]:
    """A recency half-life beyond the advised band leads to a cliff, or nowhere."""
    spec = policy.signals.get("recency")
    if spec is None or spec.options.get("decay_by", "half_life") != "half_life":
        return []
    low, high = HALF_LIFE_DAYS_ADVISED
    days = spec.options.get("half_life_days", options_of("recency")["half_life_days"])
    if low <= days <= high:
        return []
    month = 2 ** (-30 / days)
    cliff = (
        f"a memory of last month keeps {month:.1%} of its recency, so little but the last days can win"
        if days < low
        else f"a memory of last month still has {month:.0%} of its recency, so the signal hardly tells new from old"
    )
    return [f"Policy {policy.name!r}: a recency half-life of {days:g} days is outside {low:g}-{high:g}: {cliff}."]


def warn(policy: Policy) -> None:
    """Warn of everything in `advice`."""
    for sentence in advice(policy):
        warnings.warn(sentence, PolicyWarning, stacklevel=3)
