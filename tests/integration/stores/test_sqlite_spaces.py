"""Folders, names, handles and statements of the embedded store."""

from __future__ import annotations

import gc
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import retentive.stores.sqlite as package
from retentive.errors import InvalidInput
from retentive.stores.locations import store_for
from retentive.stores.memory import MemoryStore
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.names import LONGEST, folder_name, space_of
from retentive.stores.sqlite.statements import SQL
from retentive.testing.store_samples import EAST, NOW, SPACE, gate, sample
from retentive.types import Access

EVERYTHING = gate(hidden=True)


@pytest.mark.parametrize(
    ("space", "name"),
    [
        ("acme/alice", "acme+alice"),
        ("Acme", "%41cme"),
        ("con", "%63on"),
        ("com1", "%63om1"),
        ("..", "%2e%2e"),
        ("a.b", "a%2eb"),
        ("a+b", "a%2bb"),
        ("é", "%c3%a9"),
        ("a b", "a%20b"),
        ("console", "console"),
    ],
)
def test_folder_names(space: str, name: str) -> None:
    """Names are plain, one to one, and readable back."""
    assert folder_name(space) == name
    assert space_of(name) == space


def test_long_paths_become_digests(store: SqliteStore) -> None:
    """A long path has a short name, is still listed by its own, and differs from its neighbour."""
    paths = ["a" * 300, "a" * 301, "é" * 100]
    for path in paths:
        store.open(path)
    assert all(len(folder_name(path)) <= LONGEST for path in paths)
    assert store.spaces() == sorted(paths)


def test_strangers_in_the_folder(store: SqliteStore, folder: Path) -> None:
    """What is not ours is neither listed nor touched."""
    store.open(SPACE)
    (folder / "Strange").mkdir()
    (folder / "empty").mkdir()
    (folder / "%zz").mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "%zz" / "space.db").write_bytes(b"")
    assert store.spaces() == [SPACE]


def test_open_files_are_bounded(folder: Path) -> None:
    """However many spaces are used, few are open; each opens again when used."""
    store = SqliteStore(folder, max_open=3)
    spaces = [store.open(f"s{number}") for number in range(30)]
    for space in spaces:
        with space.transaction() as transaction:
            transaction.insert(sample("a").changed(space=space.path), EAST, ())
    assert [space.count(EVERYTHING) for space in spaces] == [1] * 30
    if Path("/proc/self/fd").is_dir():
        targets = {str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()}
        assert len([target for target in targets if target.startswith(str(folder)) and target.endswith(".db")]) <= 3
    store.close()


def test_a_closed_space_holds_nothing(folder: Path) -> None:
    """Beyond the bound neither connections nor what was derived is kept; and it comes back when asked for."""
    store = SqliteStore(folder, max_open=3)
    spaces = [store.open(f"s{number}") for number in range(12)]
    for space in spaces:
        with space.transaction() as transaction:
            transaction.insert(sample("a").changed(space=space.path), EAST, ("word",))
        assert len(space.matching(["word"], EVERYTHING, 3).rows) == 1
    holding = [space for space in spaces if space._reader or space._writer or space._cache.size]
    assert [space.path for space in holding] == ["s9", "s10", "s11"]
    assert len(spaces[0].matching(["word"], EVERYTHING, 3).rows) == 1
    store.close()
    assert not any(space._reader or space._writer or space._cache.size for space in spaces)


def test_a_space_in_use_is_not_closed(folder: Path) -> None:
    """A transaction survives that many other spaces are opened meanwhile."""
    store = SqliteStore(folder, max_open=1)
    with store.open(SPACE).transaction() as transaction:
        for number in range(5):
            store.open(f"s{number}").count(EVERYTHING)
        transaction.insert(sample("a"), EAST, ())
    assert store.open(SPACE).count(EVERYTHING) == 1
    store.close()


def test_a_snapshot_is_not_closed_under_its_reader(folder: Path) -> None:
    """Looking into other spaces, or closing this one, leaves a snapshot that is being read alone."""
    store = SqliteStore(folder, max_open=1)
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ())
    with space.snapshot():
        assert space.count(EVERYTHING) == 1
        for number in range(3):
            assert store.open(f"s{number}").count(EVERYTHING) == 0
        assert store.open(SPACE).count(EVERYTHING) == 1
        space.close()
        assert space.count(EVERYTHING) == 1
    store.close()


def test_everyone_gets_the_same_handle(store: SqliteStore) -> None:
    """One process keeps one cache of a space; an unused handle is forgotten."""
    assert store.open(SPACE) is store.open(SPACE)
    store.close()
    gc.collect()
    assert len(store._known) == 0


def test_a_large_cache_follows(store: SqliteStore, folder: Path) -> None:
    """Growing, erasing most, and another process's writes: the cache stays what a fresh one would be."""
    space, other = store.open(SPACE), SqliteStore(folder)
    rng = np.random.default_rng(0)
    for batch in range(12):
        with (space if batch % 2 else other.open(SPACE)).transaction() as transaction:
            for number in range(batch * 50, batch * 50 + 50):
                vector = rng.standard_normal(8).astype(np.float32)
                transaction.insert(sample(f"m{number}"), vector / np.linalg.norm(vector), (f"w{number % 9}",))
            transaction.set_access({f"m{batch}": Access(NOW, 1.0)})
        assert space.count(EVERYTHING) == batch * 50 + 50
    with other.open(SPACE).transaction() as transaction:
        for number in range(550):
            transaction.erase(f"m{number}")
    assert space.count(EVERYTHING) == 50
    assert space._cache.size == 50
    assert store.check(SPACE) == []
    other.close()


def test_many_threads(folder: Path) -> None:
    """Threads read and write several spaces of one store with few open, and everything arrives."""
    store = SqliteStore(folder, max_open=2, busy_timeout=30)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(15):
                space = store.open(f"s{number % 4}")
                with space.transaction() as transaction:
                    transaction.insert(sample(f"{name}{number}").changed(space=space.path), EAST, ("word",))
                assert space.matching(["word"], EVERYTHING, 3).scanned >= 1
        except BaseException as failure:  # noqa: BLE001 # told by the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(store.open(path).count(EVERYTHING) for path in store.spaces()) == 60
    store.close()


def test_durability_is_told_to_sqlite(folder: Path) -> None:
    """`normal` syncs at checkpoints, `full` at every commit."""
    for durability, level in (("normal", 1), ("full", 2)):
        store = SqliteStore(folder, durability=durability)  # type: ignore[arg-type] # both are right
        space = store.open(SPACE)
        with space.transaction():
            pass
        assert space._writer is not None
        assert space._writer.pragma("synchronous") == level
        assert space._writer.pragma("journal_mode") == "wal"
        store.close()


def test_locations(tmp_path: Path) -> None:
    """A location is a folder or ":memory:"; what we do not have is told so."""
    assert isinstance(store_for(":memory:"), MemoryStore)
    assert isinstance(store_for(tmp_path / "a"), SqliteStore)
    assert isinstance(store_for(str(tmp_path / "a")), SqliteStore)
    home = store_for("~/memories")
    assert isinstance(home, SqliteStore)
    assert home.folder == Path.home() / "memories"
    (tmp_path / "file").touch()
    for wrong, said in (
        ("mongodb://x/y", "no store at mongodb"),
        ("", "not a path"),
        (tmp_path / "file", "is a file"),
    ):
        with pytest.raises(InvalidInput, match=said):
            store_for(wrong)


def test_every_statement_is_used() -> None:
    """`queries.sql` holds what the code runs, and nothing else."""
    folder = Path(package.__file__).parent
    code = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    queries = (folder / "queries.sql").read_text(encoding="utf-8")
    unused = [name for name in SQL if f'"{name}"' not in code and f"{{{name}}}" not in queries]
    assert unused == []
    assert not re.search(r"\{\w+\}", "".join(SQL.values()))
