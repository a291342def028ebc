"""Encrypted spaces, where the installed apsw can encrypt: `pip install --force-reinstall --no-deps apsw-sqlite3mc`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from retentive import Retentive
from retentive.errors import Forbidden, StoreCorrupt
from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.keys import KeyFolder
from retentive.testing.store_contract import StoreContract

if not hasattr(apsw, "mc_version"):
    pytest.skip("needs apsw-sqlite3mc in the place of apsw", allow_module_level=True)

LONG = "acme/" + "x" * 200


@pytest.fixture
def ring(tmp_path: Path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys")


@pytest.fixture
def home(folder: Path, ring: KeyFolder) -> Iterator[Retentive]:
    with Retentive(store=SqliteStore(folder, keys=ring), embedder="hash") as home:
        yield home


class TestEncryptedStore(StoreContract):
    """The whole contract, encrypted."""

    @pytest.fixture
    def store(self, folder: Path, ring: KeyFolder) -> Iterator[SqliteStore]:
        store = SqliteStore(folder, keys=ring)
        yield store
        store.close()


def plain_in(folder: Path, text: bytes) -> bool:
    """Whether any file of a folder holds a text as it is."""
    return any(text in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_word_is_readable_in_any_file(home: Retentive, folder: Path) -> None:
    """Neither in the database nor in its log, nor in a derived file; read back it is all there."""
    space = home.space("acme/alice")
    space.remember_many([f"The plugh number {i} of Xyzzy" for i in range(3_000)])
    space.recall("plugh")
    assert not plain_in(folder, b"plugh")
    assert not plain_in(folder, b"xyzzy")
    home.store.close()
    assert not plain_in(folder, b"plugh")
    assert list(folder.rglob("derived*")) == []
    assert len(space.list(limit=10_000)) == 3_000
    assert not plain_in(folder, b"SQLite format 3")


def test_without_the_right_key_nothing_is_read(home: Retentive, folder: Path, tmp_path: Path) -> None:
    """No key, another space's key, a lost key: an error that says which; and the file stays as it is."""
    home.space("acme/alice").remember("secret")
    home.space("acme/bob").remember("other")
    home.store.close()
    with pytest.raises(StoreCorrupt, match="encrypted"):
        SqliteStore(folder).open("acme/alice")
    names = {path.name: path for path in (tmp_path / "keys").iterdir()}
    names["acme+alice.key"].write_bytes(names["acme+bob.key"].read_bytes())
    with pytest.raises(Forbidden, match="this key does not open it"):
        SqliteStore(folder, keys=KeyFolder(tmp_path / "keys")).open("acme/alice")
    names["acme+alice.key"].unlink()
    with pytest.raises(Forbidden, match="nobody can read"):
        SqliteStore(folder, keys=KeyFolder(tmp_path / "keys")).open("acme/alice", create=False)
    with pytest.raises(Forbidden):
        home.space("acme/alice").remember("more")


def test_a_plain_store_is_not_taken_for_an_encrypted_one(folder: Path, ring: KeyFolder) -> None:
    """Its key would be made for nothing: the error names the way over."""
    with Retentive(folder, embedder="hash") as plain:
        plain.space("acme/alice").remember("not secret")
    with pytest.raises(Forbidden, match="nobody can read"):
        SqliteStore(folder, keys=ring).open("acme/alice")
    ring.key("acme/alice", create=True)
    with pytest.raises(Forbidden, match="never encrypted"):
        SqliteStore(folder, keys=ring).open("acme/alice")


def test_dropping_a_space_destroys_its_key(home: Retentive, tmp_path: Path) -> None:
    """With it every copy of the file becomes noise; the neighbours are read as before. Long names are listed too."""
    for path in ("acme/alice", "acme/bob", LONG):
        home.space(path).remember("secret")
    assert home.spaces() == sorted(["acme/alice", "acme/bob", LONG])
    home.backup(tmp_path / "backup")
    home.drop("acme/alice")
    assert [path.name for path in (tmp_path / "keys").iterdir() if "alice" in path.name] == []
    with pytest.raises(Forbidden):
        home.restore(tmp_path / "backup", spaces=["acme/alice"])
    assert len(home.space("acme/bob").list()) == 1


def test_backup_restore_erasure_and_doctor(home: Retentive, folder: Path, tmp_path: Path) -> None:
    """Everything else works as ever, and what is copied stays encrypted."""
    space = home.space("acme/alice")
    memory = space.remember("The secret of plugh")
    space.remember("Something else")
    home.backup(tmp_path / "backup")
    assert not plain_in(tmp_path / "backup", b"plugh")
    assert space.forget(memory.id, erase=True).complete
    assert len(space.list(hidden=True)) == 1
    home.restore(tmp_path / "backup", replace=True)
    assert len(space.list(hidden=True)) == 2
    assert isinstance(home.store, SqliteStore)
    assert home.store.check("acme/alice") == []
    assert not plain_in(folder, b"plugh")
