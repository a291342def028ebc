"""Bringing a database up to date: migrations in order, each whole, one process at a time, none that stops old code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from retentive.errors import Forbidden
from retentive.stores.postgres.driver import NO_VECTOR
from retentive.stores.postgres.statements import qualified, quoted

if TYPE_CHECKING:
    from psycopg import Connection

NAME = re.compile(r"(\d{4})_(\w+)\.sql")
NEEDS = re.compile(r"Works with code from: (\d+)\.")
LOCK = 0x52544E54  # "RTNT": the advisory lock under which one process migrates while the others wait
PATIENCE = "3s"  # a migration that cannot have its lock gives way to those who read and write, and is tried later

VERSIONS = """CREATE TABLE IF NOT EXISTS @schema_versions (
    version integer PRIMARY KEY, name text NOT NULL, needs integer NOT NULL, at timestamptz NOT NULL DEFAULT now()
)"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version to the next; ``needs`` is the oldest code that works with the schema behind it."""

    version: int
    name: str
    needs: int
    sql: str


def migration(name: str, sql: str) -> Migration:
    """Return a migration file as a step."""
    version, title = NAME.fullmatch(name).groups()  # type: ignore[union-attr] # only matching names come here
    needs = NEEDS.search(sql)
    if needs is None:
        raise ValueError(f"{name} does not say which code it works with: 'Works with code from: N.'")
    return Migration(int(version), title, int(needs[1]), sql)


def migrations() -> tuple[Migration, ...]:
    """Return the migrations in order."""
    found = [entry for entry in (files(__package__) / "migrations").iterdir() if NAME.fullmatch(entry.name)]
    steps = [migration(entry.name, entry.read_text(encoding="utf-8")) for entry in found]
    return tuple(sorted(steps, key=lambda step: step.version))


MIGRATIONS = migrations()


def prepare(url: str, schema: str, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """See that the database has a schema this code can work with; make or migrate it where it is older."""
    import psycopg  # noqa: PLC0415 # an extra, seen to be there

    with psycopg.connect(url, autocommit=True) as connection:
        if _version(connection, schema, steps) < steps[-1].version:
            _migrate(connection, schema, steps)


def _version(connection: Connection[Any], schema: str, steps: Sequence[Migration]) -> int:
    """Return the version of the schema, 0 for none; refuse one that asks for newer code."""
    table = qualified("@schema_versions", schema)
    if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() == (None,):
        return 0
    applied = f"SELECT coalesce(max(version), 0), coalesce(max(needs), 0) FROM {table}"
    version, needs = connection.execute(applied.encode()).fetchone() or (0, 0)
    if needs > steps[-1].version:
        raise Forbidden(
            f"The schema {schema!r} needs a newer Retentive (version {version} needs {needs}, this one knows "
            f"{steps[-1].version}); upgrade with: pip install -U retentive",
            version=version,
        )
    return int(version)


def _migrate(connection: Connection[Any], schema: str, steps: Sequence[Migration]) -> None:
    """Run what is missing, each step in a transaction of its own, while other processes wait their turn."""
    connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        if connection.execute("SELECT to_regtype('vector')").fetchone() == (None,):
            raise Forbidden(NO_VECTOR)
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}".encode())
        connection.execute(qualified(VERSIONS, schema).encode())
        version = _version(connection, schema, steps)
        for step in steps:
            if step.version > version:
                _apply(connection, schema, step)
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _apply(connection: Connection[Any], schema: str, step: Migration) -> None:
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'".encode())
        connection.execute(qualified(step.sql, schema).encode())
        insert = "INSERT INTO @schema_versions (version, name, needs) VALUES (%s, %s, %s)"
        connection.execute(qualified(insert, schema).encode(), (step.version, step.name, step.needs))
