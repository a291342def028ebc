"""What every connection is told, it has heard."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from retentive.stores.sqlite.database import CACHE, LOG_LIMIT, Database
from retentive.stores.sqlite.store import SqliteStore

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


def test_a_statement_that_is_run_again_is_not_planned_again(tmp_path: Path) -> None:
    """SQLite can look at what is bound, and then plans a join anew for every value: ten times what running it costs."""
    memories = SqliteStore(tmp_path)
    memories.open("acme")
    database = Database(tmp_path / "acme" / "space.db", busy_timeout=1)
    asked: list[int] = []

    def allow(action: int, *_: str | None) -> int:
        asked.append(action)
        return apsw.SQLITE_OK

    database.connection.authorizer = allow  # it is asked while a statement is planned
    database.rows("memory_by_id", ("one",))
    assert asked
    asked.clear()
    database.rows("memory_by_id", ("two",))
    database.rows("memory_by_id", ("three",))
    database.close()
    memories.close()
    assert not asked
