"""What stores over rows of others have in common keeps the contract, over rows in a dictionary."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest

from retentive.errors import InvalidInput, MissingExtra
from retentive.integrations.collections import CollectionStore, Fields, Put
from retentive.integrations.rows import Row, chosen, memory_of_row, moment_as, moment_of, record_of, space_of, tenant_of
from retentive.stores.protocol import Store
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_contract import StoreContract
from retentive.testing.store_samples import EAST, NOW, SPACE, add, at, gate, listed, sample
from retentive.types import Json


class DictStore(CollectionStore):
    """Rows with the entries that JSON has, in a dictionary by tenant and key."""

    def __init__(self, rows: dict[tuple[str | None, str], tuple[Row, Any]], fields: Fields, **options: Any) -> None:
        super().__init__(fields, **{"embedder": HashEmbedder(4), "sidecar": None, "read_only": False, **options})
        self.kept = rows
        self.max_age = 0

    def rows(self, tenant: str | None, keys: Sequence[str] | None = None, limit: int | None = None) -> Iterator[Row]:
        found = [
            row for (whose, key), (row, _) in self.kept.items() if whose == tenant and (keys is None or key in keys)
        ]
        yield from found[:limit]

    def raw_vectors(self, tenant: str | None, keys: Sequence[str]) -> Mapping[str, Any]:
        return {key: vector for key in keys if (vector := self.kept[tenant, key][1]) is not None}

    def put(self, tenant: str | None, puts: Sequence[Put]) -> None:
        for each in puts:
            _, old = self.kept.get((tenant, each.key), (None, None))
            created = each.there.created if each.there else None
            row = Row(each.key, each.memory.text, created, dict(each.entries), each.record)
            self.kept[tenant, each.key] = (row, old if each.vector is None else each.vector)

    def delete(self, tenant: str | None, keys: Sequence[str]) -> None:
        for key in keys:
            del self.kept[tenant, key]

    def tenants(self) -> set[object]:
        return {tenant for tenant, _ in self.kept}

    def keeps(self, name: str, value: Json) -> bool:
        return isinstance(value, str | int) and name not in self.fields.reserved()


class TestRowsWithTenants(StoreContract):
    """The contract, every space a value of a field."""

    @pytest.fixture
    def store(self) -> Store:
        return DictStore({}, Fields("user_id", None, None))


def row(key: str, text: str | None = "hello there", vector: Any = None, **metadata: Json) -> tuple[Row, Any]:
    return Row(key, text, "2024-05-01", metadata), vector


def test_one_space_without_tenants() -> None:
    """It exists where a row is, takes vectors of any length, embeds what has none, and dropping it empties the rows."""
    rows: dict[tuple[str | None, str], tuple[Row, Any]] = {}
    store = DictStore(rows, Fields(None, SPACE, None))
    assert store.spaces() == []
    rows[None, "a"] = row("a", vector=[3.0, 0, 0, 0], n=1)
    rows[None, "b"] = row("b", vector=[0.0, 0, 0, 0])
    rows[None, "c"] = row("c", None)
    assert store.spaces() == [SPACE]
    space = store.open(SPACE, create=False)
    assert listed(space.page(gate(), limit=9)) == ["a", "b"]
    assert (space.vectors(["a"])["a"] == EAST).all()
    with space.transaction() as tx:
        tx.replace(space.get(["c"])["c"].changed(importance=0.9))
        tx.replace(space.get(["a"])["a"].changed(metadata={"deep": [1]}))
    assert rows[None, "c"][0] == row("c", None)[0]
    assert rows[None, "a"][0].metadata == {}
    again = DictStore(rows, store.fields).open(SPACE)
    assert again.get(["a"])["a"].metadata == {"deep": [1]}
    assert store.drop(SPACE)
    assert not rows


def test_rows_with_one_id_are_refused() -> None:
    """Two rows that could not be told apart are an error, not a choice."""
    memory = sample("x")
    twice = Row("other", "text of x", None, {}, record_of(memory, "other", {}, access=True))
    store = DictStore({(None, "x"): row("x"), (None, "other"): (twice, None)}, Fields(None, SPACE, None))
    with pytest.raises(InvalidInput, match="the id 'x'"):
        store.open(SPACE).count(gate())


def test_a_row_of_another_tenant_is_never_overwritten() -> None:
    """An id that another tenant's row has makes a row of another key."""
    rows: dict[tuple[str | None, str], tuple[Row, Any]] = {("bob", "a"): row("a", "Theirs")}
    add(DictStore(rows, Fields("user_id", None, None)).open(SPACE), sample("a"))
    assert rows["bob", "a"] == row("a", "Theirs")
    assert len(rows) == 2


def test_spoilt_records_and_changed_texts() -> None:
    """A record that cannot be read is none; names are read anew from a text that somebody changed."""
    memory = sample("a", text="Alice came", entities=("zed",), metadata={"deep": {"x": 1}})
    record = record_of(memory, "a", memory.metadata, access=False)
    whole = Row("a", "Alice came", None, {}, record)
    assert memory_of_row(whole, SPACE, None, lambda *_: True, NOW) == memory
    changed = memory_of_row(Row("a", "Bob Miller came", None, {}, record), SPACE, None, lambda *_: True, NOW)
    assert "bob miller" in changed.entities
    for spoilt in ('{"kind": 7}', "[1]", "{"):
        assert memory_of_row(Row("a", "x", None, {}, spoilt), SPACE, None, lambda *_: True, NOW).kind == "fact"


@pytest.mark.parametrize("value", ["2024-06-01T12:00:00", "2024-06-01T14:00:00+02:00", 1717243200, 1717243200000.0])
def test_moments_of_every_spelling(value: Any) -> None:
    """ISO 8601 with and without a zone, seconds and milliseconds; written as they were read."""
    assert moment_of(value) == NOW
    assert moment_of(moment_as(NOW, value)) == NOW


@pytest.mark.parametrize("value", ["yesterday", True, None, 1e300, []])
def test_what_is_no_moment(value: Any) -> None:
    """Is none, not an error."""
    assert moment_of(value) is None


@pytest.mark.parametrize(
    "value",
    ["alice", "a@b.com", "acme/alice", " x ", "a//b", "..", "100%", "a\0b", "Ünï", "%%alice", "%%a%2Eb"],
)
def test_values_and_spaces_are_one_to_one(value: str) -> None:
    """Every value of a tenant field is one space, and that space is this value."""
    space = space_of(value)
    if space is not None:
        assert tenant_of(space) == value
    assert value in {"a//b", "a\0b"} or space is not None


@pytest.mark.parametrize("value", ["", None, 7, "a\0b"])
def test_values_that_no_space_has(value: object) -> None:
    """Nothing, a number, and what cannot be a value."""
    assert space_of(value) is None


def test_a_field_that_is_not_there_is_refused() -> None:
    """The message lists those that are."""
    with pytest.raises(InvalidInput, match="there are: a, b"):
        chosen("text", "body", (), ["b", "a"])
    assert chosen("text", "a", (), ["a"]) == "a"
    assert chosen("text", None, ("text", "b"), ["a", "b"]) == "b"


@pytest.mark.parametrize(("package", "store"), [("chroma", "ChromaStore"), ("lancedb", "LanceStore")])
def test_without_the_package_the_extra_is_named(package: str, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error ends with the command that installs it."""
    module = {"chroma": "chromadb"}.get(package, package)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"retentive\[{package}\]"):
        getattr(import_module(f"retentive.integrations.{package}"), store)(object())


def test_a_row_in_a_known_place_keeps_its_time() -> None:
    """A row without a time is as old as its first sight, also after its text changed."""
    first = memory_of_row(Row("a", "x", None, {}), SPACE, None, lambda *_: True, at(-1))
    second = memory_of_row(Row("a", "y", None, {}), SPACE, first, lambda *_: True, datetime(2030, 1, 1, tzinfo=UTC))
    assert second.created_at == at(-1)
