"""LangChain's TimeWeightedVectorStoreRetriever: similarity + (1 - decay)^hours since last access + importance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever
from langchain_classic.retrievers import time_weighted_retriever as module
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from speaking import Cannot, Subject, main, said_at

DECAY = 0.01  # the default of the class
OFTEN = 100


class Lookup(Embeddings):
    """Vectors that are known already."""

    def __init__(self, known: dict[str, list[float]]) -> None:
        self.known = known

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.known[text]


class Cosines(InMemoryVectorStore):
    """Its scores are cosines; the retriever asks the store to say so."""

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda score: score


class Clock(datetime):
    """Its retriever reads the wall clock; the scenario's clock takes its place, naive as it wants it."""

    moment: ClassVar[datetime]

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]  # noqa: ARG003 - datetime's signature
        return cls.moment


module.datetime.datetime = Clock if hasattr(module.datetime, "datetime") else None


class LangChain(Subject):
    name: ClassVar[str] = "LangChain time-weighted"
    how: ClassVar[str] = (
        "TimeWeightedVectorStoreRetriever over InMemoryVectorStore, a retriever for each space, decay_rate 0.01 "
        "(its default), other_score_keys=['importance'], k as asked"
    )
    expresses: ClassVar[tuple[str, ...]] = ("at", "importance", "reads")

    def __init__(self, dimension: int, folder: str | None) -> None:
        super().__init__(dimension, folder)
        self.spaces: dict[str, TimeWeightedVectorStoreRetriever] = {}
        self.number = 0

    def _retriever(self, space: str) -> TimeWeightedVectorStoreRetriever:
        if space not in self.spaces:
            self.spaces[space] = TimeWeightedVectorStoreRetriever(
                vectorstore=Cosines(Lookup(self.vectors)),
                decay_rate=DECAY,
                other_score_keys=["importance"],
            )
        return self.spaces[space]

    def remember(self, text: str, space: str, facts: dict[str, Any], now: datetime) -> str:
        self.number += 1
        memory_id = facts.get("id") or f"m{self.number}"
        at = said_at(facts, now).replace(tzinfo=None)
        metadata = {
            "id": memory_id,
            "importance": facts.get("importance", 0.5),
            "last_accessed_at": at,
            "created_at": at,
        }
        Clock.moment = now.replace(tzinfo=None)
        self._retriever(space).add_documents([Document(page_content=text, metadata=metadata)])
        return str(memory_id)

    def recall(
        self, cue: str, space: str, limit: int, now: datetime, asked: dict[str, Any]
    ) -> list[tuple[str, str, float]]:
        Clock.moment = now.replace(tzinfo=None)
        retriever = self._retriever(space)
        retriever.k = limit
        found = retriever.invoke(cue)
        return [(each.metadata["id"], each.page_content, 1.0 - at / OFTEN) for at, each in enumerate(found)]

    def forget(self, memory_id: str, space: str) -> None:
        """It has no delete: the vector store below forgets, its memory stream does not."""
        raise Cannot("the retriever has no way to forget")


if __name__ == "__main__":
    main(LangChain)
