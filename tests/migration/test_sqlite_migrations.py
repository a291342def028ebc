"""The schema of the embedded store, and how it comes about."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import apsw
import pytest

import retentive.stores.sqlite as package
from retentive.errors import Forbidden, RetentiveError
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.schema import APPLICATION, MIGRATIONS, Migration, prepare

SPACE = "acme"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return an empty file."""
    file = tmp_path / "space.db"
    file.touch()
    return file


def schema_of(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """Return every table, index, view and trigger."""
    listed = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
    return [(str(kind), str(name), str(sql)) for kind, name, sql in listed]


def opened(file: Path) -> Database:
    """Open a file as a store does."""
    return Database(file, busy_timeout=0.1)


def test_the_schema_is_its_replayed_migrations() -> None:
    """`schema.sql`, which people read, and the migrations, which files get, say the same."""
    replayed, written = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    for migration in MIGRATIONS:
        replayed.execute(migration.sql)
    written.execute((files(package) / "schema.sql").read_text(encoding="utf-8"))
    assert schema_of(replayed) == schema_of(written)
    replayed.close()
    written.close()


def test_migrations_are_numbered_and_described() -> None:
    """Versions go 1, 2, 3; each begins by saying what it does."""
    assert [migration.version for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert all(migration.sql.startswith("-- ") for migration in MIGRATIONS)


def test_a_new_file_is_marked(file: Path) -> None:
    """Version, application and space are written into the file."""
    database = opened(file)
    prepare(database, SPACE)
    prepare(database, SPACE)
    assert (database.pragma("user_version"), database.pragma("application_id")) == (len(MIGRATIONS), APPLICATION)
    assert database.value("identity") == SPACE
    database.close()


def test_an_older_file_is_brought_up_to_date(file: Path) -> None:
    """Only what is missing runs, and the content stays."""
    database = opened(file)
    prepare(database, SPACE)
    database.run("set_setting", ("kept", "1"))
    more = (*MIGRATIONS, Migration(len(MIGRATIONS) + 1, "more", "CREATE TABLE more (x);"))
    prepare(database, SPACE, more)
    assert database.value("setting", ("kept",)) == "1"
    assert database.pragma("user_version") == len(MIGRATIONS) + 1
    database.close()


@pytest.mark.parametrize("begun", [False, True], ids=["new file", "older file"])
def test_a_migration_that_fails_half_way(file: Path, begun: bool) -> None:
    """All steps happen or none: a failure leaves the file as it was, for the next attempt."""
    database = opened(file)
    if begun:
        prepare(database, SPACE)
    before = schema_of(database.connection), database.pragma("user_version")
    broken = (*MIGRATIONS, Migration(len(MIGRATIONS) + 1, "broken", "CREATE TABLE half (x); SELECT nonsense;"))
    with pytest.raises(RetentiveError):
        prepare(database, SPACE, broken)
    assert (schema_of(database.connection), database.pragma("user_version")) == before
    prepare(database, SPACE)
    assert database.value("identity") == SPACE
    database.close()


def test_a_newer_file_says_upgrade(tmp_path: Path) -> None:
    """A file of a later version is refused with the command that helps, and not touched."""
    store = SqliteStore(tmp_path)
    store.open(SPACE)
    store.close()
    connection = apsw.Connection(str(tmp_path / SPACE / "space.db"))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(Forbidden, match="pip install -U retentive"):
        store.open(SPACE)


def test_the_journal_cannot_be_rewritten(file: Path) -> None:
    """Triggers refuse deletion and change; only the tombstone of an erasure passes."""
    database = opened(file)
    prepare(database, SPACE)
    database.run("insert_journal", (1, "remember", "a", "me", "why", None, '{"text":"x"}'))
    for statement in ("DELETE FROM journal", "UPDATE journal SET after = '{}'", "UPDATE journal SET reason = ''"):
        with pytest.raises(RetentiveError, match="append-only"):
            database.script(statement)
    database.run("redact_journal", ("a",))
    assert database.rows("journal_of_all", (0, -1)) == [(1, 1, "remember", "a", "me", "", None, None)]
    database.close()
