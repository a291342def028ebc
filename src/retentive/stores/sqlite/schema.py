"""Making a file ours: its mark, its version, and the migrations that bring it up to date."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from retentive.errors import Forbidden, StoreBusy, StoreCorrupt
from retentive.stores.sqlite.database import Database

APPLICATION = 0x52544E54  # "RTNT", in the header of every file of ours
PAUSE = 0.005  # seconds
NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version to the next."""

    version: int
    name: str
    sql: str


def migrations() -> tuple[Migration, ...]:
    """Return the migrations in order."""
    folder = files(__package__) / "migrations"
    found = []
    for entry in folder.iterdir():
        match = NAME.fullmatch(entry.name)
        if match:
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.version))


MIGRATIONS = migrations()


def prepare(database: Database, space: str, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Check that the file is ours, of this space, and of a version we know; migrate it where it is older."""
    version, newest = _version(database), steps[-1].version
    if version > newest:
        raise Forbidden(
            f"{database.file} was written by a newer Retentive (schema {version}, this one knows {newest}); "
            "upgrade with: pip install -U retentive",
            version=version,
        )
    if version < newest:
        _migrate(database, space, steps)
    _require_space(database, space)


def _version(database: Database) -> int:
    """Return the schema version of the file, 0 for a new one; refuse a database of something else."""
    if database.pragma("application_id") == APPLICATION:
        return int(database.pragma("user_version"))
    if database.pragma("schema_version"):
        raise StoreCorrupt(f"{database.file} is a SQLite file, but not a Retentive store.", file=str(database.file))
    return 0


def _migrate(database: Database, space: str, steps: Sequence[Migration]) -> None:
    """Run what is missing in one transaction: all of it, or nothing."""
    _log_ahead(database)
    database.run("begin_write")
    try:
        version = _version(database)  # another process may have been quicker
        for step in steps:
            if step.version > version:
                database.script(step.sql)
        if version == 0:
            database.run("set_identity", (space,))
        database.script(f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {steps[-1].version};")
        database.run("commit")
    except BaseException:
        database.abandon()
        raise


def _log_ahead(database: Database) -> None:
    """Turn the write-ahead log on, before the transaction, where it cannot be done.

    SQLite does not wait here as it waits elsewhere: of two processes that make the same space at once, one is refused.
    """
    deadline = time.monotonic() + database.busy_timeout
    while True:
        try:
            return database.script("PRAGMA journal_mode = WAL;")
        except StoreBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


def _require_space(database: Database, space: str) -> None:
    """Refuse a file that was renamed or copied: it would show one tenant's memories to another."""
    held = database.value("identity")
    if held != space:
        raise StoreCorrupt(
            f"{database.file} belongs to space {held!r}, not {space!r}; it was renamed or copied. Put it back, or use "
            "export and import to copy a space.",
            space=held,
        )
