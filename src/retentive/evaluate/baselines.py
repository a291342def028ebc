"""What a policy has to beat, expressed as policies, so that baselines run through the same store, gates and ties."""

from __future__ import annotations

from retentive.policy.policy import Fusion, Modifiers, Policy, Selection, SignalSpec, Sources

POOL = 200
"""Per channel: ten times the answer's depth, so that fusing finds what either channel ranks far down."""
_PLAIN = Modifiers(temporal_intent=False)
_SELECTION = Selection(limit=20)


def _raw(weight: float = 1.0, normalise: str = "none") -> SignalSpec:
    return SignalSpec(weight=weight, normalise=normalise)


BM25 = Policy(
    name="bm25",
    sources=Sources(channels=("lexical",), pool=POOL),
    signals={"lexical": _raw()},
    modifiers=_PLAIN,
    selection=_SELECTION,
)
VECTOR = Policy(
    name="vector",
    sources=Sources(channels=("vector",), pool=POOL),
    signals={"similarity": _raw()},
    modifiers=_PLAIN,
    selection=_SELECTION,
)
RRF = Policy(
    name="rrf60",
    sources=Sources(channels=("vector", "lexical"), pool=POOL),
    fusion=Fusion(method="rrf", rank_constant=60.0),
    signals={"fusion": _raw()},
    modifiers=_PLAIN,
    selection=_SELECTION,
)
MIN_MAX = Policy(
    name="min-max",
    sources=Sources(channels=("vector", "lexical"), pool=POOL),
    signals={"similarity": _raw(0.6, "population"), "lexical": _raw(0.4, "population")},
    modifiers=_PLAIN,
    selection=_SELECTION,
)

BASELINES: tuple[Policy, ...] = (BM25, VECTOR, RRF, MIN_MAX)
