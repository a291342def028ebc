"""Channels over large spaces: the best are exactly the best, the others are told from a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

from retentive.stores.postgres import PostgresStore, large
from retentive.stores.postgres.links import Link
from retentive.stores.postgres.space import PostgresSpace
from retentive.testing.store_samples import NOW, SPACE, at, gate, ids, sample, unit
from retentive.types import Access, Found, Gate

COUNT = 3_000
Ask = Callable[[PostgresSpace, Gate], Found]


@pytest.fixture(scope="module")
def stores(postgres_url: str) -> Iterator[tuple[PostgresSpace, PostgresSpace]]:
    """Return one space of three thousand as a large one, and as one that is always looked at whole."""
    rng = np.random.default_rng(5)
    walked = PostgresStore(postgres_url, schema="large", exact_up_to=100)
    with walked.open(SPACE).transaction() as tx:
        for number, (day, importance, used) in enumerate(rng.random((COUNT, 3))):
            memory = sample(
                f"m{number:04}",
                days=-round(day * 50),  # many of one moment: the ties have to come out the same
                importance=round(importance, 1),
                tags=tuple(f"one of {n}" for n in (10, 1_000) if number % n == 0),
                entities=("everybody", *(["alice"] if number % 7 == 0 else [])),
                access=Access(at(-round(used * 90)), count=1.0) if number % 3 == 0 else Access(),
                suppressed_at=NOW if number % 11 == 0 else None,
            )
            tx.insert(memory, unit(1), ("word", f"w{number % 40}"))
    whole = PostgresStore(postgres_url, schema="large", exact_up_to=10**9)
    yield walked.open(SPACE), whole.open(SPACE)
    walked.drop(SPACE)
    walked.close()
    whole.close()


ASKED: dict[str, Ask] = {
    "recent": lambda space, asked: space.recent(asked, 200),
    "important": lambda space, asked: space.important(asked, 200),
    "one": lambda space, asked: space.recent(asked, 1),
    "none": lambda space, asked: space.important(asked, 0),
    "within": lambda space, asked: space.within(NOW - timedelta(days=9), NOW, asked, 60),
    "mentioning": lambda space, asked: space.mentioning(["alice", "everybody"], asked, 60),
    "matching": lambda space, asked: space.matching(["w3", "word"], asked, 60),
}
GATES = {
    "all": gate(),
    "hidden": gate(hidden=True),
    "a tenth": gate(tags=frozenset({"one of 10"})),
    "a thousandth": gate(tags=frozenset({"one of 1000"})),
    "since": gate(since=NOW - timedelta(days=5)),
    "nothing": gate(kinds=frozenset()),
}


@pytest.mark.parametrize("passed", GATES)
@pytest.mark.parametrize("channel", ASKED)
def test_the_best_are_the_best(stores: tuple[PostgresSpace, PostgresSpace], channel: str, passed: str) -> None:
    """The same rows in the same order with the same scores, whatever is filtered; the others are told nearly."""
    found, truth = (ASKED[channel](space, GATES[passed]) for space in stores)
    assert ids(stores[0], found) == ids(stores[1], truth)
    assert found.scores.tolist() == truth.scores.tolist()
    if len(truth.rows):
        assert found.high == truth.high
        assert found.low <= truth.scores.min()
        width = (truth.high - truth.low) or 1.0
        assert abs(found.mean - truth.mean) <= 0.1 * width


def test_few_are_looked_at(stores: tuple[PostgresSpace, PostgresSpace]) -> None:
    """What is looked at is the sample and the answer; where few pass, it is all that pass."""
    space, whole = stores
    assert space.recent(gate(), 20).scanned <= large.SAMPLE + 20
    assert space.important(gate(), 20).scanned <= large.SAMPLE + 20
    rare = GATES["a thousandth"]
    assert space.recent(rare, 20).scanned == whole.recent(rare, 20).scanned == 2


def test_a_large_space_is_not_counted(
    stores: tuple[PostgresSpace, PostgresSpace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No channel asks the server to count what passes, nor for a channel over everything."""
    sent: list[str] = []
    sound = Link._execute

    def execute(self: Link, name: str, *rest: object) -> object:
        sent.append(name)
        return sound(self, name, *rest)  # type: ignore[arg-type] # handed on as it came

    monkeypatch.setattr(Link, "_execute", execute)
    for ask in ASKED.values():
        ask(stores[0], gate())
    assert not {"count", "recent", "important"} & set(sent)
    assert {"walked_recent", "walked_important", "count_of"} <= set(sent)
