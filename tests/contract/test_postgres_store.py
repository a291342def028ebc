"""The PostgreSQL store keeps the contract, against a real server, as a role that row-level security holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retentive.stores.postgres import PostgresStore
from retentive.stores.protocol import Store
from retentive.testing.store_contract import StoreContract


class TestPostgresStore(StoreContract):
    """The contract, over `PostgresStore`."""

    @pytest.fixture
    def store(self, postgres_url: str) -> Iterator[Store]:
        """Return an empty store."""
        store = PostgresStore(postgres_url, schema="contract")
        yield store
        for space in store.spaces():
            store.drop(space)
        store.close()
