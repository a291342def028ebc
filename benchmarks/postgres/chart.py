"""Draw results/*.json as one picture, PNG and SVG: what a recall costs as spaces are added, and as one space grows.

.venvs/bench/bin/pip install -r benchmarks/engine/requirements.txt
.venvs/bench/bin/python benchmarks/postgres/chart.py            # writes docs/images/postgres-scale.{png,svg}
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "docs/images/postgres-scale"
Steps = dict[int, dict[str, Any]]


def main() -> None:
    plt.rcParams.update({"svg.hashsalt": "retentive", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    figure, (spaces, space) = plt.subplots(1, 2, figsize=(12, 5))
    _spaces(spaces, _results("many"))
    _space(space, _results("one"))
    for axes in (spaces, space):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylabel("ms")
        axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(OUT.with_suffix(".png"), dpi=110, metadata={"Software": None})
    figure.savefig(OUT.with_suffix(".svg"), metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    path = OUT.with_suffix(".svg")
    path.write_text(re.sub(r"<!--.*?-->\n?", "", path.read_text("utf-8"), flags=re.DOTALL), "utf-8")


def _results(name: str) -> Steps:
    path = HERE / f"results/{name}.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {int(step): result for step, result in sorted(found.items(), key=lambda item: int(item[0]))}


def _wall(found: dict[str, Any], what: str, name: str) -> float:
    return float(found[what]["wall"][name])


def _work(found: dict[str, Any], what: str) -> float:
    server = found[what]["server_cpu_mean"]
    return math.nan if server is None else float(found[what]["cpu"]["mean"]) + float(server)  # lost: a gap


def _spaces(axes: Any, steps: Steps) -> None:
    axes.set_title("Spaces of 1,000 memories, in one database")
    axes.set_xlabel("spaces")
    names = {"recall": ("recall, one space", "o-"), "recall_anywhere": ("recall, any space", "s-")}
    for what, (label, style) in {**names, "remember": ("remember", "^-")}.items():
        (line,) = axes.plot(list(steps), [_work(found, what) for found in steps.values()], style, label=f"{label}: CPU")
        walls = [_wall(found, what, "p50") for found in steps.values()]
        axes.plot(list(steps), walls, style[0] + ":", color=line.get_color(), label=f"{label}: p50")
    axes.plot(list(steps), [found["floor"]["sum_p50"] for found in steps.values()], "k--", label="floor: p50")


def _space(axes: Any, steps: Steps) -> None:
    axes.set_title("One space")
    axes.set_xlabel("memories")
    (line,) = axes.plot(
        list(steps), [_work(f, "recall") for f in steps.values()], "o-", label="recall, all looked at: CPU"
    )
    axes.plot(
        list(steps),
        [_wall(found, "recall", "p50") for found in steps.values()],
        "o:",
        color=line.get_color(),
        label="recall, all looked at: p50",
    )
    indexed = {size: found["indexed"] for size, found in steps.items() if "indexed" in found}
    if indexed:
        (line,) = axes.plot(
            list(indexed), [_work(f, "recall") for f in indexed.values()], "s-", label="by the index: CPU"
        )
        axes.plot(
            list(indexed),
            [_wall(found, "recall", "p50") for found in indexed.values()],
            "s:",
            color=line.get_color(),
            label="by the index: p50",
        )
    axes.plot(list(steps), [_work(found, "remember") for found in steps.values()], "^-", label="remember: CPU")
    axes.plot(list(steps), [found["floor"]["sum_p50"] for found in steps.values()], "k--", label="floor: p50")


if __name__ == "__main__":
    main()
