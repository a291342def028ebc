"""mem0's interface over Retentive: its arguments, old and new, its results, and what it does with odd ones."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.compat.mem0 import AsyncMemory, Memory
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MESSAGES = [
    {"role": "system", "content": "You are a helpful assistant"},
    {"role": "user", "name": "alice", "content": "I moved to Lisbon in spring"},
    {"role": "assistant", "content": [{"type": "text", "text": "Lisbon is lovely"}, {"type": "image_url"}]},
    {"role": "user", "content": "  "},
    {"role": "user"},
    "no message",
]


CRAFTED = ["{id}@user/../secret", "{id}@user/..", "{id}@secret", "{id}@user/a/b", "{id}@user/%zz", "@user/a", 7]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def home(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Retentive]:
    where = ":memory:" if request.param == "memory" else str(tmp_path / "m")
    with Retentive(where, embedder=HashEmbedder(), clock=clock) as opened:
        yield opened


@pytest.fixture
def memory(home: Retentive) -> Memory:
    return Memory(memories=home)


def texts(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def only(answer: dict[str, Any]) -> dict[str, Any]:
    (item,) = answer["results"]
    found: dict[str, Any] = item
    return found


def test_add_a_text(memory: Memory) -> None:
    """One memory, as mem0 reports it, found by what it says."""
    added = only(memory.add("Prefers Postgres", user_id="alice", metadata={"team": "core"}))
    assert added.keys() == {"id", "memory", "event", "actor_id", "role"}
    assert (added["memory"], added["event"], added["role"]) == ("Prefers Postgres", "ADD", "user")
    found = only(memory.search("postgres", filters={"user_id": "alice"}))
    assert found["id"] == added["id"]
    assert found["score"] > 0
    assert found["hash"] == hashlib.md5(b"Prefers Postgres", usedforsecurity=False).hexdigest()
    assert (found["metadata"], found["user_id"], found["role"]) == ({"team": "core"}, "alice", "user")
    assert found["created_at"] == found["updated_at"] == NOW.isoformat()


def test_add_messages(memory: Memory) -> None:
    """Each message that says something is a memory of who said it; instructions and empty ones are none."""
    answer = memory.add(MESSAGES, user_id="alice")
    assert texts(answer) == ["I moved to Lisbon in spring", "Lisbon is lovely"]
    assert [(item["role"], item["actor_id"]) for item in answer["results"]] == [("user", "alice"), ("assistant", None)]
    assert texts(memory.add({"role": "user", "content": "one message"}, run_id=7)) == ["one message"]
    assert memory.add([], user_id="alice") == {"results": []}


def test_an_extractor_decides_what_is_kept(home: Retentive) -> None:
    """With `infer` the texts are the extractor's; without, the messages as they are."""
    memory = Memory(memories=home, extract=lambda messages: [f"{len(messages)} messages about Lisbon"])
    assert texts(memory.add(MESSAGES, user_id="a")) == ["6 messages about Lisbon"]
    assert len(memory.add(MESSAGES, user_id="a", infer=False)["results"]) == 2


def test_old_and_new_arguments_mean_the_same(memory: Memory) -> None:
    """Ids in filters or beside them, `limit` or `top_k`, `data` or `text`; contradictions are refused."""
    for number in range(3):
        memory.add(f"deploy number {number} failed", user_id="alice", agent_id="ops")
    new = memory.search("deploy failed", filters={"user_id": "alice", "agent_id": "ops"})
    old = memory.search("deploy failed", user_id="alice", agent_id="ops", limit=5)
    assert sorted(texts(new)) == sorted(texts(old))
    assert len(memory.search("deploy failed", user_id="alice", top_k=2)["results"]) == 2
    listed = memory.get_all(filters={"user_id": "alice"}, top_k=2)
    assert texts(memory.get_all(user_id="alice", limit=2)) == texts(listed)
    item = memory.get_all(user_id="alice")["results"][0]
    memory.update(item["id"], data="deploy was rolled back")
    assert only({"results": [memory.get(item["id"])]})["memory"] == "deploy was rolled back"
    with pytest.raises(ValueError, match="twice"):
        memory.search("x", user_id="alice", filters={"user_id": "bob"})
    with pytest.raises(ValueError, match="twice"):
        memory.get_all(user_id="alice", top_k=1, limit=2)
    with pytest.raises(ValueError, match="twice"):
        memory.update(item["id"], "a", data="b")


def test_get(memory: Memory) -> None:
    """By the id alone; an unknown, foreign or deleted one is None."""
    added = only(memory.add("Prefers Postgres", user_id="a/b%", metadata={"n": 1}))
    item = memory.get(added["id"])
    assert item is not None
    assert (item["memory"], item["metadata"], item["score"]) == ("Prefers Postgres", {"n": 1}, None)
    assert item["user_id"] == "a/b%"
    assert memory.get("nothing") is None
    assert memory.get("nothing@user/alice") is None


@pytest.mark.parametrize(
    "crafted", ["{id}@user/../secret", "{id}@secret", "{id}@user/a/b", "@user/alice", "{id}@agent/", 7]
)
def test_an_id_leads_nowhere_else(memory: Memory, home: Retentive, crafted: Any) -> None:
    """An id that somebody made up reaches no space that is not a scope's."""
    secret = home.space("secret").remember("a secret")
    home.space("mem0/user/a/b").remember("another", id=secret.id)
    crafted = crafted.format(id=secret.id) if isinstance(crafted, str) else crafted
    assert memory.get(crafted) is None
    assert memory.history(crafted) == []
    with pytest.raises(ValueError, match="not found"):
        memory.delete(crafted)


def test_update(memory: Memory, clock: Clock) -> None:
    """Text, metadata (added to) and expiration; ids of a scope cannot be changed by metadata; nothing is refused."""
    added = only(memory.add("old", user_id="alice", metadata={"a": 1, "user_id": "bob", "b": 2}))
    clock.now += timedelta(hours=1)
    assert memory.update(added["id"], "new", {"a": 3, "user_id": "bob"}) == {"message": "Memory updated successfully!"}
    item = only(memory.get_all(user_id="alice"))
    assert (item["memory"], item["metadata"], item["user_id"]) == ("new", {"a": 3, "b": 2}, "alice")
    assert item["updated_at"] == clock.now.isoformat()
    with pytest.raises(ValueError, match="At least one"):
        memory.update(added["id"])
    with pytest.raises(ValueError, match="not found"):
        memory.update("x@user/alice", "new")


def test_delete_erases(memory: Memory, home: Retentive) -> None:
    """What was deleted is nowhere, its history says only that; deleting again says it is not there."""
    added = only(memory.add("a secret", user_id="alice"))
    assert memory.delete(added["id"]) == {"message": "Memory deleted successfully!"}
    assert memory.get(added["id"]) is None
    assert memory.search("secret", user_id="alice") == memory.get_all(user_id="alice") == {"results": []}
    assert "secret" not in repr(home.space("mem0/user/alice").journal())
    with pytest.raises(ValueError, match="not found"):
        memory.delete(added["id"])


def test_history(memory: Memory, clock: Clock) -> None:
    """Additions, changes and deletions, in mem0's fields."""
    added = only(memory.add([{"role": "user", "name": "al", "content": "old"}], user_id="alice"))
    clock.now += timedelta(hours=1)
    memory.update(added["id"], "new")
    first, second = memory.history(added["id"])
    assert (first["event"], first["old_memory"], first["new_memory"], first["actor_id"]) == ("ADD", None, "old", "al")
    assert (second["event"], second["old_memory"], second["new_memory"]) == ("UPDATE", "old", "new")
    assert second["updated_at"] == clock.now.isoformat()
    memory.delete(added["id"])
    last = memory.history(added["id"])[-1]
    assert (last["event"], last["new_memory"], last["is_deleted"]) == ("DELETE", None, True)


def test_delete_all(memory: Memory) -> None:
    """Of exactly the scope that is named; expired ones too."""
    memory.add("one", user_id="alice", run_id="r1")
    memory.add("two", user_id="alice", run_id="r2", expiration_date="2026-01-01")
    memory.add("three", user_id="bob", run_id="r1")
    memory.delete_all(user_id="alice", run_id="r1")
    assert texts(memory.get_all(user_id="alice", show_expired=True)) == ["two"]
    memory.delete_all(user_id="alice")
    assert texts(memory.get_all(user_id="alice", show_expired=True)) == []
    assert texts(memory.get_all(user_id="bob")) == ["three"]
    with pytest.raises(ValueError, match="at least one"):
        memory.delete_all()


def test_reset_drops_what_is_ours(memory: Memory, home: Retentive) -> None:
    """Everything below the root, and nothing beside it."""
    memory.add("one", user_id="alice")
    memory.add("two", agent_id="ops")
    for path in ("mem0-other", "elsewhere"):
        home.space(path).remember("stays")
    memory.reset()
    assert home.spaces() == ["elsewhere", "mem0-other"]


def test_expiration(memory: Memory, clock: Clock) -> None:
    """A memory holds until the end of its day; expired it shows only where asked for, and may be prolonged."""
    added = only(memory.add("the sale ends", user_id="a", expiration_date=date(2026, 3, 1)))
    assert only(memory.get_all(user_id="a"))["expiration_date"] == "2026-03-01"
    clock.now += timedelta(hours=12)
    assert texts(memory.search("sale ends", user_id="a")) == texts(memory.get_all(user_id="a")) == []
    assert texts(memory.search("sale ends", user_id="a", show_expired=True)) == ["the sale ends"]
    assert texts(memory.get_all(user_id="a", show_expired=True)) == ["the sale ends"]
    memory.update(added["id"], expiration_date=datetime(2026, 4, 1, 9, tzinfo=UTC))
    assert texts(memory.search("sale ends", user_id="a")) == ["the sale ends"]
    memory.update(added["id"], expiration_date=None)
    clock.now += timedelta(days=999)
    assert texts(memory.get_all(user_id="a")) == ["the sale ends"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"n": 1}, {"one"}),
        ({"n": {"eq": 1}}, {"one"}),
        ({"n": {"ne": 1}}, {"two", "three"}),
        ({"n": {"gt": 1, "lte": 2}}, {"two"}),
        ({"n": {"gte": 2}}, {"two"}),
        ({"n": {"lt": 2}}, {"one"}),
        ({"n": {"in": [1, 5]}}, {"one"}),
        ({"n": {"nin": [1]}}, {"two", "three"}),
        ({"tag": {"contains": "Prod"}}, {"one"}),
        ({"tag": {"icontains": "prod"}}, {"one", "two"}),
        ({"tag": "*"}, {"one", "two"}),
        ({"AND": [{"n": {"gte": 1}}, {"tag": {"icontains": "x"}}]}, {"two"}),
        ({"OR": [{"n": 1}, {"flag": True}]}, {"one", "three"}),
        ({"NOT": [{"n": 1}]}, {"two", "three"}),
        ({"n": None}, set()),
        ({"AND": [{"user_id": "bob"}]}, set()),
    ],
)
def test_filters(memory: Memory, wanted: dict[str, Any], found: set[str]) -> None:
    """Every operator of mem0's, in searches and listings alike."""
    memory.add("one", user_id="a", metadata={"n": 1, "tag": "Production"})
    memory.add("two", user_id="a", metadata={"n": 2, "tag": "xprodx"})
    memory.add("three", user_id="a", metadata={"flag": True})
    assert set(texts(memory.get_all(filters={"user_id": "a", **wanted}))) == found
    searched = memory.search("one two three", filters={"user_id": "a", **wanted}, threshold=0)
    assert set(texts(searched)) <= found
    if found:
        assert searched["results"]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("add", {"messages": "x"}),
        ("add", {"messages": 7, "user_id": "a"}),
        ("add", {"messages": "x", "user_id": " "}),
        ("add", {"messages": "x", "user_id": "a b"}),
        ("add", {"messages": "x", "user_id": "a", "memory_type": "semantic"}),
        ("add", {"messages": "x", "user_id": "a", "expiration_date": "soon"}),
        ("add", {"messages": "x", "user_id": "a", "expiration_date": 7}),
        ("add", {"messages": "x", "user_id": "a", "metadata": {"created_at": "then"}}),
        ("search", {"query": "x"}),
        ("search", {"query": " ", "user_id": "a"}),
        ("search", {"query": "x", "user_id": "a", "top_k": -1}),
        ("search", {"query": "x", "user_id": "a", "top_k": True}),
        ("search", {"query": "x", "user_id": "a", "threshold": 2}),
        ("search", {"query": "x", "user_id": "a", "reference_date": "2026-01-01"}),
        ("search", {"query": "x", "filters": {"user_id": {"in": ["a", "b"]}}}),
        ("search", {"query": "x", "filters": {"user_id": "a", "AND": {"n": 1}}}),
        ("search", {"query": "x", "filters": {"user_id": "a", "n": {"near": 1}}}),
        ("get_all", {}),
        ("get_all", {"filters": {"n": 1}}),
    ],
)
def test_odd_arguments_are_refused(memory: Memory, verb: str, arguments: dict[str, Any]) -> None:
    """As in mem0, by a ValueError that names the value."""
    memory.add("x", user_id="a", metadata={"n": 1})
    with pytest.raises(ValueError, match=r"\w"):
        getattr(memory, verb)(**arguments)


def test_ids_may_be_numbers_and_are_trimmed(memory: Memory) -> None:
    """As mem0 takes them."""
    memory.add("x", user_id=7)
    assert texts(memory.get_all(filters={"user_id": " 7 "})) == ["x"]


def test_when_it_was_said(memory: Memory) -> None:
    """`timestamp`, or `created_at` among the metadata, is when; without a zone it is UTC's."""
    memory.add("one", user_id="a", metadata={"created_at": "2025-01-01T00:00:00"})
    memory.add("two", user_id="a", timestamp="2025-02-01T00:00:00+00:00")
    found = {item["memory"]: item["created_at"][:10] for item in memory.get_all(user_id="a")["results"]}
    assert found == {"one": "2025-01-01", "two": "2025-02-01"}


def test_procedures_are_a_kind(memory: Memory, home: Retentive) -> None:
    """mem0's procedural memories are kept as what they are."""
    memory.add("Check the gates, then deploy", agent_id="ops", memory_type="procedural_memory", prompt="sum up")
    assert [kept.kind for kept in home.space("mem0/agent/ops").list()] == ["procedure"]


def test_a_threshold_and_an_explanation(memory: Memory) -> None:
    """Scores are the policy's; the details add up to the score."""
    memory.add("The deploy failed with E4012", user_id="a")
    found = only(memory.search("deploy E4012", user_id="a", explain=True, rerank=True))
    assert found["score"] == pytest.approx(sum(found["score_details"].values()))
    assert memory.search("deploy E4012", user_id="a", threshold=1.0) == {"results": []}
    assert memory.search("deploy E4012", user_id="a", top_k=0) == {"results": []}


def test_an_agent_without_a_user_sees_users_only_where_allowed(home: Retentive) -> None:
    """By default users are walls for agents too; `across=True` reads as mem0 does."""
    for across, found in ((False, ["own"]), (True, ["a's", "own"])):
        memory = Memory(memories=home, across=across, root=f"m{across}")
        memory.add("own", agent_id="ops")
        memory.add("a's", agent_id="ops", user_id="a")
        memory.add("other", agent_id="dev", user_id="a")
        assert sorted(texts(memory.get_all(agent_id="ops"))) == found


def test_where_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A location in the configuration, a path, or the configured store; mem0's own settings are warned about."""
    with Memory.from_config({"location": tmp_path / "m"}) as memory:
        memory.add("x", user_id="a")
    with Memory(memories=tmp_path / "m") as memory:
        assert texts(memory.get_all(user_id="a")) == ["x"]
    monkeypatch.setenv("RETENTIVE_STORE", str(tmp_path / "m"))
    with (
        pytest.warns(UserWarning, match="llm, vector_store"),
        Memory.from_config({"vector_store": {}, "llm": {}}) as memory,
    ):
        assert texts(memory.get_all(user_id="a")) == ["x"]


def test_async_does_the_same(home: Retentive) -> None:
    """Every verb with `await`."""

    async def talk() -> list[Any]:
        async with AsyncMemory(memories=home) as memory:
            added = only(await memory.add("Prefers Postgres", user_id="a"))
            await memory.update(added["id"], "Prefers SQLite")
            found = texts(await memory.search("prefers sqlite", filters={"user_id": "a"}))
            events = [line["event"] for line in await memory.history(added["id"])]
            got = await memory.get(added["id"])
            await memory.delete(added["id"])
            await memory.add("x", user_id="a")
            await memory.delete_all(user_id="a")
            left = await memory.get_all(user_id="a")
            await memory.reset()
            return [found, events, got and got["memory"], left["results"], home.spaces()]

    assert asyncio.run(talk()) == [["Prefers SQLite"], ["ADD", "UPDATE"], "Prefers SQLite", [], []]
    assert AsyncMemory.from_config({"location": ":memory:"}).close() is None  # type: ignore[func-returns-value]
