"""A recall as JSON and back: its hits with their arithmetic, the core block, and on request everything else.

What a caller gets from a server explains and renders itself as a local one does, from the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from retentive.answer import Recall
from retentive.policy.policy import Policy
from retentive.recall.outcome import Compacted, Hit, Outcome, Trace
from retentive.types import Memory
from retentive.wire.values import read, written

Feedback = Callable[[str, Sequence[str], str | None], None]


def memory_data(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON data, with its version (its ETag) and whether recall may return it."""
    return {**written(memory), "version": memory.version, "retrievable": memory.retrievable}


def recall_data(recall: Recall, *, trace: bool = False) -> dict[str, Any]:
    """Return a recall as JSON data; ``trace`` adds how it came about, and the policy itself."""
    data = {
        "id": recall.id,
        "policy": recall.policy.name,
        "cue": recall.cue,
        "hits": [hit_data(hit) for hit in recall.hits],
        "core": [memory_data(memory) for memory in recall.core],
        "compacted": written(recall.compacted),
        "notes": list(recall.trace.notes),
    }
    return {**data, "trace": written(recall.trace), "policy_toml": _dumped(recall.policy)} if trace else data


def hit_data(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON data."""
    return {**written(hit), "memory": memory_data(hit.memory)}


def recall_of(data: Mapping[str, Any], feedback: Feedback) -> Recall:
    """Return the recall that a server sent with its trace."""
    outcome = Outcome(
        hits=tuple(read(Hit, hit) for hit in data["hits"]),
        core=tuple(read(Memory, memory) for memory in data["core"]),
        compacted=read(Compacted, data["compacted"]) if data["compacted"] else None,
        trace=read(Trace, data["trace"]),
    )
    return Recall(data["id"], _parsed(data["policy_toml"]), outcome, feedback)


@lru_cache(maxsize=64)
def _dumped(policy: Policy) -> str:
    return policy.dump()


@lru_cache(maxsize=64)
def _parsed(text: str) -> Policy:
    return read(Policy, text)
