"""Ours beside the real mem0: the same calls, the same signatures, the same fields, where no language model is asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

mem0 = pytest.importorskip("mem0", reason="its own environment has mem0: scripts/integrations_test.py mem0")

from retentive import Retentive
from retentive.compat.mem0 import AsyncMemory, Memory
from retentive.testing.fakes import HashEmbedder

OLD = mem0.__version__.startswith("1.")
"""Whether this is mem0 as it was before 2.0: the same tests, and one in its own words."""
VERBS = (
    "add",
    "search",
    "get",
    "get_all",
    "update",
    "delete",
    "delete_all",
    "history",
    "reset",
    "close",
    "from_config",
)


class Embedding:
    """Our fake embedder, as mem0 asks one."""

    def __init__(self, *_: Any) -> None:
        self.inner = HashEmbedder(64)

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        return [float(number) for number in self.inner.embed([text])[0]]

    def embed_batch(self, texts: list[str], *_: Any, **__: Any) -> list[list[float]]:
        return [self.embed(text) for text in texts]


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from mem0.utils import factory

    monkeypatch.setattr(factory.EmbedderFactory, "create", lambda *_, **__: Embedding())
    monkeypatch.setattr(factory.LlmFactory, "create", lambda *_, **__: None)
    settings = {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 64, "on_disk": True}
    config = {
        "vector_store": {"provider": "qdrant", "config": settings},
        "history_db_path": str(tmp_path / "history.db"),
    }
    opened = mem0.Memory.from_config(config)
    yield opened
    opened.close()


@pytest.fixture
def ours() -> Memory:
    return Memory(memories=Retentive(":memory:", embedder=HashEmbedder(64)))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", ["Memory", "AsyncMemory"])
def test_signatures(kind: str, verb: str) -> None:
    """Every argument of mem0's is one of ours, of the same kind and place, and its default is not another decision."""
    real = inspect.signature(getattr(getattr(mem0, kind), verb)).parameters
    mine = inspect.signature(getattr({"Memory": Memory, "AsyncMemory": AsyncMemory}[kind], verb)).parameters
    named = {name: given for name, given in real.items() if given.kind is not given.VAR_KEYWORD}
    assert set(named) - {"llm"} <= set(mine)
    for name, given in named.items():
        if name in mine:
            assert mine[name].kind == given.kind, name
            if given.default is not inspect.Parameter.empty:
                assert mine[name].default is not inspect.Parameter.empty, name


def shapes(value: Any) -> Any:
    """Return what an answer looks like: its fields, and whether they hold something."""
    if isinstance(value, dict):
        return {name: shapes(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [shapes(entry) for entry in value]
    return None if value is None else type(value).__name__


def story(memory: Any) -> list[Any]:
    """Live a memory's life, and return every answer."""
    said = [{"role": "user", "name": "al", "content": "Prefers Postgres"}, {"role": "system", "content": "be nice"}]
    added = memory.add(said, user_id="alice", run_id="r", infer=False, metadata={"team": "core"})
    plain = memory.add("Likes tea", user_id="bob", infer=False, expiration_date="2099-01-01")
    key = added["results"][0]["id"]
    answers = [added, plain, memory.get(key), memory.get_all(filters={"user_id": "alice"})]
    answers += [memory.search("Prefers Postgres", filters={"user_id": "alice", "run_id": "r"})]
    answers += [memory.search("Likes tea", filters={"user_id": "bob", "metadata_key": "none"})]
    answers += [memory.update(key, "Prefers SQLite", metadata={"more": 1}), memory.get(key), memory.history(key)]
    answers += [memory.delete(key), memory.get(key), memory.get_all(filters={"user_id": "alice"})]
    answers += [memory.delete_all(user_id="bob"), memory.get_all(filters={"user_id": "bob"})]
    return answers


def without(value: Any, *names: str) -> Any:
    if isinstance(value, dict):
        return {name: without(entry, *names) for name, entry in value.items() if name not in names}
    return [without(entry, *names) for entry in value] if isinstance(value, list) else value


@pytest.mark.skipif(OLD, reason="mem0 1.x has neither expiration dates nor ids within filters")
def test_answers(theirs: Any, ours: Memory) -> None:
    """The same fields of the same types everywhere, and the same values where nothing of its own goes into them."""
    real, mine = story(theirs), story(ours)
    own = ("id", "memory_id", "score", "created_at", "updated_at", "old_memory", "new_memory")
    for one, other in zip(real, mine, strict=True):
        assert shapes(without(other, "attributed_to")) == shapes(without(one, "attributed_to"))
        assert without(other, *own) == without(one, *own)


def old_story(memory: Any) -> list[Any]:
    """The same life in the words of mem0 1.x; an update says the metadata again, for 1.x forgets what is not said."""
    said = [{"role": "user", "name": "al", "content": "Prefers Postgres"}, {"role": "system", "content": "be nice"}]
    added = memory.add(said, user_id="alice", run_id="r", infer=False, metadata={"team": "core"})
    key = added["results"][0]["id"]
    answers = [added, memory.add("Likes tea", user_id="bob", infer=False), memory.get(key)]
    answers += [memory.get_all(user_id="alice", limit=5), memory.get_all(user_id="nobody")]
    answers += [memory.search("Prefers Postgres", user_id="alice", limit=3)]
    answers += [memory.search("Prefers Postgres", user_id="alice", run_id="r", filters={"team": "core"}, threshold=0.0)]
    answers += [memory.update(key, data="Prefers SQLite", metadata={"team": "core"})]
    answers += [memory.get(key), memory.history(key)]
    answers += [memory.delete(memory_id=key), memory.get_all(user_id="alice"), memory.delete_all("bob")]
    return [*answers, memory.get_all(user_id="bob")]


@pytest.mark.skipif(not OLD, reason="for mem0 1.x: scripts/integrations_test.py mem0-1")
def test_answers_of_mem0_1(theirs: Any, ours: Memory) -> None:
    """An agent written for mem0 1.x finds every field it had, of the same type, and the same values."""
    own = ("id", "memory_id", "score", "created_at", "updated_at", "old_memory", "new_memory")
    for one, other in zip(old_story(theirs), old_story(ours), strict=True):
        assert without(other, *own) == without(one, *own)
        assert shapes(without(other, "updated_at")) == shapes(without(one, "updated_at"))


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("add", {"messages": "x"}),
        ("add", {"messages": 7, "user_id": "a"}),
        ("add", {"messages": "x", "user_id": "a b"}),
        ("add", {"messages": "x", "user_id": "a", "memory_type": "semantic"}),
        ("add", {"messages": "x", "user_id": "a", "expiration_date": "soon"}),
        ("search", {"query": " ", "filters": {"user_id": "a"}}),
        ("search", {"query": "x", "filters": {}}),
        ("search", {"query": "x", "filters": {"user_id": "a"}, "top_k": -1}),
        ("search", {"query": "x", "filters": {"user_id": "a"}, "threshold": 2}),
        ("get_all", {"filters": {"n": 1}}),
        ("update", {"memory_id": "nobody", "text": "x"}),
        ("update", {"memory_id": "nobody"}),
        ("delete", {"memory_id": "00000000-0000-0000-0000-000000000000"}),
        ("delete_all", {}),
    ],
)
def test_refusals(theirs: Any, ours: Memory, verb: str, arguments: dict[str, Any]) -> None:
    """What mem0 refuses is refused here, by a ValueError where mem0 raises one."""
    with pytest.raises(Exception) as theirs_refused:  # noqa: PT011 - whatever mem0 raises
        getattr(theirs, verb)(**arguments)
    with pytest.raises(ValueError) as ours_refused:  # noqa: PT011 - the same for every case
        getattr(ours, verb)(**arguments)
    if isinstance(theirs_refused.value, ValueError):
        assert isinstance(ours_refused.value, ValueError)
