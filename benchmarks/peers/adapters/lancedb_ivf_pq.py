"""LanceDB, hybrid search over an IVF_PQ index."""

from __future__ import annotations

from typing import Any, ClassVar

from lancedb_flat import LanceFlat
from peer import main


class LanceIvfPq(LanceFlat):
    how: ClassVar[str] = (
        "hybrid, RRF reranker, FTS index (native), scalar index on the id, IVF_PQ with sqrt(n) partitions and 32 "
        "sub-vectors, nprobes 20, refine factor 10"
    )

    def index(self, size: int) -> None:
        partitions = max(1, round(size**0.5))
        self.table.create_index(
            metric="cosine",
            vector_column_name="vector",
            index_type="IVF_PQ",
            num_partitions=partitions,
            num_sub_vectors=32,
        )

    def asked(self, query: Any) -> Any:
        return query.nprobes(20).refine_factor(10)


if __name__ == "__main__":
    main(LanceIvfPq)
