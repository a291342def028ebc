"""Measure the PostgreSQL store as it grows: many spaces of a thousand, and one space up to a million.

    python benchmarks/postgres/run.py many                          # 10,000 spaces x 1,000: 60 GB of disk, 40 minutes
    python benchmarks/postgres/run.py many --steps 100,1000
    python benchmarks/postgres/run.py one --steps 1000,10000
    python benchmarks/postgres/run.py many --delete                  # the data goes, the results stay

The server is a throwaway one, from the wheel that the tests use. It loads without fsync and measures with it. A run
that was stopped goes on where it was; what was measured is kept in results/ step by step, with the environment of its
moment. Where others compute on the machine as well, BENCH_LOCK names the file that they hold while they do.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "engine"))  # the corpus, the questions and the clocks are the engine's

import asking  # noqa: E402
import filling  # noqa: E402
from corpus import CACHE, load  # noqa: E402
from given import Given, given, real  # noqa: E402
from measuring import environment  # noqa: E402
from server import Server, removed, started  # noqa: E402
from stores import FIRST, NOW  # noqa: E402

from retentive import Retentive  # noqa: E402
from retentive.types import Gate  # noqa: E402

RESULTS = HERE / "results"
FRESH = 20_000  # texts at the end of the corpus that are written while measuring
STEPS = {"many": "100,1000,2500,5000,10000", "one": "1000,10000,100000,1000000"}
EXACT = 2**40  # memories up to which a space is searched exactly: any number
LONGEST_WAIT = 90  # seconds


def main() -> None:
    options = _options()
    folder = CACHE / f"postgres-{options.part}"
    if options.delete:
        removed(folder)
        return
    steps = [int(step) for step in (options.steps or STEPS[options.part]).split(",")]
    {"many": many, "one": one}[options.part](started(folder), steps)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("part", choices=("many", "one"))
    parser.add_argument("--steps", help="numbers of spaces, or of memories in the one, e.g. 100,1000")
    parser.add_argument("--delete", action="store_true", help="stop the server and remove its data")
    return parser.parse_args()


def home(server: Server, embedder: Given, **options: Any) -> Retentive:
    """Open the store as the program's role, at the benchmark's own moment."""
    text = "".join(f"&{name}={value}" for name, value in options.items())
    return Retentive(server.program + text, embedder=embedder, clock=lambda: NOW)


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


@contextmanager
def quiet() -> Iterator[None]:
    """Measure while others hold still: our own loading, and whoever asks for BENCH_LOCK before computing."""
    with Path(os.environ.get("BENCH_LOCK", CACHE / "lock")).open("a") as file:
        deadline = time.monotonic() + LONGEST_WAIT
        while not _locked(file) and time.monotonic() < deadline:
            time.sleep(1)  # then measured beside them: the figures say how loaded the machine was
        filling.waiting()
        filling.MEASURING.touch()
        try:
            yield
        finally:
            filling.MEASURING.unlink(missing_ok=True)


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def keep(part: str, step: int, result: dict[str, Any]) -> None:
    """Put one step's figures into the part's file."""
    path = RESULTS / f"{part}.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[str(step)] = result
    RESULTS.mkdir(exist_ok=True)
    ordered = dict(sorted(known.items(), key=lambda item: int(item[0])))
    path.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


def vacuumed(server: Server) -> float:
    """Do at once what autovacuum would do in time; return the seconds."""
    began = time.perf_counter()
    with server.connect() as connection:
        server.behind(connection)
        connection.execute("SET vacuum_cost_delay = 0")
        connection.execute("VACUUM (ANALYZE)")
    return round(time.perf_counter() - began, 1)


# Many spaces


def many(server: Server, steps: list[int]) -> None:
    """Grow the number of spaces, and ask at each step: in one of them again and again, and in any of them."""
    embedder = given()
    corpus = load(filling.TEMPLATES * filling.EACH + FRESH, real())
    embedder.give(corpus.texts, corpus.vectors)
    asker = asking.Asker(corpus, embedder, corpus.texts[: filling.EACH])  # those of the first space, and of its copies
    for step in steps:
        server.safe(on=False)
        loading: dict[str, Any] = {}
        if not filling.there(server):
            with home(server, embedder) as memories:
                loading["written"] = filling.templates(memories, corpus)
            vacuumed(server)
        loading["copied"] = filling.copied(server, step)
        loading["vacuum_seconds"] = vacuumed(server)
        reached = len(filling.there(server))
        say(f"{reached:,} spaces loaded: {loading}; {server.free() >> 30} GiB free")
        server.safe(on=True)
        with quiet():
            keep("many", reached, {"loading": loading, **measured_many(server, asker, embedder, reached)})
        say(f"{reached:,} spaces measured")
        if reached < step:
            say(f"stopped at {reached:,} of {step:,} spaces: the disk is full enough")
            return


def measured_many(server: Server, asker: asking.Asker, embedder: Given, spaces: int) -> dict[str, Any]:
    """Ask one space, any space and the bare server; then look at the sizes."""
    began = environment()
    paths = [filling.path(number) for number in range(0, spaces, filling.TEMPLATES)]  # copies of the space of the cues
    with home(server, embedder) as memories:
        one = memories.space(filling.path(0))
        result = {
            "spaces": spaces,
            "memories": spaces * filling.EACH,
            "environment": began,
            "recall_anywhere": asking.anywhere(server, asker, memories, paths),
            "recall": asking.recalls(server, asker, one),
            "read_only": asking.looks(server, asker, one),
            "remember": asking.writes(server, asker, memories.space(f"written/{spaces}")),
            "floor": asking.floors(server, asker, filling.path(filling.TEMPLATES)),
        }
    return {**result, "sizes": asking.sizes(server, spaces * filling.EACH), "load_after": environment()["load"]}


# One space

ONE = "bench/one"
BATCH = 2_000
INDEXED = 100_000  # from here on an index is made, and measured beside looking at all


def one(server: Server, steps: list[int]) -> None:
    """Grow one space by what a user calls, and ask at each step: all vectors looked at, and by the index.

    From a hundred thousand on it grows inside the server (`filling.widened`).
    """
    embedder = given()
    corpus = load(min(max(steps), INDEXED) + FRESH, real())
    embedder.give(corpus.texts, corpus.vectors)
    for step in steps:
        asker = asking.Asker(corpus, embedder, corpus.texts[: min(step, INDEXED)])
        server.safe(on=False)
        with home(server, embedder) as memories:
            loading = _grown(server, memories, corpus, min(step, INDEXED))
        if step > INDEXED:
            loading = filling.widened(server, ONE, step)
        loading["vacuum_seconds"] = vacuumed(server)
        size = int(loading["memories"])
        say(f"{size:,} memories loaded: {loading}; {server.free() >> 30} GiB free")
        server.safe(on=True)
        with quiet():
            result = {"loading": loading, **measured_one(server, asker, embedder, size)}
        keep("one", size, result)
        say(f"{size:,} memories measured, all looked at")
        if step >= INDEXED:
            making = indexed(server, embedder)
            say(f"index over {size:,} made in {making} s")
            with quiet():
                found = {"seconds": making, **measured_index(server, asker, embedder, size)}
            keep("one", size, {**result, "indexed": found})
            say(f"{size:,} memories measured, by the index")


def _grown(server: Server, memories: Retentive, corpus: Any, size: int) -> dict[str, Any]:
    space = memories.space(ONE)
    have = space.store.count(Gate(true_at=NOW, hidden=True))
    _unindexed(server)
    if have >= size:
        return {"memories": have}
    step = (NOW - FIRST) / size
    began, worked = time.perf_counter(), time.process_time()
    first = have - have % BATCH
    for start in range(first, size, BATCH):
        filling.waiting()
        space.remember_many(
            {"text": corpus.texts[n], "session": corpus.sessions[n], "at": FIRST + n * step}
            for n in range(start, min(start + BATCH, size))
        )
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    written = max(1, size - first)
    return {
        "memories": size,
        "written": written,
        "seconds": round(wall, 1),
        "per_second": round(written / wall),
        "per_cpu_second": round(written / cpu),
    }


def _unindexed(server: Server) -> None:
    """Take the index away: growing with it is another matter."""
    with server.connect() as connection:
        for (index,) in connection.execute(
            "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON oid = indexrelid "
            "WHERE relname LIKE 'vectors_near_%'"
        ).fetchall():
            connection.execute(f"DROP INDEX {index}".encode())


def measured_one(server: Server, asker: asking.Asker, embedder: Given, size: int) -> dict[str, Any]:
    """Ask the space without an index, and the bare server; then look at the sizes."""
    began = environment()
    with home(server, embedder, exact_up_to=EXACT) as memories:
        space = memories.space(ONE)
        result = {
            "memories": size,
            "environment": began,
            "recall": asking.recalls(server, asker, space, most=40),
            "read_only": asking.looks(server, asker, space),
            "floor": asking.floors(server, asker, ONE),
            "quality": asking.quality(asker, space, 100 if size < INDEXED else 30),
        }
        result["remember"] = asking.writes(server, asker, space)
    return {**result, "sizes": asking.sizes(server, size), "load_after": environment()["load"]}


def indexed(server: Server, embedder: Given) -> float:
    """Make the index, and return the seconds it took."""
    began = time.perf_counter()
    with home(server, embedder) as memories:
        memories.store.index(ONE)  # type: ignore[attr-defined] # a PostgreSQL store has it
    return round(time.perf_counter() - began, 1)


def measured_index(server: Server, asker: asking.Asker, embedder: Given, size: int) -> dict[str, Any]:
    """Ask by the index; hold it to the exact answer behind gates that let much and little through."""
    with home(server, embedder) as memories, home(server, embedder, exact_up_to=EXACT) as looking:
        space, exact = memories.space(ONE), looking.space(ONE)
        span = NOW - FIRST
        gates = {
            "none": Gate(true_at=NOW),
            "a tenth": Gate(true_at=NOW, since=NOW - span / 10),
            "a hundredth": Gate(true_at=NOW, since=NOW - span / 100),
            "a thousandth": Gate(true_at=NOW, since=NOW - span / 1000),
        }
        result = {
            "environment": environment(),
            "recall": asking.recalls(server, asker, space, most=40),
            "read_only": asking.looks(server, asker, space),
            "vectors": asking.arm(server, asker, space),
            "quality": asking.quality(asker, space, 100),
            "exactness": asking.exactness(asker, space, exact, gates, 15 if size > 2 * INDEXED else 40),
            "remember": asking.writes(server, asker, space),
        }
    return {**result, "bytes_a_memory": asking.index_bytes(server) / size, "load_after": environment()["load"]}


if __name__ == "__main__":
    main()
