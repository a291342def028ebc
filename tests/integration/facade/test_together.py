"""Threads and processes on one SQLite store at once, and a process killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier, Lock

import pytest

from retentive import Retentive, policies
from retentive.errors import NotFound
from retentive.stores.sqlite.store import SqliteStore
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENT = 120.0  # seconds to wait for another writer: these tests are about order, not about speed
NEAREST = policies.blend.replace(weights={"recency": 0, "importance": 0}, refresh_floor_seconds=0.0)


def opened(folder: Path) -> Retentive:
    return Retentive(store=SqliteStore(folder, busy_timeout=PATIENT), embedder=HashEmbedder(16))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Retentive]:
    with opened(tmp_path) as home:
        yield home


def test_eight_threads_remember_and_recall_at_once(home: Retentive) -> None:
    """Every acknowledged memory is there, its own words find it at once, and every access was counted."""
    space = home.space("a")
    space.remember("shared tea", id="shared")
    start = Barrier(8)

    def work(thread: int) -> list[str]:
        start.wait()
        kept = []
        for n in range(10):
            memory = space.remember(f"thread{thread} item{n}")
            kept.append(memory.id)
            assert space.recall(memory.text, policy=NEAREST, limit=1, touch=False)[0].memory.id == memory.id
            space.get("shared")
        return kept

    with ThreadPoolExecutor(8) as pool:
        kept = [name for names in pool.map(work, range(8)) for name in names]
    assert len(set(kept)) == 80
    assert {memory.id for memory in space.list(limit=1_000)} == {"shared", *kept}
    assert len(space.journal()) == 81
    assert space.get("shared", touch=False).access.count == pytest.approx(80, abs=0.01)


def test_a_key_has_one_holder_however_many_write_it(home: Retentive) -> None:
    """Sixty writers of one key leave one that is current, and one chain of all."""
    space = home.space("a")
    start = Barrier(6)

    def work(thread: int) -> None:
        start.wait()
        for n in range(10):
            space.remember(f"state {thread} {n}", key="state", at=NOW + timedelta(seconds=n * 6 + thread))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    current = space.list()
    assert [memory.text for memory in current] == ["state 5 9"]
    assert len(space.chain(current[0].id)) == 60


def test_recalls_at_once_are_each_noted(home: Retentive) -> None:
    """The same question at the same moment from eight threads: eight lines in the ledger."""
    space = home.space("a")
    space.remember_many([f"tea {n}" for n in range(20)])
    with ThreadPoolExecutor(8) as pool:
        recalls = list(pool.map(lambda _: space.recall("tea", policy="blend", now=NOW), range(24)))
    assert len({recall.id for recall in recalls}) == len(space.store.read_ledger()) == 24
    assert not any(recall.trace.notes for recall in recalls)


def test_recall_holds_while_memories_come_and_go(home: Retentive) -> None:
    """Erasing, superseding and updating under a recall: hits are whole memories, and never an error."""
    space = home.space("a")
    space.remember_many([{"text": f"tea {n}", "id": f"m{n}"} for n in range(30)])
    done = Lock()
    done.acquire()

    def churn() -> None:
        for n in range(30):
            space.forget(f"m{n}", erase=n % 2 == 0)
            space.remember(f"fresh tea {n}", key=f"k{n % 3}")
            space.update("m29", importance=n / 30)
        done.release()

    with ThreadPoolExecutor(3) as pool:
        writer = pool.submit(churn)
        asked = 0
        while done.locked() or asked < 5:
            for hit in space.recall("tea", policy="operational"):
                assert hit.memory.text
                assert hit.reproduced() == hit.score
            asked += 1
            if writer.done():
                break
        writer.result()


WRITER = """
import sys
from retentive import Retentive
from retentive.stores.sqlite.store import SqliteStore
from retentive.testing.fakes import HashEmbedder
home = Retentive(store=SqliteStore(sys.argv[1], busy_timeout=120.0), embedder=HashEmbedder(16))
space = home.space("a")
for n in range(int(sys.argv[3])):
    kept = space.remember_many([f"{sys.argv[2]} pair {n} left", f"{sys.argv[2]} pair {n} right"])
    space.recall("pair", policy="operational")
    print(*(memory.id for memory in kept), flush=True)
"""


def writer(folder: Path, name: str, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_and_this_one_share_a_store(tmp_path: Path) -> None:
    """Nobody's writes are lost, and this process sees the others' without reopening."""
    with opened(tmp_path) as home:
        space = home.space("a")
        space.remember("mine")
        others = [writer(tmp_path, name, 8) for name in ("one", "two")]
        seen = []
        while any(other.poll() is None for other in others):
            space.recall("pair", policy=NEAREST, limit=5)
            seen.append(len(space.list(limit=1_000)))
        acknowledged = [name for other in others for name in other.communicate()[0].split()]
        assert [other.returncode for other in others] == [0, 0]
        assert len(acknowledged) == 32
        assert seen == sorted(seen)
        assert {memory.id for memory in space.list(limit=1_000)} >= set(acknowledged)
        assert len(space.list(limit=1_000)) == 33
        for found in space.recall("two pair 7 right", policy=NEAREST, limit=1):
            assert found.memory.text == "two pair 7 right"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """Killed in a loop of remembers, three times over: all that was acknowledged is there, and pairs are whole."""
    acknowledged: list[str] = []
    for attempt in range(3):
        process = writer(tmp_path, f"attempt{attempt}", 100_000)
        assert process.stdout is not None
        for n in count():
            acknowledged += process.stdout.readline().split()
            if n == 6 + 5 * attempt:
                break
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += [name for name in process.communicate()[0].split("\n")[0].split() if len(name) == 20]
    with opened(tmp_path) as home:
        space = home.space("a")
        texts = {memory.id: memory.text for memory in space.list(limit=10_000)}
        assert set(acknowledged) <= set(texts)
        assert len(acknowledged) >= 2 * (7 + 12 + 17)
        stems = [text.rpartition(" ")[0] for text in texts.values()]
        assert all(stems.count(stem) == 2 for stem in stems)
        assert len(space.journal()) == len(texts)
        assert home.store.check("a") == []  # type: ignore[attr-defined]  # SQLite's store can examine itself
        last = acknowledged[-1]
        assert space.recall(texts[last], policy=NEAREST, limit=1)[0].memory.id == last


def test_a_dropped_space_is_gone_for_everyone(tmp_path: Path) -> None:
    """Another handle on the same folder, with connections open, reads nothing of what was dropped."""
    with opened(tmp_path) as one, opened(tmp_path) as other:
        one.space("a").remember("tea", id="m")
        assert other.space("a").get("m").text == "tea"
        assert one.drop("a")
        with pytest.raises(NotFound):
            other.space("a").get("m")
        assert not other.space("a").recall("tea")
        other.space("a").remember("rice", id="m")
        assert one.space("a").get("m").text == "rice"
