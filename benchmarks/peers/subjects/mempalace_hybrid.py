"""MemPalace: its exact SQLite backend and its hybrid re-ranking of four times the answer, a palace for each space."""

from __future__ import annotations

import hashlib
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("HOME", tempfile.mkdtemp(prefix="mempalace-"))

from mempalace.backends.base import PalaceRef
from mempalace.backends.sqlite_exact import SQLiteExactBackend
from mempalace.searcher import _hybrid_rank
from speaking import Subject, main

OVER_FETCH = 4
WORDED = 3


class MemPalace(Subject):
    name: ClassVar[str] = "MemPalace 3.11"
    how: ClassVar[str] = (
        "the sqlite_exact backend, a palace for each space, candidates by vector and by words "
        "(candidate_strategy='union') and its hybrid re-ranking with default weights, as search_memories has it"
    )

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.place = Path(folder or tempfile.mkdtemp(prefix="mempalace-"))
        self.backend = SQLiteExactBackend()
        self.number = 0

    def _drawers(self, space: str) -> Any:
        path = self.place / hashlib.sha256(space.encode()).hexdigest()[:24]
        path.mkdir(parents=True, exist_ok=True)
        palace = PalaceRef(id=str(path), local_path=str(path))
        return self.backend.get_collection(palace=palace, collection_name="mempalace_drawers", create=True)

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        self.number += 1
        memory_id = facts.get("id") or f"m{self.number}"
        metadata = {"wing": space, "room": facts.get("kind", "fact"), "filed_at": facts.get("at", now.isoformat())}
        self._drawers(space).upsert(
            ids=[memory_id], documents=[text], metadatas=[metadata], embeddings=[self.vectors[text]]
        )
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        drawers = self._drawers(space)
        if not drawers.count():
            return []
        found = drawers.query(
            query_embeddings=[self.vectors[cue]],
            n_results=OVER_FETCH * limit,
            include=["documents", "distances", "metadatas"],
        )
        rows = zip(found.ids[0], found.documents[0], found.distances[0], strict=True)
        hits = [{"id": memory_id, "text": text, "distance": distance} for memory_id, text, distance in rows]
        known = {hit["id"] for hit in hits}
        worded = drawers.lexical_search(query=cue, n_results=WORDED * limit).hits
        hits += [{"id": hit.id, "text": hit.document, "distance": None} for hit in worded if hit.id not in known]
        best = _hybrid_rank(hits, cue)[:limit]
        return [(hit["id"], hit["text"], 1.0 - at / (OVER_FETCH * limit)) for at, hit in enumerate(best)]

    def forget(self, memory_id: str, space: str) -> None:
        self._drawers(space).delete(ids=[memory_id])

    def reopen(self) -> None:
        self.backend.close()
        self.backend = SQLiteExactBackend()

    def close(self) -> None:
        self.backend.close()


if __name__ == "__main__":
    main(MemPalace)
