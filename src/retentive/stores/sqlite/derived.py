"""The derived file: what a cache holds, laid beside the database so that opening a large space need not read every row.

One file, written whole beside its place and moved there in one step, so nobody ever sees half of it: whoever writes
last wins. It says which state of which space it is, and every part has a checksum; what does not fit is ignored, and
the cache is built from the rows. It is never needed, and nothing that goes wrong with it is an error.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

Parts: TypeAlias = dict[str, NDArray[Any]]

NAME = "derived.bin"
UNFINISHED = "derived-*.tmp"
MAGIC = b"RTNTDRV\x01"
FORMAT = 2
HEAD = struct.Struct("<8sQI")  # magic, length of the header, its checksum
ALIGNED = 64
LONGEST_HEADER = 1 << 20
STALE_AFTER = 600.0  # seconds after which an unfinished file is nobody's
SPARE = 64 << 20  # bytes of disk that are left to the database


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which state of which space."""

    space: str
    generation: int
    change: int


def save(folder: Path, stamp: Stamp, parts: Parts) -> bool:
    """Write the file unless a later state lies there; say whether it is there now."""
    held = peek(folder)
    same = held is not None and (held.space, held.generation) == (stamp.space, stamp.generation)
    if same and held is not None and held.change >= stamp.change:
        return True
    unfinished = folder / f"derived-{os.getpid()}-{uuid4().hex}.tmp"
    try:
        if shutil.disk_usage(folder).free < sum(part.nbytes for part in parts.values()) + SPARE:
            return False
        _write(unfinished, stamp, parts)
        unfinished.replace(folder / NAME)
    except OSError:  # a full disk, a folder that cannot be written, a space that was dropped: it was only a copy
        _remove(unfinished)
        return False
    return True


def _write(file: Path, stamp: Stamp, parts: Parts) -> None:
    whole = {name: np.ascontiguousarray(part) for name, part in parts.items()}
    listed, offset = [], 0
    for name, part in whole.items():
        listed.append(
            [name, part.dtype.str, list(part.shape), offset, zlib.crc32(part.data.cast("B") if part.size else b"")]
        )
        offset += -(-part.nbytes // ALIGNED) * ALIGNED
    said = {"format": FORMAT, "order": sys.byteorder, "stamp": [stamp.space, stamp.generation, stamp.change]}
    header = json.dumps({**said, "parts": listed}).encode()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as out:
        start = _start(header)
        _put(out.fileno(), HEAD.pack(MAGIC, len(header), zlib.crc32(header)) + header.ljust(start - HEAD.size, b"\0"))
        for part in whole.values():
            if part.size:
                _put(out.fileno(), part.data.cast("B"))
                _put(out.fileno(), bytes(-part.nbytes % ALIGNED))


def _put(descriptor: int, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _start(header: bytes) -> int:
    return -(-(HEAD.size + len(header)) // ALIGNED) * ALIGNED


def peek(folder: Path) -> Stamp | None:
    """Return which state the file has; None without a sound one."""
    try:
        with (folder / NAME).open("rb", buffering=0) as file:
            header = _header(file)
        return None if header is None else _stamp(header)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load(folder: Path, space: str, generation: int, change: int) -> tuple[Stamp, Parts] | None:
    """Return what the file holds where it is of this space and generation, not later than ``change``, and sound."""
    _tidy(folder)
    try:
        with (folder / NAME).open("rb", buffering=0) as file:
            header = _header(file)
            if header is None:
                return None
            stamp = _stamp(header)
            if (stamp.space, stamp.generation) != (space, generation) or stamp.change > change:
                return None
            start = HEAD.size + header["length"]
            start = -(-start // ALIGNED) * ALIGNED
            parts = {listed[0]: _part(file, start, *listed[1:]) for listed in header["parts"]}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, MemoryError):
        _remove(folder / NAME)  # its header may be sound, and would keep a good one from its place
        return None
    return stamp, parts


def _header(file: Any) -> dict[str, Any] | None:
    """Return the header, None where it is not ours or of another format."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    magic, length, checksum = HEAD.unpack(head)
    if magic != MAGIC or length > LONGEST_HEADER:
        return None
    text = file.read(length)
    if len(text) != length or zlib.crc32(text) != checksum:
        return None
    header = json.loads(text)
    if (header["format"], header["order"]) != (FORMAT, sys.byteorder):
        return None
    return {**header, "length": length}


def _stamp(header: dict[str, Any]) -> Stamp:
    space, generation, change = header["stamp"]
    return Stamp(space, generation, change)


def _part(file: Any, start: int, dtype: str, shape: list[int], offset: int, checksum: int) -> NDArray[Any]:
    longest = int(np.argmax(shape))
    spacious = [room(length) if axis == longest else length for axis, length in enumerate(shape)]
    part = np.empty(spacious, dtype=dtype)[tuple(map(slice, shape))]
    file.seek(start + offset)
    seen = 0
    for run in part if longest and part.size else (part,):  # with room behind each row, or behind the last
        if run.size:
            seen = _read(file, run, seen)
    if part.size and seen != checksum:
        raise ValueError("damaged")
    return part


def _read(file: Any, run: NDArray[Any], seen: int) -> int:
    """Fill an array that is in one piece; return the checksum of all that was seen."""
    whole = run.reshape(-1).view(np.uint8)
    left = memoryview(whole.data)
    while left:
        read = file.readinto(left)
        if not read:
            raise ValueError("cut off")
        left = left[read:]
    return zlib.crc32(whole.data, seen)


def room(size: int) -> int:
    """Return how many rows there is room for where so many were read: the next ones need no copy of all."""
    return size + size // 16 + 64


def roomy(part: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return an array with the part in front and room for ``capacity`` along its longest axis, read so or copied."""
    longest = int(np.argmax(part.shape))
    shape = tuple(capacity if axis == longest else length for axis, length in enumerate(part.shape))
    whole = part.base
    if whole is not None and whole.dtype == part.dtype and whole.shape == shape:
        return whole
    grown = np.zeros(shape, dtype=part.dtype)
    grown[tuple(map(slice, part.shape))] = part
    return grown


def discard(folder: Path) -> None:
    """Remove the file, and whatever was begun: something in it was erased. Whoever is writing one will fail to."""
    for file in (folder / NAME, *folder.glob(UNFINISHED)):
        _remove(file)


def _tidy(folder: Path) -> None:
    """Remove what a killed process left unfinished."""
    try:
        for file in folder.glob(UNFINISHED):
            if time.time() - file.stat().st_mtime > STALE_AFTER:
                _remove(file)
    except OSError:
        return


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return
