"""A backup as one file: what is no backup is refused, and leaves nothing behind."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from retentive.errors import InvalidInput
from retentive.wire.archive import pack, unpack


def archive(target: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(target, "w") as made:
        for member in members:
            member.size = 3 if member.isreg() else 0
            made.addfile(member, io.BytesIO(b"abc") if member.isreg() else None)
    return target


def named(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def test_a_backup_there_and_back(tmp_path: Path) -> None:
    """Every file, byte by byte."""
    (tmp_path / "a").mkdir()
    for name in ("backup.json", "000001.db"):
        (tmp_path / "a" / name).write_bytes(name.encode())
    pack(tmp_path / "a", tmp_path / "a.tar")
    unpack(tmp_path / "a.tar", tmp_path / "b")
    assert {path.name: path.read_text() for path in (tmp_path / "b").iterdir()} == {
        "backup.json": "backup.json",
        "000001.db": "000001.db",
    }


HOSTILE: list[tarfile.TarInfo] = [
    named("../000001.db"),
    named("/etc/000001.db"),
    named("sub/000001.db"),
    named("keys.json"),
    named("000001.db", tarfile.SYMTYPE, "/etc/passwd"),
    named("000001.db", tarfile.LNKTYPE, "backup.json"),
    named("000001.db", tarfile.DIRTYPE),
    named("000001.db", tarfile.FIFOTYPE),
    named("backup.json\n"),
]


@pytest.mark.parametrize("member", HOSTILE, ids=lambda member: f"{member.name!r}-{member.type.decode()}")
def test_what_no_backup_has_is_refused(member: tarfile.TarInfo, tmp_path: Path) -> None:
    """Other places, other names, links and devices; nothing is left."""
    source = archive(tmp_path / "x.tar", named("backup.json"), member)
    with pytest.raises(InvalidInput, match="no file of a backup"):
        unpack(source, tmp_path / "into")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.tar"]


@pytest.mark.parametrize("content", [b"", b"no tar at all" * 100, b"\0" * 511])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    """Whatever it is; a file that was cut short as well."""
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(InvalidInput, match="no backup"):
        unpack(tmp_path / "x.tar", tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_the_same_file_twice(tmp_path: Path) -> None:
    """A second one does not replace the first."""
    with pytest.raises(InvalidInput, match="twice"):
        unpack(archive(tmp_path / "x.tar", named("000001.db"), named("000001.db")), tmp_path / "into")


def test_one_that_was_cut_short(tmp_path: Path) -> None:
    """In the middle of a member."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "000001.db").write_bytes(b"x" * 100_000)
    pack(tmp_path / "a", tmp_path / "a.tar")
    whole = (tmp_path / "a.tar").read_bytes()

    (tmp_path / "cut.tar").write_bytes(whole[:50_000])
    with pytest.raises(InvalidInput, match="no backup"):
        unpack(tmp_path / "cut.tar", tmp_path / "into")
