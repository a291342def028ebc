"""What listing and history give back: a page with the place where the next begins, a memory's states, its chain."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, overload

from retentive.errors import InvalidInput
from retentive.stores.protocol import Cursor, SpaceStore
from retentive.stores.values import storable
from retentive.types import Json, Memory, aware

_LARGEST_PAGE: Final = 10_000
_LONGEST_CHAIN: Final = 10_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Version:
    """One state that a memory has had."""

    at: datetime
    action: str
    reason: str
    actor: str
    memory: Mapping[str, Json]


class Page(Sequence[Memory]):
    """Some memories, newest first, and where the next page begins (``cursor``, None at the end)."""

    def __init__(self, memories: Sequence[Memory], cursor: str | None) -> None:
        self._memories = tuple(memories)
        self.cursor = cursor

    @overload
    def __getitem__(self, index: int) -> Memory: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Memory, ...]: ...
    def __getitem__(self, index: int | slice) -> Memory | tuple[Memory, ...]:
        """Return one memory or several."""
        return self._memories[index]

    def __len__(self) -> int:
        """Return how many memories this page holds."""
        return len(self._memories)

    def __repr__(self) -> str:
        return f"<Page of {len(self)} memories{', more follow' if self.cursor else ''}>"


class Listed(list[T]):
    """Some of a list, and where the next page begins (``cursor``, None at the end)."""

    def __init__(self, items: Iterable[T] = (), cursor: str | None = None) -> None:
        super().__init__(items)
        self.cursor = cursor


class Walk:
    """One list under one query, page by page; a cursor of another list, another space or another query is refused."""

    def __init__(self, what: str, space: str, **query: Any) -> None:
        asked = json.dumps([what, space, sorted(query.items())], default=_as_word)
        self._bound = hashlib.blake2b(asked.encode(), digest_size=12).hexdigest()
        self._what = what

    def begin(self, cursor: str | None) -> Cursor | None:
        """Return the place behind which a page begins."""
        if cursor is None:
            return None
        try:
            bound, at, name = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
            place = Cursor(aware(datetime.fromisoformat(at), "at"), str(name))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise InvalidInput(f"cursor={cursor!r} is not one that {self._what}() gave out.", value=cursor) from error
        if bound != self._bound or not storable(place.id):
            raise InvalidInput(
                f"cursor={cursor!r} is of another list, another space or other filters than asked for here; begin anew "
                "without one.",
                value=cursor,
            )
        return place

    def page(self, found: Sequence[T], limit: int | None, place: Callable[[T], Cursor]) -> Listed[T]:
        """Return ``limit`` of what was found; one more than that tells that others follow."""
        if limit is None or len(found) <= limit:
            return Listed(found)
        last = place(found[limit - 1])
        data = json.dumps([self._bound, last.created_at.isoformat(), last.id])
        return Listed(found[:limit], base64.urlsafe_b64encode(data.encode()).decode())


def _as_word(value: Any) -> str:
    """Return a part of a query so that the same moment in two time zones is one."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else repr(value)


def checked_size(limit: Any) -> int:
    """Return the size of a page of a list without a largest one."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"limit={limit!r} is not a whole number from 1 up.", value=limit)
    return limit


def check_limit(limit: Any) -> None:
    """Refuse what is no size of a page."""
    if not isinstance(limit, int) or not 1 <= limit <= _LARGEST_PAGE:
        raise InvalidInput(f"limit={limit!r} is not a whole number of 1..{_LARGEST_PAGE}.", value=limit)


def write_cursor(memory: Memory) -> str:
    """Return a place in a list as a word that comes back."""
    data = json.dumps([memory.created_at.isoformat(), memory.id])
    return base64.urlsafe_b64encode(data.encode()).decode()


def read_cursor(cursor: str | None) -> Cursor | None:
    """Read the place that `write_cursor` wrote down."""
    if cursor is None:
        return None
    try:
        created, memory_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return Cursor(aware(datetime.fromisoformat(created), "created"), str(memory_id))
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(f"cursor={cursor!r} is not one that list() gave out.", value=cursor) from error


def chain_of(store: SpaceStore, start: Memory) -> list[Memory]:
    """Return a memory with what it supersedes and is superseded by; a cycle offered by bad data ends the walk."""
    seen = {start.id: start}
    ahead = [start]
    while ahead and len(seen) < _LONGEST_CHAIN:
        links = {name for memory in ahead for name in (*memory.supersedes, memory.superseded_by)}
        ahead = list(store.get(sorted(name for name in links if name and name not in seen)).values())
        seen.update({memory.id: memory for memory in ahead})
    return sorted(seen.values(), key=lambda memory: (memory.created_at, memory.superseded_at is None, memory.id))
