"""Migrations of the server's schema: old code goes on, new code waits its turn, a schema from the future is refused."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg

from retentive.errors import Forbidden, StoreBusy
from retentive.stores.postgres import PostgresStore, schema
from retentive.stores.postgres.faults import translated
from retentive.stores.postgres.schema import MIGRATIONS, Migration, migration, prepare
from retentive.stores.postgres.statements import DIMENSION, qualified
from retentive.stores.sqlite.statements import parse
from retentive.testing.store_samples import SPACE, add, gate, sample

SCHEMA = "migrated"
NEXT = MIGRATIONS[-1].version + 1
SHAPE = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
WHERE n.nspname = %s AND c.relkind IN ('r', 'i') ORDER BY 1, 2
"""


@pytest.fixture
def url(postgres_url: str) -> str:
    """Return a database in which the schema is not yet made."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
    return postgres_url


def versions(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        listed = f"SELECT version FROM {SCHEMA}.schema_versions ORDER BY 1"
        return [row[0] for row in connection.execute(listed.encode())]


def shape(url: str, name: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(SHAPE, (name,)).fetchall()


def later(needs: int, sql: str = "ALTER TABLE @memories ADD COLUMN colour text") -> Sequence[Migration]:
    return (*MIGRATIONS, Migration(NEXT, "later", needs, sql))


def test_step_by_step_is_the_same_as_at_once(url: str) -> None:
    """A database that lived through every version has the schema of a new one."""
    for count in range(1, len(MIGRATIONS) + 1):
        prepare(url, SCHEMA, MIGRATIONS[:count])
        assert versions(url) == list(range(1, count + 1))
    grown = shape(url, SCHEMA)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE".encode())
    prepare(url, SCHEMA)
    assert shape(url, SCHEMA) == grown


def test_old_code_on_a_newer_schema_and_back(url: str) -> None:
    """While servers are replaced one after another, both versions of the code work on the new schema."""
    old = PostgresStore(url, schema=SCHEMA)
    add(old.open(SPACE), sample("a"))
    prepare(url, SCHEMA, later(needs=1))
    add(old.open(SPACE), sample("b"))  # the same process goes on
    old.close()
    again = PostgresStore(url, schema=SCHEMA)  # one started since does as well
    add(again.open(SPACE), sample("c"))
    assert again.open(SPACE).count(gate()) == 3
    assert again.check(SPACE) == []
    again.close()
    assert versions(url) == [*range(1, NEXT + 1)]


def test_a_schema_that_needs_newer_code_is_refused(url: str) -> None:
    """Code that would misread the tables stops at the door, and says what to upgrade."""
    prepare(url, SCHEMA, later(needs=NEXT))
    store = PostgresStore(url, schema=SCHEMA)
    with pytest.raises(Forbidden, match="pip install -U retentive"):
        store.spaces()
    store.close()


def test_a_step_that_fails_leaves_nothing(url: str) -> None:
    """A migration is whole or not there, and the version says so."""
    prepare(url, SCHEMA)
    before = shape(url, SCHEMA)
    broken = later(1, "ALTER TABLE @memories ADD COLUMN colour text; SELECT nonsense")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        prepare(url, SCHEMA, broken)
    assert shape(url, SCHEMA) == before
    assert versions(url) == [*range(1, NEXT)]


def test_a_migration_gives_way_to_those_at_work(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot have its lock does not queue before everybody else: it is tried again later."""
    monkeypatch.setattr(schema, "PATIENCE", "100ms")
    store = PostgresStore(url, schema=SCHEMA)
    with store.open(SPACE).transaction() as tx:
        tx.set_setting("at work", 1)
        assert tx.get("a") is None  # the tables are in use until the end
        with pytest.raises(StoreBusy), translated("here"):
            prepare(url, SCHEMA, later(1))
    store.close()
    prepare(url, SCHEMA, later(1))
    assert versions(url) == [*range(1, NEXT + 1)]


def test_many_at_once_make_one_schema(url: str) -> None:
    """Servers that start together wait for the one that migrates."""
    failed: list[BaseException] = []

    def start() -> None:
        try:
            prepare(url, SCHEMA)
        except BaseException as error:  # noqa: BLE001 -- told below
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []
    assert versions(url) == [step.version for step in MIGRATIONS]


def test_a_migration_says_which_code_it_works_with() -> None:
    """A file without that line cannot be shipped."""
    with pytest.raises(ValueError, match="does not say"):
        migration("0009_silent.sql", "SELECT 1")


OLD = Path(__file__).parent.parent / "golden/postgres"
WHOLE = re.compile(r"(?:--.*\n)*(SELECT|WITH|INSERT|UPDATE|DELETE)")
NAMED = re.compile(r"%\((\w+)\)s")


@pytest.mark.parametrize("file", sorted(OLD.glob("queries_*.sql")), ids=lambda file: file.stem)
def test_the_statements_of_old_code_are_understood(url: str, file: Path) -> None:
    """Every statement that a version of the code sent, kept as it was, is one that the newest schema can plan."""
    prepare(url, SCHEMA)
    text = file.read_text(encoding="utf-8")
    parts = set(re.findall(r"\{(\w+)\}", text))  # what others are made of stands in them
    statements = parse(text.replace("{gate}", "").replace(DIMENSION, "4"))
    planned = [name for name, sql in statements.items() if WHOLE.match(sql) and name not in parts]
    with psycopg.connect(url) as connection:
        for name in planned:
            sql = qualified(statements[name], SCHEMA)
            bound = dict.fromkeys(NAMED.findall(sql))
            connection.execute(f"EXPLAIN {sql}".encode(), bound)
    assert len(planned) > 60


def test_a_column_that_old_code_needs(url: str) -> None:
    """The test above sees what breaks old code: a column that was taken away."""
    prepare(url, SCHEMA)
    with psycopg.connect(url) as connection:
        connection.execute(f"ALTER TABLE {SCHEMA}.memories DROP COLUMN trust".encode())
        text = (OLD / "queries_0001.sql").read_text(encoding="utf-8").replace("{gate}", "")
        sql = qualified(parse(text)["page"], SCHEMA)
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute(f"EXPLAIN {sql}".encode(), dict.fromkeys(NAMED.findall(sql)))
        connection.rollback()
