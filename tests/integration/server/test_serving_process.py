"""`retentive serve` as a process: it says what it does, and told to stop it loses nothing that it acknowledged."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from served import quiet, served

pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")
pytest.importorskip("prometheus_client", reason="the extra 'server' is not installed")

from retentive import Retentive
from retentive.errors import RetentiveError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals end processes otherwise there")


def test_told_to_stop_it_finishes_what_it_took_on(tmp_path: Path) -> None:
    """Every memory that was acknowledged is in the store afterwards; the process ends by itself, well."""
    acknowledged: list[str] = []
    with served(tmp_path) as (address, process):

        def write(number: int) -> None:
            with Retentive(address) as memories:
                memories.transport._tries = 1  # type: ignore[attr-defined]  # at the end nobody is there
                for turn in range(10_000):
                    try:
                        acknowledged.append(memories.space(f"s{number}").remember(f"fact {turn} of {number}").id)
                    except RetentiveError:
                        return

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 20
        while len(acknowledged) < 40 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in {0, -signal.SIGTERM}
        for thread in threads:
            thread.join(10)
    assert len(acknowledged) >= 40
    with Retentive(tmp_path / "store", embedder="hash") as memories:
        kept = {memory.id for number in range(4) for memory in memories.space(f"s{number}").list(limit=10_000)}
    assert set(acknowledged) <= kept


def test_it_says_what_it_does_and_logs_lines_of_json(tmp_path: Path) -> None:
    """The address, what no keys mean, and then the log."""
    with served(tmp_path, RETENTIVE_LOG_LEVEL="info") as (address, process):
        with Retentive(address) as memories:
            memories.space("acme/alice").remember("Prefers Postgres")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        rest = process.stderr.read().splitlines()
    assert "There are no keys" in rest[0]
    lines = [json.loads(line) for line in rest if line.startswith("{")]
    assert [line["operation"] for line in lines if line["event"] == "request"] == ["remember"]
    assert "Postgres" not in "\n".join(rest)


def test_it_does_not_open_itself_to_others_without_a_key(tmp_path: Path) -> None:
    """It ends at once and says how to make one."""
    command = [sys.executable, "-m", "retentive", "serve", "--host", "0.0.0.0"]  # noqa: S104 -- refused
    done = subprocess.run(command, env=quiet(tmp_path), capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "keys create" in done.stderr


def test_two_servers_on_port_0_listen_apart(tmp_path: Path) -> None:
    """Port 0 is any free one: the system gives it, and the address that is said is the one that answers."""
    with served(tmp_path) as (one, _), served(tmp_path) as (other, _):
        assert one != other
        with Retentive(one) as memories:
            memories.space("acme/alice").remember("Prefers Postgres")
        with Retentive(other) as memories:
            assert memories.spaces() == ["acme/alice"]


def test_a_check_of_port_0_names_no_port(tmp_path: Path) -> None:
    """Nothing listens then, so there is none to name."""
    command = [sys.executable, "-m", "retentive", "serve", "--check", "--port", "0"]
    done = subprocess.run(command, env=quiet(tmp_path), capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert "at a free port of 127.0.0.1 (" in done.stderr
