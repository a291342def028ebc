"""What stores over tables and collections of rows have in common: tenants, keys, and where a memory's state is kept.

Without a sidecar the state (kind, importance, how it was read) lies in the row's own metadata; with one, rows of
others are never touched by reading. Read-only needs nothing of the rows, and refuses what would change them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np

from retentive.embedders.protocol import Embedder
from retentive.errors import EmbedderMismatch, Forbidden, InvalidInput, NotFound
from retentive.integrations.mirror import MAX_AGE, Change, Item, MirrorStore
from retentive.integrations.rows import RECORD, Row, memory_of_row, record_of, space_of, stand_in, tenant_of
from retentive.opening import system_clock
from retentive.stores.protocol import Store
from retentive.types import Json, Memory, Vectors

TENANTS: Final = ("tenant_id", "tenant", "space", "namespace", "user_id", "user")
CREATED: Final = ("created_at", "created", "timestamp", "time", "date")


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields of the rows say whose they are and when they were made; without a tenant all are of one space."""

    tenant: str | None
    space: str | None
    created: str | None
    record: str | None = RECORD

    def reserved(self) -> set[str]:
        """Return the names that are no metadata of a memory."""
        return {name for name in (self.tenant, self.created, self.record) if name}


@dataclass(frozen=True, slots=True)
class Put:
    """A row to write: its entries as they shall be, those to take away, and whether the row is new."""

    key: str
    memory: Memory
    entries: Mapping[str, Json]
    gone: Sequence[str]
    record: str | None
    vector: Vectors | None
    there: Row | None


class CollectionStore(MirrorStore):
    """A `MirrorStore` over rows; a kind of it reads and writes rows."""

    def __init__(
        self,
        fields: Fields,
        *,
        embedder: Embedder | str | None,
        sidecar: Store | str | Path | None,
        read_only: bool,
        max_age: float = MAX_AGE,
    ) -> None:
        super().__init__(sidecar=sidecar, embedder=embedder, max_age=max_age)
        self.fields = fields
        self.read_only = read_only
        self.writes_access = sidecar is None and not read_only and fields.record is not None

    # ---- what a kind of store says ----------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        """Yield the rows of exactly this tenant (None: all there are), or those with these keys."""

    @abstractmethod
    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> Mapping[str, Any]:
        """Return the vectors of rows as they lie there, by key; rows without one are absent."""

    @abstractmethod
    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        """Write rows."""

    @abstractmethod
    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        """Delete the rows with these keys."""

    @abstractmethod
    def tenants(self) -> Iterable[object]:
        """Return the values of the tenant field."""

    @abstractmethod
    def keeps(self, name: str, value: Json) -> bool:
        """Say whether a row can hold a metadata entry as it is."""

    # ---- spaces -----------------------------------------------------------------------------------------------------

    def reach(self, space: str, *, create: bool) -> None:
        """Refuse any space but the one, where rows have no tenant."""
        if self.fields.tenant is None and space != self.fields.space:
            kind = InvalidInput if create else NotFound
            raise kind(
                f"Space {space!r} is not here: without a tenant field these rows are the space {self.fields.space!r}. "
                f"Name the field that says whose a row is: {type(self).__name__}(..., tenant='user_id').",
                value=space,
            )

    def value(self, space: str) -> str | None:
        """Return the value of the tenant field that is a space; None where there is no such field."""
        return None if self.fields.tenant is None else tenant_of(space)

    def holds(self, space: str) -> bool:
        """Say whether a space has a row."""
        return next(self.rows(self.value(space), limit=1), None) is not None

    def named(self) -> Iterator[str]:
        """Yield the spaces that have a row."""
        if self.fields.tenant is None:
            if self.fields.space and self.holds(self.fields.space):
                yield self.fields.space
            return
        yield from (path for value in self.tenants() if (path := space_of(value)) is not None)

    def clear(self, space: str) -> bool:
        """Delete the rows of a space."""
        keys = [row.key for row in self.rows(self.value(space))]
        if keys:
            self.erasing()
            self.delete(self.value(space), keys)
        return bool(keys)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def items(self, space: str) -> Iterator[Item]:
        """Yield the rows of a space; two with one id cannot be told apart."""
        seen: set[str] = set()
        for row in self.rows(self.value(space)):
            if row.id in seen:
                raise InvalidInput(f"Two rows of space {space!r} have the id {row.id!r}; name a field that is unique.")
            seen.add(row.id)
            yield Item(row.id, row.token, row)

    def memory_of(self, item: Item, space: str, before: Memory | None) -> Memory:
        """Return a row as a memory."""
        return memory_of_row(item.source, space, before, self.keeps, system_clock())

    def agrees(self, item: Item, before: Memory) -> bool:
        """Say whether a row says what is known of it."""
        return self.memory_of(item, before.space, before) == before

    def vectors_of(self, space: str, items: Sequence[Item]) -> dict[str, Vectors]:
        """Return the rows' own vectors, which must be the embedder's."""
        ids = {item.source.key: item.id for item in items}
        read = {item.source.key: item.source.vector for item in items if item.source.vector is not None}
        unread = [key for key in ids if key not in read]
        found = {}
        for key, raw in {**read, **(self.raw_vectors(self.value(space), unread) if unread else {})}.items():
            vector = np.asarray(raw, dtype=np.float32)
            self.require_dimension(len(vector))
            length = float(np.linalg.norm(vector))
            if np.isfinite(length) and length > 0:
                found[ids[key]] = (vector / length).astype(np.float32)
        return found

    def require_dimension(self, there: int) -> None:
        """Refuse vectors that the embedder cannot have made: questions would be compared with another's."""
        embedder = self.embedder
        if there != embedder.dimension:
            raise EmbedderMismatch(
                f"The rows have vectors of {there} numbers; {embedder.id!r} makes {embedder.dimension}. Name the "
                f"embedder that made them, to {type(self).__name__} and to Retentive: embedder=...",
                stored=there,
                configured=embedder.dimension,
            )

    # ---- writing ----------------------------------------------------------------------------------------------------

    def erasing(self) -> None:
        """Refuse to change rows where they are only read."""
        if self.read_only:
            raise Forbidden(f"This {type(self).__name__} is read_only: its rows are not changed.")

    def admitted(self, memory: Memory, before: Memory | None) -> Memory:
        """Refuse a change of what lies in the rows where they are only read; what lies beside them may change."""
        if before is None or (memory.text, memory.metadata) != (before.text, before.metadata):
            self.erasing()
        return memory

    def push(self, space: str, changes: Mapping[str, Change]) -> object:
        """Write and delete the rows of what was changed."""
        if self.read_only:
            return None
        tenant = self.value(space)
        keys = [key for key in {*changes, *(self.key_of(space, key) for key in changes)} if key]
        there = {row.id: row for row in self.rows(tenant, keys)} if keys else {}
        gone = [there[key].key for key, change in changes.items() if change.memory is None and key in there]
        if gone:
            self.delete(tenant, gone)
        puts = [
            made
            for key, change in changes.items()
            if change.memory is not None and (made := self._put(space, change, there.get(key))) is not None
        ]
        if puts:
            self.put(tenant, puts)
        return None

    def key_of(self, space: str, memory_id: str) -> str:
        """Return the key of a new row: where tenants share the keys, one that no other tenant's row can have."""
        if self.fields.tenant is None and memory_id:
            return memory_id
        return "rt-" + blake2b(f"{space}\0{memory_id}".encode(), digest_size=16).hexdigest()

    def _put(self, space: str, change: Change, there: Row | None) -> Put | None:
        """Return the row of a memory; None where the row says so already."""
        memory = change.memory
        if memory is None or (there and not (there.text or "").strip() and memory.text == stand_in(there.key)):
            return None
        old = there.metadata if there else {}
        entries = {
            name: value
            for name, value in memory.metadata.items()
            if name not in self.fields.reserved() and (self.keeps(name, value) or (name in old and old[name] == value))
        }
        covered = {name: value for name, value in memory.metadata.items() if name not in entries}
        key = there.key if there else self.key_of(space, memory.id)
        ours = self.fields.record is not None and (self.writes_access or there is None or there.record is not None)
        record = record_of(memory, key, covered, access=self.writes_access) if ours else None
        gone = [name for name in old if name not in entries]
        if there and (there.text, dict(old), there.record) == (memory.text, entries, record) and change.vector is None:
            return None
        return Put(key, memory, entries, gone, record, change.vector, there)
