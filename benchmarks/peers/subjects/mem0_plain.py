"""mem0 without a language model (infer=False), local Qdrant; user_id is the space."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("OPENAI_API_KEY", "none")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))

from mem0 import Memory
from speaking import Subject, main


class Lookup:
    """An embedder that looks vectors up."""

    def __init__(self, known: dict[str, list[float]], dimension: int) -> None:
        self.known = known
        self.config = type("Config", (), {"embedding_dims": dimension})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.known[text]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.known[text] for text in texts]


class Mem0(Subject):
    name: ClassVar[str] = "mem0 2.2.1, no LLM"
    how: ClassVar[str] = "Memory.add(infer=False), local Qdrant, user_id is the space, search with its defaults"

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.place = folder or tempfile.mkdtemp(prefix="mem0-")
        self._open()

    def _open(self) -> None:
        qdrant = {
            "path": f"{self.place}/qdrant",
            "on_disk": True,
            "embedding_model_dims": self.dimension,
            "collection_name": "m",
        }
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": f"{self.place}/history.db",
            }
        )
        self.memory.embedding_model = Lookup(self.vectors, self.dimension)

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        metadata = {"kind": facts.get("kind", "fact"), "at": facts.get("at", now.isoformat())}
        told = self.memory.add(text, user_id=space, metadata=metadata, infer=False)
        return str(told["results"][0]["id"])

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        found = self.memory.search(cue, filters={"user_id": space}, top_k=limit)
        return [(each["id"], each["memory"], each["score"]) for each in found["results"]]

    def forget(self, memory_id: str, space: str) -> None:
        self.memory.delete(memory_id)

    def reopen(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        self.memory.vector_store.client.close()


if __name__ == "__main__":
    main(Mem0)
