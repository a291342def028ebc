"""A conversation kept word for word in a space of its own: what frameworks call a session or a chat history.

An entry is whatever JSON the framework gave, kept in the metadata of a memory of kind ``episode`` whose text is what
was said. So a session comes back exactly as it was, and can be recalled from like any other space.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from retentive.integrations.namespaces import quoted
from retentive.memory import Retentive, Space
from retentive.types import Memory

ENTRY: Final = "$entry"
_PAGE: Final = 500
_STEP: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Said:
    """One entry: the framework's own data, and for readers what was said and by whom."""

    data: Any
    text: str
    speaker: str | None = None


class Transcript:
    """The entries of one session, in order."""

    def __init__(self, memories: Retentive, session_id: str, root: str) -> None:
        self.space: Space = memories.space(f"{root}/{quoted(session_id)}")
        self._memories = memories
        self._session = session_id
        self._writing = threading.Lock()

    def append(self, entries: Iterable[Said]) -> None:
        """Add entries behind the last one, all or none."""
        said = list(entries)
        if not said:
            return
        with self._writing:
            last = self._newest(1)
            start = self._memories.now()
            if last and last[0].created_at >= start:  # the clock stood still or ran back: the order stays
                start = last[0].created_at + _STEP
            self.space.remember_many(self._draft(entry, start + place * _STEP) for place, entry in enumerate(said))

    def _draft(self, entry: Said, at: Any) -> dict[str, Any]:
        return {
            "text": entry.text if entry.text.strip() else f"({type(entry.data).__name__} without words)",
            "kind": "episode",
            "speaker": entry.speaker,
            "session": self._session[:1000],
            "at": at,
            "metadata": {ENTRY: entry.data},
        }

    def entries(self, limit: int | None = None) -> list[Any]:
        """Return the entries, oldest first; with a limit the latest so many."""
        return [memory.metadata[ENTRY] for memory in reversed(self._newest(limit))]

    def pop(self) -> Any | None:
        """Erase the last entry and return it; None where there is none."""
        with self._writing:
            for memory in self._newest(1):
                self.space.forget(memory.id, erase=True, reason="taken back")
                return memory.metadata[ENTRY]
        return None

    def clear(self) -> None:
        """Erase all entries; what else was remembered in the space stays."""
        with self._writing:
            for memory in self._newest(None):
                self.space.forget(memory.id, erase=True, reason="session cleared")

    def _newest(self, limit: int | None) -> Sequence[Memory]:
        found: list[Memory] = []
        cursor = None
        while limit is None or len(found) < limit:
            page = self.space.list(kinds=["episode"], limit=_PAGE, cursor=cursor)
            found += [memory for memory in page if ENTRY in memory.metadata]
            cursor = page.cursor
            if cursor is None:
                break
        return found if limit is None else found[: max(limit, 0)]
