"""What goes wrong between here and the server: lost connections, undone transactions, databases that refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg
from psycopg import errors

from retentive.errors import Forbidden, InvalidInput, RetentiveError, StoreBusy, StoreCorrupt, StoreFull
from retentive.stores.postgres import PostgresStore
from retentive.stores.postgres.connections import Connections
from retentive.stores.postgres.faults import FAULTS, INTERNAL, translate
from retentive.stores.postgres.links import Link
from retentive.stores.postgres.space import PostgresSpace
from retentive.testing.store_samples import EAST, SPACE, add, gate, line, listed, sample

STATES = sorted(
    {state for kind in vars(errors).values() if isinstance(state := getattr(kind, "sqlstate", None), str) and state}
)


def cut(url: str) -> None:
    """End every other connection of this role, as a restart of the server would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> "
            "pg_backend_pid() AND datname = current_database()"
        )


def everything(space: PostgresSpace) -> list[str]:
    return listed(space.page(gate(hidden=True), limit=100))


@pytest.mark.parametrize("state", STATES)
def test_every_fault_has_its_place(state: str) -> None:
    """Each SQLSTATE that the driver knows becomes ours, and the message names place, cause and remedy."""
    error = translate(errors.lookup(state)("the cause"), "postgresql://host/db")
    assert isinstance(error, RetentiveError)
    assert error.message.startswith("postgresql://host/db: the cause: ")
    assert error.details["sqlstate"] == state
    named = state in FAULTS or state[:2] in FAULTS
    assert named != error.message.endswith(f"{INTERNAL}.")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("08006", StoreBusy),
        ("40001", StoreBusy),
        ("40P01", StoreBusy),
        ("55P03", StoreBusy),
        ("57P01", StoreBusy),
        ("53300", StoreBusy),
        ("53100", StoreFull),
        ("22021", InvalidInput),
        ("25006", Forbidden),
        ("28P01", Forbidden),
        ("3D000", Forbidden),
        ("42501", Forbidden),
        ("58030", StoreCorrupt),
        ("XX001", StoreCorrupt),
    ],
)
def test_what_callers_of_postgres_catch(state: str, expected: type[RetentiveError]) -> None:
    """The errors that a caller can do something about have their classes."""
    assert type(translate(errors.lookup(state)("x"), "place")) is expected


def test_a_read_over_a_lost_connection_is_read_again(space: PostgresSpace, postgres_url: str) -> None:
    """Who reads does not notice that the server was restarted."""
    add(space, sample("a"))
    assert space.count(gate()) == 1
    cut(postgres_url)
    assert everything(space) == ["a"]


def test_a_snapshot_over_a_lost_connection_says_so(space: PostgresSpace, postgres_url: str) -> None:
    """One state cannot go on over another connection: reading it ends with an error, never with another state."""
    add(space, sample("a"))

    def interrupted() -> None:
        with space.snapshot():
            space.count(gate())
            cut(postgres_url)
            space.count(gate())

    with pytest.raises(StoreBusy, match="try again"):
        interrupted()
    assert space.count(gate()) == 1


def test_a_transaction_over_a_lost_connection_is_played_again(space: PostgresSpace, postgres_url: str) -> None:
    """What was written before the loss and after it is there, all of it, once."""
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ["word"])
        transaction.journal(line("a"))
        assert transaction.get("a") is not None  # sent
        cut(postgres_url)
        assert transaction.get("a") is not None
        cut(postgres_url)
        transaction.insert(sample("b"), EAST, ["word"])
        transaction.journal(line("b"))
    assert everything(space) == ["a", "b"]
    assert [entry.memory_id for entry in space.read_journal()] == ["a", "b"]
    assert [len(space.matching(["word"], gate(), 9).rows)] == [2]


def test_nothing_is_played_over_another_writer(store: PostgresStore, space: PostgresSpace, postgres_url: str) -> None:
    """Where somebody wrote while the connection was lost, the transaction ends, and nothing of it is written."""
    other = PostgresStore(postgres_url, schema="integration")

    def interrupted() -> None:
        with space.transaction() as transaction:
            transaction.insert(sample("a"), EAST, [])
            transaction.get("a")
            cut(postgres_url)
            add(other.open(SPACE), sample("b"))
            transaction.insert(sample("c"), EAST, [])
            transaction.get("c")

    try:
        with pytest.raises(StoreBusy, match="another writer came in between"):
            interrupted()
    finally:
        other.close()
    assert everything(space) == ["b"]
    assert store.check(SPACE) == []


@pytest.mark.parametrize("reached", [True, False])
def test_a_commit_whose_answer_was_lost_happens_once(
    space: PostgresSpace, postgres_url: str, monkeypatch: pytest.MonkeyPatch, *, reached: bool
) -> None:
    """Whether the server committed before the line went dead or not: the write is there, once."""
    sound = Link.run_all
    lost: list[bool] = []

    def run_all(self: Link, writes: Any, *, commit: bool = False) -> None:
        if not commit or lost:
            sound(self, writes, commit=commit)
            return
        lost.append(True)
        if reached:
            sound(self, writes, commit=True)
        cut(postgres_url)
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(Link, "run_all", run_all)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, [])
        transaction.journal(line("a"))
    assert lost == [True]
    assert everything(space) == ["a"]
    assert len(space.read_journal()) == 1


@pytest.mark.parametrize("kind", [errors.SerializationFailure, errors.DeadlockDetected])
def test_what_the_server_undid_is_done_again(store: PostgresStore, kind: type[psycopg.Error]) -> None:
    """A transaction that lost against another one is begun again."""
    attempts = []

    def work() -> str:
        attempts.append(1)
        if len(attempts) < 3:
            raise kind("could not serialize access")
        return "done"

    assert store.connections.again(work) == "done"
    assert len(attempts) == 3


def test_what_will_not_change_is_not_done_again(store: PostgresStore) -> None:
    """A full disk stays full: it is reported at once."""
    attempts = []

    def work() -> None:
        attempts.append(1)
        raise errors.DiskFull("no space left")

    with pytest.raises(StoreFull):
        store.connections.again(work)
    assert len(attempts) == 1


@contextmanager
def opened(url: str, **more: Any) -> Iterator[PostgresStore]:
    store = PostgresStore(url, schema="integration", busy_timeout=0.2, **more)
    try:
        yield store
    finally:
        store.close()


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (lambda url: url.replace("/retentive_", "/nowhere_"), Forbidden, "CREATE EXTENSION vector"),
        (lambda url: url.replace("tester:@", "stranger:s3cret@"), Forbidden, "check user, password"),
        (lambda _: "postgresql://tester:s3cret@127.0.0.1:1/memories", StoreBusy, "could not be reached"),
    ],
)
def test_a_database_that_refuses(
    postgres_url: str, change: Callable[[str], str], kind: type[RetentiveError], said: str
) -> None:
    """No database, no such user, no server: each says what to do, and none shows the password."""
    with opened(change(postgres_url)) as store, pytest.raises(kind, match=said) as caught:
        store.spaces()
    assert "s3cret" not in caught.value.message + repr(store)


def test_a_database_without_pgvector(postgres_url: str) -> None:
    """The remedy is one statement, and the message is that statement."""
    bare = postgres_url.replace("/retentive_", "/bare_")
    name = bare.split("?", maxsplit=1)[0].rsplit("/", maxsplit=1)[1]
    admin = postgres_url.replace("tester:@", "postgres:@")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER tester".encode())
    with opened(bare) as store, pytest.raises(Forbidden, match="CREATE EXTENSION vector"):
        store.spaces()


def test_a_transaction_inside_another_one_is_refused(postgres_url: str, space: PostgresSpace) -> None:
    """Waiting for oneself would be for ever: the message says what was done."""
    with opened(postgres_url) as store:
        mine = store.open(SPACE)
        with mine.transaction(), pytest.raises(StoreBusy, match="inside another one"), mine.transaction():
            pass


def test_more_transactions_than_connections_are_refused(postgres_url: str, store: PostgresStore) -> None:
    """Half of the pool is for writers: one more waits, then says which setting to raise."""
    with (
        opened(postgres_url, pool_size=2) as small,
        small.open("one").transaction(),
        pytest.raises(StoreBusy, match="raise pool_size"),
        small.open("two").transaction(),
    ):
        pass


def test_a_writer_elsewhere_is_waited_for_and_then_named(postgres_url: str, space: PostgresSpace) -> None:
    """Another process holds the space: after busy_timeout the error says that, and reading goes on meanwhile."""
    with opened(postgres_url) as other, other.open(SPACE).transaction() as transaction:
        transaction.insert(sample("a"), EAST, [])
        with opened(postgres_url) as mine:
            blocked = mine.open(SPACE)
            with pytest.raises(StoreBusy, match="busy_timeout"), blocked.transaction():
                pass
            assert blocked.count(gate()) == 0


def test_a_forked_child_begins_anew(postgres_url: str, space: PostgresSpace) -> None:
    """The parent's connections are not the child's to use: it opens its own."""
    add(space, sample("a"))
    connections: Connections = space._connections
    before = connections._opened()
    connections._forked()
    assert space.count(gate()) == 1
    assert connections._opened() is not before
    before.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mysql://host/db", "begins with postgresql://"),
        ("postgresql://host/db?pool_size=many", "pool_size='many'"),
        ("postgresql://host/db?prepare=perhaps", "prepare='perhaps'"),
        ("postgresql://host/db?pool_size=1", "too small"),
        ("postgresql://host/db?schema=", "no name"),
        ("postgresql://host/db?busy_timeout=-1", "below 0"),
    ],
)
def test_an_address_that_cannot_be_read(address: str, said: str) -> None:
    """The message names the option and what was given."""
    with pytest.raises(InvalidInput, match=said):
        PostgresStore(address)


def test_options_of_the_address(postgres_url: str) -> None:
    """What stands behind the question mark counts, and libpq's own options stay."""
    store = PostgresStore(postgres_url + "&schema=team&pool_size=3&prepare=no&connect_timeout=7")
    terms = store.connections.terms
    assert (terms.schema, terms.pool_size, terms.prepare) == ("team", 3, False)
    assert "connect_timeout=7" in terms.url
    assert "team" in repr(store)


@pytest.mark.parametrize("path", ["", "é" * 501])
def test_a_path_that_no_index_can_hold(store: PostgresStore, path: str) -> None:
    """A space's path has its limit, and the message says which."""
    with pytest.raises(InvalidInput, match="1,000 bytes"):
        store.open(path)
    assert not store.drop(path)


def test_damage_is_counted(store: PostgresStore, space: PostgresSpace, postgres_url: str) -> None:
    """What does not belong together is said in sentences."""
    add(space, sample("a"), sample("b"))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        connection.execute("DELETE FROM integration.vectors WHERE row = 1")
        connection.execute("UPDATE integration.spaces SET memories = 7, terms = 9")
    told = " ".join(store.check(SPACE))
    assert "1 memories have no vector" in told
    assert "has 7 memories, and has 2" in told
    assert "has 9 index terms, and has 2" in told


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("tags", "DELETE FROM integration.tags"),
        ("entities", "DELETE FROM integration.entities"),
        ("metadata", "UPDATE integration.metadata SET entry = gen_random_uuid()"),
    ],
)
def test_what_filters_ask_is_compared_with_the_memories(
    store: PostgresStore, space: PostgresSpace, postgres_url: str, table: str, statement: str
) -> None:
    """A filter that would miss a memory is found, whoever took the entry away."""
    add(space, sample("a", tags=("t", "u"), entities=("ada",), metadata={"k": [1.0]}), sample("b"))
    assert store.check(SPACE) == []
    with psycopg.connect(postgres_url) as connection:
        connection.execute("SELECT set_config('retentive.space', %s, true)", (SPACE,))
        connection.execute(statement.encode())
    assert store.check(SPACE) == [f"The {table} of 1 memories are filed otherwise than they are."]
