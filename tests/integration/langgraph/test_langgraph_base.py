"""Our policies over a LangGraph store that others fill: their items are memories, and stay theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph_making import Clock

from retentive import Retentive, policies
from retentive.errors import EmbedderMismatch, NotFound, RetentiveError
from retentive.testing.fakes import HashEmbedder

pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from retentive.integrations.langgraph_base import LangGraphStore
from retentive.integrations.namespaces import label_of, segment_of

ALICE = ("memories", "alice")


def over(base: BaseStore, clock: Clock | None = None, **options: Any) -> Retentive:
    store = LangGraphStore(base, embedder=HashEmbedder(), max_age=0, **options)
    return Retentive(store=store, embedder=HashEmbedder(), clock=clock)


def values(base: BaseStore) -> dict[str, dict[str, Any]]:
    return {item.key: item.value for item in base.search(ALICE)}


def test_items_of_others_are_recalled(clock: Clock) -> None:
    """What agents put long before is found under a policy, explained, with its value as metadata, and left as it is."""
    base = InMemoryStore()
    base.put(ALICE, "a", {"content": "The deploy failed with E4012", "severity": 3})
    base.put(ALICE, "b", {"content": "Likes oranges"})
    base.put(("memories", "bob"), "a", {"content": "The deploy failed with E4012, says Bob"})
    before = values(base)
    memories = over(base)
    assert memories.spaces() == ["memories/alice", "memories/bob"]
    recall = memories.space("memories/alice").recall("deploy E4012", where={"severity": 3})
    assert [hit.memory.text for hit in recall] == ["The deploy failed with E4012\nseverity: 3"]
    assert recall.explain()
    assert values(base) == before


def test_how_items_were_read_is_kept_in_the_sidecar(tmp_path: Path, clock: Clock) -> None:
    """Accesses and feedback outlive the process and touch no item."""
    base = InMemoryStore()
    base.put(ALICE, "a", {"content": "The deploy failed with E4012"})
    before = values(base)
    with over(base, clock, sidecar=tmp_path / "side") as memories:
        alice = memories.space("memories/alice")
        alice.recall("deploy E4012").feedback(used=["a"], outcome="good")
    with over(base, clock, sidecar=tmp_path / "side") as memories:
        kept = memories.space("memories/alice").get("a", touch=False)
    assert kept.access.count == 1
    assert kept.importance == 0.525
    assert values(base) == before


def test_others_change_and_delete_items() -> None:
    """The next read has the new text under the old id, or nothing; the journal says what came over."""
    base = InMemoryStore()
    memories = over(base)
    alice = memories.space("memories/alice")
    base.put(ALICE, "a", {"content": "The deploy failed"})
    assert len(alice.recall("deploy failed")) == 1
    base.put(ALICE, "a", {"content": "Oranges are sweet"})
    assert len(alice.recall("deploy failed")) == 0
    assert [hit.memory.id for hit in alice.recall("oranges sweet")] == ["a"]
    base.delete(ALICE, "a")
    with pytest.raises(NotFound):
        alice.get("a")
    assert [line.action for line in alice.journal("a")] == ["import", "import", "erase"]
    assert all(line.after is None for line in alice.journal("a"))


def test_what_we_remember_is_an_item() -> None:
    """Other readers of the base store see text and metadata; superseding, updating and erasing reach it."""
    base = InMemoryStore()
    alice = over(base).space("memories/alice")
    old = alice.remember("Prefers MySQL", key="db", metadata={"ticket": 7, "content": "odd", "$x": 1})
    new = alice.remember("Prefers Postgres", key="db", kind="preference")
    assert values(base)[old.id]["content"] == "Prefers MySQL"
    assert values(base)[old.id]["ticket"] == 7
    alice.update(new.id, text="Prefers Postgres 18")
    assert values(base)[new.id]["content"] == "Prefers Postgres 18"
    alice.forget(old.id, erase=True)
    assert set(values(base)) == {new.id}


def test_a_lost_sidecar_loses_only_how_memories_were_read(clock: Clock) -> None:
    """Kind, key, times, links and metadata come back from the item; a record that somebody spoilt is a plain item."""
    base = InMemoryStore()
    alice = over(base, clock).space("memories/alice")
    old = alice.remember("Prefers MySQL", key="db", kind="preference", at=clock.now, metadata={"content": 1, "$y": 2})
    alice.remember("Prefers Postgres", key="db", kind="preference", importance=0.9, tags=["stack"])
    before = {memory.id: memory for memory in alice.list(hidden=True)}
    again = over(base, clock).space("memories/alice")
    assert {memory.id: memory for memory in again.list(hidden=True)} == before
    base.put(ALICE, old.id, {"content": "Prefers MySQL", "$retentive": {"kind": 7}})
    spoilt = over(base, clock).space("memories/alice").get(old.id)
    assert (spoilt.kind, spoilt.key) == ("fact", None)


def test_changing_the_text_of_an_item_of_others() -> None:
    """Its value says the new text, and keeps what was no text."""
    base = InMemoryStore()
    base.put(ALICE, "a", {"title": "Deploys", "body": "fail", "n": 3})
    alice = over(base).space("memories/alice")
    alice.update("a", text="Deploys work")
    assert values(base) == {"a": {"n": 3, "content": "Deploys work"}}
    assert alice.get("a").text == "Deploys work"
    alice.update("a", metadata={"team": "core"})
    assert values(base)["a"]["team"] == "core"


def test_items_without_text_are_kept_and_not_recalled() -> None:
    """Of the fields that are searched nothing is there: the item is listed, and in no recall."""
    base = InMemoryStore()
    base.put(ALICE, "a", {"n": None, "body": "deploy"})
    alice = over(base, fields=["title"]).space("memories/alice")
    assert len(alice.recall("deploy", policy=policies.blend)) == 0
    assert [memory.metadata["body"] for memory in alice.list(hidden=True)] == ["deploy"]


def test_a_base_store_that_fails_changes_nothing() -> None:
    """Where an item cannot be put, the memory is not there either."""

    class Failing(InMemoryStore):
        broken = False

        def batch(self, ops: Any) -> Any:
            ops = list(ops)
            if self.broken and any(type(op).__name__ == "PutOp" for op in ops):
                raise OSError("the base store is away")
            return super().batch(ops)

    base = Failing()
    alice = over(base).space("memories/alice")
    alice.remember("before")
    base.broken = True
    with pytest.raises(OSError, match="away"):
        alice.remember("lost")
    base.broken = False
    assert [memory.text for memory in alice.list()] == ["before"]


def test_another_embedder_is_refused() -> None:
    """Vectors of items read by one embedder are not mixed with another's."""
    base = InMemoryStore()
    base.put(ALICE, "a", {"content": "x"})
    store = LangGraphStore(base, embedder=HashEmbedder(16), max_age=0)
    with pytest.raises(EmbedderMismatch):
        Retentive(store=store, embedder=HashEmbedder(64)).space("memories/alice").recall("x")


def test_a_look_serves_for_a_while() -> None:
    """Within `max_age` the base store is not read again, however often a space is opened; ours is seen at once."""
    base = InMemoryStore()
    alice = Retentive(store=LangGraphStore(base, max_age=3600, embedder=HashEmbedder()), embedder=HashEmbedder())
    space = alice.space("memories/alice")
    handle = alice.store.open("memories/alice")
    space.remember("ours")
    assert len(handle.page(_all(), limit=9)) == 1
    base.put(ALICE, "a", {"content": "theirs"})
    assert len(handle.page(_all(), limit=9)) == 1
    with handle.transaction():
        pass
    assert len(alice.store.open("memories/alice").page(_all(), limit=9)) == 1
    assert len(LangGraphStore(base, embedder=HashEmbedder()).open("memories/alice").page(_all(), limit=9)) == 2


def _all() -> Any:
    from retentive.types import Gate

    return Gate(true_at=Clock().now, hidden=True)


def test_what_was_erased_is_scrubbed_from_the_sidecar(tmp_path: Path) -> None:
    """Its files hold no word of it any more; that the base store's do not is not promised."""
    base = InMemoryStore()
    with over(base, sidecar=tmp_path / "side") as memories:
        alice = memories.space("memories/alice")
        kept = alice.remember("an unmistakable secret")
        told = alice.forget(kept.id, erase=True)
        assert told is not None
        assert not told.complete
        files = [path.read_bytes() for path in (tmp_path / "side").rglob("*") if path.is_file()]
        assert files
        assert not any(b"unmistakable" in data for data in files)
    assert values(base) == {}


def test_dropping_takes_the_items_along() -> None:
    """And leaves those of namespaces below and beside."""
    base = InMemoryStore()
    for namespace in (ALICE, (*ALICE, "deeper"), ("memories", "alice2")):
        base.put(namespace, "a", {"content": "x"})
    memories = over(base)
    assert memories.drop("memories/alice")
    assert not memories.drop("memories/alice")
    assert memories.spaces() == ["memories/alice/deeper", "memories/alice2"]


def test_a_root_keeps_other_namespaces_out() -> None:
    """Spaces are namespaces below the root; what lies beside it is no space."""
    base = InMemoryStore()
    base.put(("other",), "a", {"content": "x"})
    memories = over(base, root=("agents",))
    memories.space("acme.com/alice").remember("x")
    assert memories.spaces() == ["acme.com/alice"]
    assert ("agents", "%%acme%2Ecom", "alice") in base.list_namespaces()


@pytest.mark.parametrize(
    "segment", ["alice", "", ".", "a.b", "%zz", "%61", "%25%25x", "%%x", "%%%61", "ü", "\ud800", "a\0b", " x"]
)
def test_segments_and_labels_are_one_to_one(segment: str) -> None:
    """Every segment has a label that LangGraph takes, and it leads back."""
    label = label_of(segment)
    assert label
    assert not set(label) & {".", "\0"}
    assert segment_of(label) == segment


@pytest.mark.parametrize("label", ["%%alice", "%%", "%%%%", "%%a%2Fb", "%%%FF", "%%a%2Eb", "%%%61", "%alice", "alice"])
def test_no_two_labels_lead_to_one_segment(label: str) -> None:
    """What others called a thing is found under that name alone, also where it looks like a spelling of ours."""
    assert label_of(segment_of(label)) == label
    assert "/" not in segment_of(label)


def test_a_namespace_that_looks_like_a_spelling_has_a_space_of_its_own() -> None:
    """Its items are listed, and reached, and are not those of the name it seems to spell."""
    base = InMemoryStore()
    base.put(("%%alice",), "a", {"content": "Prefers tea"})
    base.put(("alice",), "b", {"content": "Prefers coffee"})
    memories = over(base)
    texts = {path: [memory.text for memory in memories.space(path).list()] for path in memories.spaces()}
    assert texts == {"%25%25alice": ["Prefers tea"], "alice": ["Prefers coffee"]}


def test_the_default_embedder_is_loaded_only_when_needed() -> None:
    """Without items of others none is asked for."""
    store = LangGraphStore(InMemoryStore())
    assert store._embedder is None
    try:
        loaded = store.embedder
    except RetentiveError:
        pytest.skip("the bundled model is not installed")
    assert loaded is store.embedder
