"""The printed schema: it makes what the store needs, split or spread by space, and nothing that reaches beyond one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg

from retentive.cli.main import root
from retentive.errors import InvalidInput
from retentive.stores.postgres import PostgresStore
from retentive.stores.postgres.planning import plan
from retentive.stores.postgres.schema import MIGRATIONS
from retentive.stores.postgres.space import PostgresSpace
from retentive.stores.postgres.store import TABLES
from retentive.testing.store_samples import EAST, SPACE, add, gate, ids, line, sample

KEYS = """
SELECT c.relname, i.relname, x.indisunique, a.attname, pg_get_expr(x.indpred, x.indrelid)
FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS c ON c.oid = x.indrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE n.nspname = %s AND c.relname <> 'schema_versions'
"""
REACHING = """
SELECT (SELECT count(*) FROM pg_constraint AS k JOIN pg_namespace AS n ON n.oid = k.connamespace
        WHERE n.nspname = %(schema)s AND k.contype IN ('f', 'x')),
    (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = %(schema)s AND c.relkind = 'S'),
    (SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s AND NOT t.tgisinternal)
"""


def made(url: str, schema: str, partitions: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
        connection.execute(plan(schema, partitions=partitions).encode())


@pytest.fixture(params=[0, 3])
def planned(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[PostgresStore]:
    """Return a store over a schema that the printed statements made."""
    made(postgres_url, "planned", request.param)
    store = PostgresStore(postgres_url, schema="planned")
    yield store
    store.close()


def test_a_planned_schema_works(planned: PostgresStore, postgres_url: str) -> None:
    """The store finds it made, in the newest version, and writes, finds, erases and drops in it."""
    spaces = [planned.open(f"acme/{name}") for name in "abcdefgh"]
    for space in spaces:
        add(space, sample("a", space=space.path), sample("b", space=space.path))
        with space.transaction() as tx:
            tx.journal(line("a"))
            tx.erase("b")
        assert ids(space, space.nearest(EAST, gate(), 9)) == ["a"]
        assert ids(space, space.matching(["word"], gate(), 9)) == ["a"]
        assert planned.check(space.path) == []
    assert planned.drop("acme/a")
    assert planned.spaces() == [space.path for space in spaces[1:]]
    with psycopg.connect(postgres_url) as connection:
        known = connection.execute("SELECT max(version), count(*) FROM planned.schema_versions").fetchone()
    assert known == (MIGRATIONS[-1].version, len(MIGRATIONS))


def test_every_key_and_index_leads_with_space(planned: PostgresStore, postgres_url: str) -> None:
    """So every access is one to a space, and whatever is unique is so within one: it can be split and spread."""
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute(KEYS, ("planned",)).fetchall()
        assert connection.execute(REACHING, {"schema": "planned"}).fetchone() == (0, 0, 0)
    assert {table for table, *_ in found} >= set(TABLES)
    assert [index for _, index, _, column, _ in found if column != "space"] == []


def test_no_partition_is_a_way_around_the_wall(postgres_url: str) -> None:
    """A partition asked for itself shows nothing, not even in its own space; through the table it does."""
    made(postgres_url, "walled", 2)
    store = PostgresStore(postgres_url, schema="walled")
    add(store.open(SPACE), sample("a"))
    store.close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        counts = [
            connection.execute(f"SELECT count(*) FROM walled.memories{part}".encode()).fetchone()
            for part in ("", "_0", "_1")
        ]
    assert counts == [(1,), (0,), (0,)]


def test_citus_spreads_every_table_by_space() -> None:
    """All tables are distributed by `space`, beside the first one; nothing is left on one node but the versions."""
    script = plan("team's", citus=True)
    call = r"create_distributed_table\('\"team''s\"\.(\w+)', 'space'(, colocate_with => '(\S+)')?\)"
    spread = re.findall(call, script)
    assert sorted(table for table, *_ in spread) == sorted(TABLES)
    assert spread[0][0] == "spaces"
    assert {place for _, _, place in spread[1:]} == {"\"team''s\".spaces"}
    assert script.count("create_reference_table(") == 1
    assert "citus.propagate_set_commands" in script
    created = re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?\"team's\"\.(\w+)", script)
    assert sorted(created) == sorted([*TABLES, "schema_versions"])


def test_a_role_that_may_make_nothing(postgres_url: str) -> None:
    """Over a schema that somebody else made, a role with the four rights on its rows has all it needs."""
    made(postgres_url, "given", 0)
    admin = postgres_url.replace("tester:@", "postgres:@")
    with psycopg.connect(admin, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guest'").fetchone():
            connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA given TO guest")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA given TO guest")
    store = PostgresStore(postgres_url.replace("tester:@", "guest:@"), schema="given")
    add(store.open(SPACE), sample("a"))
    assert store.check(SPACE) == []
    assert store.drop(SPACE)
    store.close()


@pytest.mark.parametrize("options", [{"citus": True, "partitions": 4}, {"partitions": 1}, {"partitions": 5_000}])
def test_plans_that_make_no_sense(options: dict[str, int]) -> None:
    """The message says which values do."""
    with pytest.raises(InvalidInput):
        plan(**options)  # type: ignore[arg-type] # parametrized


def test_the_command_prints_the_plan(space: PostgresSpace) -> None:
    """What is printed is the script, and nothing else."""
    result = CliRunner().invoke(root, ["postgres", "plan", "--citus", "--schema", "team"])
    assert result.exit_code == 0
    assert result.stdout.strip() == plan("team", citus=True).strip()
