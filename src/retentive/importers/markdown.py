"""Markdown notes: each list item and each paragraph one memory, under the headings that it stands below.

A heading that is a day (``## 2026-05-01``) dates what follows it. Code blocks stay whole; front matter is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from retentive.errors import NotFound
from retentive.importers.parts import Found, Item, given, name_of, read_text

_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_RULE: Final = re.compile(r" {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+)$")
_FRONT: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(slots=True)
class _Reader:
    """Where the reading of one file stands."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    start: int = 0
    fence: str = ""

    def take(self, number: int, line: str) -> Iterator[tuple[int, str]]:
        """Take one line; yield what ends with it."""
        if self.fence:
            self.lines.append(line)
            if line.strip() == self.fence:
                self.fence = ""
            return
        if opened := _FENCE.match(line):
            self._add(number, line)
            self.fence = opened[1]
        elif heading := _HEADING.match(line):
            yield from self.end()
            level = len(heading[1])
            self.headings = [one for one in self.headings if one[0] < level] + [(level, heading[2])]
        elif not line.strip() or _RULE.match(line):
            yield from self.end()
        elif bullet := _BULLET.match(line):
            yield from self.end()
            self._add(number, bullet["text"])
        else:
            self._add(number, line.strip())

    def end(self) -> Iterator[tuple[int, str]]:
        """Yield what was gathered, if anything."""
        text = "\n".join(self.lines).strip()
        self.lines = []
        if text:
            yield self.start, text

    def _add(self, number: int, line: str) -> None:
        if not self.lines:
            self.start = number
        self.lines.append(line)


def read(path: Path) -> Found:
    """Read a file, or every Markdown file of a folder and those below it."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.md") if file.is_file())
        if not files:
            raise NotFound(f"There are no Markdown files in {str(path)!r}.", path=str(path))
        return Found([item for file in files for item in _items(file, str(file.relative_to(path)))])
    return Found(list(_items(path, path.name)))


def _items(path: Path, name: str) -> Iterator[Item]:
    text = read_text(path).replace("\r\n", "\n")
    front = _FRONT.match(text)
    skipped = front[0].count("\n") if front else 0
    reader = _Reader()
    for number, line in enumerate(text.split("\n")[skipped:], skipped + 1):
        above = [words for _, words in reader.headings]
        yield from (_item(name, above, *found) for found in reader.take(number, line))
    yield from (_item(name, [words for _, words in reader.headings], *found) for found in reader.end())


def _item(name: str, headings: list[str], line: int, text: str) -> Item:
    topics = [heading for heading in headings if not _DAY.fullmatch(heading)]
    return Item(
        given(
            id=name_of("markdown", name, *headings, text),
            text=f"{' / '.join(topics)}: {text}" if topics else text,
            at=_day(headings),
            metadata=given(headings=headings, file=name),
            source=f"{name}:{line}",
        ),
        place=f"{name}, line {line},",
        record=text,
    )


def _day(headings: list[str]) -> datetime | None:
    for heading in reversed(headings):
        if found := _DAY.search(heading):
            try:
                return datetime.fromisoformat(found[0]).replace(tzinfo=UTC)
            except ValueError:
                continue
    return None
