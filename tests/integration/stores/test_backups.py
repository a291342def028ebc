"""Backups of a store in use, and what comes back from them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.backup import MANIFEST, read_backup
from retentive.errors import InvalidInput, NotFound, RetentiveError, StoreCorrupt, StoreFull
from retentive.stores.memory import MemoryStore
from retentive.stores.sqlite import SqliteStore
from retentive.testing.store_samples import SPACE, gate

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def home(folder: Path) -> Iterator[Retentive]:
    with Retentive(folder, embedder="hash") as home:
        home.space("acme/alice").remember("Prefers Postgres", id="db")
        home.space("acme/bob").remember("Prefers tea", id="tea")
        home.space("acme/alice").recall("Postgres")
        yield home


def test_a_backup_while_another_process_writes(folder: Path, start: Start, tmp_path: Path) -> None:
    """It is one state: of a writer that adds two at a time, never half a transaction; the writer goes on meanwhile."""
    process = start("write_for_ever", folder)
    assert process.stdout is not None
    counts = []
    home = Retentive(folder, embedder="hash")
    for number in range(5):
        reported = int(process.stdout.readline())
        home.backup(tmp_path / f"backup{number}")
        other = Retentive(tmp_path / f"store{number}", embedder="hash")
        other.restore(tmp_path / f"backup{number}")
        counts.append(other.space(SPACE).store.count(gate(hidden=True)))
        assert counts[-1] >= reported
        assert counts[-1] % 2 == 0
        assert isinstance(other.store, SqliteStore)
        assert other.store.check(SPACE) == []
        other.close()
    process.kill()
    process.communicate()
    assert counts == sorted(set(counts)), "the writer stood still while a backup was taken"
    home.close()


def test_everything_comes_back(home: Retentive, tmp_path: Path) -> None:
    """Memories, accesses, journal and ledger are as they were; the restored store is written to as ever."""
    alice = home.space("acme/alice")
    before = (list(alice.list(hidden=True)), alice.journal(), alice.store.read_ledger()[0].cue)
    taken = home.backup(tmp_path / "backup")
    assert [copied.space for copied in taken.spaces] == ["acme/alice", "acme/bob"]
    with Retentive(tmp_path / "other", embedder="hash") as other:
        told = other.restore(tmp_path / "backup")
        assert (told.at, told.spaces) == (taken.at, taken.spaces)
        assert other.spaces() == ["acme/alice", "acme/bob"]
        back = other.space("acme/alice")
        assert (list(back.list(hidden=True)), back.journal(), back.store.read_ledger()[0].cue) == before
        back.remember("Prefers SQLite now")
        assert len(back.list()) == 2


def test_an_existing_space_is_left_alone_unless_replaced(home: Retentive, tmp_path: Path) -> None:
    """Refused with the remedy; replaced, this process and another one see the old state at their next use."""
    home.backup(tmp_path / "backup")
    twin = SqliteStore(home.store.folder)  # type: ignore[attr-defined]  # it is a folder
    home.space("acme/alice").remember("A mistake", id="mistake")
    assert "mistake" in twin.open("acme/alice").get(["mistake"])
    with pytest.raises(InvalidInput, match="replace=True"):
        home.restore(tmp_path / "backup")
    home.restore(tmp_path / "backup", spaces=["acme/alice"], replace=True)
    assert [memory.id for memory in home.space("acme/alice").list()] == ["db"]
    assert twin.open("acme/alice").get(["mistake"]) == {}
    home.space("acme/alice").remember("Another one")
    twin.close()


def test_only_some_spaces(home: Retentive, tmp_path: Path) -> None:
    """Named ones alone, both ways; an unknown one is not found, and the nearest is named."""
    home.backup(tmp_path / "backup", spaces=["acme/bob"])
    with Retentive(tmp_path / "other", embedder="hash") as other:
        other.restore(tmp_path / "backup")
        assert other.spaces() == ["acme/bob"]
    with pytest.raises(NotFound, match="Did you mean 'acme/bob'"):
        home.backup(tmp_path / "again", spaces=["acme/bobb"])
    assert not (tmp_path / "again").exists()
    with pytest.raises(NotFound):
        home.restore(tmp_path / "backup", spaces=["acme/alice"])


def changed(folder: Path) -> None:
    (folder / "000001.db").write_bytes((folder / "000001.db").read_bytes()[:-1] + b"x")


def missing(folder: Path) -> None:
    (folder / "000002.db").unlink()


def garbled(folder: Path) -> None:
    (folder / MANIFEST).write_text("{", "utf-8")


def elsewhere(folder: Path) -> None:
    text = (folder / MANIFEST).read_text("utf-8")
    (folder / MANIFEST).write_text(text.replace("000001.db", "../backup/000001.db"), "utf-8")


def swapped(folder: Path) -> None:
    said = json.loads((folder / MANIFEST).read_text("utf-8"))
    said["spaces"][0]["space"], said["spaces"][1]["space"] = "acme/bob", "acme/alice"
    (folder / MANIFEST).write_text(json.dumps(said), "utf-8")


@pytest.mark.parametrize("spoil", [changed, missing, garbled, elsewhere, swapped])
def test_a_spoilt_backup_is_refused_before_anything_is_touched(
    home: Retentive, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    """Whatever is wrong with it: what the store holds stays."""
    home.backup(tmp_path / "backup")
    spoil(tmp_path / "backup")
    with pytest.raises(StoreCorrupt):
        home.restore(tmp_path / "backup", replace=True)
    assert home.space("acme/alice").get("db", touch=False).text == "Prefers Postgres"
    assert home.space("acme/bob").get("tea", touch=False).text == "Prefers tea"
    assert [path for path in (tmp_path / "store").iterdir() if path.name.startswith(".")] == []


def test_a_folder_that_is_no_backup(home: Retentive, tmp_path: Path) -> None:
    """Not found, of another version, or there already."""
    with pytest.raises(NotFound, match="is no backup"):
        read_backup(tmp_path)
    home.backup(tmp_path / "backup")
    with pytest.raises(InvalidInput, match="folder of its own"):
        home.backup(tmp_path / "backup")
    manifest = tmp_path / "backup" / MANIFEST
    manifest.write_text(manifest.read_text("utf-8").replace('"version": 1', '"version": 2'), "utf-8")
    with pytest.raises(InvalidInput, match="another version"):
        home.restore(tmp_path / "backup")


def test_a_backup_that_fails_leaves_nothing(home: Retentive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No half of a folder, and the reason."""
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RetentiveError, match="cannot be written"):
        home.backup(tmp_path / "file" / "backup")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("retentive.backup._digest", full)
    with pytest.raises(StoreFull, match="Make room"):
        home.backup(tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == []


def test_stores_without_files_name_their_own_way() -> None:
    """Of memory and servers there are no files to copy."""
    with Retentive(store=MemoryStore(), embedder="hash") as home, pytest.raises(InvalidInput, match="pg_dump"):
        home.backup("anywhere")


def test_progress_is_told_by_space(home: Retentive, tmp_path: Path) -> None:
    """Of both ways."""
    told: list[tuple[int, int]] = []
    home.backup(tmp_path / "backup", progress=lambda done, total: told.append((done, total)))
    shutil.rmtree(tmp_path / "store")
    home.restore(tmp_path / "backup", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)] * 2
