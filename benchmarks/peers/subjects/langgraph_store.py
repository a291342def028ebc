"""LangGraph's long-term store: namespaces, put and search by meaning; filters on the stored value."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from langgraph.store.memory import InMemoryStore
from speaking import Subject, main


class LangGraph(Subject):
    name: ClassVar[str] = "LangGraph store 1.2"
    how: ClassVar[str] = (
        "InMemoryStore with an index over the text, namespace (space, 'memories'); ranks by the vector alone"
    )
    expresses: ClassVar[tuple[str, ...]] = ("key",)

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.store = InMemoryStore(index={"dims": dimension, "embed": self._embed, "fields": ["text"]})
        self.number = 0

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        self.number += 1
        memory_id = facts.get("id") or facts.get("key") or f"m{self.number}"  # what has a key is put under it
        value = {"text": text, "kind": facts.get("kind", "fact"), "at": facts.get("at", now.isoformat())}
        self.store.put((space, "memories"), memory_id, value)
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        kinds = asked.get("kinds") or [None]
        found = []
        for kind in kinds:  # its filters know equality, not membership
            wanted = {"kind": kind} if kind else None
            found += self.store.search((space, "memories"), query=cue, filter=wanted, limit=limit)
        best = sorted(found, key=lambda item: -(item.score or 0.0))[:limit]
        return [(item.key, item.value["text"], item.score or 0.0) for item in best]

    def forget(self, memory_id: str, space: str) -> None:
        self.store.delete((space, "memories"), memory_id)


if __name__ == "__main__":
    main(LangGraph)
