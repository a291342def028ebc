"""Measure the embedded store alone: the vector arm, gates, opening, catching up, memory. Results are in
docs/decisions/0033-vector-arm.md.

    python scripts/measure_store.py --sizes 1000 10000 100000 230000 1000000 [--corpus FOLDER] [--json FILE]

FOLDER holds vectors.npy (float32, unit rows), queries.npy and texts.json; without it vectors are clustered noise, which
is good for times and says nothing of exactness. Every size runs in processes of its own; times are medians of CPU
milliseconds, with the wall clock's behind.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from retentive.stores.sqlite import SqliteStore
from retentive.stores.sqlite.space import SqliteSpace
from retentive.types import Gate, Memory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = 20
SPACE = "measured"


def corpus(folder: str | None, size: int) -> tuple[Any, Any, list[str]]:
    """Return vectors, query vectors and texts."""
    if folder:
        vectors = np.load(Path(folder) / "vectors.npy", mmap_mode="r")[:size]
        texts = json.loads((Path(folder) / "texts.json").read_text("utf-8"))[:size]
        queries = np.load(Path(folder) / "queries.npy")
        queries = queries[np.random.RandomState(5).permutation(len(queries))]
        return vectors, queries / np.linalg.norm(queries, axis=1, keepdims=True), texts
    random = np.random.default_rng(0)
    centres = random.standard_normal((max(8, size // 50), 256), dtype=np.float32)
    vectors = centres[random.integers(0, len(centres), size)] + 0.7 * random.standard_normal((size, 256), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[random.integers(0, size, 400)] + 0.03 * random.standard_normal((400, 256), np.float32)
    texts = [f"word{i % 997} word{i % 31} word{i % 7919} number {i}" for i in range(size)]
    return vectors, queries / np.linalg.norm(queries, axis=1, keepdims=True), texts


def memory(i: int, text: str) -> Memory:
    """Return the i-th memory: one in a hundred carries a tag, half are of another kind."""
    return Memory(
        id=f"{i:026d}",
        space=SPACE,
        text=text,
        kind="episode" if i % 2 else "fact",
        created_at=NOW - timedelta(minutes=i),
        recorded_at=NOW - timedelta(minutes=i),
        tags=("rare",) if i % 100 == 0 else (),
        importance=(i % 11) / 10,
    )


def build(folder: Path, size: int, given: str | None) -> dict[str, Any]:
    """Fill a store, and open it once so that it keeps its derived file."""
    vectors, queries, texts = corpus(given, size)
    store = SqliteStore(folder)
    space = store.open(SPACE)
    began = time.perf_counter()
    for first in range(0, size, 5000):
        with space.transaction() as transaction:
            for i in range(first, min(first + 5000, size)):
                terms = re.findall(r"\w+", texts[i].lower())
                transaction.insert(memory(i, texts[i]), np.array(vectors[i]), terms)
    filled = time.perf_counter()
    space.nearest(queries[0], Gate(true_at=NOW), 1)
    built = time.perf_counter()
    store.close()
    closed = time.perf_counter()
    return {"fill_s": filled - began, "rebuild_s": built - filled, "close_s": closed - built}


def timed(action: Callable[[int], object], times: int = 60) -> list[float]:
    """Return the median CPU and wall milliseconds of an action."""
    cpu, wall = [], []
    for i in range(times):
        process, clock = time.process_time(), time.perf_counter()
        action(i)
        cpu.append(time.process_time() - process)
        wall.append(time.perf_counter() - clock)
    return [round(1000 * statistics.median(cpu), 3), round(1000 * statistics.median(wall), 3)]


def resident(line_of: str = "VmRSS") -> float:
    """Return the megabytes resident now; of `VmHWM`, at most so far (`ru_maxrss` begins with the parent's)."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith(line_of)) / 1024, 1)


def _nearest(space: SqliteSpace, queries: Any, narrowed: dict[str, Any], i: int) -> None:
    space.nearest(queries[i % 300], Gate(true_at=NOW, **narrowed), LIMIT)


def measure(folder: Path, size: int, given: str | None) -> dict[str, Any]:  # noqa: ARG001 - one signature
    """Measure a store that was built, in a fresh process."""
    floor = resident()
    queries = np.load(folder / "queries.npy")
    store = SqliteStore(folder)
    process, clock = time.process_time(), time.perf_counter()
    space = store.open(SPACE)
    space.nearest(queries[0], Gate(true_at=NOW), LIMIT)
    opened = [round(1000 * (time.process_time() - process), 1), round(1000 * (time.perf_counter() - clock), 1)]
    answer: dict[str, Any] = {"size": size, "cold_open": opened}
    gates: dict[str, Any] = {
        "nearest": {},
        "nearest_kind_half": {"kinds": frozenset(("fact",))},
        "nearest_tag_hundredth": {"tags": frozenset(("rare",))},
    }
    for name, narrowed in gates.items():
        asked = partial(_nearest, space, queries, narrowed)
        answer[name] = timed(asked)
    answer["recent"] = timed(lambda _: space.recent(Gate(true_at=NOW), LIMIT))
    answer["important"] = timed(lambda _: space.important(Gate(true_at=NOW), LIMIT))
    answer["within_tenth"] = timed(
        lambda _: space.within(NOW - timedelta(minutes=size // 10), NOW, Gate(true_at=NOW), LIMIT)
    )
    answer["count"] = timed(lambda _: space.count(Gate(true_at=NOW)))
    answer["resident_mb"], answer["resident_floor_mb"] = resident(), floor
    answer["peak_mb"] = resident("VmHWM")

    def add(i: int) -> None:
        with space.transaction() as transaction:
            transaction.insert(memory(size + 1_000_000 + i, f"new thing {i}"), queries[i], ("new", "thing"))

    def remember_nearest(i: int) -> None:
        add(i)
        space.nearest(queries[i], Gate(true_at=NOW), LIMIT)

    answer["remember+nearest"] = timed(remember_nearest, 40)
    answer["remember"] = timed(lambda i: add(100 + i), 40)
    answer["nearest_after_write"] = [
        round(a - b, 3) for a, b in zip(answer["remember+nearest"], answer["remember"], strict=True)
    ]
    clock = time.perf_counter()
    answer["keep_ms"] = [space.keep(), round(1000 * (time.perf_counter() - clock), 1)]
    answer["derived_mb"] = round(sum(f.stat().st_size for f in folder.rglob("derived.bin")) / 1e6, 1)
    answer["database_mb"] = round(sum(f.stat().st_size for f in folder.rglob("space.db")) / 1e6, 1)
    store.close()
    return answer


def exactness(folder: Path, size: int, given: str | None, asked: int = 400) -> dict[str, Any]:
    """Compare the top 20 with brute force, without a gate and among half of the rows."""
    vectors, queries, _ = corpus(given, size)
    store = SqliteStore(folder)
    space = store.open(SPACE)
    same = {"all": 0, "half": 0}
    matrix = np.array(vectors)
    for query in queries[:asked]:
        scores = matrix @ query
        for name, step in (("all", 1), ("half", 2)):
            part = scores[::step]
            bar = np.partition(part, len(part) - LIMIT)[len(part) - LIMIT]
            kinds = frozenset(("fact",)) if step == 2 else None
            found = space.nearest(query, Gate(true_at=NOW, kinds=kinds), LIMIT)
            same[name] += bool(found.scores.min() >= bar - 1e-6)
    store.close()
    return {f"exact_top20_{name}": count / min(asked, len(queries)) for name, count in same.items()}


def main() -> None:
    """Run every size, each step in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--corpus")
    parser.add_argument("--json")
    parser.add_argument("--step", choices=("build", "measure", "exactness"))
    parser.add_argument("--folder")
    asked = parser.parse_args()
    if asked.step:
        step = {"build": build, "measure": measure, "exactness": exactness}[asked.step]
        print(json.dumps(step(Path(asked.folder), asked.sizes[0], asked.corpus)))
        return
    results = []
    for size in asked.sizes:
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "queries.npy", corpus(asked.corpus, size)[1][:400])
            result: dict[str, Any] = {}
            for name in ("build", "exactness", "measure"):
                command = [sys.executable, __file__, "--step", name, "--folder", folder, "--sizes", str(size)]
                command += ["--corpus", asked.corpus] if asked.corpus else []
                result |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(json.dumps(result), flush=True)
            results.append(result)
    if asked.json:
        Path(asked.json).write_text(json.dumps(results, indent=1), "utf-8")


if __name__ == "__main__":
    main()
