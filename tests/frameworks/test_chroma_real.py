"""Our policies over the real Chroma: the shipped contract, and collections that others fill."""

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

chromadb = pytest.importorskip("chromadb", reason="the extra 'chroma' is not installed")

from retentive.integrations.chroma import ChromaStore

_NUMBERS = iter(range(1_000_000))


@pytest.fixture(scope="module")
def client() -> Any:
    return chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))


@pytest.fixture
def collection(client: Any) -> Iterator[Any]:
    name = f"docs-{next(_NUMBERS)}"
    yield client.create_collection(name, embedding_function=None)
    client.delete_collection(name)


class Contract(StoreContract):
    """What Chroma cannot have is skipped with the reason."""

    @pytest.mark.skip(reason="a Chroma collection keeps the dimension of its first embedding for ever")
    def test_everything_erased_frees_the_dimension(self, space: Any) -> None: ...


class TestChromaStore(Contract):
    """The contract, every space a value of a metadata key, the state in the documents' metadata."""

    @pytest.fixture
    def store(self, collection: Any) -> Store:
        return ChromaStore(collection, tenant="user_id", embedder=HashEmbedder(4), max_age=0)


class TestChromaStoreWithASidecar(Contract):
    """The contract, with a sidecar on disk."""

    @pytest.fixture
    def store(self, collection: Any, tmp_path: Path) -> Iterator[Store]:
        store = ChromaStore(collection, tenant="user_id", embedder=HashEmbedder(4), sidecar=tmp_path / "s", max_age=0)
        yield store
        store.close()


class TestChromaStoreSearched(Contract):
    """The contract, where every space is searched in the collection: our state in the documents' metadata."""

    @pytest.fixture
    def store(self, collection: Any) -> Store:
        return ChromaStore(collection, tenant="user_id", embedder=HashEmbedder(4), max_age=0, mirror_up_to=-1)

    @pytest.mark.skip(reason="documents of others cannot be held still while they are searched")
    def test_a_snapshot_is_one_state(self, space: Any) -> None: ...


EMBEDDER = HashEmbedder(16)


def fill(collection: Any, *texts: str, user: str = "alice", **more: Any) -> None:
    collection.add(
        ids=[f"{user}-{number}" for number, _ in enumerate(texts)],
        documents=list(texts),
        embeddings=[row.tolist() for row in EMBEDDER.embed(list(texts)) * 3],  # of no unit length, as others have them
        metadatas=[{"user_id": user, "created_at": "2024-05-01T10:00:00", **more} for _ in texts],
    )


def over(collection: Any, **options: Any) -> Retentive:
    store = ChromaStore(collection, embedder=EMBEDDER, max_age=0, **options)
    return Retentive(store=store, embedder=EMBEDDER)


def test_documents_of_others_are_recalled_by_their_own_vectors(collection: Any) -> None:
    """Tenant and time are found by their usual names; embeddings are used, not made again; others stay out."""
    fill(collection, "The deploy failed with E4012", "Likes oranges", severity=3)
    fill(collection, "The deploy of Bob", user="alice-corp")
    asked: list[str] = []

    class Counting(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            asked.extend(texts)
            return super().embed(texts)

    counting = Counting(16)
    memories = Retentive(store=ChromaStore(collection, embedder=counting, max_age=0), embedder=counting)
    assert memories.spaces() == ["alice", "alice-corp"]
    hit = memories.space("alice").recall("deploy E4012", where={"severity": 3})[0]
    assert (hit.memory.id, hit.memory.created_at.isoformat()) == ("alice-0", "2024-05-01T10:00:00+00:00")
    assert hit.memory.metadata == {"severity": 3}
    assert not [text for text in asked if "oranges" in text]


def test_what_was_read_is_kept_in_the_documents(collection: Any) -> None:
    """Without a sidecar a new process finds accesses in the metadata; all else is as before."""
    fill(collection, "The deploy failed with E4012", severity=3)
    before = collection.get(include=["documents", "embeddings"])
    over(collection).space("alice").recall("deploy E4012")
    assert over(collection).space("alice").get("alice-0", touch=False).access.count == 1
    after = collection.get(include=["documents", "embeddings", "metadatas"])
    assert after["documents"] == before["documents"]
    assert (after["embeddings"] == before["embeddings"]).all()
    assert {**after["metadatas"][0], "retentive": ""} == {
        "retentive_v": 1,
        "user_id": "alice",
        "created_at": "2024-05-01T10:00:00",
        "severity": 3,
        "retentive": "",
    }


def test_with_a_sidecar_reading_touches_no_document(collection: Any, tmp_path: Path) -> None:
    """What was read and how useful it was lies beside; what Retentive remembers is a document all the same."""
    fill(collection, "The deploy failed with E4012")
    before = collection.get(include=["documents", "metadatas"])
    with over(collection, sidecar=tmp_path / "side") as memories:
        memories.space("alice").recall("deploy E4012").feedback(used=["alice-0"], outcome="good")
    assert collection.get(include=["documents", "metadatas"]) == before
    with over(collection, sidecar=tmp_path / "side") as memories:
        alice = memories.space("alice")
        assert alice.get("alice-0", touch=False).access.count >= 1
        alice.remember("Prefers Postgres", kind="preference", metadata={"n": 1, "deep": {"a": [1]}, "$odd": 2})
    found = collection.get(where={"n": 1})
    assert found["documents"] == ["Prefers Postgres"]
    assert found["metadatas"][0]["user_id"] == "alice"


def test_a_lost_sidecar_loses_only_how_memories_were_read(collection: Any, tmp_path: Path) -> None:
    """Kind, key, links and nested metadata come back from the documents."""
    with over(collection, tenant="who", sidecar=tmp_path / "one") as memories:
        alice = memories.space("acme/alice")
        alice.remember("Prefers MySQL", key="db", kind="preference")
        alice.remember("Prefers Postgres", key="db", kind="preference", metadata={"deep": {"a": [1]}, "who": "x"})
        before = {memory.id: memory for memory in alice.list(hidden=True)}
    with over(collection, tenant="who", sidecar=tmp_path / "two") as memories:
        assert {memory.id: memory for memory in memories.space("acme/alice").list(hidden=True)} == before


def test_others_change_and_delete_documents(collection: Any) -> None:
    """The next read has the new text under the old id, or nothing."""
    fill(collection, "The deploy failed")
    alice = over(collection).space("alice")
    alice.recall("deploy")
    collection.update(
        ids=["alice-0"], documents=["Oranges are sweet"], embeddings=EMBEDDER.embed(["Oranges are sweet"])
    )
    assert alice.recall("oranges sweet")[0].memory.text == "Oranges are sweet"
    collection.delete(ids=["alice-0"])
    with pytest.raises(NotFound):
        alice.get("alice-0")


def test_updating_and_erasing_reach_the_document_of_this_tenant_alone(collection: Any) -> None:
    """A memory with the id of another tenant's document is another document."""
    fill(collection, "Theirs", user="bob")
    memories = over(collection)
    memories.space("alice").remember("Ours", id="bob-0")
    memories.space("alice").update("bob-0", text="Ours, changed", metadata={"x": 1})
    assert collection.get(ids=["bob-0"])["documents"] == ["Theirs"]
    assert collection.get(where={"user_id": "alice"})["documents"] == ["Ours, changed"]
    memories.space("alice").forget("bob-0", erase=True)
    assert collection.get()["documents"] == ["Theirs"]
    memories.drop("alice")
    assert memories.drop("bob")
    assert collection.count() == 0


def test_read_only_changes_nothing(collection: Any) -> None:
    """Recall and hiding work beside the documents; what would change them is Forbidden."""
    fill(collection, "The deploy failed")
    before = collection.get(include=["documents", "metadatas"])
    memories = over(collection, read_only=True)
    alice = memories.space("alice")
    alice.recall("deploy failed")
    assert alice.get("alice-0", touch=False).access.count == 1
    for refused in (
        lambda: alice.remember("more"),
        lambda: alice.update("alice-0", text="else"),
        lambda: alice.forget("alice-0", erase=True),
        lambda: memories.drop("alice"),
    ):
        with pytest.raises(Forbidden, match="read_only"):
            refused()
    alice.forget("alice-0")
    assert len(alice.recall("deploy failed")) == 0
    assert collection.get(include=["documents", "metadatas"]) == before


def test_vectors_of_another_embedder_are_refused(collection: Any) -> None:
    """Another dimension is an error that says what to name; nothing is embedded again in silence."""
    fill(collection, "x")
    small = HashEmbedder(8)
    with pytest.raises(EmbedderMismatch, match="16 numbers"):
        Retentive(store=ChromaStore(collection, embedder=small), embedder=small).space("alice").recall("x")


def test_a_collection_without_tenants_is_one_space(collection: Any) -> None:
    """Its name by default; any other is refused, so that nobody takes a space for a wall that is none."""
    collection.add(ids=["a", "b"], documents=["hello there", None], embeddings=EMBEDDER.embed(["hello there", "b"]))
    memories = over(collection)
    assert memories.spaces() == [collection.name]
    assert [hit.memory.id for hit in memories.space(collection.name).recall("hello there")] == ["a"]
    with pytest.raises(InvalidInput, match="tenant="):
        memories.space("other").remember("x")
    named = over(collection, space="acme/docs").space("acme/docs")
    named.remember("second", id="mine")
    assert collection.get(ids=["mine"])["documents"] == ["second"]
    assert collection.get(ids=["b"])["documents"] == [None]


def test_what_is_no_collection_is_refused(collection: Any) -> None:
    """So are tenant and space at once."""
    with pytest.raises(InvalidInput, match="get_collection"):
        ChromaStore("docs")
    with pytest.raises(InvalidInput, match="not both"):
        ChromaStore(collection, tenant="a", space="b")


MANY = 50_000
WHEN = datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def large(client: Any) -> Any:
    """Fifty thousand documents of one tenant with vectors by chance, one of another, and two that tests look for."""
    collection = client.create_collection("large", embedding_function=None)
    vectors = np.random.default_rng(7).normal(size=(MANY, 16)).astype(np.float32)
    for start in range(0, MANY, 5_000):
        numbers = range(start, start + 5_000)
        collection.add(
            ids=[f"n{number}" for number in numbers],
            documents=[f"Note {number} on garden {number % 97}, tree {number % 89}" for number in numbers],
            embeddings=vectors[start : start + 5_000],
            metadatas=[
                {"user_id": "alice", "at": (WHEN - timedelta(hours=n)).timestamp(), "odd": int(n == 31_313)}
                for n in numbers
            ],
        )
    told = {"alice": ("The deploy failed with E4012", "Zelda Fitzgerald reviewed it"), "bob": ("Bob's deploy E4012",)}
    for user, texts in told.items():
        collection.add(
            ids=[f"{user}-{number}" for number, _ in enumerate(texts)],
            documents=list(texts),
            embeddings=EMBEDDER.embed(list(texts)),
            metadatas=[{"user_id": user, "at": WHEN.timestamp()} for _ in texts],
        )
    yield collection
    client.delete_collection("large")


def test_a_recall_over_fifty_thousand_documents_reads_few(large: Any, tmp_path: Path) -> None:
    """The collection searches itself; other tenants stay apart; what was returned has its state in the sidecar."""
    store = ChromaStore(large, embedder=EMBEDDER, created="at", sidecar=tmp_path / "side", max_age=60)
    with Retentive(store=store, embedder=EMBEDDER, clock=lambda: WHEN) as memories:
        alice = memories.space("alice")
        first = alice.recall("what failed with E4012?", limit=3)
        assert first[0].memory.text == "The deploy failed with E4012"
        assert "bob" not in {hit.memory.id.split("-")[0] for hit in first}
        assert store.work.rows < 3_000
        store.work.rows = 0
        assert alice.recall("who is Zelda Fitzgerald?", limit=3)[0].memory.id == "alice-1"
        assert [hit.memory.id for hit in alice.recall("garden", where={"odd": 1}, policy="blend")] == ["n31313"]
        old = alice.recall("tree", until=WHEN - timedelta(hours=49_000), limit=4, policy="blend")
        assert len(old) == 4
        assert all(hit.memory.created_at < WHEN - timedelta(hours=49_000) for hit in old)
        assert store.work.rows < 6_000
        assert alice.get("alice-0", touch=False).access.count == 1
        assert alice.store.count(Gate(true_at=WHEN)) == MANY + 2
    assert large.get(ids=["alice-0"], include=["metadatas"])["metadatas"] == [
        {"user_id": "alice", "at": WHEN.timestamp()}
    ]
