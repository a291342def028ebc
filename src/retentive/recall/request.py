"""What a caller asked for, and the tools a recall may use: the inputs of the pipeline, nothing computed yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from retentive.embedders.protocol import Embedder
from retentive.policy.policy import Policy
from retentive.recall.budget import Compactor
from retentive.recall.late import Windows
from retentive.recall.rerank import Breaker, Reranker
from retentive.recall.stages import Watch
from retentive.text.budget import count_tokens
from retentive.types import AgentState, Gate


@dataclass(frozen=True, slots=True)
class Question:
    """One recall as it was asked."""

    policy: Policy
    gate: Gate
    now: datetime
    cue: str = ""
    utterance: str = ""
    state: AgentState | None = None
    session: str | None = None
    own_weights: Mapping[str, float] | None = None  # where weights adapt: the policy's, before they were bent
    habits: tuple[str, ...] = ()  # how the space came by its policy, for the explanation


@dataclass(frozen=True, slots=True)
class Tools:
    """The models a recall may use, and how tokens are counted."""

    embedder: Embedder
    reranker: Reranker | None = None
    breaker: Breaker | None = None
    count_tokens: Callable[[str], int] = count_tokens
    windows: Windows | None = None  # token windows for late interaction, where a token table is at hand
    language: str = "english"
    compactor: Compactor | None = None  # asked where the policy wants it
    compactor_breaker: Breaker | None = None
    watch: Watch | None = None  # is told how long each stage took
