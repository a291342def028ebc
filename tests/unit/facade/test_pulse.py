"""Enough importance brings on a reflection by itself: on the queue, at the budget, once, whoever wrote."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive, Space
from retentive.errors import InvalidInput, StoreBusy
from retentive.recall.request import Question
from retentive.recalling import question_of
from retentive.stores.memory import MemoryStore
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder
from retentive.testing.llm import ScriptedLlm

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
Opened = Callable[[], Retentive]


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Return what opens the same store again, as another process would."""
    kept = MemoryStore()

    def open_() -> Retentive:
        store = kept if request.param == "memory" else SqliteStore(tmp_path, busy_timeout=120.0)
        return Retentive(store=store, embedder=HashEmbedder(), clock=lambda: NOW)

    return open_


def waiting(space: Space) -> int:
    """How many reflections wait."""
    return len(space.jobs(kind="reflect"))


def write(space: Space, *numbers: int, importance: float = 0.5) -> None:
    """Remember a memory for each number, five points each."""
    for number in numbers:
        space.remember(f"Entry number {number} of the log", importance=importance)


def test_a_reflection_is_put_on_the_queue_at_the_budget_and_not_before(opened: Opened) -> None:
    """Six memories of ordinary importance; whoever runs the jobs reflects, and it begins again from there."""
    space = opened().space("a")
    write(space, *range(5))
    assert waiting(space) == 0
    write(space, 5)
    assert waiting(space) == 1
    write(space, *range(6, 20))
    assert waiting(space) == 1
    assert space.run_jobs().done == 1
    assert [line.action for line in space.journal() if line.action == "reflect"] == ["reflect"]
    write(space, *range(20, 25))
    assert waiting(space) == 0
    write(space, 25)
    assert waiting(space) == 1


def test_what_several_processes_write_adds_up(opened: Opened) -> None:
    """Each counts what the others wrote; one that is new counts what was there."""
    homes = [opened() for _ in range(3)]
    for number in range(5):
        write(homes[number % 3].space("a"), number)
    assert waiting(homes[0].space("a")) == 0
    write(homes[2].space("a"), 5)
    assert waiting(homes[0].space("a")) == 1
    homes[1].space("a").reflect()
    homes[1].space("a").drop_jobs(*(job.id for job in homes[1].space("a").jobs()))
    write(opened().space("a"), *range(6, 11))
    assert waiting(homes[0].space("a")) == 0
    write(opened().space("a"), 11)
    assert waiting(homes[0].space("a")) == 1


def test_a_budget_of_the_space_counts(opened: Opened) -> None:
    """What was said to `reflect` once holds for what happens by itself."""
    space = opened().space("a")
    space.reflect(budget=10)
    write(space, 0)
    assert waiting(space) == 0
    write(space, 1)
    assert waiting(space) == 1


def test_a_batch_and_a_conversation_count_once(opened: Opened) -> None:
    """What was taken from turns counts with them, and what is concluded not at all."""
    space = opened().space("a")
    space.remember_many([{"text": f"Entry {number}", "importance": 0.5} for number in range(5)])
    assert waiting(space) == 0
    space.observe([{"role": "user", "content": "I live in Utrecht.", "at": "2026-05-01T11:00Z"}])
    assert waiting(space) == 1
    other = opened().space("b")
    other.remember_many([{"text": f"Entry {n}", "kind": "reflection", "importance": 1.0} for n in range(9)])
    assert waiting(other) == 0


def test_threads_put_one(opened: Opened) -> None:
    """However many write at once."""
    home = opened()
    threads = [threading.Thread(target=write, args=(home.space("a"), *range(at, at + 5))) for at in range(0, 40, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert waiting(home.space("a")) == 1


def test_it_can_be_switched_off(opened: Opened) -> None:
    """Then nobody is asked for anything; a word that is no choice is refused."""
    home = opened()
    home.reflections = "off"
    write(home.space("a"), *range(12))
    assert waiting(home.space("a")) == 0
    with pytest.raises(InvalidInput, match="none of 'queue', 'off'"):
        home.reflections = "never"


def test_a_write_is_never_lost_over_it(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that cannot be written just now is tried at the next write."""
    space = opened().space("a")
    write(space, *range(5))

    def busy(*_: object) -> None:
        raise StoreBusy("Somebody writes.")

    with monkeypatch.context() as patched:
        patched.setattr("retentive.thinking.pulse.put", busy)
        write(space, 5)
        assert (waiting(space), len(space.list())) == (0, 6)
    write(space, 6)
    assert waiting(space) == 1


def test_a_reflection_from_the_queue_is_under_the_policy_of_the_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question is recalled as any other recall would be there."""
    llm = ScriptedLlm('{"questions": ["What is in the log?"]}', '{"insights": []}')
    home = Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW, llm=llm)
    space = home.space("a")
    write(space, *range(8))
    space.apply_policy("support")
    asked: list[str] = []

    def noted(*arguments: Any) -> Question:
        asked.append(arguments[3].name)
        return question_of(*arguments)

    monkeypatch.setattr("retentive.thinking.reflect.question_of", noted)
    space.run_jobs(kinds=["reflect"])
    assert asked == ["support"]


def test_who_asks_for_a_reflection_gets_the_one_asked_for(opened: Opened) -> None:
    """One that was put by itself and waits gives way to it."""
    space = opened().space("a")
    write(space, *range(6))
    (automatic,) = space.jobs()
    space.reflect(later=True, force=True, method="extractive")
    (asked,) = space.jobs()
    assert (asked.id, asked.payload["force"], asked.payload["method"]) == (automatic.id, True, "extractive")
    write(space, *range(6, 20))
    assert space.jobs() == [asked]
