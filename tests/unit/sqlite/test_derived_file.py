"""The derived file: an opening that need not read every row, and nothing that depends on it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from retentive.stores.sqlite import SqliteStore, cache, derived, vectors
from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.space import SqliteSpace
from retentive.testing.store_samples import NOW, SPACE, gate, sample
from retentive.types import Access, Vectors

ROWS, LONG = 300, 64


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small space be worth a file."""
    monkeypatch.setattr(cache, "KEPT_FROM", 50)
    monkeypatch.setattr(vectors, "DEPTH", 64)


@pytest.fixture(params=["matrix", "codes"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the vectors be in a matrix, or coded."""
    if request.param == "codes":
        monkeypatch.setattr(vectors, "MATRIX_BYTES", 0)
        monkeypatch.setattr(vectors, "CODED_FROM", 64)
    return str(request.param)


@pytest.fixture
def rebuilt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with every rebuild."""
    counted: list[int] = []
    rebuild = Cache._rebuild

    def noted(self: Cache, database: object) -> None:
        counted.append(1)
        rebuild(self, database)  # type: ignore[arg-type] # handed on

    monkeypatch.setattr(Cache, "_rebuild", noted)
    return counted


def units(count: int) -> Vectors:
    """Return unit vectors."""
    rows = np.random.RandomState(1).standard_normal((count, LONG))
    answer: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return answer


def fill(space: SqliteSpace, first: int, count: int) -> None:
    """Put memories into a space, some with everything that a cache keeps apart."""
    rows = units(first + count)
    with space.transaction() as transaction:
        for i in range(first, first + count):
            memory = sample(f"memory-{i}", days=-i).changed(
                session=f"session-{i // 10}", speaker=f"speaker-{i % 3}", recurs="FREQ=DAILY" if i % 50 == 0 else None
            )
            transaction.insert(memory, rows[i], (f"term{i % 7}", f"only{i}"))


@pytest.fixture
def folder(tmp_path: Path, form: str) -> Path:
    """Return the folder of a store whose space was kept."""
    store = SqliteStore(tmp_path / form)
    space = store.open(SPACE)
    fill(space, 0, ROWS)
    space.count(gate())
    store.close()
    assert len(list((tmp_path / form).rglob(derived.NAME))) == 1
    return tmp_path / form


def kept(folder: Path) -> Path:
    """Return the derived file."""
    return next(folder.rglob(derived.NAME))


def sound(folder: Path, count: int = ROWS) -> None:
    """Open the store and look whether everything is there."""
    store = SqliteStore(folder)
    space = store.open(SPACE)
    assert space.count(gate(hidden=True)) == count
    assert space.columns(space.nearest(units(40)[33], gate(), 1).rows).ids == ("memory-33",)
    found = space.columns(space.matching(["only50"], gate(), 3).rows)
    assert (found.ids, found.speakers, found.sessions) == (("memory-50",), ("speaker-2",), ("session-5",))
    assert found.recurs == ("FREQ=DAILY",)
    assert space.check() == []
    store.close()


def test_it_opens_without_reading_every_row(folder: Path, rebuilt: list[int]) -> None:
    """And answers as before."""
    sound(folder)
    assert len(rebuilt) == 1  # the one of the examination


def test_it_does_not_wait_for_the_close(folder: Path, rebuilt: list[int]) -> None:
    """Who had to read every row lays the file down at once: the process may be killed."""
    kept(folder).unlink()
    store, other = SqliteStore(folder), SqliteStore(folder)
    store.open(SPACE).count(gate())
    other.open(SPACE).count(gate())
    assert len(rebuilt) == 1
    store.close()
    other.close()


def test_what_changed_since_is_caught_up(folder: Path, rebuilt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Insertions, replacements, erasures and accesses by a process that died before it could keep them."""
    monkeypatch.setattr(cache, "KEPT_FROM", 10**9)
    store = SqliteStore(folder)
    space = store.open(SPACE)
    fill(space, ROWS, 20)
    with space.transaction() as transaction:
        transaction.replace(sample("memory-1", importance=0.9))
        transaction.set_access({"memory-2": Access(count=3.0, last_at=sample("x").created_at)})
    store.close()
    sound(folder, ROWS + 20)
    assert len(rebuilt) == 1


@pytest.mark.parametrize("damage", ["empty", "cut", "header", "middle", "end", "foreign", "format", "directory"])
def test_a_damaged_file_is_ignored(folder: Path, rebuilt: list[int], damage: str) -> None:
    """Whatever was done to it, the rows are read, and a sound one takes its place."""
    file = kept(folder)
    content = bytearray(file.read_bytes())
    if damage == "directory":
        file.unlink()
        file.mkdir()
    else:
        at = {"header": 30, "middle": len(content) // 2, "end": len(content) - 80, "format": 7}.get(damage)
        if at is not None:
            for i in range(at, at + (1 if damage == "format" else 64)):
                content[i] ^= 0xFF
        short = {"empty": b"", "cut": bytes(content[: len(content) // 2]), "foreign": b"SQLite format 3\0" * 100}
        file.write_bytes(short.get(damage, bytes(content)))
    sound(folder)
    assert len(rebuilt) == 2
    if damage != "directory":
        sound(folder)
        assert len(rebuilt) == 3  # that of the second examination


def test_any_byte_may_be_wrong(folder: Path) -> None:
    """A file with any one byte turned is ignored or does no harm."""
    file = kept(folder)
    content = file.read_bytes()
    for at in np.random.RandomState(3).randint(0, len(content), 12).tolist():
        turned = bytearray(content)
        turned[at] ^= 1 << at % 8
        file.write_bytes(turned)
        sound(folder)


def test_a_file_of_another_state_is_not_believed(folder: Path, tmp_path: Path, rebuilt: list[int]) -> None:
    """A database put back from a copy has the clock of another history."""
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for name, first in ((folder, ROWS), (copy, ROWS + 100)):
        store = SqliteStore(name)
        fill(store.open(SPACE), first, 30)
        store.open(SPACE).keep()
        store.close()
    before = len(rebuilt)
    shutil.copy(kept(folder), kept(copy))
    sound(copy, ROWS + 30)
    assert len(rebuilt) == before + 2


def test_erasing_leaves_no_byte(folder: Path) -> None:
    """Not in any file, at once, and not after the file was written again."""
    vector = units(ROWS)[42]
    store = SqliteStore(folder)
    space = store.open(SPACE)
    traces = [b"memory-42", b"only42", vector.tobytes()]
    assert all(any(trace in path.read_bytes() for path in folder.rglob("*") if path.is_file()) for trace in traces)
    with space.transaction() as transaction:
        transaction.erase("memory-42")
        transaction.erase("memory-43")
    for _ in range(2):
        found = [
            trace for path in folder.rglob("*") if path.is_file() for trace in traces if trace in path.read_bytes()
        ]
        assert found == [] or set(found) == {b"memory-42"}  # the journal's tombstones may name it
        assert not any(trace in path.read_bytes() for path in folder.rglob("derived*") for trace in traces)
        assert space.keep()
    store.close()
    sound(folder, ROWS - 2)


def test_a_late_writer_takes_back_what_was_erased(folder: Path) -> None:
    """Another process that had not heard of the erasure does not bring it back with its file."""
    store, late = SqliteStore(folder), SqliteStore(folder)
    slow = late.open(SPACE)
    fill(slow, ROWS, 50)
    slow.count(gate())
    with store.open(SPACE).transaction() as transaction:
        transaction.erase("memory-42")
    late.close()
    assert not any(b"only42" in path.read_bytes() for path in folder.rglob("derived*"))
    store.close()
    sound(folder, ROWS + 49)


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, a read-only folder: no file, no error, nothing left half-done."""
    kept(folder).unlink()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("retentive.stores.sqlite.derived._put", full)
    sound(folder)
    assert list(folder.rglob("derived*")) == []


def test_dropping_removes_it(folder: Path) -> None:
    """With everything else, and a space made anew under the name does not see it."""
    store = SqliteStore(folder)
    store.open(SPACE).count(gate())
    assert store.drop(SPACE)
    assert list(folder.rglob("derived*")) == []
    assert store.open(SPACE).count(gate()) == 0
    store.close()


KILLED = """
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from retentive.stores.sqlite import SqliteStore, cache
from retentive.testing.store_samples import SPACE, gate
cache.KEPT_FROM = 10
space = SqliteStore(Path(sys.argv[1])).open(SPACE)
print("ready", flush=True)
while True:
    space.count(gate())
    for file in Path(sys.argv[1]).rglob("derived.bin"):
        file.unlink()
    space.keep()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_while_writing(folder: Path) -> None:
    """At any moment: the next one finds the whole file or none."""
    paths = os.pathsep.join(path for path in sys.path if path)
    for delay in range(8):
        command = [sys.executable, "-c", KILLED, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths})
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            process.wait(timeout=0.004 * delay)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        sound(folder)


def test_limits_and_long_ids_come_back(folder: Path, rebuilt: list[int]) -> None:
    """What few rows have (times, longer ids) stands beside the columns: from the file, and after an erasure."""
    with closing(SqliteStore(folder)) as store:
        space = store.open(SPACE)
        vectors = units(4)
        ends = sample("u" * 36).changed(valid_until=NOW + timedelta(days=1))
        begins = sample("ü" * 30).changed(valid_from=NOW + timedelta(days=1))
        gone = sample("gone").changed(superseded_at=NOW - timedelta(days=1))
        with space.transaction() as transaction:
            for memory, vector in zip((ends, begins, gone), vectors, strict=False):
                transaction.insert(memory, vector, ("limited",))
        assert _limited(space, 0) == {ends.id}
        assert space.keep()
    rebuilt.clear()
    with closing(SqliteStore(folder)) as store:
        space = store.open(SPACE)
        assert _limited(space, 0) == {ends.id}
        assert _limited(space, 2) == {begins.id}
        assert not rebuilt
        assert space.check() == []
        with space.transaction() as transaction:
            transaction.erase(begins.id)
        assert _limited(space, 2) == set()
        assert _limited(space, 0) == {ends.id}


def _limited(space: SqliteSpace, days: int) -> set[str]:
    """Return the ids of what is limited and holds some days from now."""
    found = space.matching(["limited"], gate(true_at=NOW + timedelta(days=days)), 9)
    return set(space.columns(found.rows).ids)


def test_rows_that_are_added_find_room(folder: Path, rebuilt: list[int]) -> None:
    """Columns are read with room behind them, and grow beyond it."""
    with closing(SqliteStore(folder)) as store:
        fill(store.open(SPACE), ROWS, 40)
    with closing(SqliteStore(folder)) as store:
        fill(store.open(SPACE), ROWS + 40, 200)
        store.open(SPACE).count(gate())
    assert not rebuilt
    sound(folder, ROWS + 240)
