"""What erasing leaves behind in a file, and how it is got rid of.

SQLite's ``secure_delete`` overwrites a cell that is deleted and a page that is freed. It does not overwrite the copies
that stay in the unused middle of a b-tree page when its cells were moved to another page (a split, a rebalancing): most
of all names in index pages. A file that is written anew has no such copies of what is no longer there.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from retentive.errors import RetentiveError
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.faults import translate_system

MARK: Final = "unclean"
TREES: Final = {2: 12, 5: 12, 10: 8, 13: 8}  # type of a b-tree page → bytes of its header
HEADER: Final = 100  # bytes of the file's own header, at the start of page 1
CHUNK: Final = 1_024  # pages read at once
IN_MEMORY: Final = 256 << 20  # bytes: a larger file is rebuilt by way of a temporary one


def mark(file: Path) -> None:
    """Note beside a file that it has to be cleaned, whatever becomes of this process."""
    try:
        (file.parent / MARK).touch(mode=0o600)
    except OSError as error:
        raise translate_system(error, str(file)) from error


def marked(file: Path) -> bool:
    """Whether an erasure was not cleaned up after."""
    return (file.parent / MARK).exists()


def unmark(file: Path) -> None:
    """Take the note back."""
    with suppress(OSError):
        (file.parent / MARK).unlink(missing_ok=True)


def residue(file: Path) -> bool:
    """Whether any page of a file holds something in its unused middle; the write-ahead log has to be empty."""
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(18)[16:], "big")
        size = 65_536 if size == 1 else max(size, 512)
        stream.seek(0)
        offset = HEADER
        while block := stream.read(size * CHUNK):
            for start in range(0, len(block) - size + 1, size):
                if _dirty(block[start : start + size], offset):
                    return True
                offset = 0
    return False


def _dirty(page: bytes, offset: int) -> bool:
    """Whether the space between a page's cell pointers and its cells holds anything but zeros."""
    length = TREES.get(page[offset])
    if length is None:
        return False
    cells = int.from_bytes(page[offset + 3 : offset + 5], "big")
    content = int.from_bytes(page[offset + 5 : offset + 7], "big") or 65_536
    gap = page[offset + length + 2 * cells : content]
    return gap.count(0) != len(gap)


def rebuild(database: Database) -> bool:
    """Write the file anew without what is gone; False where that was not possible now."""
    large = database.file.stat().st_size > IN_MEMORY
    try:
        if large:
            database.script("PRAGMA temp_store = FILE;")
        database.run("rebuild")
    except RetentiveError:  # busy, or no room: what was to be erased is erased, its copies wait for the next try
        return False
    finally:
        if large:
            database.script("PRAGMA temp_store = MEMORY;")
    return True
