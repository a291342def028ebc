"""Copying one space's file while it is in use, and putting a copy in its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final
from uuid import uuid4

import apsw

from retentive.errors import RetentiveError, StoreCorrupt
from retentive.stores.sqlite.database import Database, unlock
from retentive.stores.sqlite.faults import translate, translate_system

PAGES: Final = 4_096
"""Copied at a time: between two portions the copy gives the processor away."""
ARRIVING: Final = ".arriving-"

Progress = Callable[[int, int], None]


def copy_file(source: Database, target: Path, progress: Progress | None = None, key: bytes | None = None) -> None:
    """Copy a database into a new file: one state of it, whatever is written meanwhile; nobody has to wait.

    The source's read transaction holds that state for as long as the copy takes; without it SQLite would begin again
    after every write of another process.
    """
    source.run("begin_read")
    try:
        source.value("clock")  # a transaction begins with its first read
        copy = apsw.Connection(str(target))
        try:
            unlock(copy, key)
            _copy(source.connection, copy, progress)
        finally:
            copy.close()
    except apsw.Error as error:
        raise translate(error, str(target)) from error
    finally:
        source.abandon()
    flush(target)


def _copy(source: apsw.Connection, copy: apsw.Connection, progress: Progress | None) -> None:
    with copy.backup("main", source, "main") as running:
        while not running.done:
            running.step(PAGES)
            if progress is not None:
                progress(running.page_count - running.remaining, running.page_count)


def flush(path: Path) -> None:
    """Bring a file to the disk, and its name as well."""
    for each, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        if each.is_dir() and os.name == "nt":  # pragma: no cover - Windows has no handles for folders
            continue
        descriptor = os.open(each, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def require_sound(file: Path, space: str, key: bytes | None) -> None:
    """Refuse a copy that is damaged, or of another space."""
    database = Database(file, busy_timeout=1.0, key=key)
    try:
        complaints = [line for (line,) in database.rows("quick_check") if line != "ok"]
        held = database.value("identity")
    finally:
        database.close()
    if complaints or held != space:
        said = complaints[0] if complaints else f"it holds space {held!r}"
        raise StoreCorrupt(f"{file} is no sound copy of space {space!r}: {said}. Nothing was restored from it.")


def arrive(source: Path, folder: Path, name: str, space: str, key: bytes | None) -> Path:
    """Copy a file, under its name, into a folder beside its future place, and look at it; return that folder."""
    place = folder / f"{ARRIVING}{uuid4().hex}"
    try:
        place.mkdir(parents=True, mode=0o700)
        target = place / name
        shutil.copyfile(source, target)
        target.chmod(0o600)
        flush(target)
        require_sound(target, space, key)
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise translate_system(error, str(place)) from error
    except RetentiveError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place
