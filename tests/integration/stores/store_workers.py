"""What the other process does in these tests: run as `python store_workers.py <job> <folder> ...`."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from retentive.errors import Forbidden, StoreFull
from retentive.stores.sqlite import SqliteStore, cache
from retentive.stores.sqlite.database import Database
from retentive.testing.store_samples import EAST, SPACE, gate, sample

EVERYTHING = gate(hidden=True)


def write(folder: Path, name: str, count: str) -> None:
    """Add so many memories, each in a transaction that also counts."""
    space = SqliteStore(folder, busy_timeout=30).open(SPACE)
    for number in range(int(count)):
        with space.transaction() as transaction:
            transaction.insert(sample(f"{name}{number}"), EAST, ("word",))
            total = transaction.setting("total") or 0
            assert isinstance(total, int)
            transaction.set_setting("total", total + 1)


def write_for_ever(folder: Path) -> None:
    """Add memories two by two until killed, telling after each commit how many are there."""
    space = SqliteStore(folder).open(SPACE)
    for number in range(0, 1_000_000, 2):
        with space.transaction() as transaction:
            transaction.insert(sample(f"m{number}"), EAST, ("word",))
            transaction.insert(sample(f"m{number + 1}"), EAST, ("word",))
        sys.stdout.write(f"{number + 2}\n")
        sys.stdout.flush()


def die_inside(folder: Path) -> None:
    """Die in the middle of a transaction."""
    space = SqliteStore(folder).open(SPACE)
    with space.transaction() as transaction:
        for number in range(2000):
            transaction.insert(sample(f"lost{number}", text="x" * 5000), EAST, ("word",))
        os.kill(os.getpid(), signal.SIGKILL)


def hold(folder: Path) -> None:
    """Hold the write lock until told to let go."""
    space = SqliteStore(folder).open(SPACE)
    with space.transaction():
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.readline()


def open_kept(folder: Path, rebuilds: str) -> None:
    """Open a space of some size, ask it, and count how often every row had to be read; then add to it and keep it."""
    cache.KEPT_FROM = 10
    counted: list[int] = []
    rebuild = cache.Cache._rebuild

    def noted(self: cache.Cache, database: Database) -> None:
        counted.append(1)
        rebuild(self, database)

    cache.Cache._rebuild = noted  # type: ignore[method-assign, assignment] # this process counts
    store = SqliteStore(folder)
    space = store.open(SPACE)
    before = space.count(EVERYTHING)
    with space.transaction() as transaction:
        for number in range(before, before + 40):
            transaction.insert(sample(f"m{number}"), EAST, ("word", f"only{number}"))
    assert len(space.matching([f"only{before + 39}"], EVERYTHING, 3).rows) == 1
    store.close()
    assert len(counted) == int(rebuilds), counted


def read_as_nobody(folder: Path) -> None:
    """Give up the right to write anything, then read, then be refused."""
    import numpy.ma  # noqa: F401 - numpy loads it late, from an interpreter that nobody may not be allowed to read

    os.setgid(65534)
    os.setuid(65534)
    space = SqliteStore(folder).open(SPACE, create=False)
    assert space.count(EVERYTHING) == 1
    assert len(space.matching(["word"], EVERYTHING, 5).rows) == 1
    assert space.get(["a"])["a"].text == "text of a"
    with pytest.raises(Forbidden, match=r"space\.db"), space.transaction() as transaction:
        transaction.insert(sample("b"), EAST, ())


def outgrow(folder: Path, most: str) -> None:
    """Write until no file may grow any more; what was committed stays, and what failed left nothing."""
    import resource

    space = SqliteStore(folder).open(SPACE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), resource.RLIM_INFINITY))
    committed = 0
    try:
        while True:
            with space.transaction() as transaction:
                transaction.insert(sample(f"m{committed}", text="x" * 20_000), EAST, ("word",))
            committed += 1
    except StoreFull:
        pass
    assert committed
    assert space.count(EVERYTHING) == committed
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with space.transaction() as transaction:
        transaction.insert(sample("afterwards"), EAST, ())
    assert space.count(EVERYTHING) == committed + 1


def fork(folder: Path) -> None:
    """Use one store in parent and child, with a transaction under way in the parent."""
    space = SqliteStore(folder).open(SPACE)
    with space.transaction() as transaction:
        transaction.insert(sample("before"), EAST, ())
    assert space.count(EVERYTHING) == 1
    with space.transaction() as transaction:
        transaction.insert(sample("parent"), EAST, ())
        child = os.fork()
        if child == 0:
            seen = space.count(EVERYTHING)
            os._exit(0 if seen == 1 else 1)
        assert os.waitpid(child, 0)[1] == 0
    child = os.fork()
    if child == 0:
        with space.transaction() as transaction:
            transaction.insert(sample("child"), EAST, ())
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with space.transaction() as transaction:
        transaction.insert(sample("after"), EAST, ())
    assert {entry.id for entry in space.page(EVERYTHING, limit=9)} == {"before", "parent", "child", "after"}


def linger(folder: Path) -> None:
    """Keep the space open until told to let go."""
    space = SqliteStore(folder).open(SPACE)
    space.count(EVERYTHING)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    sys.stdin.readline()
    time.sleep(0)


JOBS: dict[str, Callable[..., None]] = {
    job.__name__: job
    for job in (write, write_for_ever, die_inside, hold, open_kept, read_as_nobody, outgrow, fork, linger)
}

if __name__ == "__main__":
    JOBS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
