"""The same words find the same memories, in the same order, in PostgreSQL as in the embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

from retentive.stores.postgres import PostgresStore
from retentive.stores.protocol import SpaceStore
from retentive.stores.sqlite.store import SqliteStore
from retentive.testing.store_samples import EAST, SPACE, gate, ids, sample
from retentive.types import Gate

MEMORIES, WORDS, QUESTIONS = 1_500, 400, 60
TOLERANCE = 1e-9  # of a score, relative: said in docs/postgres.md

Pair = tuple[SpaceStore, SpaceStore]


def fill(space: SpaceStore, *, seed: int = 3) -> None:
    """Write memories whose words are as uneven as those of texts, then change some and erase some."""
    chance = np.random.default_rng(seed)
    weights = 1 / np.arange(1, WORDS + 1)
    weights /= weights.sum()

    def words() -> list[str]:
        return [f"w{word}" for word in chance.choice(WORDS, size=chance.integers(1, 40), p=weights)]

    with space.transaction() as tx:
        for number in range(MEMORIES):
            memory = sample(f"m{number}", days=-number / 100, kind=("fact", "event")[number % 2])
            tx.insert(memory, EAST, words())
    with space.transaction() as tx:
        for number in range(0, 200, 7):
            tx.replace(sample(f"m{number}", days=-number / 100, text="changed"), EAST, words())
        for number in range(3, 200, 11):
            tx.erase(f"m{number}")


@pytest.fixture(scope="module")
def both(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Return the same memories in a folder and on a server."""
    folder: Path = tmp_path_factory.mktemp("lexical")
    embedded, server = SqliteStore(folder), PostgresStore(postgres_url, schema="lexical")
    spaces = embedded.open(SPACE), server.open(SPACE)
    for space in spaces:
        fill(space)
    yield spaces
    embedded.close()
    server.close()


def questions() -> list[list[str]]:
    chance = np.random.default_rng(5)
    sizes = [size for size in (1, 2, 5, 12) for _ in range(QUESTIONS // 4)]
    return [[f"w{word}" for word in chance.integers(0, WORDS + 5, size=size)] for size in sizes]


@pytest.mark.parametrize("asked", [gate(), gate(kinds=frozenset({"event"}))], ids=["all", "one kind"])
def test_the_ranking_is_the_embedded_stores(both: Pair, asked: Gate) -> None:
    """The best 20 are the same memories in the same order, and every score is equal to the stated tolerance."""
    embedded, server = both
    matched = 0
    for terms in questions():
        one, other = embedded.matching(terms, asked, 20), server.matching(terms, asked, 20)
        assert ids(embedded, one) == ids(server, other)
        np.testing.assert_allclose(one.scores, other.scores, rtol=TOLERANCE)
        matched += len(one.rows)
    assert matched > 10 * QUESTIONS


def test_the_weights_of_words_are_the_embedded_stores(both: Pair) -> None:
    """How rare a word is counts memories of this space, gated or not, in both."""
    terms = [f"w{number}" for number in range(0, WORDS, 9)] + ["nobody's"]
    one, other = (space.term_weights(terms) for space in both)
    np.testing.assert_allclose(one, other, rtol=TOLERANCE)
