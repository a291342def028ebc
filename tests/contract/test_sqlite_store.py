"""The embedded store keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive.stores.protocol import Store
from retentive.stores.sqlite import SqliteStore
from retentive.testing.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    """The contract, over `SqliteStore`."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """Return an empty store."""
        store = SqliteStore(tmp_path / "store")
        yield store
        store.close()


class TestSqliteStoreWithOneOpen(TestSqliteStore):
    """The contract, where every second space closes the first."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """Return an empty store that keeps one space open."""
        store = SqliteStore(tmp_path / "store", max_open=1)
        yield store
        store.close()
