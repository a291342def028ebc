"""Public sets as their authors publish them, turned into the neutral form that `datasets` reads and checks.

A format is recognised by its shape. Nothing is invented: turns without a time of their own follow the time of their
session at a fixed pace, a question is asked when the conversation ends (LoCoMo: the day after) unless it says when,
and evidence that names a turn which does not exist is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, unknown_name
from retentive.evaluate.formats import beam, locomo, longmemeval, realtalk
from retentive.evaluate.formats.places import MisfitError, inside

Neutral = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """One published form: how it is told from others, and how it becomes the neutral one."""

    name: str
    recognises: Callable[[Any], bool]
    neutral: Callable[[Any, str], Neutral]


FORMATS: Final = (
    Format("locomo", locomo.recognises, locomo.neutral),
    Format("realtalk", realtalk.recognises, realtalk.neutral),
    Format("longmemeval", longmemeval.recognises, longmemeval.by_session),
    Format("longmemeval-turns", longmemeval.recognises, longmemeval.by_turn),
    Format("beam", beam.recognises, beam.neutral),
)
NEUTRAL: Final = "neutral"
NAMES: Final = (NEUTRAL, *(one.name for one in FORMATS))


def neutral(data: Any, name: str, form: str | None = None) -> Any:
    """Return data in the neutral form; ``form`` names the format, None recognises it (what nobody knows is neutral)."""
    if form == NEUTRAL:
        return data
    if form is not None and form not in NAMES:
        raise unknown_name("format", form, NAMES)
    chosen = next((one for one in FORMATS if one.name == form or (form is None and one.recognises(data))), None)
    if chosen is None:
        return data
    try:
        with inside("the file"):
            return chosen.neutral(data, name)
    except MisfitError as error:
        message = f"{name!r} is not in the form of {chosen.name} as published: {error}."
        raise InvalidInput(f"{message} Fetch it again, or name another of {', '.join(NAMES)}.", form=form) from error


def knows(data: Any) -> bool:
    """Whether some published form is recognised."""
    return any(one.recognises(data) for one in FORMATS)


def read_folder(folder: Path, parse: Callable[[Path], Any]) -> Any:
    """Gather a folder that holds one file, or one folder, a conversation: REALTALK's chats, BEAM's chats."""
    chats = beam.gathered(folder, parse)
    found = chats or [_named(parse(file), file) for file in sorted(folder.glob("*.json"))]
    if not found:
        raise InvalidInput(
            f"{str(folder)!r} cannot be read: a folder without `*.json` or BEAM's `*/chat.json`. Name a file, or a "
            "folder of conversations.",
            file=str(folder),
        )
    return found


def _named(chat: Any, file: Path) -> Any:
    """A chat does not say its own name; the file does."""
    if not isinstance(chat, dict):
        raise InvalidInput(f"{str(file)!r} is no conversation of a folder of them: expected an object.", file=str(file))
    return {**chat, "file": file.stem}
