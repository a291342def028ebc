"""A store on a real server, empty for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retentive.stores.postgres import PostgresStore
from retentive.stores.postgres.space import PostgresSpace
from retentive.testing.store_samples import SPACE


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """Return an empty store that does not wait long."""
    store = PostgresStore(postgres_url, schema="integration", busy_timeout=3.0)
    yield store
    store.connections.close()
    for space in store.spaces():
        store.drop(space)
    store.close()


@pytest.fixture
def space(store: PostgresStore) -> PostgresSpace:
    """Return one space of the store."""
    return store.open(SPACE)
