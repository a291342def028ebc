"""Dropping a space: what is left is a certificate, and not a word of what was in it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import StoreCorrupt
from retentive.maintain.dropping import Dropped, digest_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = "Bicycle helmet number 4711"


@pytest.fixture
def home(tmp_path: Path) -> Retentive:
    return Retentive(tmp_path / "store", embedder="hash", clock=lambda: NOW)


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_a_dropped_space_leaves_a_certificate(home: Retentive, tmp_path: Path) -> None:
    """It says when, how many, who and why; neither the space's name nor a word is in any file."""
    home.actor = "operator"
    space = home.space("acme/mallory")
    space.remember(SAID, tags=["sport"])
    space.remember("Prefers tea")
    assert home.drop("acme/mallory", reason="contract ended")
    certificate = Dropped(NOW, digest_of("acme/mallory"), 2, "operator", "contract ended")
    assert home.certificates() == home.certificates("acme/mallory") == [certificate]
    assert home.certificates("acme/alice") == []
    assert home.spaces() == []
    left = bytes_of(tmp_path / "store")
    assert b"contract ended" in left
    assert not any(word in left for word in (b"mallory", b"4711", b"sport"))


def test_certificates_are_read_by_others_and_add_up(home: Retentive, tmp_path: Path) -> None:
    """A path may be used and dropped again; another process sees both, whole lines only."""
    for text in ("one", "two"):
        home.space("a").remember(text)
        home.drop("a", reason=text)
    with (tmp_path / "store" / ".certificates.jsonl").open("a") as file:
        file.write('{"at": "2026-05-01T1')
    with Retentive(tmp_path / "store", embedder="hash") as other:
        assert [one.reason for one in other.certificates()] == ["one", "two"]


def test_what_was_not_there_is_not_certified(home: Retentive) -> None:
    """A certificate says what happened."""
    assert not home.drop("nobody")
    assert home.certificates() == []


def test_a_damaged_space_is_dropped_all_the_same(home: Retentive, tmp_path: Path) -> None:
    """How many it held cannot be said then."""
    home.space("a").remember(SAID)
    home.close()
    (file,) = (tmp_path / "store").rglob("space.db")
    file.write_bytes(b"no database" + os.urandom(4096))
    with pytest.raises(StoreCorrupt):
        home.space("a").list()
    assert home.drop("a")
    assert [one.memories for one in home.certificates()] == [None]


def test_a_store_in_memory_certifies_too() -> None:
    """As long as it lives."""
    home = Retentive(":memory:", embedder="hash", clock=lambda: NOW)
    home.space("a").remember(SAID)
    home.drop("a")
    assert [one.as_dict()["at"] for one in home.certificates("a")] == [NOW.isoformat()]
