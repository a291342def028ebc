"""The store over a LangGraph `BaseStore` keeps the contract, whatever keeps its sidecar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive.stores.protocol import Store
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_contract import StoreContract

pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")

from langgraph.store.memory import InMemoryStore

from retentive.integrations.langgraph_base import LangGraphStore


class TestLangGraphStore(StoreContract):
    """The contract, over LangGraph's in-memory store with a sidecar in memory."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store that looks at the base store before every read."""
        return LangGraphStore(InMemoryStore(), embedder=HashEmbedder(4), max_age=0)


class TestLangGraphStoreWithAFolder(StoreContract):
    """The contract, with a sidecar on disk, below a root."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """Return an empty store."""
        root = ("agents", "memories")
        store = LangGraphStore(
            InMemoryStore(), sidecar=tmp_path / "sidecar", embedder=HashEmbedder(4), root=root, max_age=0
        )
        yield store
        store.close()
