"""Write the tables of docs/postgres.md from the results: many spaces, one space, bytes, and the plan on paper.

python benchmarks/postgres/table.py          # rewrites the parts between `<!-- measured: NAME -->` and `<!-- end -->`
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "engine"))

from writing import ms, table  # noqa: E402

FEW = 20  # calls below which a table says of how many its figures are
PAGE = HERE.parents[1] / "docs/postgres.md"
_PART = re.compile(r"(<!-- measured: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Results = dict[int, dict[str, Any]]


def results(name: str) -> Results:
    """Read a part's results by step."""
    path = HERE / f"results/{name}.json"
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {int(step): result for step, result in found.items()}


def work(found: dict[str, Any]) -> float | None:
    """Return the processor time of one call, of this process and of the server together; None where that was lost."""
    server = found["server_cpu_mean"]
    return None if server is None else float(found["cpu"]["mean"]) + float(server)


def machine() -> str:
    """Say on what it was measured, and how busy that was."""
    steps = [*results("many").values(), *results("one").values()]
    first = steps[0]["environment"]
    loads = [load for step in steps for load in (step["environment"]["load"][0], step["load_after"][0])]
    return (
        f"{first['processor']}, {first['cores']} cores, PostgreSQL 18.4 with pgvector; Python {first['python']}; "
        f"{first['date'][:10]}; load average while measuring {min(loads):.1f} to {max(loads):.1f}."
    )


def many() -> str:
    """Return what a recall and a write cost as spaces of a thousand are added."""
    rows = [
        (
            f"{spaces:,}",
            f"{found['memories']:,}",
            *(ms(found["recall"]["wall"][name]) for name in ("p50", "p95")),
            ms(work(found["recall"])),
            *(ms(found["recall_anywhere"]["wall"][name]) for name in ("p50", "p95")),
            ms(work(found["recall_anywhere"])),
            *(ms(found["remember"]["wall"][name]) for name in ("p50", "p95")),
            ms(work(found["remember"])),
            ms(found["floor"]["sum_p50"]),
        )
        for spaces, found in sorted(results("many").items())
    ]
    head = ("spaces", "memories", "recall p50", "p95", "CPU", "in any p50", "p95", "CPU", "remember p50", "p95", "CPU")
    return table((*head, "floor"), rows)


def one() -> str:
    """Return what a recall and a write cost as one space grows, all vectors looked at and by the index."""
    rows = []
    for size, found in sorted(results("one").items()):
        few = f", of {runs} recalls" if (runs := int(found["recall"]["wall"]["runs"])) < FEW else ""
        rows.append(_one_row(f"{size:,}{few}", found, found["floor"]["sum_p50"], found["quality"]["top10"]))
        if indexed := found.get("indexed"):
            rows.append(_one_row(f"{size:,}, by index", indexed, None, indexed["quality"]["top10"]))
    head = ("memories", "recall p50", "p95", "CPU", "read only p50", "remember p50", "p95", "CPU", "floor", "top 10")
    return table(head, rows)


def _one_row(label: str, found: dict[str, Any], floor: float | None, top: float) -> tuple[str, ...]:
    return (
        label,
        *(ms(found["recall"]["wall"][name]) for name in ("p50", "p95")),
        ms(work(found["recall"])),
        ms(found["read_only"]["wall"]["p50"]),
        *(ms(found["remember"]["wall"][name]) for name in ("p50", "p95")),
        ms(work(found["remember"])),
        ms(floor),
        f"{top:.2f}",
    )


def floors() -> str:
    """Return the floors, piece by piece."""
    rows = [
        (label, *(ms(found["floor"][part]["wall"]["p50"]) for part in ("trip", "vectors", "words", "commit")))
        for label, found in [
            *((f"{n:,} spaces of 1,000", found) for n, found in sorted(results("many").items())),
            *((f"one space of {n:,}", found) for n, found in sorted(results("one").items())),
        ]
    ]
    return table(("p50, ms, one bare statement each", "a trip", "vectors", "words", "commit"), rows)


def index() -> str:
    """Return how the index compares to looking at all, behind each gate."""
    rows = []
    for size, found in sorted(results("one").items()):
        for gate, each in found.get("indexed", {}).get("exactness", {}).items():
            rows.append(
                (
                    f"{size:,}, gate: {gate}",
                    f"{each['passing']:,}",
                    f"{each['recall_at_20']:.1%}",
                    f"{each['equal_top20']:.0%}",
                    str(each["under_filled"]),
                )
            )
    return table(("memories", "pass the gate", "of the exact 20 found", "all 20 equal", "under-filled"), rows)


def making() -> str:
    """Say how long the indexes took, what they take, and how fast was written."""
    said = []
    for size, found in sorted(results("one").items()):
        if indexed := found.get("indexed"):
            said.append(
                f"The index over {size:,} memories took {indexed['seconds']:.0f} s to make and "
                f"{indexed['bytes_a_memory']:,.0f} bytes a memory."
            )
    written = [found["loading"] for _, found in sorted(results("one").items()) if "per_second" in found["loading"]]
    rates = ", ".join(f"{each['per_second']:,}" for each in written)
    own = ", ".join(f"{each['per_cpu_second']:,}" for each in written)
    said.append(f"`remember_many` wrote {rates} a second (per second of its own processor time: {own}).")
    return " ".join(said)


def sizes() -> str:
    """Return the bytes of one memory, by table."""
    spaces, found = max(results("many").items())
    tables = found["sizes"]["tables"]
    shown = [name for name, each in tables.items() if sum(each.values()) >= 20]
    rows = [(f"`{name}`", f"{tables[name]['rows']:,.0f}", f"{tables[name]['index']:,.0f}") for name in shown]
    rest = sum(sum(each.values()) for name, each in tables.items() if name not in shown)
    rows += [
        ("the others", f"{rest:,.0f}", ""),
        (f"together, {spaces:,} spaces of 1,000", f"{found['sizes']['bytes_a_memory']:,.0f}", ""),
    ]
    return table(("bytes of one memory", "rows", "indexes"), rows)


# On paper

MEMORIES = 1_000_000_000
SHARDS = 16
FREE = 1.2  # room for VACUUM, and for a bad week
NODE = (350, 450)  # $ a month: 8 cores, 64 GB
LARGE = (550, 700)  # $ a month: 8 cores, 128 GB
DISK = (80, 120)  # $ a month and TB of SSD
ACTIVE = 20  # one space in so many is in use during an hour


def plan() -> str:
    """Return the plan to a thousand million memories, worked out from the bytes measured."""
    each = max(results("many").items())[1]["sizes"]["bytes_a_memory"]
    by_index = [found["indexed"]["bytes_a_memory"] for found in results("one").values() if "indexed" in found]
    graph = max(by_index, default=0.0)
    stored = each * MEMORIES / 1e12
    with_room = stored * FREE
    shard = stored / SHARDS
    working, graphs = stored * 1e3 / ACTIVE / SHARDS, graph * MEMORIES / 1e9 / SHARDS
    disk = 2 * with_room
    low, high = (2 * SHARDS * node + disk * price for node, price in zip(NODE, DISK, strict=True))
    low_large, high_large = (2 * SHARDS * node + disk * price for node, price in zip(LARGE, DISK, strict=True))
    cost = (
        f"{2 * SHARDS} nodes (a standby each), {disk:.0f} TB of SSD: **about {_thousands(low)}–{_thousands(high)} $**;"
        f" with 128 GB {_thousands(low_large)}–{_thousands(high_large)} $"
    )
    rows = [
        ("storage", f"{stored:.1f} TB, with a fifth of free room {with_room:.1f} TB; twice that with a standby each"),
        ("shards", f"{SHARDS} of {shard * 1e3:,.0f} GB and {MEMORIES // SHARDS // 1_000_000} million memories each"),
        (
            "memory, 1,000,000 spaces × 1,000",
            f"the working set: one space in {ACTIVE} in use during an hour is {working:.0f} GB a shard: nodes of 64 GB",
        ),
        (
            "memory, 1,000 spaces × 1,000,000",
            f"the graphs stay in memory: {graphs:.0f} GB a shard, and the vectors looked at again: nodes of 128 GB",
        ),
        ("cost a month", cost),
    ]
    return table((f"{MEMORIES:,} memories", ""), rows)


def _thousands(value: float) -> str:
    return f"{round(value / 1000):,},000"


PARTS: dict[str, Callable[[], str]] = {
    "machine": machine,
    "spaces": many,
    "space": one,
    "floors": floors,
    "index": index,
    "making": making,
    "sizes": sizes,
    "plan": plan,
}


def main() -> None:
    text = PAGE.read_text("utf-8")
    PAGE.write_text(_PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", text), "utf-8")


if __name__ == "__main__":
    main()
