"""mcp-memory-service: its SQLite-vec store with hybrid search (BM25 and vectors), a database for each space."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

os.environ.setdefault("MCP_MEMORY_BASE_DIR", tempfile.mkdtemp(prefix="mcp-memory-"))
os.environ["MCP_SEMANTIC_DEDUP_ENABLED"] = "false"  # else it refuses near-duplicates, which a scenario needs to write

from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from speaking import Subject, main, said_at


class Storage(SqliteVecMemoryStorage):
    """Its store with vectors that are known already."""

    known: dict[str, list[float]]

    async def _initialize_embedding_model(self) -> None:
        self.embedding_model = self.known

    def _generate_embedding(self, text: str) -> list[float]:
        return self.known[text]


class McpMemory(Subject):
    name: ClassVar[str] = "mcp-memory-service 12.2"
    how: ClassVar[str] = (
        "SqliteVecMemoryStorage, a database for each space, retrieve_hybrid with its default weights, semantic "
        "de-duplication on writing switched off so that near-duplicates can be written at all"
    )

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.place = Path(folder or tempfile.mkdtemp(prefix="mcp-memory-"))
        self.spaces: dict[str, Storage] = {}
        self.loop = asyncio.new_event_loop()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def _storage(self, space: str) -> Storage:
        if space not in self.spaces:
            file = self.place / f"{hashlib.sha256(space.encode()).hexdigest()[:24]}.db"
            storage = Storage(str(file))
            storage.known = self.vectors
            storage.embedding_dimension = self.dimension
            self._run(storage.initialize())
            self.spaces[space] = storage
        return self.spaces[space]

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        memory_id = hashlib.sha256(text.encode()).hexdigest()
        at = said_at(facts, now).timestamp()
        memory = Memory(content=text, content_hash=memory_id, tags=list(facts.get("tags", ())), created_at=at)
        kept, why = self._run(self._storage(space).store(memory))
        if not kept:
            raise RuntimeError(why)
        return memory_id

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        found = self._run(self._storage(space).retrieve_hybrid(cue, n_results=limit))
        return [(each.memory.content_hash, each.memory.content, each.relevance_score) for each in found]

    def forget(self, memory_id: str, space: str) -> None:
        self._run(self._storage(space).delete(memory_id))

    def reopen(self) -> None:
        self.close()
        self.loop = asyncio.new_event_loop()

    def close(self) -> None:
        for storage in self.spaces.values():
            if storage.conn:
                storage.conn.close()
        self.spaces = {}
        self.loop.close()


if __name__ == "__main__":
    main(McpMemory)
