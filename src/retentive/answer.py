"""What `recall` returns: a sequence of hits that can explain itself, render itself for a prompt, and take feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, overload

from retentive.policy.policy import Policy
from retentive.recall.outcome import Compacted, Hit, Outcome, Trace
from retentive.types import Memory
from retentive.writing import content

Feedback = Callable[[str, Sequence[str], str | None], None]


class Recall(Sequence[Hit]):
    """The hits of one recall, best first. Empty when nothing is worth bringing up."""

    def __init__(self, id: str, policy: Policy, outcome: Outcome, feedback: Feedback) -> None:  # noqa: A002 - its id
        self.id = id
        self.policy = policy
        self.hits: tuple[Hit, ...] = outcome.hits
        self.core: tuple[Memory, ...] = outcome.core
        self.compacted: Compacted | None = outcome.compacted
        self.trace: Trace = outcome.trace
        self._feedback = feedback

    @property
    def cue(self) -> str:
        """What was asked."""
        return self.trace.utterance

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        """Return one hit or several."""
        return self.hits[index]

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.hits)

    def __repr__(self) -> str:
        return f"<Recall of {len(self)} hits for {self.cue!r} under {self.policy.name!r}>"

    def explain(self) -> str:
        """Return a table that a person can read: each hit's score, term by term, and what was cut and why."""
        from retentive.explain import explain  # noqa: PLC0415 - only those who ask pay for it

        return explain(self)

    def render(self, format: str = "xml") -> Any:  # noqa: A002 - the name is the contract
        """Return the answer for a prompt: "xml", "markdown" or "json" as text, "messages" as chat messages."""
        from retentive.render import render  # noqa: PLC0415

        return render(self.hits, self.core, self.compacted, format=format, now=self.trace.now)

    def feedback(self, used: Sequence[str] = (), outcome: str | None = None) -> None:
        """Say which memories were used and how it went ("good" or "bad"): moves importance by at most 5 %."""
        self._feedback(self.id, used, outcome)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON-ready data."""
        return {
            "id": self.id,
            "policy": self.policy.name,
            "cue": self.cue,
            "hits": [_plain(hit) for hit in self.hits],
            "core": [content(memory) for memory in self.core],
            "compacted": asdict(self.compacted) if self.compacted else None,
            "trace": self.trace.as_dict(),
        }


def _plain(hit: Hit) -> dict[str, Any]:
    return {
        "memory": {"space": hit.memory.space, **content(hit.memory)},
        "score": hit.score,
        "similarity": hit.similarity,
        "relevance": hit.relevance,
        "channels": list(hit.channels),
        "combine": hit.combine,
        "signals": {name: asdict(signal) for name, signal in hit.signals.items()},
        "modifiers": [asdict(modifier) for modifier in hit.modifiers],
        "stale": hit.stale,
    }
