"""Lines of an export: compact JSON with a checksum, so that damage has a line number, and a digest over the whole.

The checksum of a line lets a reader name the line that is damaged; the digest at the end shows a file that was cut,
joined or reordered. Both are checked before anything is imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final
from zlib import crc32

from retentive.errors import InvalidInput, NotFound, RetentiveError
from retentive.types import EmbedderIdentity

FORMAT: Final = "retentive-export"
VERSION: Final = 1

_SUM = re.compile(rb',"crc":"([0-9a-f]{8})"\}')
_SUM_LENGTH: Final = 18
"""Bytes of it: the pattern is tried at one place, for searching a long line for it took most of an import's time."""
_TYPE = re.compile(rb'\{"type":"([a-z]+)"')


class DamagedExport(InvalidInput):
    """An export that cannot be trusted: which file, which line, and what to do."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: whose memories these are, and which embedder made the vectors."""

    space: str
    embedder: EmbedderIdentity | None
    memories: int

    def as_record(self) -> dict[str, Any]:
        """Return the header as the JSON of its line."""
        embedder = self.embedder
        return {
            "type": "header",
            "format": FORMAT,
            "version": VERSION,
            "space": self.space,
            "embedder": None
            if embedder is None
            else {"id": embedder.id, "dimension": embedder.dimension, "fingerprint": embedder.fingerprint},
            "memories": self.memories,
        }


@dataclass(frozen=True, slots=True)
class Line:
    """One verified line of a file: its number, its type, and the bytes without the line end."""

    path: Path
    number: int
    kind: str
    raw: bytes

    def record(self) -> dict[str, Any]:
        """Parse the line."""
        try:
            parsed: dict[str, Any] = json.loads(self.raw)
        except (ValueError, RecursionError) as error:
            raise damaged(self.path, self.number, f"is not JSON ({error})") from error
        parsed.pop("crc", None)
        return parsed


def dumped(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line with its checksum and line end."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text[:-1].encode()
    return b'%s,"crc":"%08x"}\n' % (body, crc32(body))


AGAIN: Final = "Export the space again, or fetch the file again from where it was copied."


def damaged(path: Path, number: int, what: str, remedy: str = AGAIN) -> DamagedExport:
    """Name the file, the line and the way out."""
    return DamagedExport(
        f"{str(path)!r}, line {number}: {what}. {remedy}",
        path=str(path),
        line=number,
    )


def read_lines(path: Path) -> Iterator[Line]:
    """Yield every line of a file, each verified by its checksum; the first one that is not right raises."""
    with _opened(path) as stream:
        for number, raw in enumerate(stream, start=1):
            yield checked_line(path, number, raw)


def checked_line(path: Path, number: int, raw: bytes) -> Line:
    """Verify one line as it stands in the file, line end included."""
    if not raw.endswith(b"\n"):
        raise damaged(path, number, "is cut off")
    body, tail = raw[: -1 - _SUM_LENGTH], raw[-1 - _SUM_LENGTH : -1]
    found, kind = _SUM.fullmatch(tail), _TYPE.match(raw)
    if found is None or kind is None:
        raise damaged(path, number, "is not a line of a Retentive export")
    if int(found[1], 16) != crc32(body):
        raise damaged(path, number, "does not match its checksum")
    return Line(path, number, kind[1].decode(), raw[:-1])


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"The file {str(path)!r} does not exist.", path=str(path)) from error
    except OSError as error:
        raise RetentiveError(f"{str(path)!r} cannot be read: {error.strerror}.", path=str(path)) from error


def verify(path: Path) -> tuple[Header, int]:
    """Read a file to its end; return its header and the number of lines between the header and the end."""
    digest, before, header, last = sha256(), sha256(), None, None
    for line in read_lines(path):
        header = header or read_header(line)
        before = digest.copy()
        digest.update(line.raw + b"\n")
        if last is not None and last.kind == "end":
            raise damaged(path, line.number, "comes after the end of the export")
        last = line
    if header is None or last is None:
        raise damaged(path, 1, "is missing: the file is empty")
    if last.kind != "end":
        raise damaged(path, last.number + 1, "is missing: the file was cut off before its last line")
    if last.record().get("sha256") != before.hexdigest():
        raise damaged(path, last.number, "does not match the digest of the lines before it")
    return header, last.number - 2


def end_record(digest: str, lines: int) -> dict[str, Any]:
    """Return the last line: how many lines came before it, and their digest."""
    return {"type": "end", "lines": lines, "sha256": digest}


def read_header(line: Line) -> Header:
    """Read the first line, refusing files of another kind or of a later version."""
    record = line.record()
    if line.kind != "header" or record.get("format") != FORMAT:
        raise damaged(line.path, line.number, "is not the header of a Retentive export")
    if record.get("version") != VERSION:
        raise InvalidInput(
            f"{str(line.path)!r} has format version {record.get('version')!r}; this Retentive reads version {VERSION}. "
            "Upgrade Retentive, then import again.",
            path=str(line.path),
        )
    try:
        maker = record["embedder"]
        identity = maker and EmbedderIdentity(maker["id"], int(maker["dimension"]), maker["fingerprint"])
        return Header(str(record["space"]), identity, int(record["memories"]))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(line.path, line.number, f"is not a whole header ({error!r})") from error


def exported_space(path: Path) -> str:
    """Return the space that a file was exported from, by its first line alone."""
    for line in read_lines(Path(path)):
        return read_header(line).space
    raise damaged(Path(path), 1, "is missing: the file is empty")
