"""Everything Retentive raises on purpose, in one tree.

    RetentiveError
    ├── InvalidInput      (also ValueError)   a value was refused: which, why, and what would be accepted
    ├── NotFound          (also LookupError)  a memory, space, policy or file that is not there
    ├── Changed                               a memory is not what the caller last saw; nothing was written
    ├── Forbidden                             the caller may not do this (read-only store, key without the right)
    ├── EmbedderMismatch                      the store's vectors come from another embedder
    ├── EmbedderFailed                        an embedder or its endpoint did not answer usably
    ├── LlmFailed                             a language model did not answer usably
    ├── MissingExtra      (also ImportError)  an optional part is not installed; the message has the command
    ├── StoreBusy                             another writer held the store for longer than we wait
    ├── StoreFull                             the disk (or quota) under the store is full; nothing was half-written
    ├── StoreCorrupt                          the file is not a store, or is damaged
    └── Unreachable                           the server did not answer (`Retentive("http://…")`)

A subclass exists only where a caller would catch it. Data about the failure sits in attributes, so that nobody has to
parse a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class RetentiveError(Exception):
    """The base of every error that Retentive raises on purpose; ``details`` holds the facts as data."""

    def __init__(self, message: str, /, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = details


class InvalidInput(RetentiveError, ValueError):
    """A value was refused; the message names it and says what would be accepted."""


class NotFound(RetentiveError, LookupError):
    """What was asked for does not exist (in this space)."""


class Changed(RetentiveError):
    """The memory was changed by somebody else since the version that was named; nothing was written."""


class Forbidden(RetentiveError):
    """The caller may not do this."""


class EmbedderMismatch(RetentiveError):
    """The vectors in the store were made by another embedder than the one in use."""


class EmbedderFailed(RetentiveError):
    """An embedder did not answer, or answered something unusable."""


class LlmFailed(RetentiveError):
    """A language model did not answer, or answered something unusable."""


class MissingExtra(RetentiveError, ImportError):
    """An optional part is not installed; the message ends with the command that installs it."""


class StoreBusy(RetentiveError):
    """Another writer held the store for longer than we were told to wait; try again."""


class StoreFull(RetentiveError):
    """There is no room left under the store; the change was rolled back whole."""


class StoreCorrupt(RetentiveError):
    """The file is not a Retentive store, or it is damaged; nothing in it was changed."""


class Unreachable(RetentiveError):
    """The server did not answer; what was asked may or may not have been done."""


def unknown_name(what: str, value: object, known: Iterable[str]) -> InvalidInput:
    """Say that a name is unknown, name the nearest known one, and list them all."""
    names = sorted(known)
    close = get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return InvalidInput(f"Unknown {what} {value!r}.{hint} Known: {', '.join(names)}.", value=value, known=names)
