"""`ChromaStore`: our policies over a Chroma collection that you have.

    memories = Retentive(store=ChromaStore(collection, tenant="user_id", embedder=...), embedder=...)

A document is a memory, its id and metadata are the memory's, and its embedding is used as it is. Chroma cannot tell
what changed since, so a look reads the documents of a tenant (without vectors): right for some ten thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from retentive.embedders.protocol import Embedder
from retentive.errors import InvalidInput
from retentive.extras import require_extra
from retentive.integrations.collections import CREATED, TENANTS, CollectionStore, Fields, Put
from retentive.integrations.mirror import MAX_AGE
from retentive.integrations.rows import RECORD, Row, chosen, moment_as
from retentive.paths import space_path
from retentive.stores.protocol import Store
from retentive.types import Json

_PAGE: Final = 1_000
_SAMPLE: Final = 100
"""Documents looked at for the names of the fields."""


class ChromaStore(CollectionStore):
    """A `Store` over a Chroma collection.

    ``tenant`` is the metadata key that says whose a document is: every value of it is a space, by exact equality, and
    documents without it are in none. A collection without one is one space, ``space`` (by default its name).
    ``created`` is the metadata key of the time. Without a ``sidecar`` (a folder, ``postgresql://…``, a store of ours)
    the state of memories is kept in the documents' metadata, under ``record``; with one, or ``read_only``, others'
    documents are never touched by reading. ``embedder`` is the one that made the embeddings.
    """

    def __init__(
        self,
        collection: Any,
        *,
        embedder: Embedder | str | None = None,
        tenant: str | None = None,
        space: str | None = None,
        created: str | None = None,
        sidecar: Store | str | Path | None = None,
        read_only: bool = False,
        max_age: float = MAX_AGE,
    ) -> None:
        chromadb = require_extra("chromadb", extra="chroma", user="ChromaStore")
        if not isinstance(collection, chromadb.Collection):
            raise InvalidInput(
                f"ChromaStore({collection!r}) takes a collection: chromadb.PersistentClient(...).get_collection(name)."
            )
        if tenant is not None and space is not None:
            raise InvalidInput(
                f"Say tenant={tenant!r} (a space for each value) or space={space!r} (one for all), not both."
            )
        self.collection = collection
        sample = collection.get(limit=_SAMPLE, include=["metadatas"])["metadatas"] or []
        names = {name for metadata in sample for name in metadata or {}}
        if tenant is None and space is None:
            tenant = chosen("tenant", None, TENANTS, list(names))
        if created is None:
            created = chosen("created", None, CREATED, list(names))
        self._like = next((metadata[created] for metadata in sample if created in (metadata or {})), "")
        alone = None if tenant else space_path(space or collection.name)
        fields = Fields(tenant, alone, created)
        super().__init__(fields, embedder=embedder, sidecar=sidecar, read_only=read_only, max_age=max_age)

    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        """Yield the documents of exactly this tenant."""
        for found in self._pages(tenant, ["documents", "metadatas"], keys, limit):
            for key, text, metadata in zip(found["ids"], found["documents"], found["metadatas"], strict=True):
                yield self._row(key, text, metadata or {})

    def _row(self, key: str, text: str | None, metadata: Mapping[str, Json]) -> Row:
        entries = {name: value for name, value in metadata.items() if name not in self.fields.reserved()}
        record, created = metadata.get(RECORD), self.fields.created
        said = record if isinstance(record, str) else None
        return Row(key, text, metadata.get(created) if created else None, entries, said)

    def _pages(
        self, tenant: str | None, include: list[str], keys: Sequence[str] | None = None, limit: int | None = None
    ) -> Iterator[Any]:
        where = {} if tenant is None else {"where": {self.fields.tenant: {"$eq": tenant}}}
        if keys is not None:
            for start in range(0, len(keys), _PAGE):
                yield self.collection.get(ids=list(keys[start : start + _PAGE]), include=include, **where)
            return
        size = min(limit or _PAGE, _PAGE)
        for page in count():
            found = self.collection.get(limit=size, offset=page * size, include=include, **where)
            yield found
            if len(found["ids"]) < size or limit is not None:
                return

    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> dict[str, Any]:
        """Return the embeddings of documents."""
        pages = self._pages(tenant, ["embeddings"], keys)
        return {
            key: vector
            for found in pages
            if found["embeddings"] is not None
            for key, vector in zip(found["ids"], found["embeddings"], strict=True)
            if vector is not None
        }

    def tenants(self) -> set[object]:
        """Return the values of the tenant key."""
        pages = self._pages(None, ["metadatas"])
        return {
            metadata[self.fields.tenant]
            for found in pages
            for metadata in found["metadatas"]
            if metadata and isinstance(metadata.get(self.fields.tenant), str)
        }

    def keeps(self, name: str, value: Json) -> bool:
        """Say whether Chroma takes a metadata entry: a plain value under a name that it has no use for."""
        if not name or name[0] in "$#" or name.startswith("chroma:") or name in self.fields.reserved():
            return False
        if isinstance(value, int) and not isinstance(value, bool):
            return -(2**63) <= value < 2**63
        return isinstance(value, str | bool | float)

    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        """Add and update documents, each with its embedding, so that Chroma never makes one of its own."""
        for each in puts:
            metadata: dict[str, Any] = {**dict.fromkeys(each.gone), **each.entries}
            if each.record is not None:
                metadata[RECORD] = each.record
            if each.there is None:
                if self.fields.tenant is not None:
                    metadata[self.fields.tenant] = tenant
                if self.fields.created is not None:
                    metadata[self.fields.created] = moment_as(each.memory.created_at, self._like)
            self._write(each, metadata or None, tenant)

    def _write(self, each: Put, metadata: dict[str, Any] | None, tenant: str | None) -> None:
        text = each.memory.text
        if each.there is not None and each.there.text == text and each.vector is None:
            self.collection.update(ids=[each.key], metadatas=[metadata])
            return
        vector = each.vector if each.vector is not None else self.raw_vectors(tenant, [each.key]).get(each.key)
        given = {"ids": [each.key], "documents": [text], "embeddings": [vector]}
        write = self.collection.add if each.there is None else self.collection.update
        write(**given, **({} if metadata is None else {"metadatas": [metadata]}))

    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        """Delete documents, those of this tenant alone."""
        where = {} if tenant is None else {"where": {self.fields.tenant: {"$eq": tenant}}}
        for start in range(0, len(keys), _PAGE):
            self.collection.delete(ids=list(keys[start : start + _PAGE]), **where)
