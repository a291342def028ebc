"""What every connection is told, it has heard."""

from __future__ import annotations

from pathlib import Path

import pytest

from retentive.stores.sqlite.database import CACHE, LOG_LIMIT, Database

TOLD = {
    "foreign_keys": 1,
    "secure_delete": 1,
    "temp_store": 2,  # in memory
    "trusted_schema": 0,
    "cache_size": CACHE,
    "journal_size_limit": LOG_LIMIT,
    "synchronous": 2,
}


@pytest.mark.parametrize("name", TOLD)
def test_every_pragma_is_in_force(tmp_path: Path, name: str) -> None:
    """A statement that returns a row does not end the list: those behind it were once never run."""
    (tmp_path / "space.db").touch()
    database = Database(tmp_path / "space.db", busy_timeout=1, durability="full")
    assert database.pragma(name) == TOLD[name]
    database.close()
