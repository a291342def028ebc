"""LangGraph's SqliteStore with its vector index (sqlite-vec inside)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore
from peer import Peer, main

BATCH = 1000
SPACE = ("bench", "one")


class LangGraph(Peer):
    packages: ClassVar[Sequence[str]] = ("langgraph-checkpoint-sqlite", "sqlite-vec", "langgraph")
    how: ClassVar[str] = "SqliteStore on a file in WAL mode, index over one field, vectors alone"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.known: dict[str, np.ndarray[Any, Any]] = {}
        connection = sqlite3.connect(folder / "store.db", check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        index = {"dims": 256, "embed": self._embed, "fields": ["text"], "text_fields": ["text"]}  # it reads the latter
        self.store = SqliteStore(connection, index=index)
        self.store.setup()

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.known[text].tolist() for text in texts]

    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        self.known.update(zip(texts, vectors, strict=True))
        for first in range(0, len(texts), BATCH):
            chunk = enumerate(texts[first : first + BATCH], first)
            self.store.batch([PutOp(SPACE, str(i), {"text": text, "place": i}) for i, text in chunk])

    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:
        self.known[cue] = vector
        return [item.value["place"] for item in self.store.search(SPACE, query=cue, limit=limit)]

    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        self.known[text] = vector
        self.store.put(SPACE, str(place), {"text": text, "place": place})

    def update(self, places: Sequence[int], number: int) -> None:
        found = [self.store.get(SPACE, str(i)) for i in places]
        values = [{**item.value, "read": number} for item in found if item is not None]
        self.store.batch([PutOp(SPACE, str(value["place"]), value, index=False) for value in values])


if __name__ == "__main__":
    main(LangGraph)
