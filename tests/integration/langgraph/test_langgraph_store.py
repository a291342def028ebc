"""LangGraph's store over Retentive: what `BaseStore` promises, and what policy recall adds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph_making import Clock

from retentive import Retentive
from retentive.errors import InvalidInput

pytest.importorskip("langgraph.store.base", reason="the extra 'langgraph' is not installed")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)

from retentive.integrations.langgraph import RetentiveStore

ALICE = ("memories", "alice")


def keys(items: list[SearchItem]) -> list[str]:
    return [item.key for item in items]


def test_put_get_delete(store: RetentiveStore, clock: Clock) -> None:
    """An item comes back as it was put; putting again keeps its creation; deleted it is gone."""
    value = {"content": "Likes Postgres", "n": 1, "nested": {"list": [1, None, "x"]}, "$odd": True, "$$odder": 2}
    store.put(ALICE, "k", value)
    created = clock.now
    item = store.get(ALICE, "k")
    assert item == Item(namespace=ALICE, key="k", value=value, created_at=created, updated_at=created)
    clock.tick(hours=1)
    store.put(ALICE, "k", {"content": "Likes MySQL"})
    item = store.get(ALICE, "k")
    assert item is not None
    assert (item.value, item.created_at, item.updated_at) == ({"content": "Likes MySQL"}, created, clock.now)
    store.delete(ALICE, "k")
    assert store.get(ALICE, "k") is None
    store.put(ALICE, "k", {"content": "again"})
    assert store.get(ALICE, "k") is not None


def test_deleting_leaves_no_text(store: RetentiveStore, memories: Retentive) -> None:
    """A delete is an erasure: the journal keeps lines, no content."""
    store.put(ALICE, "k", {"content": "a secret"})
    store.delete(ALICE, "k")
    assert "secret" not in repr(memories.space("memories/alice").journal())


def test_absent_things(store: RetentiveStore, memories: Retentive) -> None:
    """What is not there is None or empty; asking and deleting create nothing."""
    assert store.get(("nobody",), "k") is None
    assert store.search(("nobody",)) == []
    assert store.search(("nobody",), query="x") == []
    store.delete(("nobody",), "k")
    assert store.list_namespaces() == []
    assert memories.spaces() == []


@pytest.mark.parametrize("key", ["", " ", "k" * 2000, "a/b", "😀", "line\nbreak", "\ud83d"])
def test_any_string_is_a_key(store: RetentiveStore, key: str) -> None:
    """Keys may be whatever LangGraph takes; those that are no id go under a digest and come back whole."""
    if key == "\ud83d":
        with pytest.raises(InvalidInput, match="surrogate"):
            store.put(ALICE, key, {"content": "x"})
        return
    store.put(ALICE, key, {"content": "x"})
    store.put(ALICE, "other", {"content": "y"})
    item = store.get(ALICE, key)
    assert item is not None
    assert item.key == key
    assert set(keys(store.search(ALICE))) == {key, "other"}


@pytest.mark.parametrize("label", ["a/b", "50%", "%2F", " padded ", "tab\there", "%", "Ünï", "A", "a", "x" * 200])
def test_any_label_is_a_namespace_of_its_own(store: RetentiveStore, label: str) -> None:
    """Labels that a space path could not hold are quoted one to one, and listed as they were given."""
    store.put(("top", label), "k", {"content": label})
    store.put(("top", "a", "b"), "k", {"content": "deeper"})
    store.put(("top", "a+b"), "k", {"content": "beside"})
    assert ("top", label) in store.list_namespaces()
    assert [item.value["content"] for item in store.search(("top", label)) if item.namespace == ("top", label)] == [
        label
    ]


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph",)])
def test_namespaces_that_no_store_takes(store: RetentiveStore, namespace: tuple[str, ...]) -> None:
    """The base class refuses them, sync and async."""
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {})
    with pytest.raises(InvalidNamespaceError):
        asyncio.run(store.aput(namespace, "k", {}))


def test_labels_are_checked_behind_the_door_too(store: RetentiveStore) -> None:
    """Operations that come by `batch` are held to the same, and an unknown one is refused."""
    for op in (
        GetOp(("a.b",), "k"),
        PutOp(("a", ""), "k", {}),
        SearchOp((1,)),  # type: ignore[arg-type]
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
    ):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidInput, match="Unknown operation"):
        store.batch(["put"])  # type: ignore[list-item]


def test_a_batch_reads_before_it_writes(store: RetentiveStore) -> None:
    """Results stand in the order of the operations; reads see what was there before; the last write of a key counts."""
    store.put(ALICE, "old", {"content": "old"})
    results = store.batch(
        [
            PutOp(ALICE, "new", {"content": "first"}),
            GetOp(ALICE, "new"),
            PutOp(ALICE, "new", {"content": "second"}),
            GetOp(ALICE, "old"),
            PutOp(ALICE, "old", None),
            ListNamespacesOp(),
            SearchOp(("memories",)),
        ]
    )
    assert results[0] is results[1] is results[2] is results[4] is None
    assert isinstance(results[3], Item)
    assert results[5] == [ALICE]
    assert isinstance(results[6], list)
    assert len(results[6]) == 1
    after = store.get(ALICE, "new")
    assert after is not None
    assert after.value == {"content": "second"}
    assert store.get(ALICE, "old") is None


def test_a_prefix_is_whole_labels(store: RetentiveStore) -> None:
    """`("acme",)` contains `("acme", "x")` and neither `("acme-corp",)` nor `("acm",)`, with and without a query."""
    for namespace in (("acme",), ("acme", "x"), ("acme-corp",), ("acm",), ("x", "acme")):
        store.put(namespace, "/".join(namespace), {"content": "the deploy failed"})
    for query in (None, "deploy failed"):
        assert set(keys(store.search(("acme",), query=query))) == {"acme", "acme/x"}
        assert keys(store.search(("acme", "x"), query=query)) == ["acme/x"]
        assert len(store.search((), query=query)) == 5


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"type": "report"}, {"a", "b"}),
        ({"type": {"$eq": "report"}}, {"a", "b"}),
        ({"type": {"$ne": "report"}}, {"c"}),
        ({"score": {"$gt": 2}}, {"b", "c"}),
        ({"score": {"$gte": 2}}, {"a", "b", "c"}),
        ({"score": {"$lt": 2.5}}, {"a"}),
        ({"score": {"$lte": 2, "$gt": 1}}, {"a"}),
        ({"score": {"$gt": 2}, "type": "report"}, {"b"}),
        ({"missing": None}, {"a", "b", "c"}),
        ({"missing": {"$gt": 1}}, set()),
        ({"flag": 1}, set()),
        ({"flag": True}, {"a"}),
        ({"meta": {"by": "eve"}}, {"a"}),
        ({"meta": {"by": {"$ne": "eve"}}}, {"b"}),
        ({"tags": ["x", "y"]}, {"c"}),
        ({"tags": ["x"]}, set()),
        ({"day": {"$gt": "2026-01-15"}}, {"b"}),
        ({"content": "Report one of the deploy"}, {"a"}),
        ({"score": float("inf")}, set()),
    ],
)
@pytest.mark.parametrize("query", [None, "report of the deploy"])
def test_filters(store: RetentiveStore, query: str | None, wanted: dict[str, Any], found: set[str]) -> None:
    """Equality, operators, nested mappings and lists; with a query the filter comes before the limit."""
    base = {"score": 2, "type": "report", "flag": True, "meta": {"by": "eve", "at": 1}, "day": "2026-01-01"}
    store.put(ALICE, "a", {"content": "Report one of the deploy", **base})
    other = {"score": 3.5, "type": "report", "meta": {"by": "bob"}, "day": "2026-02-01"}
    store.put(ALICE, "b", {"content": "Report two of the deploy", **other})
    store.put(ALICE, "c", {"content": "Note of the deploy", "score": "4", "type": "note", "tags": ["x", "y"]})
    assert set(keys(store.search(ALICE, query=query, filter=wanted))) == found


def test_an_operator_that_nobody_knows(store: RetentiveStore) -> None:
    """It is refused by name, and the known ones are listed."""
    store.put(ALICE, "a", {"n": 1})
    with pytest.raises(ValueError, match=r"\$gte"):
        store.search(ALICE, filter={"n": {"$ge": 1}})


def test_a_filtered_search_is_never_under_filled(store: RetentiveStore) -> None:
    """The few that pass are found though many better ones do not."""
    for number in range(60):
        store.put(ALICE, f"loud{number}", {"content": f"deploy failed on staging number {number}", "n": 0})
    for number in range(3):
        store.put(ALICE, f"quiet{number}", {"content": f"deploy of {number} apples failed", "n": number + 1})
    found = store.search(ALICE, query="deploy failed", filter={"n": {"$gte": 1}}, limit=3)
    assert set(keys(found)) == {"quiet0", "quiet1", "quiet2"}


def test_listing_is_paged_newest_first(store: RetentiveStore, clock: Clock) -> None:
    """Without a query, items of all namespaces below come by creation, newest first, page by page."""
    for number in range(7):
        store.put(("top", str(number % 2)), f"k{number}", {"n": number})
        clock.tick(minutes=1)
    assert keys(store.search(("top",), limit=3)) == ["k6", "k5", "k4"]
    assert keys(store.search(("top",), limit=3, offset=3)) == ["k3", "k2", "k1"]
    assert keys(store.search(("top",), limit=3, offset=6)) == ["k0"]
    assert store.search(("top",), limit=0) == []


def test_search_ranks_by_the_policy_and_pages(store: RetentiveStore) -> None:
    """The best come first, with the policy's scores; pages of one search do not overlap."""
    store.put(ALICE, "x", {"content": "The deploy to staging failed with E4012"})
    store.put(("memories", "bob"), "y", {"content": "The deploy went well"})
    store.put(ALICE, "z", {"content": "Likes oranges"})
    both = store.search(("memories",), query="why did the deploy fail with E4012?")
    assert both[0].key == "x"
    assert both[0].score is not None
    assert [item.score for item in both] == sorted((item.score or 0 for item in both), reverse=True)
    first = store.search(("memories",), query="why did the deploy fail with E4012?", limit=1)
    second = store.search(("memories",), query="why did the deploy fail with E4012?", limit=1, offset=1)
    assert keys(first) == ["x"]
    assert "x" not in keys(second)


def test_only_what_is_returned_is_touched(store: RetentiveStore, memories: Retentive) -> None:
    """A page behind an offset, of several namespaces, counts as a use of its own items alone."""
    store.put(ALICE, "x", {"content": "deploy failed with E4012"})
    store.put(("memories", "bob"), "y", {"content": "deploy failed"})
    returned = keys(store.search(("memories",), query="deploy failed E4012", limit=1))
    assert returned == ["x"]
    assert memories.space("memories/alice").get("x", touch=False).access.count == 1
    assert memories.space("memories/bob").get("y", touch=False).access.count == 0


def test_unindexed_items(store: RetentiveStore) -> None:
    """`index=False` keeps an item out of searches, not out of listings; a later put may change that, both ways."""
    store.put(ALICE, "k", {"content": "the deploy failed"}, index=False)
    assert store.search(ALICE, query="deploy failed") == []
    assert keys(store.search(ALICE)) == ["k"]
    assert store.get(ALICE, "k") is not None
    store.put(ALICE, "k", {"content": "the deploy failed"})
    assert keys(store.search(ALICE, query="deploy failed")) == ["k"]
    store.put(ALICE, "k", {"content": "the deploy failed"}, index=False)
    store.put(ALICE, "k", {"content": "the deploy failed"}, index=False)
    assert store.search(ALICE, query="deploy failed") == []


def test_only_the_paths_asked_for_are_searched(memories: Retentive) -> None:
    """The store's fields, or those of a put, make the text; an item without any of them is not searched."""
    store = RetentiveStore(memories, fields=["title", "notes[*].text"])
    value = {"title": "Deploys", "notes": [{"text": "failed on staging"}], "secret": "oranges"}
    store.put(ALICE, "a", value)
    store.put(ALICE, "b", {"other": "oranges"})
    store.put(ALICE, "c", value, index=["secret"])
    assert memories.space("memories/alice").get("a").text == "Deploys\nfailed on staging"
    assert keys(store.search(ALICE, query="oranges")) == ["c"]
    assert keys(store.search(ALICE, query="failed on staging")) == ["a"]


def test_what_a_person_would_read_is_the_text(store: RetentiveStore, memories: Retentive) -> None:
    """By default the words themselves, other entries behind their names; LangMem's envelope is no text."""
    store.put(ALICE, "a", {"kind": "Memory", "content": {"content": "Likes tea", "importance": 3, "empty": None}})
    store.put(ALICE, "b", {"text": "Deploys", "tags": ["x", "y"], "flag": True})
    store.put(ALICE, "c", {})
    texts = {memory.id: memory.text for memory in memories.space("memories/alice").list(hidden=True)}
    assert texts == {"a": "Likes tea\nimportance: 3", "b": "Deploys\ntags: x\ntags: y\nflag: True", "c": "item c"}


def test_more_may_be_said_of_an_item(memories: Retentive) -> None:
    """`describe` gives kind, importance and the like, which the policy ranks by; a typo is refused."""
    store = RetentiveStore(memories, describe=lambda _namespace, _key, value: {"importance": value["weight"]})
    store.put(ALICE, "a", {"content": "x", "weight": 0.9})
    assert memories.space("memories/alice").get("a").importance == 0.9
    store.put(ALICE, "a", {"content": "x", "weight": 0.2})
    assert memories.space("memories/alice").get("a").importance == 0.2
    wrong = RetentiveStore(memories, describe=lambda *_: {"importence": 1})
    with pytest.raises(ValueError, match="importance"):
        wrong.put(ALICE, "b", {"content": "x"})


def test_memories_that_came_another_way_are_items(store: RetentiveStore, memories: Retentive) -> None:
    """What was remembered without LangGraph is found with its text as content; superseded and forgotten is not."""
    alice = memories.space("memories/alice")
    kept = alice.remember("Prefers tea", key="drink", metadata={"ticket": 7})
    item = store.get(ALICE, kept.id)
    assert item is not None
    assert item.value == {"content": "Prefers tea", "ticket": 7}
    assert keys(store.search(ALICE, query="prefers tea", filter={"ticket": 7})) == [kept.id]
    newer = alice.remember("Prefers coffee", key="drink")
    assert store.get(ALICE, kept.id) is None
    assert keys(store.search(ALICE)) == [newer.id]
    alice.forget(newer.id)
    assert store.get(ALICE, newer.id) is None
    assert store.search(ALICE) == []
    assert store.list_namespaces() == []
    store.put(ALICE, kept.id, {"content": "Prefers water"})
    assert keys(store.search(ALICE, query="prefers water")) == [kept.id]


def test_pinned_memories_are_found(store: RetentiveStore, memories: Retentive) -> None:
    """A store has no core block to show them in, so a search returns them."""
    pinned = memories.space("memories/alice").remember("Is allergic to nuts", pinned=True)
    assert keys(store.search(ALICE, query="allergic to nuts")) == [pinned.id]


def test_a_root_is_a_wall(memories: Retentive) -> None:
    """Below a root, namespaces of other roots and other spaces are neither listed nor found."""
    memories.space("elsewhere/alice").remember("the deploy failed")
    one, two = RetentiveStore(memories, root="one"), RetentiveStore(memories, root=("tw", "o"))
    one.put(ALICE, "k", {"content": "the deploy failed"})
    assert two.search((), query="deploy failed") == []
    assert two.list_namespaces() == []
    assert two.get(ALICE, "k") is None
    assert one.list_namespaces() == [ALICE]
    assert memories.spaces() == ["elsewhere/alice", "one/memories/alice"]


def test_spaces_that_are_no_namespaces_stay_out(store: RetentiveStore, memories: Retentive) -> None:
    """A space whose path no namespace is written as cannot be addressed, so it is not shown."""
    for path in ("acme.com/alice", "50%/alice", "%zz", "%ff"):
        memories.space(path).remember("the deploy failed")
    assert store.list_namespaces() == []
    assert store.search((), query="deploy failed") == []


def test_a_label_too_long_for_a_space(store: RetentiveStore) -> None:
    """It is refused with its length and the limit."""
    with pytest.raises(ValueError, match="255"):
        store.put(("x" * 256,), "k", {})


@pytest.mark.parametrize(
    ("asked", "listed"),
    [
        ({}, [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c", "f"), ("b", "a", "f")]),
        ({"prefix": ("a", "b")}, [("a", "b", "c"), ("a", "b", "d", "e")]),
        ({"suffix": ("f",)}, [("a", "c", "f"), ("b", "a", "f")]),
        ({"prefix": ("a",), "suffix": ("f",)}, [("a", "c", "f")]),
        ({"prefix": ("a", "*", "f")}, [("a", "c", "f")]),
        ({"suffix": ("*", "f")}, [("a", "c", "f"), ("b", "a", "f")]),
        ({"max_depth": 2}, [("a", "b"), ("a", "c"), ("b", "a")]),
        ({"prefix": ("a",), "limit": 1, "offset": 1}, [("a", "b", "d", "e")]),
        ({"limit": 0}, []),
        ({"prefix": ("a", "b", "c", "d")}, []),
    ],
)
def test_namespaces_are_listed(store: RetentiveStore, asked: dict[str, Any], listed: list[tuple[str, ...]]) -> None:
    """By prefix, suffix, wildcard, depth and page; one that was emptied is gone."""
    for namespace in (("a", "b", "c"), ("a", "b", "d", "e"), ("a", "c", "f"), ("b", "a", "f"), ("gone",)):
        store.put(namespace, "k", {"content": "x"})
    store.delete(("gone",), "k")
    assert store.list_namespaces(**asked) == listed


def test_values_that_are_no_json(store: RetentiveStore) -> None:
    """They are refused by name, and nothing of the batch is half there."""
    with pytest.raises(InvalidInput, match="JSON"):
        store.put(ALICE, "k", {"x": {1, 2}})
    assert store.get(ALICE, "k") is None


def test_async_does_the_same(store: RetentiveStore) -> None:
    """Put, get, search, list and delete with `await`, many at once."""

    async def talk() -> list[Any]:
        await asyncio.gather(*(store.aput(ALICE, f"k{n}", {"content": f"deploy {n}", "n": n}) for n in range(8)))
        found = await store.asearch(ALICE, query="deploy", filter={"n": {"$lt": 2}})
        listed, got = await asyncio.gather(store.alist_namespaces(), store.aget(ALICE, "k3"))
        await store.adelete(ALICE, "k3")
        return [set(keys(found)), listed, got and got.value["n"], await store.aget(ALICE, "k3")]

    assert asyncio.run(talk()) == [{"k0", "k1"}, [ALICE], 3, None]


def test_two_stores_over_one_place_write_one_key(memories: Retentive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that another process took between our look and our write is changed, not refused."""
    one, two = RetentiveStore(memories), RetentiveStore(memories)
    alice = memories.space("memories/alice")
    raced = iter([True])
    original: Callable[..., Any] = type(alice).remember_many

    def late(space: Any, items: Any) -> Any:
        if next(raced, False):
            two.put(ALICE, "k", {"content": "theirs"})
        return original(space, items)

    monkeypatch.setattr(type(alice), "remember_many", late)
    one.put(ALICE, "k", {"content": "ours"})
    assert [item.value for item in one.search(ALICE)] == [{"content": "ours"}]


def test_two_stores_over_one_place_delete_one_key(memories: Retentive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that another process deleted between our look and our change is written anew."""
    one, two = RetentiveStore(memories), RetentiveStore(memories)
    one.put(ALICE, "k", {"content": "first"})
    space = type(memories.space("memories/alice"))
    raced = iter([True])
    original: Callable[..., Any] = space.update

    def late(self: Any, memory_id: str, **changes: Any) -> Any:
        if next(raced, False):
            two.delete(ALICE, "k")
        return original(self, memory_id, **changes)

    monkeypatch.setattr(space, "update", late)
    one.put(ALICE, "k", {"content": "second"})
    assert [item.value for item in one.search(ALICE)] == [{"content": "second"}]


def test_many_at_once_lose_nothing(store: RetentiveStore) -> None:
    """Puts, deletes, reads and listings of the same keys from many threads end in one of the states put."""

    async def storm() -> None:
        jobs: list[Any] = []
        for turn in range(4):
            for n in range(10):
                jobs += [
                    store.aput(ALICE, f"k{n}", {"n": turn}),
                    store.aget(ALICE, f"k{n}"),
                    store.asearch(("memories",)),
                ]
                jobs += [store.adelete(ALICE, f"k{n}"), store.aput(ALICE, f"k{n}", {"n": turn})]
        await asyncio.gather(*jobs)

    asyncio.run(storm())
    assert {item.value["n"] for item in store.search(ALICE, limit=99)} <= {0, 1, 2, 3}


def test_a_place_of_its_own(tmp_path: Any) -> None:
    """Given a path, the store opens it, and closes it again."""
    with RetentiveStore(tmp_path / "m") as store:
        store.put(ALICE, "k", {"content": "x"})
    with RetentiveStore(str(tmp_path / "m")) as store:
        assert store.get(ALICE, "k") is not None
