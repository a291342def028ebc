"""`ChromaStore`: our policies over a Chroma collection that you have.

    memories = Retentive(store=ChromaStore(collection, tenant="user_id", embedder=...), embedder=...)

A document is a memory, its id and metadata are the memory's, and its embedding is used as it is. Chroma cannot tell
what changed since, so a look reads the documents of a tenant (without vectors). Beyond ``mirror_up_to`` documents a
tenant is searched in the collection itself: by embedding, by rare words, and by a time that is a number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from retentive.embedders.protocol import Embedder
from retentive.errors import InvalidInput
from retentive.extras import require_extra
from retentive.integrations.collections import CREATED, TENANTS, Fields, Put
from retentive.integrations.mirror import MAX_AGE
from retentive.integrations.rows import RECORD, Row, chosen, moment_as
from retentive.integrations.searched import MIRROR_UP_TO, Narrowing, SearchedStore
from retentive.paths import space_path
from retentive.stores.protocol import Store
from retentive.types import Json, Vectors

_PAGE: Final = 1_000
_SAMPLE: Final = 100
"""Documents looked at for the names of the fields."""
_MARK: Final = f"{RECORD}_v"
"""The entry by which documents with a record are found again: Chroma asks for a value, never for a name."""
_ALL: Final = ["documents", "metadatas", "embeddings"]
_SPREAD: Final = 16
"""Pages from which a sample is read."""
_SHORTEST: Final = 3
"""Letters of the shortest words that Chroma looks up."""
_WORDS: Final = 8
_RARE: Final = 64
"""Words of a question that are looked up, and in how many documents one may be to count as rare."""


class ChromaStore(SearchedStore):
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
        mirror_up_to: int = MIRROR_UP_TO,
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
        options = {"embedder": embedder, "sidecar": sidecar, "read_only": read_only, "max_age": max_age}
        super().__init__(fields, mirror_up_to=mirror_up_to, **options)

    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        """Yield the documents of exactly this tenant."""
        for found in self._pages(tenant, ["documents", "metadatas"], keys, limit):
            yield from self._rows_of(found, tenant)

    def _rows_of(self, found: Mapping[str, Any], tenant: str | None) -> Iterator[Row]:
        """Yield the documents of an answer; of another tenant's, whose ids were asked for, nothing."""
        vectors = found.get("embeddings")
        vectors = [None] * len(found["ids"]) if vectors is None else vectors
        for key, text, said, vector in zip(found["ids"], found["documents"], found["metadatas"], vectors, strict=True):
            if self._is_of(said, tenant):
                yield self._row(key, text, said or {}, vector)

    def _is_of(self, metadata: Mapping[str, Json] | None, tenant: str | None) -> bool:
        return tenant is None or (metadata or {}).get(str(self.fields.tenant)) == tenant

    def _row(self, key: str, text: str | None, metadata: Mapping[str, Json], vector: Any = None) -> Row:
        reserved = {*self.fields.reserved(), _MARK}
        entries = {name: value for name, value in metadata.items() if name not in reserved}
        record, created = metadata.get(RECORD), self.fields.created
        said = record if isinstance(record, str) else None
        return Row(key, text, metadata.get(created) if created else None, entries, said, vector)

    def _pages(
        self, tenant: str | None, include: list[str], keys: Sequence[str] | None = None, limit: int | None = None
    ) -> Iterator[Any]:
        if keys is not None:  # by ids alone: with a `where` beside them Chroma takes a hundred times as long
            named = [key for key in keys if key]  # Chroma refuses to look for the empty one, which no document has
            for start in range(0, len(named), _PAGE):
                yield self._got(include, ids=named[start : start + _PAGE])
            return
        size = min(limit or _PAGE, _PAGE)
        for page in count():
            found = self._got(include, limit=size, offset=page * size, **self._where(tenant))
            yield found
            if len(found["ids"]) < size or limit is not None:
                return

    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> dict[str, Any]:
        """Return the embeddings of documents."""
        pages = self._pages(tenant, ["embeddings", "metadatas"], keys)
        return {
            key: vector
            for found in pages
            if found["embeddings"] is not None
            for key, metadata, vector in zip(found["ids"], found["metadatas"], found["embeddings"], strict=True)
            if vector is not None and self._is_of(metadata, tenant)
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

    # ---- searching where the documents lie --------------------------------------------------------------------------

    @property
    def dated(self) -> bool:
        """Whether times are numbers: Chroma compares no others."""
        return isinstance(self._like, int | float) and not isinstance(self._like, bool)

    def asks(self, name: str, value: Json) -> bool:
        """Say whether Chroma finds an entry by its value: one without a fraction."""
        return self.keeps(name, value) and not isinstance(value, float)

    def more_than(self, rows: int, tenant: str | None) -> bool:
        """Say whether a tenant has more documents than so many, by asking for the one behind them."""
        return rows < 0 or bool(self._got([], limit=1, offset=rows, **self._where(tenant))["ids"])

    def size(self, tenant: str | None, narrowing: Narrowing) -> int:
        """Count documents: Chroma counts only all of a collection, so the last one is looked for by halves."""
        most = int(self.collection.count())
        where = self._where(tenant, narrowing)
        if not where or not most:
            return most
        return bisect_left(range(most), 1, key=lambda at: not self._got([], limit=1, offset=at, **where)["ids"])

    def near(self, tenant: str | None, vector: Vectors, narrowing: Narrowing, limit: int) -> list[Row]:
        """Return the documents nearest to a vector, by the collection's own index."""
        found = self.collection.query(
            query_embeddings=[vector], n_results=limit, include=_ALL, **self._where(tenant, narrowing)
        )
        rows = list(self._rows_of({name: said[0] for name, said in found.items() if said}, tenant))
        self.work.came(len(rows))
        return rows

    def worded(self, tenant: str | None, words: Sequence[str], narrowing: Narrowing, limit: int) -> list[Row]:
        """Return documents with a rare word: all that have it. A common one says little, and Chroma does not rank."""
        where = self._where(tenant, narrowing)
        asked = sorted({word for word in words if len(word) >= _SHORTEST}, key=_telling)[:_WORDS]
        found: dict[str, Row] = {}
        for word in asked:
            spelt = [{"$contains": each} for each in sorted({word, word.capitalize(), word.upper()})]
            document = {"$or": spelt} if len(spelt) > 1 else spelt[0]
            some = self._got(_ALL, limit=min(limit, _RARE + 1), where_document=document, **where)
            if len(some["ids"]) <= _RARE:
                found |= {row.key: row for row in self._rows_of(some, tenant)}
        return list(found.values())

    def between(
        self, tenant: str | None, start: datetime, end: datetime, narrowing: Narrowing, limit: int
    ) -> list[Row]:
        """Return documents whose time lies in [start, end)."""
        where = self._where(tenant, narrowing, *self._span(start, end))
        return list(self._rows_of(self._got(_ALL, limit=limit, **where), tenant))

    def spread(self, tenant: str | None, size: int, limit: int) -> list[Row]:
        """Return some pages of documents from all over the tenant."""
        pages, some = (1, limit) if size <= limit else (_SPREAD, limit // _SPREAD)
        found = (
            self._got(_ALL, limit=some, offset=page * size // pages, **self._where(tenant)) for page in range(pages)
        )
        return list({row.key: row for page in found for row in self._rows_of(page, tenant)}.values())

    def recorded(self, tenant: str | None) -> Iterator[Row]:
        """Yield the documents that carry a record of ours."""
        where = self._where(tenant, self.everyone, {_MARK: {"$eq": 1}})
        yield from self._rows_of(self._got(_ALL, **where), tenant)

    def _got(self, include: list[str], **asked: Any) -> Any:
        found = self.collection.get(include=include, **asked)
        self.work.came(len(found["ids"]))
        return found

    def _where(self, tenant: str | None, narrowing: Narrowing | None = None, *more: Any) -> dict[str, Any]:
        """Return the `where` of a question, as an argument; nothing where nothing is asked."""
        clauses: list[Any] = [] if tenant is None else [{self.fields.tenant: {"$eq": tenant}}]
        if narrowing is not None:
            clauses += [{name: {"$eq": value}} for name, value in narrowing.where.items()]
            clauses += self._span(narrowing.since, narrowing.until)
        clauses += more
        return {"where": clauses[0] if len(clauses) == 1 else {"$and": clauses}} if clauses else {}

    def _span(self, start: datetime | None, end: datetime | None) -> list[Any]:
        """Return a span of times as clauses, a second wider: what is kept may be rounded, and a gate comes behind."""
        wider = timedelta(seconds=1)
        clauses = [] if start is None else [{self.fields.created: {"$gte": moment_as(start - wider, self._like)}}]
        return clauses + ([] if end is None else [{self.fields.created: {"$lt": moment_as(end + wider, self._like)}}])

    # ---- writing ----------------------------------------------------------------------------------------------------

    def keeps(self, name: str, value: Json) -> bool:
        """Say whether Chroma takes a metadata entry: a plain value under a name that it has no use for."""
        if not name or name[0] in "$#" or name.startswith("chroma:") or name in {*self.fields.reserved(), _MARK}:
            return False
        if isinstance(value, int) and not isinstance(value, bool):
            return -(2**63) <= value < 2**63
        return isinstance(value, str | bool | float)

    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        """Add and update documents, each with its embedding, so that Chroma never makes one of its own."""
        lacking = [each.key for each in puts if each.vector is None and _spoke_anew(each)]
        vectors = self.raw_vectors(tenant, lacking) if lacking else {}
        new, changed, told = ([each for each in puts if kind(each)] for kind in (_new, _spoke_anew, _only_told))
        for write, some in ((self.collection.add, new), (self.collection.update, changed)):
            for part in _parts(some):
                write(
                    ids=[each.key for each in part],
                    documents=[each.memory.text for each in part],
                    embeddings=[vectors.get(each.key) if each.vector is None else each.vector for each in part],
                    metadatas=[self._entries(each, tenant) for each in part],
                )
        for part in _parts(told):
            self.collection.update(
                ids=[each.key for each in part], metadatas=[self._entries(each, tenant) for each in part]
            )

    def _entries(self, each: Put, tenant: str | None) -> dict[str, Any] | None:
        """Return what a document's metadata becomes: entries to set, and None for those to take away."""
        metadata: dict[str, Any] = {**dict.fromkeys(each.gone), **each.entries}
        if each.record is not None:
            metadata |= {RECORD: each.record, _MARK: 1}
        if each.there is None:
            if self.fields.tenant is not None:
                metadata[self.fields.tenant] = tenant
            if self.fields.created is not None:
                metadata[self.fields.created] = moment_as(each.memory.created_at, self._like)
        return metadata or None

    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        """Delete documents, those of this tenant alone."""
        where = {} if tenant is None else {"where": {self.fields.tenant: {"$eq": tenant}}}
        for start in range(0, len(keys), _PAGE):
            self.collection.delete(ids=list(keys[start : start + _PAGE]), **where)


def _telling(word: str) -> tuple[bool, int, str]:
    """Order words by how likely they are rare: codes first, then the longest."""
    return (not any(letter.isdigit() for letter in word), -len(word), word)


def _new(each: Put) -> bool:
    return each.there is None


def _spoke_anew(each: Put) -> bool:
    """Say whether a document that is there gets another text or embedding."""
    return each.there is not None and (each.there.text != each.memory.text or each.vector is not None)


def _only_told(each: Put) -> bool:
    return each.there is not None and not _spoke_anew(each)


def _parts(puts: Sequence[Put]) -> Iterator[Sequence[Put]]:
    return (puts[start : start + _PAGE] for start in range(0, len(puts), _PAGE))
