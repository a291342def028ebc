"""Conversational-memory sets in one neutral form: gzipped or plain JSON, or JSON Lines with a space a line.

Nothing is guessed. A value that does not fit is refused with the file, the place inside it, the value and what to do,
for a silently dropped question would move a published figure.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from retentive.errors import InvalidInput, NotFound
from retentive.evaluate import formats

UNSCORED = ("abstention", "adversarial")
"""Categories (or parts of their names) that label no evidence to be found; their questions stay out of recall."""
EXAMPLE = Path(__file__).with_name("example.json")
"""A small history of our own, so that every command can be tried without downloading anything."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was said: a turn, a message, or a session, by the set's granularity."""

    id: str
    text: str
    at: datetime
    speaker: str | None = None
    session: str | None = None
    caption: str | None = None  # of a shared picture; read, but not remembered: published figures are without it
    kind: str | None = None
    importance: float | None = None
    read: tuple[datetime, ...] = ()  # when it was recalled before, oldest first: what recency and frequency go by

    @property
    def said(self) -> str:
        """The text without a leading ``SPEAKER: ``: the speaker is passed beside it, and would count twice."""
        return self.text.removeprefix(f"{self.speaker}: ") or self.text


@dataclass(frozen=True, slots=True)
class Question:
    """A question, when it is asked, and the ids that answer it."""

    id: str
    text: str
    at: datetime
    gold: frozenset[str]
    category: str
    current: frozenset[str] = frozenset()
    outdated: frozenset[str] = frozenset()

    @property
    def scored(self) -> bool:
        """Whether recall can be measured on it."""
        return bool(self.gold) and not any(word in self.category for word in UNSCORED)

    @property
    def abstains(self) -> bool:
        """Whether the right answer is none."""
        return "abstention" in self.category


@dataclass(frozen=True, slots=True)
class Conversation:
    """One space: what was said, and what is asked about it."""

    space: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set of conversations, with where it comes from and on what terms."""

    name: str
    licence: str
    source: str
    conversations: tuple[Conversation, ...]

    @property
    def questions(self) -> int:
        """How many questions it asks."""
        return sum(len(conversation.questions) for conversation in self.conversations)

    def first(self, questions: int) -> Dataset:
        """Return the set cut to its first questions (conversations without any are left out): for a quick look."""
        kept = []
        for conversation in self.conversations:
            asked = conversation.questions[: max(0, questions)]
            questions -= len(asked)
            if asked:
                kept.append(replace(conversation, questions=asked))
        return replace(self, conversations=tuple(kept))


def load(path: str | Path, form: str | None = None) -> Dataset:
    """Read a set from ``.json``, ``.json.gz``, ``.jsonl`` or ``.jsonl.gz``; the name ``example`` is the bundled one.

    Public sets are read as their authors publish them (a folder where they publish folders), recognised by their
    shape; ``form`` names the format where that does not decide, as with LongMemEval by session and by turn.
    """
    file = EXAMPLE if str(path) == "example" else Path(path)
    place = _Place(file)
    data = formats.read_folder(file, _whole) if file.is_dir() else _whole(file)
    return _dataset(formats.neutral(data, file.name.split(".")[0], form), place)


def _whole(file: Path) -> Any:
    text, place = _read(file), _Place(file)
    lines = file.name.removesuffix(".gz").endswith(".jsonl")
    return _from_lines(text, place) if lines else _parsed(text, place)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which file we are, for the message of a refusal."""

    file: Path
    inside: str = ""

    def at(self, step: str | int) -> _Place:
        inside = f"{self.inside}[{step}]" if isinstance(step, int) else f"{self.inside}.{step}".lstrip(".")
        return replace(self, inside=inside)

    def refuse(self, problem: str, value: object, remedy: str) -> NoReturn:
        where = f"{str(self.file)!r}" + (f" at {self.inside}" if self.inside else "")
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        message = f"{where}: {problem}, got {shown}. {remedy}"
        raise InvalidInput(message, file=str(self.file), inside=self.inside, value=value)


def _read(file: Path) -> str:
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise NotFound(
            f"There is no data file {str(file)!r}. Name a neutral JSON file, or `example` for the bundled set."
        ) from None
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read ({error}). Name a readable JSON file.") from error
    try:
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(file)!r} is damaged or not UTF-8 text ({error}). Fetch it again.") from error


def _parsed(text: str, place: _Place) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        place.refuse(f"not JSON ({error})", text[:40], "Expected one object with `name` and `spaces`.")


def _from_lines(text: str, place: _Place) -> Any:
    """Gather JSON Lines: rows of a public set, or spaces (lines with `memories`) beside a header (any other line)."""
    rows = []
    for number, line in enumerate(text.splitlines()):
        if line.strip():
            at = place.at("line").at(number + 1)
            rows.append(_mapping(_parsed(line, at), at))
    if formats.knows(rows):
        return rows
    data: dict[str, Any] = {"name": place.file.name.split(".")[0], "spaces": []}
    for row in rows:
        if "memories" in row:
            data["spaces"].append(row)
        else:
            data |= row
    return data


def _dataset(data: Any, place: _Place) -> Dataset:
    top = _mapping(data, place)
    spaces = _list(top, "spaces", place)
    conversations = tuple(_conversation(row, place.at("spaces").at(at)) for at, row in enumerate(spaces))
    _unique((c.space for c in conversations), place.at("spaces"), "space")
    if not conversations:
        place.at("spaces").refuse("no space", spaces, "Give at least one conversation.")
    name = _string(top, "name", place)
    return Dataset(name, str(top.get("licence", "")), str(top.get("source", "")), conversations)


def _conversation(data: Any, place: _Place) -> Conversation:
    row = _mapping(data, place)
    memories, queries = _list(row, "memories", place), _list(row, "queries", place)
    items = tuple(_item(item, place.at("memories").at(at)) for at, item in enumerate(memories))
    _one_text_each(items, place.at("memories"))
    known = frozenset(item.id for item in items)
    questions = tuple(_question(item, known, place.at("queries").at(at)) for at, item in enumerate(queries))
    return Conversation(_string(row, "space", place), items, questions)


def _item(data: Any, place: _Place) -> Item:
    row = _mapping(data, place)
    return Item(
        id=_string(row, "id", place),
        text=_string(row, "text", place),
        at=_moment(row, place),
        speaker=_optional(row, "speaker", place),
        session=_optional(row, "session", place),
        caption=_optional(row, "caption", place),
        kind=_optional(row, "kind", place),
        importance=_share(row, "importance", place),
        read=_moments(row, place),
    )


def _question(data: Any, known: frozenset[str], place: _Place) -> Question:
    row = _mapping(data, place)
    return Question(
        id=_string(row, "id", place),
        text=_string(row, "text", place),
        at=_moment(row, place),
        gold=_ids(row, "gold", known, place),
        category=_string(row, "category", place),
        current=_ids({"current": [], **row}, "current", known, place),
        outdated=_ids({"outdated": [], **row}, "outdated", known, place),
    )


def _mapping(data: Any, place: _Place) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        place.refuse("expected an object", data, 'Write {"name": …, …}.')
    return data


def _list(row: Mapping[str, Any], name: str, place: _Place) -> list[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        place.at(name).refuse("expected a list", value, f"Give `{name}` as a list.")
    return value


def _string(row: Mapping[str, Any], name: str, place: _Place) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        place.at(name).refuse("expected a text", value, f"Give `{name}` as a text that is not empty.")
    return value


def _optional(row: Mapping[str, Any], name: str, place: _Place) -> str | None:
    return None if row.get(name) is None else _string(row, name, place)


def _share(row: Mapping[str, Any], name: str, place: _Place) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        place.at(name).refuse("expected a number from 0 to 1", value, f"Give `{name}` as 0.5, or leave it out.")
    return float(value)


def _moment(row: Mapping[str, Any], place: _Place) -> datetime:
    return _as_moment(row.get("at"), place.at("at"))


def _moments(row: Mapping[str, Any], place: _Place) -> tuple[datetime, ...]:
    values = _list({"read": [], **row}, "read", place)
    return tuple(sorted(_as_moment(value, place.at("read").at(at)) for at, value in enumerate(values)))


def _as_moment(value: object, place: _Place) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        place.refuse("expected a moment in ISO 8601", value, "Write it as 2023-05-08T13:56:00Z.")
    if moment.tzinfo is None:
        place.refuse("the moment has no time zone", value, "Append Z for UTC.")
    return moment.astimezone(UTC)


def _ids(row: Mapping[str, Any], name: str, known: frozenset[str], place: _Place) -> frozenset[str]:
    ids = _list(row, name, place)
    for at, value in enumerate(ids):
        if value not in known:
            place.at(name).at(at).refuse(
                "no memory of this space has that id", value, f"Name ids of `memories` in `{name}`, or leave it empty."
            )
    return frozenset(ids)


def _one_text_each(items: Sequence[Item], place: _Place) -> None:
    """An id may come twice, as LongMemEval's haystacks repeat a session, but not for two texts."""
    texts: dict[str, str] = {}
    for at, item in enumerate(items):
        if texts.setdefault(item.id, item.text) != item.text:
            place.at(at).at("id").refuse("it already stands for another text", item.id, "Give each text its own id.")


def _unique(values: Any, place: _Place, name: str) -> None:
    seen: set[str] = set()
    for at, value in enumerate(values):
        if value in seen:
            place.at(at).at(name).refuse("it appears twice", value, f"Give every {name} once.")
        seen.add(value)
