"""The presets by name: ``policies.blend``, ``policies.get("freshness.news")``, ``policies.names()``."""

from retentive.policy.presets import (
    assistant,
    blend,
    coding,
    focus,
    freshness,
    freshness_news,
    freshness_pkm,
    freshness_records,
    freshness_support,
    get,
    names,
    operational,
    planning,
    retentive,
    stream,
    support,
)

__all__ = [
    "assistant",
    "blend",
    "coding",
    "focus",
    "freshness",
    "freshness_news",
    "freshness_pkm",
    "freshness_records",
    "freshness_support",
    "get",
    "names",
    "operational",
    "planning",
    "retentive",
    "stream",
    "support",
]
