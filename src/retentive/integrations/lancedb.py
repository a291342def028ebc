"""`LanceStore`: our policies over a LanceDB table that you have.

    memories = Retentive(store=LanceStore(table, tenant="user_id", embedder=...), embedder=...)

A row is a memory; its other columns are the memory's metadata, and its vector is used as it is. A table has a version,
so a look costs nothing until somebody writes. Beyond ``mirror_up_to`` rows a tenant is searched in the table itself:
by vector, by the full-text index where it has one, and by a column of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
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

TEXTS: Final = ("text", "document", "content", "page_content", "memory", "body", "chunk")
IDS: Final = ("id", "_id", "uuid", "key", "doc_id")
_METADATA: Final = "metadata"
_PAGE: Final = 500
_SPREAD: Final = 16
"""Pages from which a sample is read."""
_CODE: Final = re.compile(r"(?=.*\d)[a-z0-9-]{3,}")


class LanceStore(SearchedStore):
    """A `Store` over a LanceDB table.

    ``text``, ``id``, ``vector``, ``created`` and ``metadata`` (JSON) are columns, found by their usual names.
    ``tenant`` is the column that says whose a row is: every value of it is a space, by exact equality; a table without
    one is one space, ``space`` (by default its name). The state of memories is kept in a string column ``retentive`` or
    in the metadata column where the table has one and no ``sidecar`` is given. ``embedder`` is the one that
    made the vectors.
    """

    def __init__(
        self,
        table: Any,
        *,
        embedder: Embedder | str | None = None,
        tenant: str | None = None,
        space: str | None = None,
        columns: Mapping[str, str] | None = None,
        sidecar: Store | str | Path | None = None,
        read_only: bool = False,
        max_age: float = MAX_AGE,
        mirror_up_to: int = MIRROR_UP_TO,
    ) -> None:
        lancedb = require_extra("lancedb", extra="lancedb", user="LanceStore")
        if not isinstance(table, lancedb.table.Table):
            raise InvalidInput(f"LanceStore({table!r}) takes a table: lancedb.connect(...).open_table(name).")
        if tenant is not None and space is not None:
            raise InvalidInput(
                f"Say tenant={tenant!r} (a space for each value) or space={space!r} (one for all), not both."
            )
        self.table = table
        self.columns = Columns(table.schema, columns or {})
        if tenant is not None or space is None:
            tenant = chosen("tenant", tenant, TENANTS, self.columns.strings)
        alone = None if tenant else space_path(space or table.name)
        fields = Fields(tenant, alone, self.columns.created, RECORD if self.columns.place else None)
        options = {"embedder": embedder, "sidecar": sidecar, "read_only": read_only, "max_age": max_age}
        super().__init__(fields, mirror_up_to=mirror_up_to, **options)
        self._indexed: tuple[object, dict[str, str]] = (None, {})
        self.plain = self.columns.plain - {tenant}

    def stamp(self) -> object:
        """Return the table's version, the newest one."""
        self.table.checkout_latest()
        return self.table.version

    # ---- reading ----------------------------------------------------------------------------------------------------

    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        """Yield the rows of exactly this tenant."""
        wanted = [name for name in self.table.schema.names if name != self.columns.vector]
        for entries in self._entries(tenant, wanted, keys, limit):
            yield self._row(entries)

    def _entries(
        self, tenant: str | None, wanted: list[str], keys: Sequence[str] | None = None, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        self.table.checkout_latest()
        parts = [None] if keys is None else [keys[start : start + _PAGE] for start in range(0, len(keys), _PAGE)]
        for part in parts:
            query, where = self.table.search().select(wanted).limit(limit), self._where(tenant, part)
            self.work.came(0)
            for batch in (query.where(where) if where else query).to_batches():
                self.work.rows += len(batch)
                yield from batch.to_pylist()

    def _where(self, tenant: str | None, keys: Sequence[str] | None, *more: str) -> str:
        clauses = [] if tenant is None else [f"{_name(str(self.fields.tenant))} = {_literal(tenant)}"]
        if keys is not None:
            clauses.append(f"{_name(self.columns.id)} IN ({', '.join(_literal(key) for key in keys)})")
        return " AND ".join([*clauses, *more])

    def _row(self, entries: Mapping[str, Any]) -> Row:
        columns = self.columns
        metadata = {name: said for name in self.plain if (said := _plain(entries[name])) is not None}
        inner = _object(entries.get(columns.metadata)) if columns.metadata else {}
        record = entries[RECORD] if columns.place == RECORD else inner.pop(RECORD, None)
        created = _plain(entries[columns.created]) if columns.created else None
        said = record if isinstance(record, str) else None
        vector = entries.get(columns.vector)
        return Row(entries[columns.id] or "", entries[columns.text], created, {**inner, **metadata}, said, vector)

    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> dict[str, Any]:
        """Return the vectors of rows."""
        column, key = self.columns.vector, self.columns.id
        return {row[key]: row[column] for row in self._entries(tenant, [key, column], keys) if row[column] is not None}

    def tenants(self) -> set[object]:
        """Return the values of the tenant column."""
        tenant = str(self.fields.tenant)
        return {row[tenant] for row in self._entries(None, [tenant])}

    # ---- searching where the rows lie -------------------------------------------------------------------------------

    @property
    def dated(self) -> bool:
        """Whether the column of times is one that can be compared."""
        return self.columns.is_time(self.columns.created)

    def asks(self, name: str, value: Json) -> bool:
        """Say whether an entry has a column of its type."""
        return name in self.plain and self.columns.fits(name, value)

    def size(self, tenant: str | None, narrowing: Narrowing) -> int:
        """Count rows."""
        self.table.checkout_latest()
        return int(self.table.count_rows(self._where(tenant, None, *self._narrow(narrowing)) or None))

    def near(self, tenant: str | None, vector: Vectors, narrowing: Narrowing, limit: int) -> list[Row]:
        """Return the rows nearest to a vector, by the table's index where it has one."""
        self.table.checkout_latest()
        query = self.table.search(vector, vector_column_name=self.columns.vector, query_type="vector")
        if self.columns.vector not in self._indices():  # else it is searched by the distance that it was made for
            query = query.distance_type("cosine")
        return self._found(query, tenant, narrowing, limit, scored="_distance")

    def worded(self, tenant: str | None, words: Sequence[str], narrowing: Narrowing, limit: int) -> list[Row]:
        """Return the rows that the full-text index finds; without one, those with a word that has a digit (a code)."""
        self.table.checkout_latest()
        if self._indices().get(self.columns.text) == "FTS":
            match = require_extra("lancedb.query", extra="lancedb", user="LanceStore").MatchQuery
            query = self.table.search(match(" ".join(words), self.columns.text), query_type="fts")
            return self._found(query, tenant, narrowing, limit, scored="_score")
        codes = [word for word in words if _CODE.fullmatch(word)]
        like = " OR ".join(f"lower({_name(self.columns.text)}) LIKE {_literal(f'%{code}%')}" for code in codes)
        return self._found(self.table.search(), tenant, narrowing, limit, f"({like})") if codes else []

    def between(
        self, tenant: str | None, start: datetime, end: datetime, narrowing: Narrowing, limit: int
    ) -> list[Row]:
        """Return rows whose time lies in [start, end)."""
        self.table.checkout_latest()
        column = _name(str(self.columns.created))
        span = f"{column} >= {_moment(start)} AND {column} < {_moment(end)}"
        return self._found(self.table.search(), tenant, narrowing, limit, span)

    def spread(self, tenant: str | None, size: int, limit: int) -> list[Row]:
        """Return some pages of rows from all over the tenant."""
        self.table.checkout_latest()
        pages, some = (1, limit) if size <= limit else (_SPREAD, limit // _SPREAD)
        return [
            row
            for page in range(pages)
            for row in self._found(self.table.search().offset(page * size // pages), tenant, self.everyone, some)
        ]

    def recorded(self, tenant: str | None) -> Iterator[Row]:
        """Yield the rows that carry a record of ours."""
        place = self.columns.place
        if place is not None:
            self.table.checkout_latest()
            said = "IS NOT NULL" if place == RECORD else f"LIKE {_literal(f'%{json.dumps(RECORD)}%')}"
            yield from self._found(self.table.search(), tenant, self.everyone, None, f"{_name(place)} {said}")

    def _found(
        self,
        query: Any,
        tenant: str | None,
        narrowing: Narrowing,
        limit: int | None,
        *more: str,
        scored: str | None = None,
    ) -> list[Row]:
        where = self._where(tenant, None, *self._narrow(narrowing), *more)
        query = query.select([*self.table.schema.names, *([scored] if scored else [])]).limit(limit)
        rows = [self._row(entries) for entries in (query.where(where) if where else query).to_list()]
        self.work.came(len(rows))
        return rows

    def _narrow(self, narrowing: Narrowing) -> list[str]:
        clauses = [f"{_name(name)} = {_value(value)}" for name, value in narrowing.where.items()]
        for sign, moment in ((">=", narrowing.since), ("<", narrowing.until)):
            if moment is not None:  # rows without a time are as old as their first sight, which only we know
                column = _name(str(self.columns.created))
                clauses.append(f"({column} {sign} {_moment(moment)} OR {column} IS NULL)")
        return clauses

    def _indices(self) -> dict[str, str]:
        """Return the kinds of index by column, read once for each version of the table."""
        if self._indexed[0] != self.table.version:
            kinds = {column: index.index_type for index in self.table.list_indices() for column in index.columns}
            self._indexed = (self.table.version, kinds)
        return self._indexed[1]

    # ---- writing ----------------------------------------------------------------------------------------------------

    def keeps(self, name: str, value: Json) -> bool:
        """Say whether a metadata entry has a column of its type, or a place in the metadata column."""
        if name in self.table.schema.names or name in self.fields.reserved():
            return name in self.plain and self.columns.fits(name, value)
        return self.columns.metadata is not None and value is not None

    def key_of(self, space: str, memory_id: str) -> str:  # noqa: ARG002 -- rows are asked for by tenant and id
        """Return the id itself: rows of several tenants may have one id."""
        return memory_id

    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        """Write rows in one commit; columns that nobody changed stay as they are."""
        pa = require_extra("pyarrow", extra="lancedb", user="LanceStore")

        columns, schema = self.columns, self.table.schema
        there = {row[columns.id]: row for row in self._entries(tenant, schema.names, [each.key for each in puts])}
        rows = [self._written(each, there.get(each.key) or self._new(each, tenant)) for each in puts]
        self.table.merge_insert(
            [columns.id, *([self.fields.tenant] if tenant is not None else [])]
        ).when_matched_update_all().when_not_matched_insert_all().execute(pa.Table.from_pylist(rows, schema=schema))

    def _new(self, each: Put, tenant: str | None) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(self.table.schema.names) | {self.columns.id: each.key}
        if tenant is not None:
            row[str(self.fields.tenant)] = tenant
        if self.columns.created:
            row[self.columns.created] = self.columns.moment(each.memory.created_at)
        return row

    def _written(self, each: Put, row: dict[str, Any]) -> dict[str, Any]:
        columns = self.columns
        old = self._row(row).metadata if each.there else {}
        moved = {name: value for name, value in each.entries.items() if name not in old or old[name] != value}
        row |= {name: value for name, value in moved.items() if name in self.plain}
        row |= {name: None for name in each.gone if name in self.plain}
        row[columns.text] = each.memory.text
        if each.vector is not None:
            row[columns.vector] = each.vector.tolist()
        if columns.metadata:
            inner = {name: value for name, value in each.entries.items() if name not in self.plain}
            inner |= {RECORD: each.record} if each.record is not None and columns.place != RECORD else {}
            row[columns.metadata] = json.dumps(inner) if inner or row[columns.metadata] else row[columns.metadata]
        if columns.place == RECORD and each.record is not None:
            row[RECORD] = each.record
        return row

    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        """Delete rows, those of this tenant alone."""
        for start in range(0, len(keys), _PAGE):
            self.table.delete(self._where(tenant, keys[start : start + _PAGE]))


class Columns:
    """Which column of a table is what."""

    def __init__(self, schema: Any, given: Mapping[str, str]) -> None:
        pa = require_extra("pyarrow", extra="lancedb", user="LanceStore")

        if unknown := sorted(set(given) - {"text", "id", "vector", "created", "metadata"}):
            raise InvalidInput(
                f"columns={dict(given)!r}: {unknown[0]!r} is none of text, id, vector, created, metadata."
            )
        self._types = {field.name: field.type for field in schema}
        names = list(self._types)
        strings = [
            name for name, kind in self._types.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)
        ]
        vectors = [name for name, kind in self._types.items() if _is_vector(pa, kind)]
        self.strings = strings
        self.text = _needed("text", chosen("columns['text']", given.get("text"), TEXTS, strings), strings)
        self.id = _needed("id", chosen("columns['id']", given.get("id"), IDS, strings), strings)
        vector = chosen("columns['vector']", given.get("vector"), ("vector", *vectors), vectors)
        self.vector = _needed("vector", vector, vectors)
        self.created = chosen("columns['created']", given.get("created"), CREATED, names)
        self.metadata = chosen("columns['metadata']", given.get("metadata"), (_METADATA,), strings)
        self.place = RECORD if RECORD in strings else self.metadata
        used = {self.text, self.id, self.vector, self.created, self.metadata, RECORD}
        self.plain = {name for name in names if name not in used and name not in vectors}
        self._tests: dict[type, Any] = {bool: pa.types.is_boolean, int: pa.types.is_int64, float: pa.types.is_float64}

    def fits(self, name: str, value: Json) -> bool:
        """Say whether a column holds a value of this type, and gives the same back."""
        if isinstance(value, str):
            return name in self.strings
        test = self._tests.get(type(value))
        return bool(test and test(self._types[name]) and (type(value) is not int or -(2**63) <= value < 2**63))

    def is_time(self, name: str | None) -> bool:
        """Say whether a column holds moments as such."""
        return name is not None and str(self._types[name]).startswith("timestamp")

    def moment(self, moment: datetime) -> Any:
        """Return a moment as the column of times has it."""
        kind = str(self._types[str(self.created)])
        if kind.startswith("timestamp"):
            return moment if "tz=" in kind else moment.replace(tzinfo=None)
        return moment_as(moment, 1 if kind.startswith("int") else 1.0 if kind in {"float", "double"} else "")


def _is_vector(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_fixed_size_list(kind) and pa.types.is_floating(kind.value_type))


def _needed(what: str, name: str | None, there: list[str]) -> str:
    if name is None:
        raise InvalidInput(
            f"No column is called as a {what} usually is; say which: columns={{{what!r}: ...}}. "
            f"Columns that could be: {', '.join(there) or 'none'}."
        )
    return name


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _value(value: Json) -> str:
    return _literal(value) if isinstance(value, str) else json.dumps(value)


def _moment(moment: datetime) -> str:
    return f"timestamp {_literal(moment.astimezone(UTC).isoformat())}"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(value: Any) -> Any:
    """Return what JSON can say of a column's value; None where it can say nothing."""
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return value


def _object(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
