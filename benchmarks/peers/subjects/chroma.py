"""Chroma: a collection a user, cosine space; metadata filters for kinds and tags."""

from __future__ import annotations

import hashlib
from datetime import datetime
from itertools import count
from typing import Any, ClassVar

import chromadb
from chromadb.config import Settings
from speaking import Subject, main

_NUMBERS = count()


class Chroma(Subject):
    name: ClassVar[str] = "Chroma 1.5.9"
    how: ClassVar[str] = "a collection for each space, cosine, metadata filters; ranks by the vector alone"

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.prefix = f"s{next(_NUMBERS)}"
        self.client = self._open()

    def _open(self) -> Any:
        settings = Settings(anonymized_telemetry=False)
        if self.folder:
            return chromadb.PersistentClient(self.folder, settings=settings)
        return chromadb.EphemeralClient(settings=settings)

    def _collection(self, space: str) -> Any:
        name = f"{self.prefix}-{hashlib.sha256(space.encode()).hexdigest()[:32]}"
        return self.client.get_or_create_collection(name, configuration={"hnsw": {"space": "cosine"}})

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        kept = self._collection(space)
        memory_id = facts.get("id") or f"m{kept.count()}"
        metadata = {"kind": facts.get("kind", "fact"), "at": facts.get("at", now.isoformat())}
        kept.upsert(ids=[memory_id], embeddings=[self.vectors[text]], documents=[text], metadatas=[metadata])
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        kept = self._collection(space)
        where = {"kind": {"$in": list(asked["kinds"])}} if asked.get("kinds") else None
        size = min(limit, kept.count())
        if not size:
            return []
        found = kept.query(query_embeddings=[self.vectors[cue]], n_results=size, where=where)
        rows = zip(found["ids"][0], found["documents"][0], found["distances"][0], strict=True)
        return [(memory_id, text, 1 - distance) for memory_id, text, distance in rows]

    def forget(self, memory_id: str, space: str) -> None:
        self._collection(space).delete(ids=[memory_id])

    def reopen(self) -> None:
        if self.folder:
            self.client = self._open()


if __name__ == "__main__":
    main(Chroma)
