"""A collection of rows in a dictionary: what somebody else's table is to us, without a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from retentive.integrations.collections import Fields, Put
from retentive.integrations.rows import Row, moment_of
from retentive.integrations.searched import Narrowing, SearchedStore
from retentive.testing.fakes import HashEmbedder
from retentive.types import Json, Vectors

Kept = dict[tuple[str | None, str], tuple[Row, Any]]


class SearchedDict(SearchedStore):
    """Rows by tenant and key, searched as a table would be; `work` counts what left it."""

    def __init__(self, rows: Kept, fields: Fields, **options: Any) -> None:
        given = {"embedder": HashEmbedder(4), "sidecar": None, "read_only": False, "mirror_up_to": -1, "max_age": 0}
        super().__init__(fields, **{**given, **options})
        self.kept = rows
        self.dates = True
        self.words = True

    @property
    def dated(self) -> bool:
        return self.dates

    def _of(self, tenant: str | None) -> list[Row]:
        return [row for (whose, _), (row, _) in self.kept.copy().items() if whose == tenant]

    def _out(self, rows: list[Row], *, vectors: bool = False) -> list[Row]:
        self.work.came(len(rows))
        return rows

    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        wanted = None if keys is None else set(keys)
        yield from self._out([row for row in self._of(tenant) if wanted is None or row.key in wanted][:limit])

    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> Mapping[str, Any]:
        return {key: vector for key in keys if (vector := self.kept[tenant, key][1]) is not None}

    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        new: Kept = {}
        for each in puts:
            _, old = self.kept.get((tenant, each.key), (None, None))
            created = each.there.created if each.there else each.memory.created_at.isoformat()
            row = Row(each.key, each.memory.text, created, dict(each.entries), each.record)
            new[tenant, each.key] = (row, old if each.vector is None else each.vector)
        self.kept.update(new)  # at once, as a table commits

    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        for key in keys:
            del self.kept[tenant, key]

    def tenants(self) -> set[object]:
        return {tenant for tenant, _ in self.kept}

    def keeps(self, name: str, value: Json) -> bool:
        return isinstance(value, str | int) and name not in self.fields.reserved()

    # ---- searching --------------------------------------------------------------------------------------------------

    def _narrowed(self, tenant: str | None, narrowing: Narrowing) -> list[Row]:
        def fits(row: Row) -> bool:
            moment = moment_of(row.created)
            return (
                all(row.metadata.get(name) == value for name, value in narrowing.where.items())
                and (narrowing.since is None or (moment is not None and moment >= narrowing.since))
                and (narrowing.until is None or (moment is not None and moment < narrowing.until))
            )

        return [row for row in self._of(tenant) if fits(row)]

    def size(self, tenant: str | None, narrowing: Narrowing) -> int:
        return len(self._narrowed(tenant, narrowing))

    def near(self, tenant: str | None, vector: Vectors, narrowing: Narrowing, limit: int) -> list[Row]:
        def cosine(row: Row) -> float:
            there = self.kept[tenant, row.key][1]
            return -1.0 if there is None else float(np.dot(there, vector) / (np.linalg.norm(there) or 1))

        return self._out(sorted(self._narrowed(tenant, narrowing), key=cosine, reverse=True)[:limit])

    def spread(self, tenant: str | None, size: int, limit: int) -> list[Row]:
        return self._out(self._of(tenant)[:: max(1, size // limit)][:limit] if size > limit else self._of(tenant))

    def recorded(self, tenant: str | None) -> Iterator[Row]:
        yield from self._out([row for row in self._of(tenant) if row.record is not None])

    def worded(self, tenant: str | None, words: Sequence[str], narrowing: Narrowing, limit: int) -> list[Row]:
        if not self.words:
            return super().worded(tenant, words, narrowing, limit)
        rows = self._narrowed(tenant, narrowing)
        return self._out([row for row in rows if any(word in (row.text or "").casefold() for word in words)][:limit])

    def between(
        self, tenant: str | None, start: datetime, end: datetime, narrowing: Narrowing, limit: int
    ) -> list[Row]:
        rows = self._narrowed(tenant, narrowing)
        return self._out([row for row in rows if (m := moment_of(row.created)) and start <= m < end][:limit])
