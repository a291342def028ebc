"""Chroma: a persistent collection with its HNSW index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import chromadb
import numpy as np
from chromadb.config import Settings
from peer import Peer, main

os.environ["ANONYMIZED_TELEMETRY"] = "False"
BATCH = 5000


class Chroma(Peer):
    packages: ClassVar[Sequence[str]] = ("chromadb",)
    how: ClassVar[str] = "PersistentClient, one collection, cosine HNSW with its defaults, vectors alone"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self.collection = client.create_collection(
            "memories", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        for first in range(0, len(texts), BATCH):
            places = range(first, min(first + BATCH, len(texts)))
            self.collection.add(
                ids=[str(i) for i in places],
                documents=list(texts[first : first + BATCH]),
                embeddings=vectors[first : first + BATCH],
                metadatas=[{"read": 0} for _ in places],
            )

    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:  # noqa: ARG002 - vectors alone
        answer = self.collection.query(query_embeddings=[vector], n_results=limit, include=["documents", "metadatas"])
        return [int(i) for i in answer["ids"][0]]

    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        self.collection.add(ids=[str(place)], documents=[text], embeddings=[vector], metadatas=[{"read": 0}])

    def update(self, places: Sequence[int], number: int) -> None:
        self.collection.update(ids=[str(i) for i in places], metadatas=[{"read": number} for _ in places])


if __name__ == "__main__":
    main(Chroma)
