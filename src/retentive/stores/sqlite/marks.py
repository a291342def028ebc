"""Whether anything was written in a space, from its files alone: nothing is opened and nothing is read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

SETTLED: Final = 2.0
"""Seconds after which a write shows in a file's time for sure: clocks of file systems go in steps."""


def mark_of(file: Path) -> str | None:
    """Return a word that is another one after the next commit; None just after a commit, or where there is no file.

    A log without content says nothing: opening a space makes one, closing it takes it away.
    """
    try:
        parts = [file.stat()]
    except OSError:
        return None
    try:
        log = file.with_name(f"{file.name}-wal").stat()
    except OSError:
        pass
    else:
        parts += [log] if log.st_size else []
    if time.time() - max(part.st_mtime for part in parts) < SETTLED:
        return None
    return " ".join(f"{part.st_ino}.{part.st_size}.{part.st_mtime_ns}" for part in parts)
