"""Writing LangGraph items into a space: new ones together, held ones changed, and what is not searched kept veiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from retentive.errors import Forbidden, InvalidInput, NotFound, StoreBusy, StoreFull
from retentive.integrations.langgraph_items import Written, expired, ttl_of
from retentive.memory import Retentive, Space
from retentive.types import Memory
from retentive.writing import Author, entry

PAGE: Final = 500
_ATTEMPTS: Final = 5
"""How often items are written again because another process wrote or deleted one of their keys meanwhile."""


def write_items(home: Retentive, space: Space, items: Sequence[Written]) -> None:
    """Write items; those whose key is taken change what is there and keep its creation."""
    left: Sequence[Written] = items
    for attempt in range(1, _ATTEMPTS + 1):
        left = _write(home, space, left, last=attempt == _ATTEMPTS)
        if not left:
            return


def _write(home: Retentive, space: Space, items: Sequence[Written], *, last: bool) -> list[Written]:
    """Write items as they stand against what is there, and return those that something came between."""
    held = space.store.get([item.id for item in items])
    new = [item for item in items if item.id not in held]
    try:
        space.remember_many([{"id": item.id, "text": item.text, **item.fields} for item in new])
    except InvalidInput:
        if last or not space.store.get([item.id for item in new]):
            raise  # the items themselves were refused
        return list(items)
    gone = [item for item in items if item.id in held and not _update(space, item, last=last)]
    _veil(home, space, [item for item in items if item not in gone], held)
    return gone


def _update(space: Space, item: Written, *, last: bool) -> bool:
    """Change an item; False if it was deleted meanwhile."""
    try:
        space.update(item.id, text=item.text, **item.fields, reason="put again")
    except NotFound:
        if last:
            raise
        return False
    return True


def _veil(home: Retentive, space: Space, items: Sequence[Written], held: Mapping[str, Memory]) -> None:
    """Keep what is not indexed out of recall, and bring back what is, whatever hid it before."""
    moved = [item for item in items if not (item.indexed and (item.id not in held or held[item.id].retrievable))]
    if not moved:
        return
    author = Author(space.path, home.now(), home.actor, home.kinds)
    with space.store.transaction() as tx:
        for item in moved:
            before = tx.get(item.id)
            if before is None or (before.superseded_at is None and (before.suppressed_at is None) == item.indexed):
                continue
            since = None if item.indexed else author.now
            after = before.changed(suppressed_at=since, superseded_at=None, superseded_by=None)
            tx.replace(after)
            action = "reactivate" if item.indexed else "suppress"
            tx.journal(entry(action, after, author, before=before, reason="index of the LangGraph store"))


def delete_item(space: Space, memory_id: str) -> None:
    """Erase an item, if it is there."""
    with suppress(NotFound):
        space.forget(memory_id, erase=True, reason="deleted from the LangGraph store")


def prolong(home: Retentive, memories: Iterable[Memory]) -> None:
    """Let the time of what was read begin anew; like every note of a read, never at the price of the answer."""
    by_space: dict[str, list[Memory]] = {}
    for memory in memories:
        if ttl_of(memory) is not None:
            by_space.setdefault(memory.space, []).append(memory)
    for path, found in by_space.items():
        with suppress(StoreBusy, StoreFull, Forbidden):
            _prolong(home, path, found)


def _prolong(home: Retentive, path: str, memories: Sequence[Memory]) -> None:
    now = home.now()
    with home.space(path).store.transaction() as tx:
        for memory in memories:
            held = tx.get(memory.id)
            ttl = ttl_of(held) if held is not None else None
            if held is not None and ttl is not None and not expired(held, now):
                tx.replace(held.changed(valid_until=now + timedelta(minutes=ttl)))


def sweep(home: Retentive, path: str) -> int:
    """Erase the items of a space whose time has passed; return how many."""
    space, now, cursor, over = home.space(path), home.now(), None, []
    while True:
        page = space.list(hidden=True, limit=PAGE, cursor=cursor)
        over += [memory.id for memory in page if ttl_of(memory) is not None and expired(memory, now)]
        cursor = page.cursor
        if cursor is None:
            break
    for memory_id in over:
        delete_item(space, memory_id)
    return len(over)
