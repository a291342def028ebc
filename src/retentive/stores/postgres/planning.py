"""The statements that make the schema, to read, to change, and to run by whoever may: plain, split, or on Citus."""

from __future__ import annotations

import re

from retentive.errors import InvalidInput
from retentive.stores.postgres.schema import MIGRATIONS, VERSIONS
from retentive.stores.postgres.statements import qualified, quoted
from retentive.stores.postgres.store import TABLES

TABLE = re.compile(r"CREATE TABLE @(\w+) \((.*?)\n\) /\* partition \*/;", re.DOTALL)
FIRST = "spaces"  # the table that all others are placed beside
MOST = 1_024


def plan(schema: str = "retentive", *, citus: bool = False, partitions: int = 0) -> str:
    """Return what makes the schema, as one script; the store then finds it made, and makes nothing itself."""
    if citus and partitions:
        raise InvalidInput("Citus distributes the tables, partitions split them in one server; choose one.")
    if partitions and not 2 <= partitions <= MOST:
        raise InvalidInput(f"partitions={partitions!r} is not 2 to {MOST:,}.", value=partitions)
    steps = [_partitioned(step.sql, partitions) if partitions else step.sql for step in MIGRATIONS]
    noted = [
        f"INSERT INTO @schema_versions (version, name, needs) VALUES ({step.version}, '{step.name}', {step.needs});"
        for step in MIGRATIONS
    ]
    parts = [
        "BEGIN;",
        f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)};",
        f"{VERSIONS};",
        *steps,
        *noted,
        *(_distributed(schema) if citus else ()),
        "COMMIT;",
    ]
    return "\n".join([*_before(citus=citus), *(qualified(part.rstrip(), schema) for part in parts), ""])


def _before(*, citus: bool) -> list[str]:
    if not citus:
        return ["CREATE EXTENSION IF NOT EXISTS vector;"]
    return [
        "CREATE EXTENSION IF NOT EXISTS citus;",
        "CREATE EXTENSION IF NOT EXISTS vector; -- on every node",
        "-- Row-level security asks a setting of the transaction: the workers have to be told of it.",
        "DO $$ BEGIN",
        "    EXECUTE format('ALTER DATABASE %I SET citus.propagate_set_commands = ''local''', current_database());",
        "END $$;",
    ]


def _distributed(schema: str) -> list[str]:
    """Return the calls that spread every table by its space: rows of one space lie on one node."""
    others = [table for table in TABLES if table != FIRST]
    first = _name(schema, FIRST)
    return [
        "-- Every table is spread by `space` and lies beside the others of the same space: nothing asks two nodes.",
        f"SELECT create_distributed_table({first}, 'space');",
        *(
            f"SELECT create_distributed_table({_name(schema, table)}, 'space', colocate_with => {first});"
            for table in others
        ),
        f"SELECT create_reference_table({_name(schema, 'schema_versions')});",
    ]


def _name(schema: str, table: str) -> str:
    """Return a table's name as a string of SQL."""
    return "'" + f"{quoted(schema)}.{table}".replace("'", "''") + "'"


def _partitioned(sql: str, count: int) -> str:
    """Split every table by the hash of its space.

    A partition asked for itself shows nothing: its rows are reached through the table, whose policies count.
    """

    def table(match: re.Match[str]) -> str:
        name, columns = match.groups()
        made = [f"CREATE TABLE @{name} ({columns}\n) PARTITION BY HASH (space);"]
        for number in range(count):
            part = f"@{name}_{number}"
            made += [
                f"CREATE TABLE {part} PARTITION OF @{name} FOR VALUES WITH (MODULUS {count}, REMAINDER {number});",
                f"ALTER TABLE {part} ENABLE ROW LEVEL SECURITY;",
                f"ALTER TABLE {part} FORCE ROW LEVEL SECURITY;",
            ]
        return "\n".join(made)

    return TABLE.sub(table, sql)
