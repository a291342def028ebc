"""CrewAI's unified memory, shallow recall: its composite of cosine, recency and importance over the nearest."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any, ClassVar

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OTEL_SDK_DISABLED"] = "true"

import numpy as np
from crewai.memory import types
from crewai.memory.types import MemoryConfig, MemoryRecord, compute_composite_score
from speaking import Subject, main, said_at


class Clock(datetime):
    """Its formula reads the wall clock, naive in UTC; the scenario's clock takes its place."""

    moment: ClassVar[datetime]

    @classmethod
    def utcnow(cls) -> datetime:
        return cls.moment


types.datetime = Clock


class CrewAI(Subject):
    name: ClassVar[str] = "CrewAI 1.15 formula"
    how: ClassVar[str] = (
        "compute_composite_score with MemoryConfig's defaults (0.5 cosine, 0.3 recency of 30 days, 0.2 importance) "
        "over the nearest so many as are asked for, as recall(depth='shallow') does without a language model"
    )
    expresses: ClassVar[tuple[str, ...]] = ("at", "importance")

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.records: dict[str, MemoryRecord] = {}
        self.config = MemoryConfig()

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        memory_id = facts.get("id") or f"m{len(self.records)}"
        at = said_at(facts, now).astimezone(UTC).replace(tzinfo=None)
        self.records[memory_id] = MemoryRecord(
            id=memory_id,
            content=text,
            scope=f"/{space}",
            importance=facts.get("importance", self.config.default_importance),
            created_at=at,
            last_accessed=at,
            embedding=self.vectors[text],
        )
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        Clock.moment = now.astimezone(UTC).replace(tzinfo=None)
        asked_for = np.array(self.vectors[cue])
        records = [record for record in self.records.values() if record.scope == f"/{space}"]
        cosines = {record.id: float(np.dot(record.embedding, asked_for)) for record in records}
        nearest = sorted(records, key=lambda record: -cosines[record.id])[:limit]
        scored = [(compute_composite_score(one, max(0.0, cosines[one.id]), self.config)[0], one) for one in nearest]
        return [(one.id, one.content, score) for score, one in sorted(scored, key=lambda pair: -pair[0])]

    def forget(self, memory_id: str, space: str) -> None:
        del self.records[memory_id]


if __name__ == "__main__":
    main(CrewAI)
