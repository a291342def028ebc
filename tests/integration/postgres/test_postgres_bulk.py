"""Much at once goes over in few trips, and arrives as one by one would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

from retentive import Retentive
from retentive.stores.memory import MemoryStore
from retentive.stores.postgres import PostgresStore, fresh
from retentive.stores.postgres.links import Link
from retentive.stores.postgres.space import PostgresSpace
from retentive.testing.store_samples import EAST, NOW, SPACE, line, sample
from retentive.transfer.digest import digest_of
from retentive.transfer.moving import move_spaces

COLOURS = ("red", "blue", "green")


def texts(count: int) -> list[dict[str, Any]]:
    return [{"text": f"Alice has {number} {COLOURS[number % 3]} cups.", "at": NOW} for number in range(count)]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the statements that are sent, by name."""
    sent: Counter[str] = Counter()
    sound: Callable[..., Any] = Link._execute

    def counted(self: Link, name: str, *rest: Any) -> Any:
        sent[name] += 1
        return sound(self, name, *rest)

    monkeypatch.setattr(Link, "_execute", counted)
    return sent


def test_statements_do_not_grow_with_the_batch(store: PostgresStore, statements: Counter[str]) -> None:
    """Thirty memories or three hundred: the same statements, each once."""
    sent = []
    for count in (30, 300):
        space = store.open(f"acme/{count}")
        statements.clear()
        with space.transaction() as tx:
            tx.expect([f"m{number}" for number in range(count)])
            for number in range(count):
                assert tx.get(f"m{number}") is None
                tx.insert(sample(f"m{number}", space=space.path), EAST, (COLOURS[number % 3], f"w{number}"))
                tx.journal(line(f"m{number}"))
        sent.append(dict(statements))
    once = ("ids_among", "insert_memories", "set_vectors", "insert_terms", "insert_journal", "insert_postings")
    assert sent[0] == sent[1] == dict.fromkeys(["lock_head", *once, "more_vocabulary", "set_head"], 1)


def test_remembering_many_says_what_is_coming(store: PostgresStore, statements: Counter[str]) -> None:
    """The verb that users call asks for no memory one by one."""
    Retentive(store=store).space(SPACE).remember_many(texts(300))
    assert statements["memories_by_id"] == 0
    assert statements["insert_memories"] == statements["ids_among"] == 1


def test_a_batch_in_parts_is_the_batch(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a statement takes no more, several do; what lies there is the same to the last byte."""
    home = Retentive(store=MemoryStore())
    home.space(SPACE).remember_many(texts(10))
    for most in (1_000, 3):
        monkeypatch.setattr(fresh, "MOST", most)
        (moved,) = move_spaces(home.store, store)
        assert moved.digest == digest_of(store.open(SPACE))
        assert store.check(SPACE) == []
        store.drop(SPACE)


def test_columns_of_nothing_but_null(space: PostgresSpace) -> None:
    """A batch in which a column has no value at all, or only in some rows, goes over as it is."""
    plain, rich = sample("plain"), sample("rich", key="k", derived_from=("plain", "gone"), session="s", valid_from=NOW)
    for memories in ((plain,), (rich, sample("other"))):
        with space.transaction() as tx:
            for memory in memories:
                tx.insert(memory, EAST, ())
    assert space.get(["plain", "rich"]) == {"plain": plain, "rich": rich}
    assert [memory.id for memory in space.derived(["gone"])] == ["rich"]
