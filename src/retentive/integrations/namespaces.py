"""Namespaces of frameworks as space paths, one to one: a label is a segment, quoted where that could not hold it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote, unquote_to_bytes

from retentive.paths import space_path

_ODD: Final = "%%"
_REFUSED: Final = ".\0"
"""What a label of a base store cannot hold."""
_NEVER = {"Cc", "Cs", "Zl", "Zp"}
"""Categories of characters that a space path refuses."""


def quoted(label: str) -> str:
    """Return a label as a segment; what a segment cannot hold, and the percent sign itself, is written ``%XX``."""
    if label in {".", ".."}:
        return "".join(_quoted(character) for character in label)
    start, end = len(label) - len(label.lstrip()), len(label.rstrip())
    return "".join(
        character if start <= at < end and _plain(character) else _quoted(character)
        for at, character in enumerate(label)
    )


def _plain(character: str) -> bool:
    return character not in "%/" and unicodedata.category(character) not in _NEVER


def _quoted(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def unquoted(segment: str) -> str | None:
    """Return the label of a segment; None if no label is written so."""
    try:
        label = unquote_to_bytes(segment).decode("utf-8", "surrogatepass")
    except UnicodeError:
        return None
    return label if label and quoted(label) == segment else None


def path_of(namespace: Sequence[str], root: str = "") -> str:
    """Return the space of a namespace, below ``root`` where there is one."""
    segments = [*(root.split("/") if root else ()), *(quoted(label) for label in namespace)]
    return space_path(tuple(segments))


def namespace_of(path: str, root: str = "") -> tuple[str, ...] | None:
    """Return the namespace of a space; None where it lies elsewhere, or was not made by a namespace."""
    segments = path.split("/")
    above = root.split("/") if root else []
    if segments[: len(above)] != above or len(segments) == len(above):
        return None
    labels = [unquoted(segment) for segment in segments[len(above) :]]
    return None if None in labels else tuple(label for label in labels if label is not None)


def label_of(segment: str, refused: str = _REFUSED) -> str:
    """Return a segment as a label of others; one that could not be one is spelt out behind two percent signs."""
    label = unquoted(segment)
    if label is not None and not set(label) & set(refused) and _spelt(label, refused) is None:
        return label
    return _ODD + quote(segment.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")


def segment_of(label: str, refused: str = _REFUSED) -> str:
    """Return the segment of a label: what `label_of` makes the label of. No two labels have the same."""
    spelt = _spelt(label, refused)
    return quoted(label) if spelt is None else spelt


def _spelt(label: str, refused: str) -> str | None:
    """Return the segment that a label spells out; None where it only begins as if it did."""
    if not label.startswith(_ODD):
        return None
    try:
        segment = unquote(label.removeprefix(_ODD), errors="surrogatepass")
    except UnicodeError:
        return None
    return segment if "/" not in segment and label_of(segment, refused) == label else None
