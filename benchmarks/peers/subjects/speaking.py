"""The other side of `retentive.evaluate.scenarios.remote`: a peer as a program that answers JSON lines.

An adapter subclasses `Subject` and calls `main`. Nothing of Retentive is imported here. Whatever a library prints goes
to standard error; standard output belongs to the conversation.
"""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar


class Cannot(Exception):
    """What is asked for does not exist in this peer."""


class Subject(ABC):
    """A fresh, empty memory of one peer."""

    name: ClassVar[str]
    how: ClassVar[str]
    expresses: ClassVar[Sequence[str]] = ()
    """Of at, importance, reads, kind, key, supersedes, valid_until, recurs, shared: what counts when it recalls."""

    def __init__(self, dimension: int, folder: str | None) -> None:
        self.dimension = dimension
        self.folder = folder
        self.vectors: dict[str, list[float]] = {}

    @abstractmethod
    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        """Keep a text and return its id; its vector is in ``vectors``."""

    @abstractmethod
    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        """Return (id, text, score), best first; the cue's vector is in ``vectors``."""

    @abstractmethod
    def forget(self, memory_id: str, space: str) -> None:
        """Take a memory out of every later answer."""

    def reopen(self) -> None:
        """Close and open again; what lives in memory alone has nothing to do."""

    def close(self) -> None:
        """Release everything."""


def said_at(facts: dict[str, Any], now: datetime) -> datetime:
    """Return when a text was said."""
    return datetime.fromisoformat(facts["at"]) if "at" in facts else now


def main(kind: type[Subject]) -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    subjects: dict[int, Subject] = {}
    for line in sys.stdin:
        try:
            answer = _answer(kind, subjects, json.loads(line))
        except Cannot as missing:
            answer = {"cannot": str(missing)}
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is an answer of the peer
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _answer(kind: type[Subject], subjects: dict[int, Subject], asked: dict[str, Any]) -> dict[str, Any]:
    do = asked["do"]
    if do == "hello":
        return {"name": kind.name, "how": kind.how, "expresses": list(kind.expresses)}
    if do == "open":
        subjects[asked["subject"]] = kind(asked["dimension"], asked["folder"])
        return {}
    subject, now = subjects[asked["subject"]], datetime.fromisoformat(asked["now"])
    if do == "remember":
        subject.vectors[asked["text"]] = asked["vector"]
        return {"id": subject.remember(asked["text"], asked["space"], asked["facts"], now)}
    if do == "recall":
        subject.vectors[asked["cue"]] = asked["vector"]
        hits = subject.recall(asked["cue"], asked["space"], asked["limit"], now, asked["asked"])
        return {"hits": [{"id": i, "text": t, "score": float(s)} for i, t, s in hits]}
    if do == "forget":
        subject.forget(asked["id"], asked["space"])
    elif do == "reopen":
        subject.reopen()
    else:
        subjects.pop(asked["subject"]).close()
    return {}
