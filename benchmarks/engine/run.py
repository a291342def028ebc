"""Measure the engine, part by part, and keep the figures in results/.

    python benchmarks/engine/run.py                                  # everything; an hour on two cores
    python benchmarks/engine/run.py --only recalls --sizes 1000,10000
    python benchmarks/engine/run.py --only peers --sizes 230000

Every part and size runs in a process of its own, within a time limit; what fails or takes too long is a result too. A
run replaces the figures that it measured and leaves the others; each has the environment that it was measured in.
Texts and stores are kept under benchmarks/.cache, which no commit has.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import environment

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PEERS = HERE.parent / "peers" / "run.py"
SIZES = (1_000, 10_000, 100_000, 230_000, 1_000_000)
PARTS: dict[str, tuple[int, ...]] = {
    "startup": (0,),
    "build": SIZES,
    "recalls": SIZES,
    "writes": (1_000, 10_000, 100_000, 230_000),
    "cold": SIZES,
    "exactness": (10_000, 100_000, 230_000),
    "mixed": (10_000, 230_000),
    "spaces": (10_000,),
    "peers": (1_000, 10_000, 100_000, 230_000),
}
LIMIT = 900  # seconds for one part at one size


def main() -> None:
    options = _options()
    for part, size in _wanted(options):
        start = time.perf_counter()
        before = environment()
        result = _run(part, size, options.limit)
        seconds = round(time.perf_counter() - start, 1)
        print(f"{part} {size:,}: {seconds} s {result.get('error', '')}", file=sys.stderr, flush=True)
        keep(part, size, {"environment": before, "took_seconds": seconds, **result})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--sizes", help="only these sizes, e.g. 1000,10000")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one part at one size")
    return parser.parse_args()


def _wanted(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    sizes = [int(size) for size in options.sizes.split(",")] if options.sizes else None
    for part in options.only or PARTS:
        for size in PARTS[part] if part in ("startup", "spaces") and not sizes else sizes or PARTS[part]:
            yield part, size


def _run(part: str, size: int, limit: float) -> dict[str, Any]:
    if part == "peers":
        subprocess.run([sys.executable, str(PEERS), "--sizes", str(size)], check=False)
        return {}
    try:
        done = subprocess.run(
            [sys.executable, str(HERE / "parts.py"), part, str(size)],
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {limit:g} s"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def keep(part: str, size: int, result: dict[str, Any]) -> None:
    """Put one result into the part's file."""
    if part == "peers":  # they keep their own
        return
    path = RESULTS / f"{part}.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[str(size)] = result
    RESULTS.mkdir(exist_ok=True)
    ordered = dict(sorted(known.items(), key=lambda item: int(item[0])))
    path.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
