"""CrewAI: a storage backend for its unified memory, kept in one space of Retentive.

    memory = Memory(storage=RetentiveStorage(memories.space("acme/crew")), llm=..., embedder=...)

CrewAI embeds, scopes and ranks by itself and asks its storage for the nearest records; so the vectors here are
CrewAI's, scores are cosines, and what Retentive adds is below: one file for each tenant, a journal, erasure, scopes by
whole segments (`/acme` never meets `/acme-corp`), filters before the limit. Nothing of CrewAI is imported before a
record is made.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from retentive.errors import EmbedderMismatch, InvalidInput, NotFound
from retentive.extras import require_extra
from retentive.indexing import EMBEDDER_SETTING, identity_of, identity_setting, index_terms, language_of, names_in
from retentive.memory import Space
from retentive.stores.protocol import SpaceStore, Transaction
from retentive.types import EmbedderIdentity, Gate, Memory, Vectors
from retentive.writing import Author, checked_metadata, checked_text, entry

_MARK: Final = "$crewai"
_EMBEDDER: Final = "crewai"


class RetentiveStorage:
    """CrewAI's `StorageBackend` over one space."""

    def __init__(self, space: Space) -> None:
        self.space = space

    # ---- writing ----------------------------------------------------------------------------------------------------

    def save(self, records: Iterable[Any]) -> None:
        """Keep records; one whose id is taken replaces what is there."""
        store = self.space.store
        with store.transaction() as tx:
            for record in records:
                self._put(store, tx, record)

    def update(self, record: Any) -> None:
        """Replace the record with the same id."""
        self.save([record])

    def _put(self, store: SpaceStore, tx: Transaction, record: Any) -> None:
        before = tx.get(record.id)
        vector = None if record.embedding is None else self._vector(tx, record.embedding)
        memory = self._memory(store.path, record)
        author = Author(store.path, datetime.now(UTC))
        if before is None:
            if vector is None:
                raise InvalidInput(f"Record {record.id!r} has no embedding; give CrewAI's Memory an embedder.")
            tx.insert(memory, vector, index_terms(memory, language_of(tx)))
            tx.journal(entry("remember", memory, author))
        else:
            tx.replace(memory.changed(recorded_at=before.recorded_at), vector, index_terms(memory, language_of(tx)))
            tx.journal(entry("update", memory, author, before=before))

    def _vector(self, tx: Transaction, embedding: Sequence[float]) -> Vectors:
        """Return a unit vector, refusing one of another length than those that are there."""
        vector = _unit(embedding)
        made = identity_of(tx.setting(EMBEDDER_SETTING))
        mine = EmbedderIdentity(_EMBEDDER, len(vector))
        if made is None:
            tx.set_setting(EMBEDDER_SETTING, identity_setting(mine))
        elif made != mine:
            raise _mismatch(self.space.path, made, mine)
        return vector

    def _memory(self, path: str, record: Any) -> Memory:
        text = checked_text(record.content)
        scope = "/" + "/".join(_segments(record.scope))
        own = {"scope": scope, "private": record.private, "last_accessed": _aware(record.last_accessed).isoformat()}
        levels = {f"{_MARK}.{depth}": label for depth, label in enumerate(_segments(scope))}
        return Memory(
            id=record.id,
            space=path,
            text=text,
            created_at=_aware(record.created_at),
            recorded_at=datetime.now(UTC),
            importance=record.importance,
            tags=tuple(record.categories),
            source=record.source,
            metadata=checked_metadata({**record.metadata, _MARK: own, **levels}),
            entities=names_in(text, None),
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase the records that meet every condition given; return how many."""
        ids = None if record_ids is None else frozenset(record_ids)
        gate = self._gate(scope_prefix, metadata_filter, ids=ids, until=_aware(older_than) if older_than else None)
        found = [memory.id for memory in self._walk(gate) if _among(memory, categories)]
        for memory_id in found:
            self.space.forget(memory_id, erase=True, reason="deleted by CrewAI")
        return len(found)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase all records of a scope and those below it."""
        self.delete(scope_prefix)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[Any, float]]:
        """Return the nearest records with their cosines, best first; every condition comes before the limit."""
        store = self._store()
        if store is None or limit < 1:
            return []
        query = _unit(query_embedding)
        made = identity_of(store.setting(EMBEDDER_SETTING))
        if made is not None and made.dimension != len(query):
            raise _mismatch(self.space.path, made, EmbedderIdentity(_EMBEDDER, len(query)))
        gate = self._gate(scope_prefix, metadata_filter)
        if categories:
            gate = self._gate(scope_prefix, metadata_filter, ids=self._having(gate, categories))
        found = store.nearest(query, gate, limit)
        scored = zip(store.memories(found.rows), np.maximum(found.scores, 0.0).tolist(), strict=True)
        return [(record(memory), score) for memory, score in scored if score >= min_score]

    def get_record(self, record_id: str) -> Any | None:
        """Return one record, None if there is none."""
        try:
            memory = self.space.get(record_id, touch=False)
        except NotFound:
            return None
        return record(memory) if memory.retrievable else None

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[Any]:
        """List the records of a scope and those below it, newest first."""
        found = list(self._walk(self._gate(scope_prefix)))
        return [record(memory) for memory in found[max(offset, 0) :][: max(limit, 0)]]

    def get_scope_info(self, scope: str) -> Any:
        """Say what a scope and those below it hold."""
        found = list(self._walk(self._gate(scope)))
        times = [memory.created_at for memory in found]
        made: Any = require_extra("crewai.memory.types", extra="crewai", user="RetentiveStorage")
        return made.ScopeInfo(
            path="/" + "/".join(_segments(scope)),
            record_count=len(found),
            categories=sorted({category for memory in found for category in memory.tags}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=_children(scope, found),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """List the scopes right below one."""
        return _children(parent, self._walk(self._gate(parent)))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of each category in a scope and those below it."""
        found = self._walk(self._gate(scope_prefix))
        return dict(Counter(category for memory in found for category in memory.tags))

    def count(self, scope_prefix: str | None = None) -> int:
        """Count the records of a scope and those below it."""
        store = self._store()
        return 0 if store is None else store.count(self._gate(scope_prefix))

    async def asave(self, records: list[Any]) -> None:
        """Keep records, in a worker thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], *args: Any, **options: Any) -> list[tuple[Any, float]]:
        """Search in a worker thread."""
        return await asyncio.to_thread(self.search, query_embedding, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Delete in a worker thread."""
        return await asyncio.to_thread(self.delete, *args, **options)

    # ---- the rest ---------------------------------------------------------------------------------------------------

    def _store(self) -> SpaceStore | None:
        """Return the rows underneath; None before anything was saved, for reading makes no space."""
        home = self.space._home  # noqa: SLF001 - a sibling of the façade
        try:
            opened: SpaceStore = home.store.open(self.space.path, create=False)
        except NotFound:
            return None
        return opened

    def _gate(
        self,
        scope: str | None,
        metadata: Mapping[str, Any] | None = None,
        *,
        ids: frozenset[str] | None = None,
        until: datetime | None = None,
    ) -> Gate:
        levels = {f"{_MARK}.{depth}": label for depth, label in enumerate(_segments(scope or ""))}
        return Gate(true_at=datetime.now(UTC), where={**(metadata or {}), **levels}, ids=ids, until=until)

    def _walk(self, gate: Gate) -> Iterator[Memory]:
        store = self._store()
        if store is not None:
            yield from store.page(gate, limit=store.count(gate))

    def _having(self, gate: Gate, categories: Sequence[str]) -> frozenset[str]:
        return frozenset(memory.id for memory in self._walk(gate) if _among(memory, categories))


def record(memory: Memory) -> Any:
    """Return a memory as CrewAI's record, without its vector."""
    own = memory.metadata.get(_MARK)
    kept = own if isinstance(own, dict) else {"scope": "/", "private": False}
    made: Any = require_extra("crewai.memory.types", extra="crewai", user="RetentiveStorage")
    accessed = datetime.fromisoformat(str(kept["last_accessed"])) if "last_accessed" in kept else memory.created_at
    return made.MemoryRecord(
        id=memory.id,
        content=memory.text,
        scope=kept["scope"],
        categories=list(memory.tags),
        metadata={name: value for name, value in memory.metadata.items() if not name.startswith(_MARK)},
        importance=memory.importance,
        created_at=memory.created_at.replace(tzinfo=None),  # CrewAI reckons in naive UTC
        last_accessed=accessed.replace(tzinfo=None),
        source=memory.source,
        private=kept["private"],
    )


def _segments(scope: str) -> list[str]:
    return [segment for segment in scope.split("/") if segment]


def _children(parent: str, memories: Iterable[Memory]) -> list[str]:
    depth = len(_segments(parent))
    below = {str(memory.metadata[name]) for memory in memories if (name := f"{_MARK}.{depth}") in memory.metadata}
    above = "".join(f"/{segment}" for segment in _segments(parent))
    return sorted(f"{above}/{label}" for label in below)


def _among(memory: Memory, categories: Sequence[str] | None) -> bool:
    return not categories or bool(set(categories) & set(memory.tags))


def _aware(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _unit(embedding: Sequence[float]) -> Vectors:
    vector = np.asarray(embedding, dtype=np.float64)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        raise InvalidInput("An embedding without a direction was given (all zeros, or not finite).")
    unit: Vectors = (vector / length).astype(np.float32)
    return unit


def _mismatch(path: str, made: EmbedderIdentity, mine: EmbedderIdentity) -> EmbedderMismatch:
    return EmbedderMismatch(
        f"Space {path!r} holds vectors of {made.id!r} with {made.dimension} dimensions, not {mine.id!r} with "
        f"{mine.dimension}. Use the embedder that made them, or a space of its own for this one.",
        stored=made,
        current=mine,
    )
