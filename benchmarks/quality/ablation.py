"""Take the default policy apart, one piece at a time, on the development halves; writes ablation.json and ablation.md.

    python benchmarks/quality/ablation.py --data ../shared/data
    python benchmarks/quality/ablation.py --only late --only "no neighbours"

Every row is the default policy with one thing gone. Differences are paired by question, with a bootstrap interval; what
is kept has to pay on at least three of the four sets, or to guard a behaviour that these sets do not ask about.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import run

from retentive.evaluate.datasets import load
from retentive.evaluate.report import HEADLINE, Report
from retentive.evaluate.runner import evaluate
from retentive.evaluate.statistics import difference
from retentive.policy import presets
from retentive.policy.policy import Policy

HERE = Path(__file__).parent


def variants() -> dict[str, Policy]:
    """Return the default policy without each of its parts, by what is gone."""
    whole = presets.retentive
    found = {f"no {name}": without(whole, name) for name in whole.signals}
    changes: dict[str, dict[str, Any]] = {
        "no neighbours": {"neighbours": 0},
        "no decomposition": {"decompose": "never"},
        "no temporal intent": {"temporal_intent": False},
        "no window bonus": {"window_bonus": 0.0},
        "no succession": {"succession": 0.0},
        "no claims": {"claims": 0.0},
        "no rotation": {"rotation": "off"},
        "no diversity": {"diversity": "none"},
        "no collapse of repetitions": {"near_duplicate": None},
        "no floor": {"floor": None},
        "vector and words alone": {"channels": ("vector", "lexical")},
    }
    return found | {name: whole.replace(name=name, **change) for name, change in changes.items()}


def without(policy: Policy, signal: str) -> Policy:
    """Return a policy that does not look at one signal."""
    return policy.replace(name=f"no {signal}", weights={signal: 0.0})


def main() -> None:
    options = _options()
    chosen = {name: policy for name, policy in variants().items() if not options.only or name in options.only}
    results: dict[str, Any] = {"environment": run._environment(), "sets": {}}  # noqa: SLF001 - a script beside this one
    for name in options.set or run.SETS:
        started = time.perf_counter()
        dataset = load(options.data / f"{name}.json.gz")
        report = evaluate(dataset, [presets.retentive, *chosen.values()], embedder="potion", progress=run._progress)  # noqa: SLF001
        results["sets"][name] = rows(report, list(chosen))
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    (HERE / "ablation.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (HERE / "ablation.md").write_text(as_page(results), "utf-8")
    print((HERE / "ablation.md").read_text("utf-8"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../../shared/data")
    parser.add_argument("--set", action="append", choices=run.SETS)
    parser.add_argument("--only", action="append", choices=list(variants()))
    return parser.parse_args()


def rows(report: Report, names: list[str]) -> dict[str, Any]:
    """Return each variant's figure, and how far it lies from the whole, question by question."""
    means = {row.policy: row for row in report.rows if row.category == "overall"}
    asked = {
        name: [one.scores[HEADLINE] for one in report.asked if one.policy == name and one.scores] for name in means
    }
    found: dict[str, Any] = {}
    for name in ["retentive", *names]:
        row = means[name]
        gain = None if name == "retentive" else difference(asked[name], asked["retentive"]).interval
        found[name] = {
            "ndcg@10": round(row.metrics[HEADLINE], 4),
            "newest_first": row.newest_first,
            "difference": gain and [round(value, 4) for value in (gain.mean, gain.low, gain.high)],
        }
    return found


def as_page(results: dict[str, Any]) -> str:
    """Write the table: the whole, then what each part is worth (what is lost without it)."""
    sets = list(results["sets"])
    lines = [
        "# What each part of the default policy is worth",
        "",
        "Made by `python benchmarks/quality/ablation.py --data ../shared/data`, bundled embedder. Each row is the",
        "default policy with one part gone; the figures are nDCG@10 and, in brackets, how it differs from the whole,",
        "question by question, with a bootstrap interval of 95 %. Negative: the part pays there. `newest`: BEAM's",
        f"knowledge updates with the current fact first. Commit {results['environment'].get('commit', '?')}.",
        "",
        "| | " + " | ".join(sets) + " | newest |",
        "|---|" + "---|" * (len(sets) + 1),
    ]
    for name in results["sets"][sets[0]]:
        cells = [_cell(results["sets"][one][name]) for one in sets]
        newest = next(
            (r[name]["newest_first"] for r in results["sets"].values() if r[name]["newest_first"] is not None), None
        )
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {'–' if newest is None else f'{newest:.2f}'} |")
    return "\n".join([*lines, ""])


def _cell(figures: dict[str, Any]) -> str:
    value = f"{figures['ndcg@10']:.3f}"
    if figures["difference"] is None:
        return f"**{value}**"
    mean, low, high = figures["difference"]
    return f"{value} ({mean:+.4f}: {low:+.3f} to {high:+.3f})"


if __name__ == "__main__":
    main()
