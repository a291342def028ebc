"""What readers of foreign files yield, and what they share: JSON, moments, names made from content."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound

LARGEST: Final = 2 * 1024**3  # bytes of one file, also of one within an archive
_MILLISECONDS: Final = 100_000_000_000  # seconds up to the year 5138; a greater number counts milliseconds


@dataclass(frozen=True, slots=True)
class Item:
    """A memory to be: ``fields`` as `Space.remember` takes them, its id included; ``owner`` is whose it was there."""

    fields: Mapping[str, Any]
    owner: str | None = None
    place: str = ""  # where in the file it stands
    record: Any = None  # as it stands there


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation to be observed."""

    session: str
    messages: Sequence[Mapping[str, Any]]
    owner: str | None = None
    place: str = ""
    record: Any = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that was left out: where it stands, why, what would help, and all that it says."""

    place: str
    reason: str
    remedy: str
    record: Any = None

    def __str__(self) -> str:
        return f"{self.place} {self.reason}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds, and the records in it that cannot be kept."""

    items: Sequence[Item] = ()
    talks: Sequence[Talk] = field(default_factory=tuple)
    refused: Sequence[Refused] = ()


class Lines(list[Any]):
    """The values of JSON lines, with the number of each; lines that are none are refused."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[int] = []
        self.broken: list[Refused] = []


def read_text(path: Path) -> str:
    """Return a file's text."""
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"There is no file {str(path)!r}.", path=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error}.", path=str(path)) from error


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; of JSON lines, the list of their values."""
    return parsed(read_text(path), str(path))


def parsed(text: str, name: str) -> Any:
    """Read JSON, or JSON lines; among lines that are objects, others are refused one by one."""
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2:
            raise InvalidInput(f"{name!r} is not JSON: {error}.", path=name) from None
    found = Lines()
    for number, line in lines:
        try:
            found.append(json.loads(line))
            found.numbers.append(number)
        except ValueError as error:
            remedy = "mend that line, and import the file again"
            found.broken.append(Refused(f"line {number}", f"is not JSON ({error})", remedy, line))
    if found.broken and 2 * sum(isinstance(value, Mapping) for value in found) < len(lines):
        raise InvalidInput(f"{name!r}, {found.broken[0].place}, {found.broken[0].reason}.", path=name)
    return found


def read_archive(path: Path, stem: str) -> Any:
    """Return what an exported JSON file holds, alone or within the archive that a service sends."""
    if not zipfile.is_zipfile(path):
        return read_json(path)
    found: list[Any] = []
    with zipfile.ZipFile(path) as archive:
        for member in _members(archive, path, stem):
            name = f"{path}:{member.filename}"
            values = parsed(archive.read(member).decode("utf-8-sig"), name)
            if isinstance(values, Lines) and values.broken:
                raise InvalidInput(f"{name!r}, {values.broken[0]}.", path=name)
            found += values if isinstance(values, list) else [values]
    return found


def _members(archive: zipfile.ZipFile, path: Path, stem: str) -> list[zipfile.ZipInfo]:
    """Find the files of one name (``conversations.json``, ``conversations-001.json``), none of them absurdly large."""
    members = [member for member in archive.infolist() if _named(member.filename, stem)]
    if not members:
        raise InvalidInput(f"{str(path)!r} is an archive without a {stem}.json; is it the export?", path=str(path))
    for member in members:
        if member.file_size > LARGEST:
            raise InvalidInput(f"{member.filename!r} in {str(path)!r} unpacks to {member.file_size:,} bytes; split it.")
    return sorted(members, key=lambda member: member.filename)


def _named(filename: str, stem: str) -> bool:
    name = filename.rpartition("/")[2]
    return name.endswith(".json") and (name == f"{stem}.json" or name.startswith(f"{stem}-"))


def records(value: Any, *names: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, or of the first list under one of these names."""
    for _, row in _placed(value, names, ""):
        if isinstance(row, Mapping):
            yield row


class Rows:
    """The records of one file as they are read, and those of them that are refused."""

    def __init__(self) -> None:
        self.refused: list[Refused] = []

    def of(self, value: Any, *names: str, at: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the objects of a list, or of the first list under one of these names, each with its place."""
        if isinstance(value, Lines):
            self.refused += value.broken
        for place, row in _placed(value, names, at):
            if isinstance(row, Mapping):
                yield place, row
            else:
                self.refuse(place, f"is {type(row).__name__}, not an object", "make it one, or take it out", row)

    def refuse(self, place: str, reason: str, remedy: str, record: Any) -> None:
        """Leave a record out."""
        self.refused.append(Refused(place, reason, remedy, record))

    def wordless(self, place: str, record: Any, *fields: str) -> None:
        """Leave a record out that says nothing under any of its fields."""
        self.refuse(place, f"has no text under {' or '.join(map(repr, fields))}", "give it one, or take it out", record)


def _placed(value: Any, names: Sequence[str], at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        name = next((name for name in names if isinstance(value.get(name), list)), None)
        if name is None:
            return
        at, value = f"{at}.{name}" if at else name, value[name]
    if isinstance(value, Lines):
        yield from ((f"line {number}", row) for number, row in zip(value.numbers, value, strict=True))
    elif isinstance(value, list):
        yield from ((f"{at}[{index}]" if at else f"record {index}", row) for index, row in enumerate(value))


def moment(value: Any) -> datetime | None:
    """Read a moment as exports write them: ISO 8601, or seconds (or milliseconds) since 1970; none if it is neither.

    Without a zone it counts as UTC: services write their own time, and none of them writes a local one.
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
        found = datetime.fromisoformat(str(value).strip())
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def words(value: Any) -> str:
    """Return a text, or nothing where it is none."""
    return value.strip() if isinstance(value, str) else ""


def name_of(kind: str, *parts: Any) -> str:
    """Return an id: that of the record where it has one, else one made from what it says."""
    if len(parts) == 1 and isinstance(parts[0], str) and parts[0].strip() and len(parts[0]) <= 200:
        return f"{kind}:{parts[0].strip()}"
    said = "\0".join("" if part is None else str(part) for part in parts)
    return f"{kind}:{blake2b(said.encode('utf-8', 'replace'), digest_size=10).hexdigest()}"


def given(**fields: Any) -> dict[str, Any]:
    """Return fields without those that are empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


def rest(row: Mapping[str, Any], *read: str, moments: Sequence[str] = ()) -> dict[str, Any]:
    """Return what of a record says something and was not read otherwise: it goes into the metadata.

    ``moments`` were read where they are any; one that is none stays as it was written.
    """
    left = {name: value for name, value in row.items() if name not in read}
    return given(**{name: value for name, value in left.items() if name not in moments or moment(value) is None})


def span(start: datetime | None, end: datetime | None) -> dict[str, datetime]:
    """Return from when until when something is true; of a span that ends before it begins, only the end."""
    if start is not None and end is not None and start >= end:
        start = None
    return given(valid_from=start, valid_until=end)
