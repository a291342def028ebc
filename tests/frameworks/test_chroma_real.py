"""Our policies over the real Chroma: the shipped contract, and collections that others fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retentive.stores.protocol import Store
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_contract import StoreContract

chromadb = pytest.importorskip("chromadb", reason="the extra 'chroma' is not installed")

from retentive.integrations.chroma import ChromaStore

_NUMBERS = iter(range(1_000_000))


@pytest.fixture(scope="module")
def client() -> Any:
    return chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))


@pytest.fixture
def collection(client: Any) -> Iterator[Any]:
    name = f"docs-{next(_NUMBERS)}"
    yield client.create_collection(name, embedding_function=None)
    client.delete_collection(name)


class TestChromaStore(StoreContract):
    """The contract, every space a value of a metadata key, the state in the documents' metadata."""

    @pytest.fixture
    def store(self, collection: Any) -> Store:
        return ChromaStore(collection, tenant="user_id", embedder=HashEmbedder(4), max_age=0)


class TestChromaStoreWithASidecar(StoreContract):
    """The contract, with a sidecar on disk."""

    @pytest.fixture
    def store(self, collection: Any, tmp_path: Path) -> Iterator[Store]:
        store = ChromaStore(collection, tenant="user_id", embedder=HashEmbedder(4), sidecar=tmp_path / "s", max_age=0)
        yield store
        store.close()
