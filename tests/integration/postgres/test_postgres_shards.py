"""Nothing asks two shards: all that the contract sends is caught, and the server says which partitions it reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg
from psycopg import sql

from retentive.stores.postgres import PostgresStore, driver
from retentive.stores.postgres.planning import plan
from retentive.stores.postgres.statements import SQL
from retentive.stores.postgres.store import TABLES
from retentive.stores.protocol import Store
from retentive.testing.store_contract import StoreContract
from retentive.testing.store_samples import SPACE, add, at, gate, sample, unit

SCHEMA = "shards"
PARTITIONS = 4
NAMED = re.compile(rf'"{SCHEMA}"\."?(\w+)"?')
ANY_TABLE = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?(?:{'|'.join(TABLES)})\b", re.IGNORECASE)
LISTING = "SELECT s.space, s.change, s.last_sequence FROM"  # of all spaces, by its nature
INDEXING = ("CREATE INDEX", "DROP INDEX")
FRAGMENTS = {
    name for name, text in SQL.items() if not re.match(r"(?:--.*\n)*\s*(SELECT|WITH|INSERT|UPDATE|DELETE)", text)
}
Sent = dict[str, Any]


@pytest.fixture(scope="module")
def sent() -> Iterator[Sent]:
    """Catch every statement that goes to the server, with what it was first bound to."""
    caught: Sent = {}
    sound: Callable[..., Any] = psycopg.Cursor.execute

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        text = query.as_string(self) if isinstance(query, sql.Composable) else query
        caught.setdefault(text.decode() if isinstance(text, bytes) else text, params)
        return sound(self, query, params, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", execute)
        yield caught


@pytest.fixture(scope="module")
def partitioned(postgres_url: str) -> str:
    """Make the schema split by space, as on so many shards; return the server's address."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE".encode())
        connection.execute(plan(SCHEMA, partitions=PARTITIONS).encode())
    return postgres_url


class TestOverShards(StoreContract):
    """The whole contract, over tables that are split by space, with everything caught that it sends."""

    @pytest.fixture
    def store(self, partitioned: str, sent: Sent) -> Iterator[Store]:
        """Return an empty store."""
        assert sent is not None
        store = PostgresStore(partitioned, schema=SCHEMA)
        yield store
        for space in store.spaces():
            store.drop(space)
        store.close()


def touched(plan_of: dict[str, Any]) -> set[str]:
    """Return the partitions that a plan reads or writes, with those below."""
    own = {plan_of["Relation Name"]} if "Relation Name" in plan_of else set()
    return own.union(*(touched(below) for below in plan_of.get("Plans", ())))


def test_what_the_contract_sent_reads_one_shard(partitioned: str, sent: Sent) -> None:
    """The planner, asked as one whom row-level security does not help, needs one partition of each table."""
    store = PostgresStore(partitioned, schema=SCHEMA, exact_up_to=0)
    space = store.open(SPACE)
    enough = (sample(f"m{number}", entities=("alice",)) for number in range(120))  # to be asked by an index
    add(space, *enough, vector=unit(1, 2))
    store.index(SPACE)
    space.nearest(unit(1, 2), gate(), 5)
    space.matching(["word"], gate(), 5)
    space.mentioning(["alice"], gate(), 5)
    space.within(at(-9), at(9), gate(), 5)
    space.recent(gate(), 5)
    space.important(gate(), 5)
    store.check(SPACE)
    store.drop(SPACE)
    store.close()
    statements = {text: bound for text, bound in sent.items() if NAMED.search(text)}
    others = [text for text in sent if text not in statements and not text.startswith("SET LOCAL")]
    assert not [text for text in others if ANY_TABLE.search(text)]
    astray = {}
    with psycopg.connect(partitioned.replace("tester:@", "postgres:@"), autocommit=True) as connection:
        driver.adapted()(connection)
        for text, bound in statements.items():
            if text.startswith((LISTING, *INDEXING)) or "schema_versions" in text or "to_regclass" in text:
                continue
            (row,) = connection.execute(f"EXPLAIN (FORMAT JSON) {text}".encode(), bound).fetchall()
            found = row[0] if isinstance(row[0], list) else json.loads(row[0])
            parts = touched(found[0]["Plan"])
            shards = {part.rpartition("_")[2] for part in parts if part.rpartition("_")[0] in TABLES}
            if len(shards) > 1:
                astray[text] = sorted(parts)
    assert astray == {}
    assert len(statements) > 20


def test_a_statement_that_forgets_its_space_is_caught(partitioned: str) -> None:
    """The same question without the space, or with another table's, reads every shard: the test above would say so."""
    with psycopg.connect(partitioned.replace("tester:@", "postgres:@"), autocommit=True) as connection:
        for text in (
            f"SELECT count(*) FROM {SCHEMA}.memories WHERE row = 1",
            f"SELECT count(*) FROM {SCHEMA}.memories m JOIN {SCHEMA}.terms t ON t.row = m.row WHERE m.space = 'a'",
        ):
            (row,) = connection.execute(f"EXPLAIN (FORMAT JSON) {text}".encode()).fetchall()
            assert len({part.rpartition("_")[2] for part in touched(row[0][0]["Plan"])}) == PARTITIONS


def test_every_statement_was_sent(sent: Sent, request: pytest.FixtureRequest) -> None:
    """The contract reaches each statement there is; run in parts, this has nothing to say."""
    whole = sum("TestOverShards" in item.nodeid for item in request.session.items)
    if whole < len([name for name in dir(StoreContract) if name.startswith("test_")]) or not sent:
        pytest.skip("the contract was not run whole in this process")
    spoken = " ".join(" ".join(re.sub(rf'"{SCHEMA}"\.', "@", text).split()) for text in sent)
    unsent = [
        name
        for name, text in SQL.items()
        if name not in FRAGMENTS and " ".join(re.split(r"/\*", text)[0].split()) not in spoken
    ]
    assert unsent == []
