"""Keys of encrypted spaces, with the plain SQLite of the suite: the ring, and what is said without a cipher."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

from retentive import Retentive
from retentive.errors import Forbidden, MissingExtra, RetentiveError, StoreCorrupt
from retentive.stores.locations import store_for
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.keys import KeyFolder

LONG = "acme/" + "x" * 200


@pytest.fixture
def ring(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys")


def test_each_space_has_a_key_of_its_own(ring: KeyFolder, tmp_path: Path) -> None:
    """Made once, the same for ever, for nobody else to read."""
    first, second = ring.key("acme/alice", create=True), ring.key("acme/bob", create=True)
    assert len(first) == len(second) == 32
    assert first != second
    assert KeyFolder(tmp_path / "keys").key("acme/alice", create=False) == first
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "keys").iterdir()} == {0o600}
    assert ring.key(LONG, create=True)
    assert [ring.named(path.stem) for path in sorted((tmp_path / "keys").iterdir())] == ["acme/alice", "acme/bob", LONG]
    assert ring.named("unknown") is None


def test_a_missing_key_is_made_only_for_a_new_space(ring: KeyFolder) -> None:
    """Otherwise it is gone, and that is said; it is never replaced by another one."""
    with pytest.raises(Forbidden, match="nobody can read this space"):
        ring.key("acme/alice", create=False)
    key = ring.key("acme/alice", create=True)
    assert ring.shred("acme/alice")
    assert not ring.shred("acme/alice")
    with pytest.raises(Forbidden):
        ring.key("acme/alice", create=False)
    assert ring.key("acme/alice", create=True) != key


def test_many_at_once_make_one_key(ring: KeyFolder) -> None:
    """Whoever is first wins, and everybody gets his."""
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(ring.key("s", create=True))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 1
    assert len(keys) == 8


@pytest.mark.parametrize("text", ["", "zz acme/alice\n", "abcd acme/alice\n", "00" * 32 + "\n"])
def test_a_file_that_is_no_key_is_refused(ring: KeyFolder, tmp_path: Path, text: str) -> None:
    """Nothing is encrypted with half a key."""
    ring.key("acme/alice", create=True)
    next((tmp_path / "keys").iterdir()).write_text(text, "utf-8")
    with pytest.raises(StoreCorrupt, match="is not a key"):
        ring.key("acme/alice", create=False)


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    """The errors of the file system are ours."""
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RetentiveError):
        KeyFolder(tmp_path / "file" / "keys").key("s", create=True)


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="this apsw can encrypt")
def test_without_a_cipher_nothing_is_written(ring: KeyFolder, folder: Path) -> None:
    """Plain SQLite would write plain text: refused, with the command that installs the other one."""
    with Retentive(store=SqliteStore(folder, keys=ring), embedder="hash") as home:
        space = home.space("acme/alice")
        with pytest.raises(MissingExtra, match="apsw-sqlite3mc"):
            space.remember("secret")
    assert [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_a_configured_folder_of_keys(tmp_path: Path) -> None:
    """Encrypts every store in a folder."""
    store = store_for(tmp_path / "store", keys=tmp_path / "keys")
    assert isinstance(store, SqliteStore)
    assert isinstance(store._keys, KeyFolder)
