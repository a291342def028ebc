"""Tenants are walls: every statement carries its space, and row-level security stands behind it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg

from retentive.stores import postgres as package
from retentive.stores.postgres import PostgresStore
from retentive.stores.postgres.gates import ENTRY, TAG
from retentive.stores.postgres.space import PostgresSpace
from retentive.stores.postgres.statements import SQL
from retentive.stores.postgres.store import TABLES
from retentive.testing.store_samples import EAST, NOW, SPACE, add, gate, line, noticed, recalled, sample
from retentive.types import Access, Job

INSERTED = re.compile(r"INSERT INTO @(\w+)(?: AS \w+)? \(\s*(\w+)")
LISTING = "list_spaces"  # asks for all spaces on purpose


def full(space: PostgresSpace) -> None:
    """Put something into every table."""
    fields: dict[str, Any] = {"tags": ("t",), "metadata": {"k": 1}, "entities": ("e",), "access": Access(count=1.0)}
    add(space, sample("a", **fields))
    with space.transaction() as transaction:
        transaction.stage_vectors({"a": EAST})
        transaction.journal(line())
        transaction.log_recall(recalled("r"))
        transaction.set_setting("s", 1)
        transaction.put_finding(noticed("f"))
        transaction.put_job(Job("j", "rate", NOW, NOW, ("a",)))


@pytest.mark.parametrize("name", [*SQL, "gate of a tag", "gate of metadata"])
def test_every_statement_carries_its_space(name: str) -> None:
    """Every table in every statement is asked for its space by equality: nothing to distribute crosses shards."""
    statement = {**SQL, "gate of a tag": TAG, "gate of metadata": ENTRY}[name]
    named = re.findall(r"@\w+", statement)
    if name == LISTING or not named or statement == SQL["with_access"]:
        return
    inserted = INSERTED.findall(statement)
    assert all(first == "space" for _, first in inserted)
    aliased = re.findall(r"(?<!INTO )@(\w+) AS (\w+)", statement)
    assert len(aliased) + len(inserted) == len(named)
    for table, alias in aliased:
        assert re.search(rf"\b{alias}\.space = %\(space\)s", statement), f"{name} asks {table} {alias} for no space"


def test_every_statement_is_used() -> None:
    """`queries.sql` holds what the code runs, and nothing else."""
    folder = Path(package.__file__).parent
    code = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    queries = (folder / "queries.sql").read_text(encoding="utf-8")
    used = {f"drop_{table}" for table in TABLES} | {
        f"delete_{name}" for name in ("terms", "access", "vector", "memory")
    }
    used |= {f"{table}_between" for table in ("tags", "entities", "metadata")}
    assert [name for name in SQL if f'"{name}"' not in code and f"{{{name}}}" not in queries and name not in used] == []


@pytest.mark.parametrize("table", TABLES)
def test_a_query_that_forgets_the_space_sees_nothing(
    store: PostgresStore, space: PostgresSpace, postgres_url: str, table: str
) -> None:
    """Without the session's setting, or with another one, every table is empty; with it there are rows."""
    full(space)
    store.open("other")
    with psycopg.connect(postgres_url) as connection:
        count = f"SELECT count(*) FROM integration.{table}".encode()
        assert connection.execute(count).fetchone() == (0,)
        connection.execute("SELECT set_config('retentive.space', 'acme', true)")
        assert connection.execute(count).fetchone() == (0,)
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        assert (connection.execute(count).fetchone() or (0,))[0] >= 1
        connection.rollback()
        assert connection.execute(count).fetchone() == (0,)


def test_no_row_is_written_into_another_space(space: PostgresSpace, postgres_url: str) -> None:
    """A session that says one space cannot write into another, nor move a row there."""
    full(space)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("UPDATE integration.settings SET space = 'other'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("INSERT INTO integration.spaces (space) VALUES ('other')")


def test_the_journal_is_append_only(space: PostgresSpace, postgres_url: str) -> None:
    """Not even the owner of the tables rewrites a line or takes one away; erasure empties it."""
    with space.transaction() as transaction:
        transaction.journal(line(reason="why"))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("UPDATE integration.journal SET reason = 'other'")
        assert connection.execute("DELETE FROM integration.journal").rowcount == 0
    assert [entry.reason for entry in space.read_journal()] == ["why"]


def test_a_superuser_is_told(store: PostgresStore, space: PostgresSpace, postgres_url: str) -> None:
    """Whoever connects as a superuser has no second wall, and the check says so."""
    add(space, sample("a"))
    admin = PostgresStore(postgres_url.replace("tester:@", "postgres:@"), schema="integration")
    try:
        assert ["superuser" in complaint for complaint in admin.check(SPACE)] == [True]
        assert admin.open(SPACE).count(gate()) == 1
        assert admin.open("empty").count(gate()) == 0
    finally:
        admin.close()
    assert store.check(SPACE) == []


def test_marks_tell_of_commits_and_of_nothing_else(postgres_url: str) -> None:
    """Every commit changes the mark of its own space alone, a dropped job too; reading changes none."""
    store = PostgresStore(postgres_url, schema="marks")
    try:
        one, two = store.open("acme/one"), store.open("acme/two")
        seen = [store.marks(["acme/one", "acme/two", "acme/nobody"])]
        assert set(seen[0]) == {"acme/one", "acme/two"}
        with one.transaction() as transaction:
            transaction.put_job(Job("j", "rate", NOW, NOW))
        seen.append(store.marks(["acme/one"]))
        with one.transaction() as transaction:
            transaction.drop_job("j")
        seen.append(store.marks(["acme/one"]))
        assert len({marks["acme/one"] for marks in seen}) == len(seen)
        assert (one.jobs(), two.jobs()) == ([], [])
        assert store.marks(["acme/one", "acme/two"]) == {**seen[-1], "acme/two": seen[0]["acme/two"]}
    finally:
        for space in store.spaces():
            store.drop(space)
        store.close()
