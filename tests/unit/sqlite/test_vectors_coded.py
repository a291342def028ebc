"""The vector arm of a large space: codes narrow down, and the answer is that of brute force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.stores.sqlite import SqliteStore, vectors, vectors_codes
from retentive.stores.sqlite.space import SqliteSpace
from retentive.stores.sqlite.vectors_codes import VectorCodes, rotation
from retentive.stores.sqlite.vectors_sample import VectorSample
from retentive.testing.store_samples import SPACE, gate, sample
from retentive.types import Vectors

ROWS, LONG = 1_500, 96


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small space be a large one."""
    for name, value in (("MATRIX_BYTES", 0), ("CODED_FROM", 64), ("FEW", 40), ("DEPTH", 128), ("HOT", 64)):
        monkeypatch.setattr(vectors, name, value)
    for name, value in (("LEAST_KEPT", 256), ("SAMPLED_FROM", 1_024)):
        monkeypatch.setattr(vectors_codes, name, value)


def units(count: int, seed: int = 1) -> Vectors:
    """Return unit vectors in clusters, away from the middle."""
    random = np.random.RandomState(seed)
    centres = random.standard_normal((12, LONG)) + 0.5
    rows = centres[random.randint(0, 12, count)] + 0.6 * random.standard_normal((count, LONG))
    answer: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return answer


def fill(space: SqliteSpace, rows: Vectors, first: int = 0) -> None:
    """Put vectors into a space; one in three is a fact, one in a hundred tagged."""
    with space.transaction() as transaction:
        for i, vector in enumerate(rows, first):
            kind = "episode" if i % 3 else "fact"
            memory = sample(f"m{i:05d}").changed(kind=kind, tags=("rare",) if i % 100 == 0 else ())
            transaction.insert(memory, vector, (f"term{i % 7}",))


@pytest.fixture
def space(tmp_path: Path) -> Iterator[SqliteSpace]:
    """Return a space that is coded."""
    store = SqliteStore(tmp_path / "store")
    space = store.open(SPACE)
    fill(space, units(ROWS))
    yield space
    store.close()


def overlap(space: SqliteSpace, rows: Vectors, query: Vectors, chosen: list[int], **narrowed: object) -> float:
    """Return the share of brute force's ten best that a space finds."""
    found = space.nearest(query, gate(**narrowed), 10)
    best = sorted(chosen, key=lambda i: -float(rows[i].astype(np.float64) @ query.astype(np.float64)))[:10]
    ids = space.columns(found.rows).ids
    return len(set(ids) & {f"m{i:05d}" for i in best}) / len(best)


def test_it_finds_what_brute_force_finds(space: SqliteSpace) -> None:
    """Without a gate, and with gates of every width, each applied inside the scan."""
    rows = units(ROWS)
    facts, rare = range(0, ROWS, 3), range(0, ROWS, 100)
    shares = []
    for query in units(40, seed=2):
        shares.append(overlap(space, rows, query, list(range(ROWS))))
        shares.append(overlap(space, rows, query, list(facts), kinds=frozenset(("fact",))))
        assert overlap(space, rows, query, list(rare), tags=frozenset(("rare",))) == 1.0
    assert np.mean(shares) > 0.99  # of noise, with a third of the depth


def test_scores_are_exact(space: SqliteSpace) -> None:
    """Whatever the codes thought of it."""
    rows, query = units(ROWS), units(1, seed=3)[0]
    found = space.nearest(query, gate(), 20)
    numbers = [int(name[1:]) for name in space.columns(found.rows).ids]
    exact = (rows[numbers].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    assert np.array_equal(found.scores, exact)
    assert found.high == exact.max()
    assert found.scanned == ROWS


def test_the_usual_is_nearly_the_mean(space: SqliteSpace) -> None:
    """A sample stands for all rows; the least is no less than it can be."""
    rows = units(ROWS)
    for query in units(20, seed=4):
        found = space.nearest(query, gate(), 5)
        scores = rows @ query
        assert found.mean == pytest.approx(float(scores.mean()), abs=4 * float(scores.std()) / 512**0.5)
        assert float(scores.min()) - 1e-6 <= found.low <= found.mean


def test_erased_and_replaced_vectors(space: SqliteSpace) -> None:
    """What was erased is not found; what was replaced is found where it is now; nothing is built anew."""
    rows, query = units(ROWS), units(1, seed=5)[0]
    first = space.columns(space.nearest(query, gate(), 10).rows).ids
    with space.transaction() as transaction:
        for name in first[:5]:
            transaction.erase(name)
        transaction.replace(sample(first[5]), -query)
    chosen = [i for i in range(ROWS) if f"m{i:05d}" not in first[:6]]
    assert overlap(space, rows, query, chosen) == 1.0
    assert space.columns(space.nearest(-query, gate(), 1).rows).ids == (first[5],)
    assert np.allclose(space.columns(space.nearest(-query, gate(), 1).rows).vectors[0], -query)
    assert space.check() == []


def test_columns_carry_the_vectors(space: SqliteSpace) -> None:
    """Asked for twice, in any order, and more at once than are kept at hand."""
    rows = units(ROWS)
    for names in (range(300), range(299, 0, -7), (5, 5 + 64, 5 + 128, 5)):
        found = space.get([f"m{i:05d}" for i in names])
        assert len(found) == len(set(names))
    numbers = space.recent(gate(), ROWS).rows
    for part in (numbers, numbers[::-1], numbers[::3], numbers[:5]):
        columns = space.columns(part)
        assert np.array_equal(columns.vectors, rows[[int(name[1:]) for name in columns.ids]])


def test_a_space_that_grows_into_codes(tmp_path: Path) -> None:
    """Below the bound a matrix, above it codes, in one process and seen by another store; equal vectors tie by id."""
    store, other = SqliteStore(tmp_path / "store"), SqliteStore(tmp_path / "store")
    space, rows = store.open(SPACE), units(400)
    for first in range(0, 400, 50):
        fill(space, rows[first : first + 50], first)
        for seen in (space, other.open(SPACE)):
            for query in units(3, seed=first):
                assert overlap(seen, rows, query, list(range(first + 50))) == 1.0
    store.close()
    other.close()


def test_a_thousand_equal_vectors(tmp_path: Path) -> None:
    """All tie: as many as asked for come back, with equal scores."""
    store = SqliteStore(tmp_path / "store")
    space = store.open(SPACE)
    fill(space, np.tile(units(1), (1000, 1)))
    found = space.nearest(units(1)[0], gate(), 30)
    assert len(found.rows) == 30
    assert len(set(found.scores.tolist())) == 1
    store.close()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 900), st.integers(50, 400), st.integers(0, 2**31))
def test_codes_of_any_length(dimension: int, count: int, seed: int) -> None:
    """They survive being kept, give as many as asked for, only from the mask, and the row itself is among them."""
    random = np.random.RandomState(seed)
    rows = random.standard_normal((count, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    codes = VectorCodes.of(rows)
    codes.reserve(count)
    codes.put(np.arange(count), rows)
    codes = VectorCodes.from_arrays(codes.arrays(count), count + 7)
    mask = random.random_sample(count) < 0.7
    mask[seed % count] = True
    places = codes.best(rows[seed % count], mask, int(mask.sum()), min(20, int(mask.sum())))
    assert len(places) >= min(20, mask.sum())
    assert mask[places].all()
    assert dimension < 32 or seed % count in places
    assert codes.agree(np.arange(count), rows)


def test_the_rotation_is_one() -> None:
    """Orthogonal, and the same for ever: saved codes must fit the queries of another version."""
    order, matrix = rotation(256)
    assert np.allclose(matrix @ matrix.T, np.eye(256), atol=1e-5)
    assert sorted(order) == list(range(256))
    assert order[:4].tolist() == ORDER
    assert [len(rotation(size)[1]) for size in (3, 384, 768, 1024, 4096)] == [64, 384, 384, 512, 512]


def test_any_order_gives_one_sample() -> None:
    """Which rows are in it follows from their numbers."""
    rows = np.arange(1, 9000)
    whole, parts = VectorSample(4), VectorSample(4)
    vectors_of_rows = np.zeros((len(rows), 4), dtype=np.float32)
    whole.put(rows, rows, vectors_of_rows)
    for first in range(0, len(rows), 700):
        part = rows[first : first + 700]
        parts.put(part, part, vectors_of_rows[: len(part)])
    assert sorted(whole.arrays()["places"]) == sorted(parts.arrays()["places"])
    assert 512 <= len(whole.arrays()["places"]) <= 1024


ORDER = [137, 241, 43, 21]
