"""The presets, exactly as docs/policy.md tells them. To add one, write it here and nowhere else."""

from __future__ import annotations

from typing import Any, Final

from retentive.errors import unknown_name
from retentive.policy.policy import (
    Fusion,
    Modifiers,
    Policy,
    Reinforcement,
    Selection,
    SignalSpec,
    Sources,
)

_PRESETS: Final[dict[str, Policy]] = {}


def _preset(policy: Policy) -> Policy:
    _PRESETS[policy.name] = policy
    return policy


def _spec(weight: float = 1.0, normalise: str = "minmax", constant: float = 0.5, **options: Any) -> SignalSpec:
    return SignalSpec(weight=weight, normalise=normalise, constant=constant, options=options)


# Park et al., "Generative Agents", UIST 2023: three min-max columns of equal weight, everything retrieved is touched.
stream: Final = _preset(
    Policy(
        name="stream",
        sources=Sources(channels=("vector", "recent", "important"), pool=100, whole_space_up_to=2_000),
        signals={
            "recency": _spec(constant=0.0, decay_by="hourly_base", hourly_base=0.995),
            "importance": _spec(constant=0.0),
            "similarity": _spec(constant=0.0),
        },
        modifiers=Modifiers(temporal_intent=False),
        selection=Selection(limit=3),
        reinforcement=Reinforcement(refresh_floor_seconds=0.0),
    )
)

blend: Final = _preset(
    Policy(
        name="blend",
        sources=Sources(channels=("vector",), pool=20),
        signals={
            "recency": _spec(half_life_days=14.0),
            "importance": _spec(count_bonus=0.05),
            "similarity": _spec(),
        },
        selection=Selection(limit=5),
        reinforcement=Reinforcement(refresh_floor_seconds=60.0),
    )
)


def _blended(name: str, recency: float, importance: float, similarity: float, half_life_days: float) -> Policy:
    return blend.replace(
        name=name,
        signals={
            "recency": _spec(recency, half_life_days=half_life_days),
            "importance": _spec(importance, count_bonus=0.05),
            "similarity": _spec(similarity),
        },
    )


assistant: Final = _preset(_blended("assistant", 1.5, 1.0, 1.0, 7.0))
support: Final = _preset(_blended("support", 1.0, 1.5, 1.0, 30.0))
coding: Final = _preset(_blended("coding", 0.5, 1.0, 1.5, 90.0))

planning: Final = _preset(
    _blended("planning", 1.0, 1.0, 1.0, 30.0).replace(require_tags=True, invert_earlier_sessions=True)
)

focus: Final = _preset(
    Policy(
        name="focus",
        sources=Sources(channels=("vector",), pool=30),
        signals={
            "similarity": _spec(0.60, "none"),
            "recency": _spec(0.25, "none", half_life_days=7.0),
            "importance": _spec(0.15, "none"),
        },
        selection=Selection(limit=5, floor=0.35, floor_on="score", token_budget=420),
    )
)

operational: Final = _preset(
    Policy(
        name="operational",
        sources=Sources(channels=("vector", "lexical"), pool=60, over_fetch=3.0, decompose="clauses"),
        fusion=Fusion(method="rrf"),
        signals={
            "similarity": _spec(0.45, "none"),
            "recency": _spec(0.25, "none", half_life_days=7.0),
            "importance": _spec(0.20, "none", decayed=True),
            "frequency": _spec(0.10, "none"),
        },
        modifiers=Modifiers(rotation="any", rotation_minutes=60.0),
        selection=Selection(limit=20, diversity="quota", near_duplicate=0.95),
    )
)


def _fresh(name: str, **options: Any) -> Policy:
    return Policy(
        name=name,
        sources=Sources(channels=("vector", "lexical"), pool=60, over_fetch=3.0),
        fusion=Fusion(method="rrf"),
        signals={"fusion": _spec(1.0, "none"), "freshness": _spec(1.0, "none", **options)},
        combine="product",
        modifiers=Modifiers(temporal_intent=False),
        selection=Selection(limit=20),
    )


freshness: Final = _preset(_fresh("freshness"))
freshness_records: Final = _preset(_fresh("freshness.records", tau_days={"fact": 365}, freshness_floor=0.2))
freshness_news: Final = _preset(_fresh("freshness.news", tau_days={"fact": 5, "event": 2}, k=0.5))
freshness_support: Final = _preset(_fresh("freshness.support", tau_days={"fact": 90, "preference": 45}))
freshness_pkm: Final = _preset(_fresh("freshness.pkm", tau_days={"entity": 730}))

# Ours. Absolute scores, so that a floor has a meaning; every constant was chosen on the development halves of public
# sets (docs/evaluation.md has the runs). Meaning, words and late interaction say how well a memory answers; the rest
# decides among near-equals.
retentive: Final = _preset(
    Policy(
        name="retentive",
        sources=Sources(
            channels=("vector", "lexical", "entity", "temporal", "recent", "important"),
            pool=200,
            background=25,
            decompose="questions",
            neighbours=2,
        ),
        signals={
            "similarity": _spec(0.135, "scaled"),
            "lexical": _spec(0.24, "band"),
            "late": _spec(0.47, "none"),
            "context": _spec(0.45, "none"),
            "speaker": _spec(0.10, "none"),
            "entity": _spec(0.05, "none"),
            "importance": _spec(0.05, "none"),
            "novelty": _spec(0.01, "none", fades_in_days=30.0),
            "recency": _spec(0.002, "none", half_life_days=14.0),
            "frequency": _spec(0.002, "none"),
        },
        modifiers=Modifiers(
            rotation="similar", window_bonus=0.05, succession=0.25, claims=1.0, tiers=False, track_record=0.25
        ),
        selection=Selection(limit=5, floor=0.25, floor_on="relevance", diversity="balanced", near_duplicate=0.95),
    )
)


def get(name: str) -> Policy:
    """Return a preset by name."""
    if name not in _PRESETS:
        raise unknown_name("policy", name, _PRESETS)
    return _PRESETS[name]


def names() -> tuple[str, ...]:
    """List the presets, the default first."""
    return ("retentive", *(name for name in _PRESETS if name != "retentive"))
