"""Large spaces are searched by an index: near enough to exact, never under-filled behind a filter, walls intact."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

import psycopg

from retentive.cli.main import root
from retentive.errors import InvalidInput, NotFound
from retentive.stores.postgres import PostgresStore, indexes
from retentive.stores.postgres.space import PostgresSpace
from retentive.testing.store_samples import SPACE, gate, ids, sample
from retentive.types import Gate, Vectors

COUNT, WIDTH = 3_000, 32


def cloud(count: int, seed: int) -> Vectors:
    """Return unit vectors that lie in clusters, as texts do."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(40, WIDTH))
    points = centres[rng.integers(0, 40, count)] + 0.5 * rng.normal(size=(count, WIDTH))
    unit: Vectors = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return unit


def fill(space: PostgresSpace, vectors: Vectors) -> None:
    with space.transaction() as tx:
        for number, vector in enumerate(vectors):
            tags = tuple(f"one of {n}" for n in (10, 1000) if number % n == 0)
            tx.insert(sample(f"m{number}", days=-number / 100, space=space.path, tags=tags), vector, ())


@pytest.fixture(scope="module")
def indexed(postgres_url: str) -> Iterator[PostgresStore]:
    """Return a store with a space that has an index, and a neighbour with the same vectors that has none."""
    store = PostgresStore(postgres_url, schema="near", exact_up_to=100)
    for path in (SPACE, "acme/other"):
        fill(store.open(path), cloud(COUNT, 2))
    assert store.index(SPACE)
    yield store
    store.close()


def exact(store: PostgresStore) -> PostgresSpace:
    """Return the same space as one that is never searched by an index."""
    terms = store.connections.terms
    return PostgresStore(terms.url, schema="near", exact_up_to=10**9).open(SPACE)


GATES = [gate(), gate(tags=frozenset({"one of 10"})), gate(tags=frozenset({"one of 1000"})), gate(kinds=frozenset())]


@pytest.mark.parametrize("asked", GATES, ids=["all", "a tenth", "a thousandth", "none"])
def test_the_index_answers_as_looking_at_all_does(indexed: PostgresStore, asked: Gate) -> None:
    """Of the exact best 20 at least 99 in 100 are found, whatever is filtered, and never fewer than there are."""
    space, plain = indexed.open(SPACE), exact(indexed)
    shared = total = 0
    for vector in cloud(25, 3):
        found, truth = space.nearest(vector, asked, 20), plain.nearest(vector, asked, 20)
        assert len(found.rows) == len(truth.rows)
        assert (np.diff(found.scores) <= 0).all()
        shared += len(set(ids(space, found)) & set(ids(plain, truth)))
        total += len(truth.rows)
    plain._connections.close()
    assert shared >= 0.99 * total


def test_where_the_index_gives_up_all_are_looked_at(indexed: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk that ends before enough rows pass the filter is not the answer: the exact one is."""
    monkeypatch.setattr(indexes, "PATIENCE", 1)
    space, plain = indexed.open(SPACE), exact(indexed)
    vector = cloud(1, 11)[0]
    found, truth = space.nearest(vector, GATES[1], 40), plain.nearest(vector, GATES[1], 40)
    assert found.scanned == truth.scanned == COUNT // 10
    assert ids(space, found) == ids(plain, truth)
    plain._connections.close()


def test_how_all_score_is_told_from_a_sample(indexed: PostgresStore) -> None:
    """A score is read against the population: highest exactly, mean and lowest nearly."""
    space, plain = indexed.open(SPACE), exact(indexed)
    vector = cloud(1, 4)[0]
    found, truth = space.nearest(vector, gate(), 10), plain.nearest(vector, gate(), 10)
    plain._connections.close()
    assert found.scanned < truth.scanned == COUNT
    assert found.high == truth.high
    assert found.mean == pytest.approx(truth.mean, abs=0.05)
    assert truth.low <= found.low < truth.mean


def test_the_server_uses_the_index(indexed: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured above is the index: the server's counters say that it was scanned, once for each question."""
    monkeypatch.setattr(indexes, "nearest", lambda *_: pytest.fail("looked at every vector"))
    indexed.open(SPACE).nearest(cloud(1, 5)[0], gate(), 5)
    indexed.close()  # what a session counted is told when it ends
    name = indexes.index_name(SPACE, WIDTH)
    with psycopg.connect(indexed.connections.terms.url) as connection:
        used = connection.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s", (name,))
        assert (used.fetchone() or (0,))[0] >= 1


def test_what_was_written_since_is_found(indexed: PostgresStore) -> None:
    """The index follows every write, and never shows another space's."""
    space, other = indexed.open(SPACE), indexed.open("acme/other")
    vector = cloud(1, 6)[0]
    with space.transaction() as tx:
        tx.insert(sample("fresh", days=1), vector, ())
    assert ids(space, space.nearest(vector, gate(), 1)) == ["fresh"]
    assert ids(other, other.nearest(vector, gate(), 1)) != ["fresh"]
    with space.transaction() as tx:
        tx.erase("fresh")
    assert ids(space, space.nearest(vector, gate(), 1)) != ["fresh"]


def test_another_dimension_needs_another_index(indexed: PostgresStore) -> None:
    """Re-embedding to another width goes past the old index; the new width is searched exactly until it has its own."""
    space = indexed.open("acme/moves")
    fill(space, cloud(200, 7))
    assert indexed.index("acme/moves")
    assert not indexed.index("acme/moves")
    narrow = cloud(200, 7)[:, :8] / np.linalg.norm(cloud(200, 7)[:, :8], axis=1, keepdims=True)
    with space.transaction() as tx:
        tx.stage_vectors({f"m{number}": vector for number, vector in enumerate(narrow)})
        tx.switch_vectors()
    assert ids(space, space.nearest(narrow[3], gate(), 1)) == ["m3"]
    assert indexed.index("acme/moves")
    assert ids(space, space.nearest(narrow[3], gate(), 1)) == ["m3"]
    assert indexed.drop("acme/moves")


def test_an_index_goes_with_its_space(indexed: PostgresStore) -> None:
    """Nothing of a dropped space is left, not its index either; a hostile path is a path."""
    path = 'it\'s; "DROP" TABLE/%s'
    fill(indexed.open(path), cloud(150, 8))
    assert indexed.index(path)
    found = indexed.open(path).nearest(cloud(150, 8)[7], gate(), 1)
    assert ids(indexed.open(path), found) == ["m7"]
    assert indexed.drop(path)
    with psycopg.connect(indexed.connections.terms.url) as connection:
        left = connection.execute("SELECT to_regclass(%s)", (f"near.{indexes.index_name(path, WIDTH)}",)).fetchone()
    assert left == (None,)


def test_what_cannot_be_indexed(indexed: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """No such space, nothing in it, vectors too wide: each says so."""
    with pytest.raises(NotFound):
        indexed.index("nobody")
    indexed.open("empty")
    with pytest.raises(InvalidInput, match="no memories"):
        indexed.index("empty")
    monkeypatch.setattr(indexes, "WIDEST", 8)
    with pytest.raises(InvalidInput, match="at most 8"):
        indexed.index("acme/other")


def test_the_command_makes_the_index(indexed: PostgresStore) -> None:
    """`retentive postgres index` makes it and says so, once; a folder has none."""
    fill(indexed.open("acme/third"), cloud(120, 9))
    store = f"{indexed.connections.terms.url}&schema=near"
    arguments = ["postgres", "index", "--store", store, "--space", "acme/third"]
    first, second = (CliRunner().invoke(root, arguments) for _ in range(2))
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "has an index now" in first.output
    assert "had an index" in second.output
    refused = CliRunner().invoke(root, ["postgres", "index", "--store", "folder", "--space", "acme/third"])
    assert refused.exit_code == 1
    assert "postgresql://" in refused.output
