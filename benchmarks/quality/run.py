"""Measure the presets on the development halves and write results.json and table.md beside this file.

    python benchmarks/quality/run.py --data ../shared/data            # every set with the bundled embedder
    python benchmarks/quality/run.py --set locomo-dev --embedder arctic-s --no-presets

The sets are licensed for evaluation only and are not part of this repository; only figures come out of here. A run
replaces the figures of the sets and the embedder it measured and leaves the others.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from retentive.evaluate.baselines import BASELINES
from retentive.evaluate.datasets import Dataset, load
from retentive.evaluate.report import OVERALL, Report
from retentive.evaluate.runner import evaluate
from retentive.policy import presets

HERE = Path(__file__).parent
SETS = ("locomo-dev", "beam100k-dev", "realtalk-dev", "longmemeval-s-user500-dev")
POTION, ARCTIC = "potion-base-8M-int8", "snowflake-arctic-embed-s-int8"
TARGETS = {
    ("locomo-dev", POTION): 0.56,
    ("beam100k-dev", POTION): 0.365,
    ("realtalk-dev", POTION): 0.53,
    ("longmemeval-s-user500-dev", POTION): 0.90,
    ("locomo-dev", ARCTIC): 0.60,
}
"""The bars of the issue."""
NOT_ASKED = {"retentive", "planning"}
"""The default is run apart, with write-back as well; `planning` refuses to be asked without a task's tags."""


def main() -> None:
    options = _options()
    results, environment = _read(), _environment()  # as they are now: a working tree moves on while this runs
    for name in options.set or SETS:
        dataset = load(options.data / f"{name}.json.gz")
        started = time.perf_counter()
        report = measure(dataset, options.embedder, with_presets=options.presets)
        print(f"{name} with {options.embedder}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
        results[f"{name} {options.embedder}"] = {"environment": environment, **report.as_dict()}
        (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (HERE / "table.md").write_text(as_page(results), "utf-8")
    print((HERE / "table.md").read_text("utf-8"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../../shared/data")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set; may be repeated")
    parser.add_argument("--embedder", default="potion")
    parser.add_argument("--presets", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def measure(dataset: Dataset, embedder: str, *, with_presets: bool) -> Report:
    """Run the default (without and with write-back), the baselines in both text forms, and the other presets."""
    others = [name for name in presets.names() if name not in NOT_ASKED] if with_presets else []
    plain = evaluate(dataset, [*BASELINES, *others], embedder=embedder, progress=_progress)
    ours = evaluate(dataset, ["retentive"], embedder=embedder, touch=True, progress=_progress)
    dated = evaluate(dataset, BASELINES, embedder=embedder, text_form="dated", progress=_progress)
    marked = tuple(replace(row, policy=f"{row.policy} (dated text)") for row in dated.rows)
    return replace(plain, rows=plain.rows + marked + ours.rows)


def _progress(done: int, total: int, label: str) -> None:
    if done % 200 == 0 or done == total:
        print(f"\r{done}/{total} {label:<40}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _environment() -> dict[str, Any]:
    describe = ["git", "describe", "--always", "--exclude=*", "--dirty"]  # uncommitted changes are part of the truth
    commit = subprocess.run(describe, capture_output=True, text=True, check=False, cwd=HERE)
    return {
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "policy": presets.get("retentive").dump(),
    }


def _read() -> dict[str, Any]:
    file = HERE / "results.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


HEAD = """# Retrieval quality on the development halves

Made by `python benchmarks/quality/run.py --data ../shared/data`; the figures and the policy that gave them are in
`results.json`. Abstention and adversarial questions are left out of recall. `+touch`: the same questions in file order
with write-back on. `(dated text)`: time and speaker written into the text, as published baselines have it; all other
rows run over the same stored memories. `newest`: how often a current fact stands above every outdated one. `ms`: one
recall, without embedding the question. How to read it: docs/evaluation.md.
"""
COLUMNS = {
    **{f"{name}@{k}": f"{name}@{k}" for name in ("any", "all", "frac") for k in (1, 5, 10, 20)},
    "MRR": "mrr",
    "nDCG@10": "ndcg@10",
    "newest": "newest_first",
    "empty where none is right": "abstained",
}


def as_page(results: dict[str, Any]) -> str:
    """Write every result as Markdown: what stands in the table can be made again from results.json alone."""
    return "\n".join([HEAD, *(_section(result) for _, result in sorted(results.items()))])


def _section(result: dict[str, Any]) -> str:
    overall = [row for row in result["rows"] if row["category"] == OVERALL]
    columns = {head: name for head, name in COLUMNS.items() if any(row.get(name) is not None for row in overall)}
    lines = [f"## {result['dataset']}, {result['embedder']}", "", _verdict(result, overall), ""]
    lines += [
        "| policy | " + " | ".join([*columns, "ms", "p95 ms"]) + " |",
        "|---" + "|---:" * (len(columns) + 2) + "|",
    ]
    for row in overall:
        cells = [_share(row.get(name)) for name in columns.values()]
        label = f"{row['policy']} +touch" if row["touched"] else row["policy"]
        lines.append(f"| {label} | {' | '.join(cells)} | {row['mean_ms']:.1f} | {row['p95_ms']:.1f} |")
    return "\n".join([*lines, "", *_categories(result["rows"]), ""])


def _verdict(result: dict[str, Any], overall: Sequence[dict[str, Any]]) -> str:
    ours = next(row for row in overall if row["policy"] == "retentive" and not row["touched"])
    newest = f", newest fact first {ours['newest_first']:.2f} of {ours['newest_of']}" if ours["newest_of"] else ""
    bar = TARGETS.get((result["dataset"], result["embedder"]))
    aim = f" (bar {bar:.3f})" if bar else ""
    touched = result["touch_difference"]["retentive"]
    size = f"{result['memories']} memories in {result['conversations']} spaces"
    return (
        f"{ours['questions']} questions with evidence, {size}. "
        f"`retentive`: nDCG@10 {ours['ndcg@10']:.3f}{aim}{newest}; with write-back {touched:+.4f}. "
        f"Commit {result['environment']['commit']}."
    )


def _categories(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return nDCG@10 by category, for the default beside the baselines over the same memories."""
    columns = [*(policy.name for policy in BASELINES), "retentive"]
    figures = {(row["category"], row["policy"]): row for row in rows if not row["touched"] and "ndcg@10" in row}
    lines = ["| nDCG@10 | questions | " + " | ".join(columns) + " |", "|---|---:" + "|---:" * len(columns) + "|"]
    for category in dict.fromkeys(category for category, _ in figures if category != OVERALL):
        cells = [_share(figures[category, name]["ndcg@10"]) for name in columns]
        lines.append(f"| {category} | {figures[category, 'retentive']['questions']} | {' | '.join(cells)} |")
    return lines


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
