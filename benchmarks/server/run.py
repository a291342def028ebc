"""What the wire costs: recall and remember over HTTP at 1, 8 and 64 connections, beside the same calls in one process.

    python benchmarks/server/run.py --memories 10000 --seconds 8

One server process, its defaults, the bundled embedder; the generator runs on the same machine. The server's resident
memory is read before and after every run. Processor time a request (the server's alone) holds on a busy machine too;
requests a second and the percentiles are only as good as the machine was idle. Writes results/load.json and prints the
table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from asking import Tally, get, load, post

from retentive import Retentive

HERE = Path(__file__).parent
SPACE = "acme/alice"
PATH = "/v1/spaces/acme%2Falice"
WORDS = (
    "postgres deploy error migration lisbon tea coffee alice bob invoice gate tier backup vector index memory recall "
    "policy latency budget friday review ticket customer contract python release branch merge rollback alarm pager disk"
).split()


def sentence(seed: int) -> str:
    chosen = random.Random(seed)  # noqa: S311 -- sentences, not secrets
    return " ".join(chosen.choice(WORDS) for _ in range(12)) + f" {seed % 997}"


def cue(seed: int) -> str:
    chosen = random.Random(seed * 7 + 1)  # noqa: S311 -- as above
    return "What about " + " ".join(chosen.choice(WORDS) for _ in range(4)) + "?"


def fill(folder: Path, memories: int) -> None:
    with Retentive(folder) as home:
        space = home.space(SPACE)
        for start in range(0, memories, 1_000):
            space.remember_many([sentence(number) for number in range(start, min(start + 1_000, memories))])


def in_process(folder: Path, seconds: float) -> dict[str, Any]:
    """The same calls without a wire, one after another."""
    with Retentive(folder) as home:
        space = home.space(SPACE)
        space.recall("warm up")
        known = space.list(limit=1)[0].id
        return {
            "get": _timed(lambda _turn: space.get(known, touch=False), seconds),
            "recall": _timed(lambda turn: space.recall(cue(turn), limit=5), seconds),
            "remember": _timed(lambda turn: space.remember(f"in process {turn} {sentence(turn)}"), seconds),
        }


def _timed(call: Any, seconds: float) -> dict[str, float]:
    tally = Tally()
    began, spent = time.perf_counter(), time.process_time()
    turn = 0
    while time.perf_counter() - began < seconds:
        start = time.perf_counter()
        call(turn)
        tally.seconds.append(time.perf_counter() - start)
        turn += 1
    tally.took = time.perf_counter() - began
    return {**tally.figures(), "cpu_ms": round(1000 * (time.process_time() - spent) / max(1, turn), 3)}


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, int]]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    env |= {"RETENTIVE_STORE": str(folder), "RETENTIVE_SERVE_RATE": "1000000000", "RETENTIVE_SERVE_WORKER": "false"}
    command = [sys.executable, "-m", "retentive", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        if process.stderr is not None:
            process.stderr.readline()  # it says where it listens
        try:
            yield port, process.pid
        finally:
            process.terminate()


def resident(pid: int) -> float:
    """Resident memory in MB."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


def processor(pid: int) -> float:
    """Processor seconds that a process has taken, in user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def over_http(folder: Path, seconds: float, connections: list[int]) -> list[dict[str, Any]]:
    runs = []
    with server(folder) as (port, pid):
        known = json.loads(urlopen(f"http://127.0.0.1:{port}{PATH}/memories?limit=1").read())["memories"][0]["id"]
        asyncio.run(load(port, 1, 1.0, lambda turn: post(f"{PATH}/recall", {"cue": cue(turn), "limit": 5})))
        for name, request in (
            ("get", lambda _turn: get(f"{PATH}/memories/{known}?touch=false")),
            ("recall", lambda turn: post(f"{PATH}/recall", {"cue": cue(turn), "limit": 5})),
            ("remember", lambda turn: post(f"{PATH}/memories", {"text": f"{turn} {sentence(turn)}"})),
        ):
            for count in connections:
                before, spent = resident(pid), processor(pid)
                tally = asyncio.run(load(port, count, seconds, request))
                run = {"verb": name, "connections": count, **tally.figures()}
                run["cpu_ms"] = round(1000 * (processor(pid) - spent) / max(1, run["requests"]), 3)
                runs.append({**run, "resident_mb_before": before, "resident_mb_after": resident(pid)})
                print(json.dumps(runs[-1]), file=sys.stderr)
    return runs


def table(result: dict[str, Any]) -> str:
    head = ("verb", "connections", "requests/s", "p50 ms", "p99 ms", "processor ms", "errors", "server MB after")
    shown = ("verb", "connections", "per_second", "p50_ms", "p99_ms", "cpu_ms", "errors", "resident_mb_after")
    near = [{"verb": verb, "connections": "in process", **run} for verb, run in result["in_process"].items()]
    rows = [[str(run.get(name, "")) for name in shown] for run in (*near, *result["http"])]
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=8.0, help="for each point")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--to", type=Path, default=HERE / "results/load.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "store"
        fill(folder, given.memories)
        result = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load_average_before": os.getloadavg(),
            "memories": given.memories,
            "seconds": given.seconds,
            "in_process": in_process(folder, given.seconds),
            "http": over_http(folder, given.seconds, given.connections),
        }
    result["load_average_after"] = os.getloadavg()
    given.to.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main()
