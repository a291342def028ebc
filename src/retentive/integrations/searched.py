"""What a store over rows can do where they lie, so that a large tenant is searched there and not copied.

Up to `mirror_up_to` rows a space is a mirror (`mirror`): every channel exact. Beyond, it is searched (`search_space`):
each recall asks the other store for candidates, more than it needs, and never reads the tenant whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from retentive.integrations.collections import CollectionStore
from retentive.integrations.mirror import MirrorSpace
from retentive.integrations.rows import Row
from retentive.integrations.search_space import SearchSpace
from retentive.stores.protocol import SpaceStore
from retentive.types import Gate, Json, Vectors

MIRROR_UP_TO: Final = 5_000
"""Rows of a tenant up to which a mirror is kept: beyond, its look and its scans cost more than searching there."""
_PLAIN_KIND: Final = "fact"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What of a gate the other store can apply itself: entries that must be equal, and the time of rows."""

    where: Mapping[str, Json] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None


@dataclass(slots=True)
class Work:
    """What was asked of the other store: how often, and how many rows came back."""

    queries: int = 0
    rows: int = 0

    def came(self, rows: int) -> None:
        """Count one query and its rows."""
        self.queries += 1
        self.rows += rows


class SearchedStore(CollectionStore):
    """A `CollectionStore` whose large spaces are searched where they lie."""

    def __init__(self, *arguments: Any, mirror_up_to: int = MIRROR_UP_TO, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.mirror_up_to = mirror_up_to
        self.work = Work()
        self.everyone = Narrowing()

    def open(self, space: str, *, create: bool = True) -> SpaceStore:
        """Return one space; a mirror that outgrew ``mirror_up_to`` is searched from now on."""
        found = super().open(space, create=create)
        if isinstance(found, SearchSpace) or len(self.known.get(space, ())) <= self.mirror_up_to:
            return found
        del self.opened[space]
        return super().open(space, create=create)

    def over(self, space: str, inner: SpaceStore) -> MirrorSpace:
        """Return a mirror, or beyond ``mirror_up_to`` rows a search."""
        large = self.more_than(self.mirror_up_to, self.value(space))
        return SearchSpace(self, space, inner) if large else super().over(space, inner)

    def narrowing(self, gate: Gate) -> Narrowing | None:
        """Return what the other store applies of a gate; None where no row without state of ours can pass it."""
        if gate.tags or gate.pinned or (gate.kinds is not None and _PLAIN_KIND not in gate.kinds):
            return None
        where = {name: value for name, value in gate.where.items() if self.asks(name, value)}
        return Narrowing(where, gate.since, gate.until) if self.dated else Narrowing(where)

    # ---- what a kind of store says ----------------------------------------------------------------------------------

    @property
    def dated(self) -> bool:
        """Whether rows can be asked for by their time."""
        return False

    def asks(self, name: str, value: Json) -> bool:
        """Say whether rows can be asked for by an entry that must be equal."""
        return self.keeps(name, value)

    @abstractmethod
    def size(self, tenant: str | None, narrowing: Narrowing) -> int:
        """Count rows without reading them."""

    def more_than(self, rows: int, tenant: str | None) -> bool:
        """Say whether a tenant has more rows than so many."""
        return self.size(tenant, self.everyone) > rows

    @abstractmethod
    def near(self, tenant: str | None, vector: Vectors, narrowing: Narrowing, limit: int) -> list[Row]:
        """Return the rows that the other store finds nearest to a unit vector."""

    @abstractmethod
    def spread(self, tenant: str | None, size: int, limit: int) -> list[Row]:
        """Return about ``limit`` rows from all over the ``size`` that there are; all of them where they are no more."""

    @abstractmethod
    def recorded(self, tenant: str | None) -> Iterator[Row]:
        """Yield the rows that carry a record of ours."""

    def worded(self, tenant: str | None, words: Sequence[str], narrowing: Narrowing, limit: int) -> list[Row]:
        """Return rows with any of the words, by the other store's own search of texts; none where it has none."""
        del tenant, words, narrowing, limit
        return []

    def between(
        self, tenant: str | None, start: datetime, end: datetime, narrowing: Narrowing, limit: int
    ) -> list[Row]:
        """Return rows whose time lies in [start, end), any of them; asked only where rows are ``dated``."""
        del tenant, start, end, narrowing, limit
        return []
