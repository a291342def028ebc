"""Erasure leaves no byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from retentive.stores.sqlite import SqliteStore
from retentive.testing.store_samples import EAST, SPACE, gate, sample
from retentive.types import JournalEntry, Vectors

EVERYTHING = gate(hidden=True)

SECRET = "xyzzyplugh"  # noqa: S105 # what must be gone
LOUD = "zq9w8e7r6t"


def left_behind(folder: Path, traces: list[bytes]) -> list[tuple[str, bytes]]:
    """Return which of the traces are in which file."""
    files = [(path.name, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    return [(name, trace) for name, content in files for trace in traces if trace in content]


def strange_vector() -> Vectors:
    """Return a vector whose bytes occur nowhere else."""
    vector = np.random.default_rng(7).standard_normal(4).astype(np.float32)
    strange: Vectors = vector / np.linalg.norm(vector)
    return strange


def test_no_byte_is_left(store: SqliteStore, folder: Path) -> None:
    """Text, terms, metadata, tags, entities, earlier texts, journal and vectors are in no file any more, at once."""
    space = store.open(SPACE)
    vector, staged = strange_vector(), strange_vector()[::-1].copy()
    with space.transaction() as transaction:
        for number in range(200):
            transaction.insert(sample(f"m{number}", text=f"filler {number}" * 20), EAST, ("filler", f"f{number}"))
    secret = sample("secret", text=f"{SECRET} {LOUD}" * 300).changed(
        tags=(SECRET,), entities=(SECRET,), metadata={SECRET: SECRET}, speaker=SECRET, source=SECRET, key=SECRET
    )
    with space.transaction() as transaction:
        transaction.insert(secret.changed(text=LOUD), vector, (SECRET, LOUD))
        transaction.journal(
            JournalEntry(secret.created_at, "remember", "secret", reason=SECRET, after={"text": secret.text})
        )
    with space.transaction() as transaction:
        transaction.replace(secret, vector, (SECRET, "other"))
        transaction.stage_vectors({"secret": staged})
    assert len(space.matching([SECRET], EVERYTHING, 5).rows) == 1
    traces = [SECRET.encode(), LOUD.encode(), vector.tobytes(), staged.tobytes()]
    assert {trace for _, trace in left_behind(folder, traces)} == set(traces)
    with space.transaction() as transaction:
        assert transaction.erase("secret")
    assert left_behind(folder, traces) == []
    assert space.count(EVERYTHING) == 200
    assert store.check(SPACE) == []


def test_many_erasures(store: SqliteStore, folder: Path) -> None:
    """Nothing of a hundred erased among a thousand is left, also where the index has many leaves."""
    space = store.open(SPACE)
    for batch in range(10):
        with space.transaction() as transaction:
            for number in range(batch * 100, batch * 100 + 100):
                words = (f"secretword{number:04}x", f"common{number % 7}", "word", f"another{number * 7919 % 1000}")
                transaction.insert(sample(f"m{number}", text=" ".join(words)), EAST, words)
    with space.transaction() as transaction:
        for number in range(0, 1000, 10):
            transaction.erase(f"m{number}")
    traces = [f"secretword{number:04}x".encode() for number in range(0, 1000, 10)]
    assert left_behind(folder, traces) == []
    assert store.check(SPACE) == []
    assert space.count(EVERYTHING) == 900


def test_a_log_that_is_still_read(store: SqliteStore, folder: Path) -> None:
    """Where a reader still needs the write-ahead log, erasing goes on: the next transaction cuts the log."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("secret", text=SECRET), EAST, ())
    with space.snapshot():
        assert space.count(EVERYTHING) == 1
        with space.transaction() as transaction:
            transaction.erase("secret")
        assert space.count(EVERYTHING) == 1
    with space.transaction() as transaction:
        transaction.set_setting("n", 1)
    assert left_behind(folder, [SECRET.encode()]) == []


def test_a_log_that_another_process_reads(store: SqliteStore, folder: Path) -> None:
    """The same where the reader is somebody else."""
    other = SqliteStore(folder)
    space, twin = store.open(SPACE), other.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("secret", text=SECRET), EAST, ())
    with twin.snapshot():
        assert twin.count(EVERYTHING) == 1
        with space.transaction() as transaction:
            transaction.erase("secret")
        assert space.count(EVERYTHING) == 0
    with space.transaction() as transaction:
        transaction.set_setting("n", 1)
    assert left_behind(folder, [SECRET.encode()]) == []
    other.close()
