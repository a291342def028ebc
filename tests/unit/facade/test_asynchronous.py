"""`AsyncRetentive`: the same answers with `await`, a loop that stays free, and no half-done writes."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from facade_making import NOW, Clock

from retentive import AsyncRetentive, Retentive, Space
from retentive.embedders.protocol import Vectors
from retentive.errors import InvalidInput, NotFound
from retentive.testing.fakes import HashEmbedder

ROOT = Path(__file__).parents[3]
TEXTS = ["Likes jasmine tea", "Lives in Oslo", "Works on tea labels", "Deploys on Fridays"]


class Gated(HashEmbedder):
    """An embedder that waits inside `embed` until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.let_go = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.entered.set()
        assert self.let_go.wait(30)
        return super().embed(texts)


def synchronous_story(space: Space) -> list[Any]:
    kept = space.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)])
    one = space.remember("Drinks oolong", key="tea", tags=["x"])
    recall = space.recall("tea", policy="operational", limit=3)
    space.feedback(recall.id, used=["m0"], outcome="good")
    changed = space.update("m1", text="Lives in Bergen", reason="moved")
    space.forget("m3", reason="asked")
    facts = [
        kept,
        one,
        recall.as_dict(),
        changed,
        space.get("m0"),
        list(space.list(limit=2)),
        space.list(limit=2).cursor,
    ]
    return [*facts, space.history("m1"), space.journal(), space.chain("m1"), space.maintain()]


async def asynchronous_story(home: AsyncRetentive) -> list[Any]:
    space = home.space("a")
    kept = await space.remember_many([{"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS)])
    one = await space.remember("Drinks oolong", key="tea", tags=["x"])
    recall = await space.recall("tea", policy="operational", limit=3)
    await space.feedback(recall.id, used=["m0"], outcome="good")
    changed = await space.update("m1", text="Lives in Bergen", reason="moved")
    await space.forget("m3", reason="asked")
    got, page = await space.get("m0"), await space.list(limit=2)
    facts = [kept, one, recall.as_dict(), changed, got, list(page), (await space.list(limit=2)).cursor]
    return [*facts, await space.history("m1"), await space.journal(), await space.chain("m1"), await space.maintain()]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_the_same_story_has_the_same_answers(kind: str, tmp_path: Path) -> None:
    """Every verb, awaited, gives what it gives without."""
    places = [":memory:" if kind == "memory" else tmp_path / name for name in ("awaited", "not")]

    async def tell() -> list[Any]:
        async with AsyncRetentive(places[0], embedder=HashEmbedder(), clock=Clock()) as home:
            return await asynchronous_story(home)

    with Retentive(places[1], embedder=HashEmbedder(), clock=Clock()) as home:
        assert asyncio.run(tell()) == synchronous_story(home.space("a"))


def test_the_stub_is_current() -> None:
    """The types of the awaited verbs are generated from the synchronous ones, lately."""
    done = subprocess.run([sys.executable, ROOT / "scripts/async_stub.py", "--check"], check=False)
    assert done.returncode == 0, "run: python scripts/async_stub.py"


@pytest.mark.parametrize("kind", [Retentive, Space])
def test_every_verb_can_be_awaited(kind: type) -> None:
    """What does I/O on the synchronous object is a coroutine on the other; what does none is called as it is."""
    home = AsyncRetentive(":memory:", embedder=HashEmbedder())
    bridged = home if kind is Retentive else home.space("a")
    verbs = [name for name, value in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")]
    plain = {name for name in verbs if not inspect.iscoroutinefunction(getattr(bridged, name))}
    assert plain <= {"space", "register_kind", "register_job", "now"}
    assert len(verbs) - len(plain) >= 9


def test_what_can_be_called_but_is_no_verb_stays_itself() -> None:
    """A clock, or an embedder with `__call__`, is handed out as it is."""

    class Callable(HashEmbedder):
        def __call__(self) -> None:
            """Many models are callable."""

    embedder, clock = Callable(), Clock()
    home = AsyncRetentive(":memory:", embedder=embedder, clock=clock)
    assert home.embedder is embedder
    assert vars(home)["_inner"].clock is clock
    assert home.now() == NOW


def test_the_loop_stays_free_while_an_embedder_works() -> None:
    """A verb that blocks in its thread does not stop another coroutine."""

    async def story() -> list[str]:
        embedder, order = Gated(), list[str]()
        home = AsyncRetentive(":memory:", embedder=embedder, clock=Clock())
        writing = asyncio.create_task(home.space("a").remember("Tea"))
        assert await asyncio.to_thread(embedder.entered.wait, 30)
        order.append("another coroutine ran")
        order.append(f"{len(await home.space('b').list())} read in another space")
        embedder.let_go.set()
        order.append((await writing).text)
        return order

    assert asyncio.run(story()) == ["another coroutine ran", "0 read in another space", "Tea"]


def test_a_cancelled_write_is_whole_or_not_there() -> None:
    """Cancelling stops the waiting; the write runs to its end, with vector, terms and journal."""
    home = AsyncRetentive(":memory:", embedder=(embedder := Gated()), clock=Clock())

    async def story() -> None:
        writing = asyncio.create_task(home.space("a").remember_many(["Tea", "Rice"]))
        assert await asyncio.to_thread(embedder.entered.wait, 30)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert len(await home.space("a").list()) == 0
        embedder.let_go.set()

    asyncio.run(story())  # ends when the worker threads have ended
    space: Space = vars(home.space("a"))["_inner"]
    assert sorted(memory.text for memory in space.list()) == ["Rice", "Tea"]
    assert len(space.journal()) == 2
    assert space.recall("Tea", policy="blend")[0].similarity == pytest.approx(1.0, abs=1e-6)


def test_many_at_once_all_arrive(tmp_path: Path) -> None:
    """Fifty writers and readers in one loop: nothing lost, nothing doubled."""

    async def story() -> list[str]:
        async with AsyncRetentive(tmp_path, embedder=HashEmbedder(), clock=Clock()) as home:
            space = home.space("a")
            await asyncio.gather(
                *(space.remember(f"Tea {n}") for n in range(25)), *(space.recall("Tea") for _ in range(25))
            )
            return [memory.text for memory in await space.list(limit=100)]

    assert sorted(asyncio.run(story())) == sorted(f"Tea {n}" for n in range(25))


def test_errors_come_through_as_they_are() -> None:
    """The same errors at the `await`; an unknown verb is an attribute error at once."""

    async def story() -> None:
        space = AsyncRetentive(":memory:", embedder=HashEmbedder()).space("a")
        with pytest.raises(InvalidInput, match="must not be empty"):
            await space.remember("")
        with pytest.raises(NotFound):
            await space.get("nobody")
        with pytest.raises(AttributeError, match="rember"):
            _ = space.rember  # type: ignore[attr-defined]  # the stub knows the verbs

    asyncio.run(story())
    with pytest.raises(InvalidInput, match=r"'\.\.'"):
        AsyncRetentive(":memory:").space("../x")


def test_it_shows_its_verbs() -> None:
    """`dir()` and `repr()` help at a prompt."""
    home = AsyncRetentive(":memory:", embedder=HashEmbedder())
    assert {"remember", "recall", "update"} <= set(dir(home.space("a")))
    assert "Space 'a'" in repr(home.space("a"))
