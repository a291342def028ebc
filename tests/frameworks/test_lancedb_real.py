"""Our policies over the real LanceDB: the shipped contract, and tables that others fill."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive import Retentive
from retentive.errors import EmbedderMismatch, Forbidden, InvalidInput, NotFound
from retentive.stores.protocol import Store
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_contract import StoreContract
from retentive.types import Gate

lancedb = pytest.importorskip("lancedb", reason="the extra 'lancedb' is not installed")
pa = pytest.importorskip("pyarrow")

from retentive.integrations.lancedb import LanceStore

EMBEDDER = HashEmbedder(16)
WHEN = datetime(2024, 5, 1, 10, tzinfo=UTC)


def made(folder: Path, dimension: int = 16, *, metadata: bool = True, tenant: bool = True) -> Any:
    fields = [("id", pa.string()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), dimension))]
    fields += [("created_at", pa.timestamp("us", tz="UTC")), ("severity", pa.int64()), ("team name", pa.string())]
    fields += [("user_id", pa.string())] if tenant else []
    fields += [("metadata", pa.string())] if metadata else []
    return lancedb.connect(str(folder)).create_table("notes", schema=pa.schema(fields))


@pytest.fixture
def table(tmp_path: Path) -> Any:
    return made(tmp_path / "lance")


class Contract(StoreContract):
    """What a table cannot have is skipped with the reason."""

    @pytest.mark.skip(reason="the column of vectors has one dimension for ever")
    def test_everything_erased_frees_the_dimension(self, space: Any) -> None: ...


class TestLanceStore(Contract):
    """The contract, every space a value of a column, the state in the metadata column."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return LanceStore(made(tmp_path / "lance", 4), embedder=HashEmbedder(4), max_age=0)


class TestLanceStoreWithoutMetadata(Contract):
    """The contract, where the table has no place for our state: all of it lies in a sidecar."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        table = made(tmp_path / "lance", 4, metadata=False)
        store = LanceStore(table, embedder=HashEmbedder(4), sidecar=tmp_path / "side", max_age=0)
        yield store
        store.close()


class TestLanceStoreSearched(Contract):
    """The contract, where every space is searched in the table: our state in a sidecar, a full-text index or none."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        table = made(tmp_path / "lance", 4)
        store = LanceStore(table, embedder=HashEmbedder(4), sidecar=tmp_path / "s", max_age=0, mirror_up_to=-1)
        yield store
        store.close()

    @pytest.mark.skip(reason="rows of others cannot be held still while they are searched")
    def test_a_snapshot_is_one_state(self, space: Any) -> None: ...


def fill(table: Any, *texts: str, user: str = "alice", **more: Any) -> None:
    table.add(
        [
            {
                "id": f"{user}-{number}",
                "text": text,
                "vector": (EMBEDDER.embed([text])[0] * 3).tolist(),  # of no unit length, as others have them
                "created_at": WHEN,
                "severity": 3,
                "team name": None,
                **({"user_id": user} if "user_id" in table.schema.names else {}),
                **({"metadata": '{"deep": {"a": [1]}}'} if "metadata" in table.schema.names else {}),
                **more,
            }
            for number, text in enumerate(texts)
        ]
    )


def over(table: Any, **options: Any) -> Retentive:
    return Retentive(store=LanceStore(table, embedder=EMBEDDER, max_age=0, **options), embedder=EMBEDDER)


def plain(table: Any) -> list[dict[str, Any]]:
    rows = table.to_arrow().to_pylist()
    return sorted(({**row, "metadata": ""} for row in rows), key=lambda row: row["id"])


def test_rows_of_others_are_recalled_by_their_own_vectors(table: Any) -> None:
    """Columns are found by their usual names; other columns and the JSON beside are metadata; tenants stay apart."""
    fill(table, "The deploy failed with E4012", "Likes oranges")
    fill(table, "The deploy of Bob", user="alice-corp")
    asked: list[str] = []

    class Counting(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            asked.extend(texts)
            return super().embed(texts)

    counting = Counting(16)
    memories = Retentive(store=LanceStore(table, embedder=counting), embedder=counting)
    assert memories.spaces() == ["alice", "alice-corp"]
    hit = memories.space("alice").recall("deploy E4012", where={"severity": 3})[0]
    assert (hit.memory.id, hit.memory.created_at) == ("alice-0", WHEN)
    assert hit.memory.metadata == {"severity": 3, "deep": {"a": [1]}}
    assert not [text for text in asked if "oranges" in text]


def test_what_was_read_is_kept_in_the_metadata_column(table: Any) -> None:
    """A new process finds it there; every other column is as before."""
    fill(table, "The deploy failed with E4012")
    before = plain(table)
    over(table).space("alice").recall("deploy E4012")
    again = over(table).space("alice").get("alice-0", touch=False)
    assert (again.access.count, again.metadata) == (1, {"severity": 3, "deep": {"a": [1]}})
    assert plain(table) == before


def test_with_a_sidecar_reading_touches_no_row(table: Any, tmp_path: Path) -> None:
    """What was read lies beside; what Retentive remembers is a row, its metadata in columns of their type."""
    fill(table, "The deploy failed with E4012")
    version = table.version
    with over(table, sidecar=tmp_path / "side") as memories:
        memories.space("alice").recall("deploy E4012").feedback(used=["alice-0"], outcome="good")
    table.checkout_latest()
    assert table.version == version
    with over(table, sidecar=tmp_path / "side") as memories:
        alice = memories.space("alice")
        assert alice.get("alice-0", touch=False).access.count >= 1
        kept = alice.remember("Prefers Postgres", metadata={"severity": 7, "team name": "core", "deep": [1], "n": None})
        before = alice.get(kept.id, touch=False)
    row = next(row for row in plain(table) if row["id"] == kept.id)
    assert (row["text"], row["severity"], row["team name"], row["user_id"]) == ("Prefers Postgres", 7, "core", "alice")
    with over(table, sidecar=tmp_path / "other") as memories:
        assert memories.space("alice").get(kept.id, touch=False) == before


def test_others_change_and_delete_rows(table: Any) -> None:
    """The next read has the new text under the old id, or nothing."""
    fill(table, "The deploy failed")
    alice = over(table).space("alice")
    alice.recall("deploy")
    vector = EMBEDDER.embed(["Oranges are sweet"])[0].tolist()
    table.update(where="id = 'alice-0'", values={"text": "Oranges are sweet", "vector": vector})
    assert alice.recall("oranges sweet")[0].memory.text == "Oranges are sweet"
    table.delete("id = 'alice-0'")
    with pytest.raises(NotFound):
        alice.get("alice-0")


def test_updating_and_erasing_reach_the_row_of_this_tenant_alone(table: Any) -> None:
    """A memory with the id of another tenant's row is another row."""
    fill(table, "Theirs", user="bob")
    memories = over(table)
    memories.space("alice").remember("Ours", id="bob-0")
    memories.space("alice").update("bob-0", text="Ours, changed", metadata={"severity": 1})
    assert {row["user_id"]: row["text"] for row in plain(table)} == {"alice": "Ours, changed", "bob": "Theirs"}
    memories.space("alice").forget("bob-0", erase=True)
    assert [row["text"] for row in plain(table)] == ["Theirs"]
    assert memories.drop("bob")
    assert table.count_rows() == 0


def test_read_only_changes_nothing(table: Any) -> None:
    """Recall and hiding work beside the rows; what would change them is Forbidden."""
    fill(table, "The deploy failed")
    version = table.version
    memories = over(table, read_only=True)
    alice = memories.space("alice")
    alice.recall("deploy failed")
    for refused in (lambda: alice.remember("more"), lambda: alice.forget("alice-0", erase=True)):
        with pytest.raises(Forbidden, match="read_only"):
            refused()
    alice.forget("alice-0")
    assert len(alice.recall("deploy failed")) == 0
    table.checkout_latest()
    assert table.version == version


def test_vectors_of_another_embedder_are_refused(table: Any) -> None:
    """Another dimension is an error that says what to name."""
    fill(table, "x")
    small = HashEmbedder(8)
    with pytest.raises(EmbedderMismatch, match="16 numbers"):
        Retentive(store=LanceStore(table, embedder=small), embedder=small).space("alice").recall("x")


def test_a_table_without_tenants_is_one_space(tmp_path: Path) -> None:
    """Its name by default; any other is refused."""
    table = made(tmp_path / "lance", tenant=False)
    fill(table, "hello there")
    memories = over(table)
    assert memories.spaces() == ["notes"]
    assert memories.space("notes").recall("hello there")[0].memory.id == "alice-0"
    with pytest.raises(InvalidInput, match="tenant="):
        memories.space("other").remember("x")


MANY = 50_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Fifty thousand rows of one tenant with vectors by chance, a few of another, and two that tests look for."""
    table = made(tmp_path_factory.mktemp("large") / "lance", metadata=False)
    vectors = np.random.default_rng(7).normal(size=(MANY, 16)).astype(np.float32)
    texts = pa.array([f"Note {number} on garden {number % 97}, tree {number % 89}" for number in range(MANY)])
    table.add(
        pa.table(
            {
                "id": pa.array([f"n{number}" for number in range(MANY)]),
                "text": texts,
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 16),
                "created_at": pa.array([WHEN - timedelta(hours=n) for n in range(MANY)], pa.timestamp("us", tz="UTC")),
                "severity": pa.array([int(number == 31_313) for number in range(MANY)], pa.int64()),
                "team name": pa.nulls(MANY, pa.string()),
                "user_id": pa.array(["alice"] * MANY),
            },
            schema=table.schema,
        )
    )
    fill(table, "The deploy failed with E4012", "Zelda Fitzgerald reviewed the gate", user="alice")
    fill(table, "The deploy of Bob failed with E4012", user="bob")
    return table


@pytest.mark.parametrize("index", [None, "fts", "vector"])
def test_a_recall_over_fifty_thousand_rows_reads_few(large: Any, tmp_path: Path, index: str | None) -> None:
    """The table searches itself, with a full-text index and a vector index or without; other tenants stay apart."""
    if index == "fts":
        large.create_index("text", config=lancedb.index.FTS())
    elif index == "vector":
        large.create_index("vector", config=lancedb.index.IvfFlat(distance_type="cosine", num_partitions=16))
    store = LanceStore(large, embedder=EMBEDDER, sidecar=tmp_path / "side", max_age=60)
    with Retentive(store=store, embedder=EMBEDDER, clock=lambda: WHEN) as memories:
        alice = memories.space("alice")
        first = alice.recall("what failed with E4012?", limit=3)
        assert first[0].memory.text == "The deploy failed with E4012"
        assert "bob" not in {hit.memory.id.split("-")[0] for hit in first}
        assert store.work.rows < 3_000
        store.work.rows = 0
        assert alice.recall("who is Zelda Fitzgerald?", limit=3)[0].memory.id == "alice-1"
        assert [hit.memory.id for hit in alice.recall("garden", where={"severity": 1}, policy="blend")] == ["n31313"]
        old = alice.recall("tree", until=WHEN - timedelta(hours=49_000), limit=4, policy="blend")
        assert len(old) == 4
        assert all(hit.memory.created_at < WHEN - timedelta(hours=49_000) for hit in old)
        assert store.work.rows < 6_000
        assert alice.get("alice-0", touch=False).access.count == 1
        assert alice.store.count(Gate(true_at=WHEN)) == MANY + 2
        assert [m.id for m in alice.store.page(Gate(true_at=WHEN), limit=2)] == ["alice-0", "alice-1"]
    version = large.version
    large.checkout_latest()
    assert large.version == version


def test_columns_are_named_or_found(table: Any) -> None:
    """What is not there, or not said, is an error that lists what could be."""
    with pytest.raises(InvalidInput, match="open_table"):
        LanceStore("notes")
    with pytest.raises(InvalidInput, match="not both"):
        LanceStore(table, tenant="user_id", space="b")
    with pytest.raises(InvalidInput, match="'words'"):
        LanceStore(table, columns={"words": "text"})
    with pytest.raises(InvalidInput, match=r"there are: .*text"):
        LanceStore(table, columns={"text": "txt"})
    table.alter_columns({"path": "text", "rename": "said"})
    with pytest.raises(InvalidInput, match="which: columns"):
        LanceStore(table)
    assert LanceStore(table, columns={"text": "said"}, embedder=EMBEDDER).columns.text == "said"
