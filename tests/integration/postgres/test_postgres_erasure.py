"""Erasure on a server: no row of anybody's holds it; what the files keep is said, and writing anew takes it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg
from postgres_server import server_folder

from retentive import Retentive
from retentive.cli.main import root
from retentive.maintain.forget import CERTIFICATE
from retentive.stores.postgres import PostgresStore, cleaning
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_samples import NOW

SCHEMA = "erasing"
TRIES = 20
WORD = "quetzalcoatl"
COLUMNS = """SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = %s AND table_name <> 'schema_versions'"""


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """Return an empty store in a schema of its own."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
    store = PostgresStore(postgres_url, schema=SCHEMA, busy_timeout=10.0)
    yield store
    store.close()


def filled(store: PostgresStore) -> tuple[Retentive, str, str]:
    """Write a memory with a rare word into every place that keeps words; return it and what was concluded from it."""
    home = Retentive(store=store, embedder=HashEmbedder(16), clock=lambda: NOW)
    space = home.space("acme/alice")
    space.remember_many([f"Something else, number {number}, which stays" for number in range(40)])
    memory = space.remember(f"Alice keeps a {WORD} at home", source="chat:7", tags=["a"], metadata={"pet": WORD})
    space.update(memory.id, text=f"Alice keeps one {WORD} at home now", reason=f"she said {WORD}")
    concluded = space.remember(f"Alice likes the {WORD}", derived_from=[memory.id], kind="reflection")
    space.recall(f"Who keeps a {WORD} at home?")
    return home, memory.id, concluded.id


def admin(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url.replace("tester:@", "postgres:@"), autocommit=True)


def said_in(url: str) -> set[str]:
    """Return the columns of any table in which the word stands, looked at as one who sees every space."""
    with admin(url) as connection:
        columns = connection.execute(COLUMNS.encode(), (SCHEMA,)).fetchall()
        return {
            f"{table}.{column}"
            for table, column in columns
            if connection.execute(
                f"SELECT 1 FROM {SCHEMA}.{table} WHERE {column}::text ILIKE %s LIMIT 1".encode(), (f"%{WORD}%",)
            ).fetchone()
        }


def files_with_it(url: str) -> set[str]:
    """Return the tables in whose files the word stands, after everything in memory was written to them."""
    with admin(url) as connection:
        connection.execute("CHECKPOINT")
        paths: dict[str, str] = dict(
            connection.execute(  # type: ignore[arg-type] # two strings a row
                "SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relnamespace = %s::regnamespace "
                "AND relkind IN ('r', 'i')",
                (SCHEMA,),
            ).fetchall()
        )
    return {name for name, path in paths.items() if WORD.encode() in (server_folder() / Path(path)).read_bytes()}


def scrubbed(store: PostgresStore) -> cleaning.Scrubbed:
    """Scrub until nothing was in the way: the server's own workers look at a page now and then."""
    done = store.scrub()
    for _ in range(TRIES):
        done = store.scrub() if done.left else done
    return done


def test_no_row_holds_what_was_erased(store: PostgresStore, postgres_url: str) -> None:
    """Memory, history, terms, filters, journal, ledger and what was concluded: gone; the certificate has numbers."""
    home, memory, concluded = filled(store)
    assert {column.partition(".")[0] for column in said_in(postgres_url)} >= {"memories", "terms", "journal", "ledger"}
    told = home.space("acme/alice").forget(memory, erase=True, derived=True)
    assert said_in(postgres_url) == set()
    assert set(told.ids) == {memory, concluded}
    (certificate,) = (line for line in store.open("acme/alice").read_journal() if line.action == CERTIFICATE)
    assert certificate.after is not None
    assert set(certificate.after["erased"]) == {memory, concluded}  # type: ignore[arg-type] # a list of ids
    assert certificate.after["recalls"] == told.recalls >= 1
    assert store.check("acme/alice") == []


def test_what_is_left_is_said_and_is_true(store: PostgresStore, postgres_url: str) -> None:
    """An erasure on a server is not complete: the free space of pages has it, which is what the answer says."""
    home, memory, _ = filled(store)
    told = home.space("acme/alice").forget(memory, erase=True, derived=True)
    assert not told.complete
    assert files_with_it(postgres_url) >= {"memories"}  # should this fail one day, PostgreSQL clears pages itself
    assert told.remains[-2:] == (cleaning.FREED, cleaning.LOG)
    assert told.as_dict()["remains"] == list(told.remains)
    done = scrubbed(store)
    assert (done.left, done.rewritten, done.remains) == ((), False, (cleaning.FREED, cleaning.LOG))
    assert {"memories", "journal", "ledger"} <= set(done.clean)


def test_writing_anew_takes_out_the_last_byte(store: PostgresStore, postgres_url: str) -> None:
    """After `retentive postgres scrub --rewrite` no file of the tables has it, and everything else is there."""
    home, memory, _ = filled(store)
    home.space("acme/alice").forget(memory, erase=True, derived=True)
    address = f"{postgres_url}&schema={SCHEMA}"
    command = ["postgres", "scrub", "--rewrite", "--yes", "--store", address]
    result = CliRunner().invoke(root, command)
    for _ in range(TRIES):
        result = CliRunner().invoke(root, command) if "not clean" in result.output else result
    assert result.exit_code == 0
    assert files_with_it(postgres_url) == set()
    assert re.search(r"\d+ tables are clean and written anew", result.output)
    assert cleaning.FREED not in result.output
    assert cleaning.LOG in result.output
    assert len(home.space("acme/alice").list(limit=100)) == 40
    assert store.check("acme/alice") == []


def test_who_reads_an_old_state_delays_it(store: PostgresStore, postgres_url: str) -> None:
    """Versions that somebody can still see stay, and the answer says so; later a scrub removes them."""
    home, memory, _ = filled(store)
    other = PostgresStore(postgres_url, schema=SCHEMA)
    reader = other.open("acme/alice")
    with reader.snapshot():
        assert memory in reader.get([memory])
        told = home.space("acme/alice").forget(memory, erase=True, derived=True)
        assert memory in reader.get([memory])
    other.close()
    assert told.remains == (cleaning.ROWS, cleaning.FREED, cleaning.LOG)
    assert scrubbed(store).left == ()


def test_who_keeps_a_table_from_everybody(store: PostgresStore, postgres_url: str) -> None:
    """Erasing does not wait for a lock that does not come: the answer says what may be left."""
    home, memory, _ = filled(store)
    home.close()
    hasty = PostgresStore(postgres_url, schema=SCHEMA, busy_timeout=0.3)
    space = hasty.open("acme/alice")
    with space.transaction() as tx:
        tx.erase(memory)
    with admin(postgres_url) as connection, connection.transaction():
        connection.execute(f"LOCK TABLE {SCHEMA}.accesses IN SHARE UPDATE EXCLUSIVE MODE".encode())
        assert space.cleanse() == cleaning.UNSURE
    hasty.close()


def test_a_role_that_may_not_clean(store: PostgresStore, postgres_url: str) -> None:
    """Where the tables are somebody else's, erasing works, and the scrub names what it could not clean."""
    home, memory, _ = filled(store)
    with admin(postgres_url) as connection:
        connection.execute("DROP ROLE IF EXISTS cleaner")
        connection.execute("CREATE ROLE cleaner LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO cleaner".encode())
        rights = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO cleaner"
        connection.execute(rights.encode())
    guest = PostgresStore(postgres_url.replace("tester:@", "cleaner:@"), schema=SCHEMA)
    told = Retentive(store=guest, embedder=HashEmbedder(16)).space("acme/alice").forget(memory, erase=True)
    assert cleaning.ROWS in told.remains
    done = guest.scrub(rewrite=True)
    assert (done.clean, done.rewritten) == ((), False)
    assert {"memories", "journal"} <= set(done.left)
    assert cleaning.FREED in done.remains
    address = f"{guest.connections.terms.url}&schema={SCHEMA}"
    result = CliRunner().invoke(root, ["postgres", "scrub", "--store", address])
    assert "not clean: accesses" in result.output
    guest.close()
    with admin(postgres_url) as connection:
        connection.execute("DROP OWNED BY cleaner")
        connection.execute("DROP ROLE cleaner")
    home.close()


def test_a_folder_needs_no_scrub(tmp_path: Path) -> None:
    """There erasing cleans up itself, and the command says so."""
    result = CliRunner().invoke(root, ["postgres", "scrub", "--store", str(tmp_path)])
    assert result.exit_code == 1
    assert "cleans up itself" in result.output
