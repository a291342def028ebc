"""Several processes, and processes that die."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from retentive.errors import NotFound, StoreBusy
from retentive.stores.sqlite import SqliteStore
from retentive.testing.store_samples import EAST, SPACE, gate, sample

EVERYTHING = gate(hidden=True)
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Run: TypeAlias = Callable[..., None]


def test_two_processes_write_at_once(folder: Path, start: Start) -> None:
    """Neither loses a write, and a counter read and written in transactions counts every one."""
    processes = [start("write", folder, name, 60) for name in "ab"]
    for process in processes:
        assert process.wait(60) == 0, process.communicate()[1]
    store = SqliteStore(folder)
    space = store.open(SPACE, create=False)
    assert (space.count(EVERYTHING), space.setting("total")) == (120, 120)
    assert store.check(SPACE) == []
    store.close()


def test_a_killed_writer_loses_nothing_committed(folder: Path, start: Start) -> None:
    """After kill -9 every commit that was reported is there, and no half of a transaction."""
    process = start("write_for_ever", folder)
    assert process.stdout is not None
    reported = 0
    while reported < 60:
        reported = int(process.stdout.readline())
    process.kill()
    rest = process.communicate()[0].split()
    reported = int(rest[-1]) if rest else reported
    store = SqliteStore(folder)
    count = store.open(SPACE).count(EVERYTHING)
    assert count >= reported
    assert count % 2 == 0
    assert store.check(SPACE) == []
    store.close()


def test_a_process_that_dies_inside_a_transaction(store: SqliteStore, folder: Path, start: Start) -> None:
    """Its transaction never was, and the next writer need not wait."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("kept"), EAST, ("word",))
    process = start("die_inside", folder)
    process.communicate(timeout=60)
    assert process.returncode == -9
    with space.transaction() as transaction:
        transaction.insert(sample("next"), EAST, ("word",))
    assert {entry.id for entry in space.page(EVERYTHING, limit=9)} == {"kept", "next"}
    assert store.check(SPACE) == []


def test_another_process_holds_the_lock(store: SqliteStore, folder: Path, start: Start) -> None:
    """Reading goes on; writing waits, then says which file is busy and what to do."""
    space = store.open(SPACE)
    process = start("hold", folder)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert space.count(EVERYTHING) == 0
    with pytest.raises(StoreBusy, match=r"space\.db.*busy_timeout"), space.transaction():
        pass
    process.communicate("\n", timeout=60)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ())


def test_processes_share_what_was_derived(store: SqliteStore, folder: Path, run: Run) -> None:
    """What one laid down the next opens with, catching up alone; and those that stay open follow the others' writes."""
    space = store.open(SPACE)
    assert space.count(EVERYTHING) == 0
    run("open_kept", folder, 1)  # nothing was there: one reading of all rows
    run("open_kept", folder, 0)
    run("open_kept", folder, 0)
    assert space.count(EVERYTHING) == 120
    assert len(space.matching(["only119"], EVERYTHING, 3).rows) == 1
    assert store.check(SPACE) == []


def test_a_transaction_inside_a_transaction(store: SqliteStore) -> None:
    """It cannot wait for itself: it is told so after the timeout."""
    space = store.open(SPACE)
    with space.transaction(), pytest.raises(StoreBusy, match="inside another"), space.transaction():
        pass


def test_forks(folder: Path, run: Run) -> None:
    """A handle used on both sides of a fork works on both, and loses nothing on either."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    run("fork", folder)


def test_dropping_what_another_process_has_open(store: SqliteStore, folder: Path, start: Start) -> None:
    """The files go at once; the other's next look finds nothing, or the space made anew."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ())
    process = start("linger", folder)
    assert process.stdout is not None
    process.stdout.readline()
    assert store.drop(SPACE)
    assert list(folder.iterdir()) == []
    process.communicate("\n", timeout=60)
    assert process.returncode == 0
    assert list(folder.iterdir()) == []


def test_another_store_drops_our_space(store: SqliteStore, folder: Path) -> None:
    """A handle notices that its file was dropped, or dropped and made anew, before it answers."""
    space = store.open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("a"), EAST, ())
    assert space.count(EVERYTHING) == 1
    other = SqliteStore(folder)
    other.drop(SPACE)
    with pytest.raises(NotFound):
        space.count(EVERYTHING)
    anew = other.open(SPACE)
    assert space.count(EVERYTHING) == 0
    with space.transaction() as transaction:
        transaction.insert(sample("b"), EAST, ())
    assert [entry.id for entry in anew.page(EVERYTHING, limit=9)] == ["b"]
    other.close()
