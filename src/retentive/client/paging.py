"""Lists of a server, fetched page by page until there is enough or no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from retentive.client.sending import fields_of
from retentive.pages import Listed, checked_size
from retentive.wire.values import read

PAGE: Final = 1_000
"""How many of a list are asked for at once; no server gives more."""
T = TypeVar("T")


def listed(
    kind: type[T], name: str, get: Callable[..., Any], limit: int | None, cursor: str | None, /, **query: Any
) -> Listed[T]:
    """Return ``limit`` of a list, or all, whatever a server gives at once; ``get`` asks for one page of it."""
    if limit is not None:
        checked_size(limit)
    found: list[T] = []
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(found))
        page = get(query=fields_of(**query, limit=size, cursor=cursor))
        found += [read(kind, one) for one in page[name]]
        cursor = page["cursor"]
        if cursor is None or (limit is not None and len(found) >= limit):
            return Listed(found, cursor)
