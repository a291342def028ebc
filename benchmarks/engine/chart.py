"""Draw results/*.json as one picture, PNG and SVG: time and work against size, and the peers beside us.

.venvs/bench/bin/pip install -r benchmarks/engine/requirements.txt
.venvs/bench/bin/python benchmarks/engine/chart.py            # writes docs/images/engine-scale.{png,svg}
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "docs/images/engine-scale"
PEERS = HERE.parent / "peers/results"
STAGES = {
    "channel: vector": "vector channel",
    "channel: lexical": "lexical channel",
    "channel: entity": "entity channel",
    "channel: recent": "recent channel",
    "channel: important": "important channel",
    "evidence": "evidence",
    "ranking and selection": "ranking and selection",
    "write-back": "write-back",
}
COUNTERS = {
    "rows_scanned": "rows scanned",
    "candidates_scored": "candidates scored",
    "texts_read": "texts read",
}
NAMES = {
    "lancedb_ivf_pq": "LanceDB hybrid, IVF_PQ, + update",
    "lancedb_flat": "LanceDB hybrid, flat, + update",
    "chroma": "Chroma (vectors only) + update",
    "sqlite_vec_fts5": "sqlite-vec + FTS5, RRF, + update",
    "langgraph_store": "LangGraph SqliteStore + update",
    "mem0_qdrant": "mem0, local Qdrant (search only)",
}


def main() -> None:
    plt.rcParams.update({"svg.hashsalt": "retentive", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    figure, (time, work, peers) = plt.subplots(1, 3, figsize=(15, 5))
    recalls = _results(HERE / "results/recalls.json")
    _times(time, recalls)
    _work(work, recalls)
    _peers(peers, recalls)
    for axes in (time, work, peers):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("memories in one space")
    figure.tight_layout()
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT.with_suffix(".png"), dpi=110, metadata={"Software": None})
    _save_svg(figure, OUT.with_suffix(".svg"))


def _save_svg(figure: Any, path: Path) -> None:
    """Save without a date, and without the addresses of whoever drew it: a picture of ours names no other host."""
    figure.savefig(path, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    path.write_text(re.sub(r"<!--.*?-->\n?", "", path.read_text("utf-8"), flags=re.DOTALL), "utf-8")


def _results(path: Path) -> dict[int, dict[str, Any]]:
    if not path.exists():
        return {}
    found = json.loads(path.read_text("utf-8"))
    return {int(size): result for size, result in found.items() if not result.get("error")}


def _times(axes: Any, recalls: dict[int, dict[str, Any]]) -> None:
    sizes = sorted(recalls)
    axes.set_title("One recall, stage by stage (p50, ms)")
    axes.plot(sizes, [recalls[n]["recall"]["wall"]["p50"] for n in sizes], "k-o", linewidth=2.5, label="whole recall")
    axes.plot(
        sizes, [recalls[n]["floor"]["sum_p50"] for n in sizes], "k:", label="floor: arms, rows and a commit alone"
    )
    for stage, name in STAGES.items():
        axes.plot(sizes, [recalls[n]["stages"][stage]["p50"] or None for n in sizes], "-", marker=".", label=name)
    axes.legend(fontsize=7)


def _work(axes: Any, recalls: dict[int, dict[str, Any]]) -> None:
    sizes = sorted(recalls)
    axes.set_title("Work of one recall (mean)")
    for counter, name in COUNTERS.items():
        axes.plot(sizes, [recalls[n]["work"][counter] for n in sizes], "-o", label=name)
    axes.legend(fontsize=7)


def _peers(axes: Any, recalls: dict[int, dict[str, Any]]) -> None:
    axes.set_title("Search and note what came back (p50, ms)")
    ours = [size for size in sorted(recalls) if size <= 230_000]
    axes.plot(ours, [recalls[n]["recall"]["wall"]["p50"] for n in ours], "k-o", linewidth=2.5, label="Retentive")
    for name, label in NAMES.items():
        found = _results(PEERS / f"{name}.json")
        sizes = sorted(found)
        times = [found[n].get("search_and_update", found[n]["search"])["p50"] for n in sizes]
        axes.plot(sizes, times, "--", marker=".", label=label)
    axes.legend(fontsize=7)


if __name__ == "__main__":
    main()
