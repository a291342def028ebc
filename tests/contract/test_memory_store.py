"""The in-memory store keeps the contract it is the reference of."""

from __future__ import annotations

import pytest

from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import Store
from retentive.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    """The contract, over `MemoryStore`."""

    @pytest.fixture
    def store(self) -> Store:
        """Return an empty store."""
        return MemoryStore()
