"""mem0 without a language model (infer=False) over its local Qdrant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from peer import Peer, main

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("OPENAI_API_KEY", "none")
USER = "bench"
BATCH = 1000


class Lookup:
    """An embedder that looks vectors up."""

    def __init__(self) -> None:
        self.known: dict[str, np.ndarray[Any, Any]] = {}
        self.config = type("Config", (), {"embedding_dims": 256})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - mem0's signature
        return self.known[text].tolist()

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:  # noqa: ARG002
        return [self.known[text].tolist() for text in texts]


class Mem0(Peer):
    packages: ClassVar[Sequence[str]] = ("mem0ai", "qdrant-client")
    how: ClassVar[str] = (
        "Memory.add(infer=False), local Qdrant on disk, user filter; bulk straight into its vector store"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        os.environ["MEM0_DIR"] = str(folder / "mem0")
        from mem0 import Memory  # noqa: PLC0415 - reads the environment when imported

        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 256, "collection_name": "m"}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self.lookup = Lookup()
        self.memory.embedding_model = self.lookup
        self.places: dict[str, int] = {}

    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        from uuid import UUID  # noqa: PLC0415

        self.lookup.known.update(zip(texts, vectors, strict=True))
        self.places.update({text: i for i, text in enumerate(texts)})
        for first in range(0, len(texts), BATCH):
            chunk = texts[first : first + BATCH]
            self.memory.vector_store.insert(
                vectors=[vector.tolist() for vector in vectors[first : first + BATCH]],
                ids=[str(UUID(int=first + i + 1)) for i in range(len(chunk))],
                payloads=[{"data": text, "user_id": USER, "hash": str(i)} for i, text in enumerate(chunk)],
            )

    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:
        self.lookup.known[cue] = vector
        found = self.memory.search(cue, filters={"user_id": USER}, top_k=limit)
        return [self.places[item["memory"]] for item in found["results"]]

    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        self.lookup.known[text] = vector
        self.places[text] = place
        self.memory.add(text, user_id=USER, infer=False)


if __name__ == "__main__":
    main(Mem0)
