"""LanceDB, hybrid search (vectors and full text, reciprocal rank fusion), no vector index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.rerankers import RRFReranker
from peer import Peer, main


class LanceFlat(Peer):
    packages: ClassVar[Sequence[str]] = ("lancedb", "pylance", "pyarrow")
    how: ClassVar[str] = "hybrid, RRF reranker, FTS index (native), scalar index on the id, no vector index"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.reranker = RRFReranker()
        self.table: Any = None

    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        self.table = lancedb.connect(str(self.folder)).create_table("memories", self._rows(0, texts, vectors))
        self.table.create_fts_index("text", use_tantivy=False)
        self.table.create_scalar_index("id")
        self.index(len(texts))
        self.table.optimize()

    def index(self, size: int) -> None:
        """Make the vector index: none here."""

    def _rows(self, first: int, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> pa.Table:
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        return pa.table(
            {
                "id": pa.array(range(first, first + len(texts)), pa.int64()),
                "text": pa.array(list(texts)),
                "read": pa.array([0] * len(texts), pa.int64()),
                "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
            }
        )

    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:
        query = self.table.search(query_type="hybrid").vector(vector).text(_words(cue)).rerank(self.reranker)
        return [int(i) for i in self.asked(query).limit(limit).select(["id", "text"]).to_arrow()["id"].to_pylist()][
            :limit
        ]

    def asked(self, query: Any) -> Any:
        """Set what the index wants to be told."""
        return query.metric("cosine")

    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        self.table.add(self._rows(place, [text], vector[None]))

    def update(self, places: Sequence[int], number: int) -> None:
        if places:
            self.table.update(where=f"id IN ({', '.join(map(str, places))})", values={"read": number})


def _words(cue: str) -> str:
    """Leave the letters and digits: punctuation is syntax to a query parser."""
    return " ".join("".join(c if c.isalnum() else " " for c in cue).split()) or "nothing"


if __name__ == "__main__":
    main(LanceFlat)
