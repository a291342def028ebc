"""Retentive: long-term memory for AI agents whose core is the retrieval policy.

Names are loaded at the first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retentive import policies
    from retentive.answer import Recall
    from retentive.asynchronous import AsyncRetentive
    from retentive.errors import RetentiveError
    from retentive.memory import Retentive, Space
    from retentive.policy import Policy
    from retentive.recall.outcome import Hit
    from retentive.types import AgentState, AsOf, Draft, Memory, rating

_HOMES = {
    "AgentState": "retentive.types",
    "AsOf": "retentive.types",
    "AsyncRetentive": "retentive.asynchronous",
    "Draft": "retentive.types",
    "Hit": "retentive.recall.outcome",
    "Memory": "retentive.types",
    "Policy": "retentive.policy",
    "Recall": "retentive.answer",
    "Retentive": "retentive.memory",
    "RetentiveError": "retentive.errors",
    "Space": "retentive.memory",
    "rating": "retentive.types",
}

__all__ = [
    "AgentState",
    "AsOf",
    "AsyncRetentive",
    "Draft",
    "Hit",
    "Memory",
    "Policy",
    "Recall",
    "Retentive",
    "RetentiveError",
    "Space",
    "policies",
    "rating",
]


def __getattr__(name: str) -> Any:
    if name == "policies":
        return import_module("retentive.policies")
    if name == "__version__":
        try:
            return version("retentive")
        except PackageNotFoundError:
            return "0+unknown"
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'retentive' has no attribute {name!r}; it has {', '.join(__all__)}")
