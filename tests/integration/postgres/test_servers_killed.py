"""Several API servers over one database, killed at random: what was acknowledged is there, once and whole."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")
pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

from retentive import Retentive
from retentive.errors import RetentiveError
from retentive.stores.postgres import PostgresStore
from retentive.testing.store_samples import gate

SERVERS, WRITES, KILLS, TRIES = 3, 60, (9, 18, 27, 36, 45), 20


class Fleet:
    """Servers on ports of their own over one database; a killed one is started again on its port."""

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store = folder, store
        self.ports = [self._free() for _ in range(SERVERS)]
        self.running = [self._started(port) for port in self.ports]

    @staticmethod
    def _free() -> int:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port: int = taken.getsockname()[1]
        return port

    def _started(self, port: int) -> subprocess.Popen[str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
        env |= {"HOME": str(self.folder), "RETENTIVE_STORE": self.store, "RETENTIVE_EMBEDDER": "hash"}
        env["RETENTIVE_SERVE_WORKER"] = "false"  # on a slow machine it would reflect here, and conclusions be counted
        command = [sys.executable, "-m", "retentive", "serve", "--port", str(port)]
        return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def wait(self, number: int) -> None:
        """Wait until a server says where it listens."""
        stream = self.running[number].stderr
        assert stream is not None
        told = stream.readline()
        assert str(self.ports[number]) in told, told

    def kill(self, number: int) -> None:
        """End a server without a word, and start it again."""
        self.running[number].kill()
        self.running[number].communicate(timeout=10)
        self.running[number] = self._started(self.ports[number])

    def address(self, number: int) -> str:
        return f"http://127.0.0.1:{self.ports[number]}"

    def close(self) -> None:
        for process in self.running:
            process.kill()
            process.communicate(timeout=10)


@pytest.fixture
def fleet(tmp_path: Path, postgres_url: str) -> Iterator[Fleet]:
    """Return three servers that listen."""
    made = Fleet(tmp_path, f"{postgres_url}&schema=fleet")
    try:
        for number in range(SERVERS):
            made.wait(number)
        yield made
    finally:
        made.close()


def remembered(fleet: Fleet, number: int, chance: random.Random) -> str:
    """Write one fact under its own key at some server; where that one was killed, at another, as a client would."""
    for _ in range(TRIES):
        try:
            with Retentive(fleet.address(chance.randrange(SERVERS))) as memories:
                space = memories.space(f"acme/s{number % 4}")
                return space.remember(f"fact number {number}", once=f"write-{number}").id
        except RetentiveError:
            continue
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
