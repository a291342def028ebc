"""Disks that are full, read-only, or hold something else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from retentive.errors import Forbidden, InvalidInput, NotFound, RetentiveError, StoreCorrupt, StoreFull
from retentive.stores.sqlite import SqliteStore
from retentive.testing.store_samples import EAST, SPACE, gate, sample

EVERYTHING = gate(hidden=True)

MOUNT, UMOUNT = shutil.which("mount") or "mount", shutil.which("umount") or "umount"
root_only = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of one megabyte."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run([MOUNT, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=False).returncode
    if mounted:
        pytest.skip("may not mount a file system here")
    yield place
    subprocess.run([UMOUNT, "-l", str(place)], check=True)


def database_file(folder: Path) -> Path:
    """Return the only database of a store."""
    (file,) = folder.rglob("space.db")
    return file


@root_only
def test_a_full_disk(tiny_disk: Path) -> None:
    """StoreFull, rolled back whole; reading goes on, and with room so does writing."""
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(b"x" * 300_000)
    store = SqliteStore(tiny_disk / "store")
    space = store.open(SPACE)
    committed = 0

    def fill() -> None:
        nonlocal committed
        while True:
            with space.transaction() as transaction:
                transaction.insert(sample(f"m{committed}", text="x" * 20_000), EAST, ("word",))
            committed += 1

    with pytest.raises(StoreFull, match=r"space\.db.*free some space"):
        fill()
    assert committed
    assert space.count(EVERYTHING) == committed
    ballast.unlink()
    with space.transaction() as transaction:
        transaction.insert(sample("afterwards"), EAST, ("word",))
    assert store.check(SPACE) == []
    store.close()


def test_a_file_that_may_not_grow(folder: Path, run: Callable[..., None]) -> None:
    """A limit of file size (or a quota) is StoreFull too, though SQLite calls it an I/O error."""
    run("outgrow", folder, 400_000)


def test_a_page_limit(store: SqliteStore) -> None:
    """SQLite's own limit is StoreFull, and the failed transaction left nothing."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ("word",))
        transaction.set_setting("n", 1)
    assert space._writer is not None
    space._writer.connection.pragma("max_page_count", 60)

    def outgrow() -> None:
        with space.transaction() as transaction:
            transaction.set_setting("n", 2)
            transaction.insert(sample("b", text="x" * 1_000_000), EAST, ("word",))

    with pytest.raises(StoreFull):
        outgrow()
    assert space.setting("n") == 1
    assert space.count(EVERYTHING) == 1


@root_only
def test_a_read_only_folder(tmp_path: Path, run: Callable[..., None]) -> None:
    """Without the right to write, reading works, though SQLite can lay no shared memory; writing is Forbidden."""
    folder = Path(f"/tmp/retentive-{os.getpid()}-{tmp_path.name}")  # noqa: S108 # must be reachable by nobody
    store = SqliteStore(folder)
    with store.open(SPACE).transaction() as transaction:
        transaction.insert(sample("a"), EAST, ("word",))
    store.close()
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        run("read_as_nobody", folder)
    finally:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)
        shutil.rmtree(folder)


@root_only
def test_a_read_only_medium(tiny_disk: Path) -> None:
    """On a read-only file system reading works and writing is Forbidden, opening a new space too."""
    store = SqliteStore(tiny_disk / "store")
    with store.open(SPACE).transaction() as transaction:
        transaction.insert(sample("a"), EAST, ("word",))
    store.close()
    subprocess.run([MOUNT, "-o", "remount,ro", str(tiny_disk)], check=True)
    space = store.open(SPACE)
    assert space.count(EVERYTHING) == 1
    with pytest.raises(Forbidden, match=r"space\.db"), space.transaction() as transaction:
        transaction.insert(sample("b"), EAST, ())
    with pytest.raises(Forbidden):
        store.open("new")
    with pytest.raises(Forbidden):
        store.drop(SPACE)
    assert store.check(SPACE) == []
    store.close()


@root_only
def test_a_read_only_medium_with_an_open_log(tiny_disk: Path) -> None:
    """SQLite would ignore a write-ahead log that cannot be folded in: we refuse rather than answer from before."""
    store = SqliteStore(tiny_disk / "store")
    with store.open(SPACE).transaction() as transaction:
        transaction.insert(sample("a"), EAST, ("word",))
    shutil.copytree(tiny_disk / "store", tiny_disk / "copy")
    store.close()
    for left in (tiny_disk / "copy").rglob("*-shm"):
        left.unlink()
    subprocess.run([MOUNT, "-o", "remount,ro", str(tiny_disk)], check=True)
    with pytest.raises(Forbidden, match="write-ahead log"):
        SqliteStore(tiny_disk / "copy").open(SPACE)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to have a header\n" * 10, b"x" * 99])
def test_a_file_of_something_else(store: SqliteStore, folder: Path, content: bytes) -> None:
    """A file that is no database is StoreCorrupt, and stays as it is."""
    store.open(SPACE)
    store.close()
    file = database_file(folder)
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"space\.db"):
        store.open(SPACE)
    assert file.read_bytes() == content


def test_a_database_of_something_else(store: SqliteStore, folder: Path) -> None:
    """Somebody else's SQLite file is not taken over."""
    store.open(SPACE)
    store.close()
    file = database_file(folder)
    file.unlink()
    connection = apsw.Connection(str(file))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreCorrupt, match="not a Retentive store"):
        store.open(SPACE)


def test_a_damaged_file(store: SqliteStore, folder: Path) -> None:
    """Overwritten pages are told by `check`, and an answer that needs them is StoreCorrupt, not empty."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        for number in range(300):
            transaction.insert(sample(f"m{number}", text="text" * 50), EAST, (f"w{number}",))
    store.close()
    file = database_file(folder)
    content = bytearray(file.read_bytes())
    content[4096 * 3 :] = os.urandom(len(content) - 4096 * 3)
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        store.open(SPACE).count(EVERYTHING)
    with pytest.raises(RetentiveError):
        store.check(SPACE)


def test_check_finds_what_was_tampered_with(store: SqliteStore, folder: Path) -> None:
    """A wrong vector, a lost term, an orphan and a clock that lags are each said in a sentence."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        for name in "abc":
            transaction.insert(sample(name), EAST, ("word", name))
    store.close()
    connection = apsw.Connection(str(database_file(folder)))
    connection.execute("UPDATE vectors SET vector = zeroblob(12) WHERE row = 1")
    connection.execute("DELETE FROM terms WHERE row = 2")
    connection.execute("INSERT INTO staged (row, vector) VALUES (99, zeroblob(16))")
    connection.execute("UPDATE clock SET change = 1")
    connection.close()
    told = " ".join(store.open(SPACE).check())
    for word in ("vector", "index terms", "staged", "clock"):
        assert word in told


def test_a_renamed_folder(store: SqliteStore, folder: Path) -> None:
    """A space's folder under another's name is refused: it would show one tenant to another."""
    store.open(SPACE)
    store.open("mallory")
    store.close()
    shutil.rmtree(folder / "mallory")
    database_file(folder).parent.rename(folder / "mallory")
    with pytest.raises(StoreCorrupt, match="acme/alice"):
        store.open("mallory")


def test_a_missing_folder(store: SqliteStore) -> None:
    """A store that was never written has no spaces, and makes no folder by being asked."""
    assert store.spaces() == []
    with pytest.raises(NotFound):
        store.open(SPACE, create=False)
    assert not store.drop(SPACE)
    assert not store.folder.exists()


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    """A file in the way is told with its name."""
    (tmp_path / "store").write_text("in the way")
    with pytest.raises(RetentiveError, match="store"):
        SqliteStore(tmp_path / "store").open(SPACE)


def test_bad_settings(folder: Path) -> None:
    """Options are refused by name."""
    with pytest.raises(InvalidInput, match="durability"):
        SqliteStore(folder, durability="none")  # type: ignore[arg-type] # that is the point
    with pytest.raises(InvalidInput, match="max_open"):
        SqliteStore(folder, max_open=0)
