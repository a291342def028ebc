"""Write the tables of docs/benchmarks.md from the results: the bars, the sizes, the peers.

python benchmarks/engine/table.py          # rewrites the parts between `<!-- measured: NAME -->` and `<!-- end -->`
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from writing import ms, table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/benchmarks.md"
PEERS = HERE.parent / "peers/results"
NAMES = {
    "lancedb_ivf_pq": "LanceDB hybrid, IVF_PQ",
    "lancedb_flat": "LanceDB hybrid, flat",
    "chroma": "Chroma",
    "sqlite_vec_fts5": "sqlite-vec + FTS5",
    "langgraph_store": "LangGraph SqliteStore",
    "mem0_qdrant": "mem0 + local Qdrant",
}
_PART = re.compile(r"(<!-- measured: ([a-z]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Results = dict[int, dict[str, Any]]


def results(path: Path) -> Results:
    """Read a part's results by size, those that failed among them."""
    if not path.exists():
        return {}
    return {int(size): result for size, result in json.loads(path.read_text("utf-8")).items()}


def part(name: str) -> Results:
    """Read the results of one of our parts that succeeded."""
    return {size: result for size, result in results(HERE / f"results/{name}.json").items() if "error" not in result}


# The bars of the design


def bars() -> str:
    """Return each bar with what was measured and whether it is reached."""
    rows: list[tuple[str, ...]] = []
    for bar in (
        _against_lance,
        _against_floor,
        _growth,
        _after_write,
        _exact,
        _one,
        _batch,
        _cold,
        _memory,
        _many,
        _start,
    ):
        try:
            rows += bar()
        except (KeyError, IndexError, ValueError):
            rows.append((bar.__name__.strip("_"), "", "not measured", ""))
    return table(("what", "bar", "measured", ""), rows)


def _said(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def _against_lance() -> list[tuple[str, ...]]:
    ours = part("recalls")[230_000]["recall"]["wall"]
    lance = results(PEERS / "lancedb_ivf_pq.json")[230_000]["search_and_update"]
    rows = []
    for name in ("p50", "p95"):
        ratio = lance[name] / ours[name]
        told = f"{ms(ours[name])} ms against {ms(lance[name])} ms: {ratio:.1f}×"
        rows.append(
            (f"recall at 230k, {name}", "≥ 3× faster than LanceDB hybrid IVF_PQ + its update", told, _said(ratio >= 3))
        )
    return rows


def _against_floor() -> list[tuple[str, ...]]:
    found = part("recalls")[230_000]
    ours, floor = found["recall"]["wall"]["p50"], found["floor"]["sum_p50"]
    told = f"{ms(ours)} ms over {ms(floor)} ms: {ours / floor:.1f}×"
    return [("the same, p50", "≤ 2× its own floor", told, _said(ours <= 2 * floor))]


def _growth() -> list[tuple[str, ...]]:
    found = part("recalls")
    small, large = (found[size]["recall"]["wall"]["p50"] for size in (1_000, 1_000_000))
    told = f"{ms(small)} ms → {ms(large)} ms: {large / small:.1f}×"
    return [("recall from 1k to 1M, p50", "grows < 10×", told, _said(large < 10 * small))]


def _after_write() -> list[tuple[str, ...]]:
    found = part("recalls")
    ratios = {
        size: result["after_write"]["after"]["p50"] / result["after_write"]["plain"]["p50"]
        for size, result in found.items()
    }
    told = f"{min(ratios.values()):.2f}× to {max(ratios.values()):.2f}× over all sizes"
    return [("recall right after a write, p50", "≤ 3× a plain one", told, _said(max(ratios.values()) <= 3))]


def _exact() -> list[tuple[str, ...]]:
    found = part("exactness")
    worst = min(result["equal_top20"] for result in found.values())
    told = ", ".join(f"{result['equal_top20']:.1%} at {size:,}" for size, result in found.items())
    return [("vector arm: top-20 equals brute force", "≥ 99 % of queries", told, _said(worst >= 0.99))]


def _one() -> list[tuple[str, ...]]:
    found = part("writes")[230_000]
    one, commit = found["remember"]["wall"]["p50"], found["commit"]["wall"]["p50"]
    alone = found["statements_alone"]["wall"]["p50"]
    told = f"{ms(one)} ms over {commit:.3f} ms: {one / commit:.0f}×; "
    told += f"over its own statements alone, {ms(alone)} ms: {one / alone:.1f}×"
    return [("remember, one at a time, p50", "≤ 3× one WAL commit", told, _said(one <= 3 * commit))]


def _batch() -> list[tuple[str, ...]]:
    found = part("writes")[230_000]["batch"]
    told = f"{found['per_second']:,} (of one core's time: {found['per_cpu_second']:,})"
    return [("remember_many, without embedding", "≥ 5,000 a second", told, _said(found["per_second"] >= 5000))]


def _cold() -> list[tuple[str, ...]]:
    found = part("cold")[230_000]
    told = f"{found['first_answer']['p50']:.0f} ms; {found['pages_dropped']:.0f} ms with the file's pages dropped"
    return [("cold open of 230k to the first answer", "≤ 500 ms", told, _said(found["first_answer"]["p50"] <= 500))]


def _memory() -> list[tuple[str, ...]]:
    found = part("cold")[230_000]["memory"]
    held = found["resident_steady"] - found["resident_before"]
    closed = f"{found['resident_closed']:.0f} MB once closed"
    told = f"{found['resident_steady']:.0f} MB, of which {held:.0f} MB for the space; {closed}"
    return [("resident memory at 230k", "≤ 150 MB", told, _said(found["resident_steady"] <= 150))]


def _many() -> list[tuple[str, ...]]:
    found = part("spaces")[10_000]
    first, last = found["by_four_hundred"][0]["p50"], found["by_four_hundred"][-1]["p50"]
    told = f"{ms(first)} ms for the first 400, {ms(last)} ms for the last; at most {max(found['handles'])} handles"
    return [("10,000 spaces × 100: open, recall, close", "flat, handles bounded", told, _said(last <= 1.5 * first))]


def _start() -> list[tuple[str, ...]]:
    found = part("startup")[0]
    rows = []
    for name, label in (("import", "import of the package"), ("help", "`retentive --help`")):
        rows.append((label, "≤ 300 ms", f"{found[name]['p50']:.0f} ms", _said(found[name]["p50"] <= 300)))
    return rows


# Sizes, stages, floors


def sizes() -> str:
    """Return recall by size: wall, CPU, floor, memory and work."""
    rows = []
    for size, found in part("recalls").items():
        wall, cpu, floor = found["recall"]["wall"], found["recall"]["cpu"], found["floor"]["sum_p50"]
        work = found["work"]
        rows.append(
            (
                f"{size:,}",
                ms(wall["p50"]),
                ms(wall["p95"]),
                ms(cpu["p50"]),
                ms(found["read_only"]["wall"]["p50"]),
                ms(found["after_write"]["after"]["p50"]),
                ms(floor),
                f"{work['rows_scanned']:,.0f}",
                f"{work['candidates_scored']:,.0f}",
                f"{found['quality']['top5']:.3f}",
                f"{found['quality']['top10']:.3f}",
            )
        )
    head = (
        "memories",
        "p50",
        "p95",
        "CPU p50",
        "no write-back",
        "after a write",
        "floor",
        "rows scanned",
        "scored",
        "top 5",
        "top 10",
    )
    return table(head, rows)


def stages() -> str:
    """Return the stages by size."""
    from_sizes = part("recalls")
    names = [name for name in _order() if any(name in found["stages"] for found in from_sizes.values())]
    rows = [(name, *(ms(found["stages"].get(name, {}).get("p50")) for found in from_sizes.values())) for name in names]
    return table(("p50 ms", *(f"{size:,}" for size in from_sizes)), rows)


def _order() -> tuple[str, ...]:
    from retentive.bench.watch import STAGES  # noqa: PLC0415

    return STAGES


def floors() -> str:
    """Return each piece alone, by size."""
    found = part("recalls")
    names = {
        "vector_arm": "our vector arm",
        "lexical_arm": "our lexical arm",
        "row_fetch": "fetching the returned rows",
        "commit": "one WAL commit of 3 kB to the same file",
        "matrix_times_vector": "for comparison: float32 matrix × vector",
        "code_scan": "for comparison: sign codes in plain numpy",
        "fts5": "for comparison: FTS5, OR of the terms, by rank",
    }
    rows = [
        (label, *(ms(result["floor"][name]["wall"].get("p50")) for result in found.values()))
        for name, label in names.items()
    ]
    return table(("p50 ms, alone", *(f"{size:,}" for size in found)), rows)


def writes() -> str:
    """Return writing by size."""
    rows = []
    for size, found in part("writes").items():
        one, commit, batch = found["remember"]["wall"], found["commit"]["wall"], found["batch"]
        rows.append(
            (
                f"{size:,}",
                ms(one["p50"]),
                ms(one["p95"]),
                ms(found.get("remember_statement", {}).get("wall", {}).get("p50")),
                f"{commit['p50']:.3f}",
                ms(found["statements_alone"]["wall"]["p50"]),
                f"{batch['per_second']:,}",
                f"{batch['per_cpu_second']:,}",
            )
        )
    return table(
        (
            "memories",
            "remember p50",
            "p95",
            "a statement p50",
            "one commit",
            "its statements alone",
            "batch a second",
            "batch a CPU second",
        ),
        rows,
    )


def opening() -> str:
    """Return opening by size."""
    rows = []
    for size, found in part("cold").items():
        memory = found["memory"]
        figures = (
            memory["resident_before"],
            memory["resident_first"],
            memory["resident_steady"],
            memory["resident_closed"],
        )
        rows.append(
            (
                f"{size:,}",
                f"{found['first_answer']['p50']:.0f}",
                f"{found['cpu']['p50']:.0f}",
                f"{found['pages_dropped']:.0f}",
                *(f"{value:.0f}" for value in figures),
            )
        )
    return table(
        (
            "memories",
            "first answer, ms",
            "CPU, ms",
            "pages dropped, ms",
            "MB before",
            "after one",
            "after a hundred",
            "closed",
        ),
        rows,
    )


# The others


def peers() -> str:
    """Return every peer at every size, ours among them."""
    rows: list[tuple[str, ...]] = []
    ours, wrote = part("recalls"), part("writes")
    for size in (1_000, 10_000, 100_000, 230_000):
        if size in ours:
            rows.append(_our_row(size, ours[size], wrote.get(size)))
        for name, label in NAMES.items():
            if found := results(PEERS / f"{name}.json").get(size):
                rows.append(_peer_row(size, label, found))
    head = (
        "",
        "memories",
        "search p50",
        "search + update p50",
        "p95",
        "add p50",
        "search after add",
        "bulk/s",
        "top 5",
        "top 10",
    )
    return table(head, rows)


BUSY = " †"
"""Behind what was measured at low priority while others computed: its times say little beside those without."""


def _busy(found: dict[str, Any]) -> bool:
    environment = found.get("environment", {})
    return bool(environment.get("nice")) and environment["load"][0] > environment["cores"]


def _our_row(size: int, found: dict[str, Any], wrote: dict[str, Any] | None) -> tuple[str, ...]:
    recall, quality = found["recall"]["wall"], found["quality"]
    one = ms(wrote["remember"]["wall"]["p50"]) if wrote else ""
    bulk = f"{wrote['batch']['per_second']:,}" if wrote else ""
    return (
        "**Retentive**" + (BUSY if _busy(found) else ""), f"{size:,}", ms(found["read_only"]["wall"]["p50"]),
        ms(recall["p50"]), ms(recall["p95"]), one,
        ms(found["after_write"]["after"]["p50"]), bulk, f"{quality['top5']:.3f}", f"{quality['top10']:.3f}",
    )  # fmt: skip


def _peer_row(size: int, label: str, found: dict[str, Any]) -> tuple[str, ...]:
    label += BUSY if _busy(found) else ""
    if found.get("error") and "search" not in found:
        return (label, f"{size:,}", f"failed: {found['error'][:80]}", *[""] * 7)
    both = found.get("search_and_update", {})
    quality = found.get("quality", {})
    shares = [f"{quality[name]:.3f}" if name in quality else "" for name in ("top5", "top10")]
    return (
        label, f"{size:,}", ms(found["search"]["p50"]), ms(both.get("p50")), ms(both.get("p95")),
        ms(found.get("add", {}).get("p50")), ms(found.get("search_after_add", {}).get("p50")),
        f"{found.get('build_per_second') or 0:,}", *shares,
    )  # fmt: skip


def versions() -> str:
    """Return how each peer was used, in which version."""
    lines = []
    for name, label in NAMES.items():
        found = results(PEERS / f"{name}.json")
        if found:
            last = found[max(found)]
            told = ", ".join(
                f"{key} {value}"
                for key, value in last.get("versions", {}).items()
                if key != "python" and value != "absent"
            )
            lines.append(f"- **{label}** ({told}): {last.get('how', '')}.")
    return "\n".join(lines)


def machine() -> str:
    """Return what was measured on."""
    found = part("recalls")
    last = found[max(found)]["environment"]
    loads = sorted(result["environment"]["load"][0] for result in found.values())
    return (
        f"{last['processor']}, {last['cores']} cores; Python {last['python']}, numpy {last['numpy']}, SQLite "
        f"{last['sqlite']}; commit {last['commit']}, {last['date'][:10]}; load average when the parts began "
        f"{loads[0]:g} to {loads[-1]:g}."
    )


def many() -> str:
    """Return the many spaces in words."""
    found = part("spaces").get(10_000)
    if found is None:
        return "Not measured."
    parts = ", ".join(ms(each["p50"]) for each in found["by_four_hundred"])
    closed, opened = found["recall_in_a_closed_space"]["p50"], found["recall_in_an_open_space"]["wall"]["p50"]
    held = f"{max(found['handles'])} file handles and {max(found['resident']):.0f} MB"
    return (
        f"A recall that opens a closed space of 100 takes {ms(closed)} ms at the median (by four hundreds: {parts}), "
        f"in an open one {ms(opened)} ms. The process held at most {held}. "
        f"Listing the names of all spaces takes {found['listing']['wall']['p50']:.0f} ms."
    )


def mixed() -> str:
    """Return recalling beside a writer."""
    rows = [
        (
            f"{size:,}",
            ms(r["alone"]["wall"]["p50"]),
            ms(r["alone"]["wall"]["p95"]),
            ms(r["beside_a_writer"]["wall"]["p50"]),
            ms(r["beside_a_writer"]["wall"]["p95"]),
            ms(r["writer"]["p50"]),
        )
        for size, r in part("mixed").items()
    ]
    return table(("memories", "alone p50", "p95", "beside a writer p50", "p95", "its remember p50"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "bars": bars, "sizes": sizes, "stages": stages, "floors": floors, "writes": writes, "opening": opening,
    "peers": peers, "versions": versions, "machine": machine, "many": many, "mixed": mixed,
}  # fmt: skip


def main() -> None:
    page = PAGE.read_text("utf-8")
    PAGE.write_text(_PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}", page), "utf-8")


if __name__ == "__main__":
    main()
