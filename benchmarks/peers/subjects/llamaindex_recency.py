"""LlamaIndex: a vector index with its recency postprocessor (TimeWeightedPostprocessor) over twice the answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.indices.vector_store.retrievers import VectorIndexRetriever
from llama_index.core.postprocessor import TimeWeightedPostprocessor
from llama_index.core.schema import QueryBundle, TextNode
from speaking import Subject, main, said_at

DECAY = 0.01  # its default, .99, leaves (1 - .99)^hours: nothing after the first hour
OVER_FETCH = 4


class Lookup(BaseEmbedding):
    """Vectors that are known already."""

    known: dict[str, list[float]] = {}  # noqa: RUF012 - a field of the model, not a class attribute

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.known[query]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self.known[query]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.known[text]


class LlamaIndex(Subject):
    name: ClassVar[str] = "LlamaIndex recency"
    how: ClassVar[str] = (
        "VectorStoreIndex for each space, four times the answer fetched, then TimeWeightedPostprocessor with its "
        "time_decay .01 (its default of .99 forgets within the hour) and time_access_refresh"
    )
    expresses: ClassVar[tuple[str, ...]] = ("at", "reads")

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.embedder = Lookup()
        self.embedder.known = self.vectors
        self.spaces: dict[str, VectorStoreIndex] = {}
        self.number = 0

    def _index(self, space: str) -> VectorStoreIndex:
        if space not in self.spaces:
            self.spaces[space] = VectorStoreIndex([], embed_model=self.embedder)
        return self.spaces[space]

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        self.number += 1
        memory_id = facts.get("id") or f"m{self.number}"
        at = said_at(facts, now).timestamp()
        node = TextNode(id_=memory_id, text=text, embedding=self.vectors[text], metadata={"__last_accessed__": at})
        self._index(space).insert_nodes([node])
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        self.embedder.known = self.vectors
        retriever = VectorIndexRetriever(
            self._index(space), similarity_top_k=OVER_FETCH * limit, embed_model=self.embedder
        )
        nodes = retriever.retrieve(QueryBundle(cue, embedding=self.vectors[cue]))
        weighed = TimeWeightedPostprocessor(
            time_decay=DECAY, time_access_refresh=True, top_k=limit, now=now.timestamp()
        ).postprocess_nodes(nodes)
        return [(each.node.node_id, each.node.get_content(), each.score or 0.0) for each in weighed]

    def forget(self, memory_id: str, space: str) -> None:
        self._index(space).delete_nodes([memory_id])


if __name__ == "__main__":
    main(LlamaIndex)
