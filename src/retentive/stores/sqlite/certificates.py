"""What was done to whole spaces: a file of JSON lines beside them, which grows and is never rewritten."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

NAME: Final = ".certificates.jsonl"


def append(folder: Path, certificate: Mapping[str, Any]) -> None:
    """Write a line behind the others, and wait until it is on the disk: one write, which no other process divides."""
    line = json.dumps(dict(certificate), ensure_ascii=True, sort_keys=True) + "\n"
    file = os.open(folder / NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())
        os.fsync(file)
    finally:
        os.close(file)


def listed(folder: Path) -> list[dict[str, Any]]:
    """Return every line that is whole, in the order of writing."""
    if not (folder / NAME).exists():
        return []
    return [found for line in (folder / NAME).read_text("utf-8").splitlines() if (found := _read(line)) is not None]


def _read(line: str) -> dict[str, Any] | None:
    """Read a line; one that a crash cut short certifies nothing."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
