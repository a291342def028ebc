"""Several API servers over one database, killed at random: what was acknowledged is there, once and whole."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import address_of, begun, quiet

pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")
pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

from retentive import Retentive
from retentive.errors import RetentiveError
from retentive.stores.postgres import PostgresStore
from retentive.testing.store_samples import gate

SERVERS, WRITES, KILLS, TRIES = 3, 60, (9, 18, 27, 36, 45), 20


class Fleet:
    """Servers on ports of their own over one database; for a killed one another is started, on another port.

    Until somebody waits for that one, the address is the dead one's: that is what clients meet.
    """

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store = folder, store
        self.running = [self._started() for _ in range(SERVERS)]
        self.addresses = [address_of(process) for process in self.running]
        self.silent: set[int] = set()

    def _started(self) -> subprocess.Popen[str]:
        return begun(quiet(self.folder, RETENTIVE_STORE=self.store), self.folder)

    def wait(self, number: int) -> None:
        """Wait until the server that took a killed one's place says where it listens."""
        if number in self.silent:
            self.silent.discard(number)
            self.addresses[number] = address_of(self.running[number])

    def kill(self, number: int) -> None:
        """End a server without a word, and start another."""
        self.running[number].kill()
        self.running[number].communicate(timeout=10)
        self.running[number] = self._started()
        self.silent.add(number)

    def close(self) -> None:
        for process in self.running:
            process.kill()
            process.communicate(timeout=10)


@pytest.fixture
def fleet(tmp_path: Path, postgres_url: str) -> Iterator[Fleet]:
    """Return three servers that listen."""
    made = Fleet(tmp_path, f"{postgres_url}&schema=fleet")
    try:
        yield made
    finally:
        made.close()


def remembered(fleet: Fleet, number: int, chance: random.Random) -> str:
    """Write one fact under its own key at some server; where that one was killed, at another, as a client would."""
    for _ in range(TRIES):
        chosen = chance.randrange(SERVERS)
        try:
            with Retentive(fleet.addresses[chosen]) as memories:
                space = memories.space(f"acme/s{number % 4}")
                return space.remember(f"fact number {number}", once=f"write-{number}").id
        except RetentiveError:
            fleet.wait(chosen)
    pytest.fail(f"no server took write {number}")


def test_servers_killed_at_random_lose_nothing(fleet: Fleet, postgres_url: str) -> None:
    """Every acknowledged write is in the store exactly once, with its journal line, vector and terms."""
    chance = random.Random(8)
    acknowledged: dict[int, str] = {}
    for number in range(WRITES):
        if number in KILLS:
            fleet.kill(chance.randrange(SERVERS))
        acknowledged[number] = remembered(fleet, number, chance)
    store = PostgresStore(postgres_url, schema="fleet")
    try:
        kept: list[str] = []
        for path in store.spaces():
            space = store.open(path, create=False)
            memories = space.page(gate(hidden=True), limit=1_000)
            kept += [memory.id for memory in memories]
            assert sorted(line.memory_id for line in space.read_journal() if line.action == "remember") == sorted(
                memory.id for memory in memories
            )
            assert store.check(path) == []
        assert sorted(kept) == sorted(acknowledged.values())
        assert len(set(kept)) == WRITES
    finally:
        store.close()
