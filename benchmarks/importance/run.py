"""Measure the raters on the labelled lists; writes results.json and table.md beside this file.

    python benchmarks/importance/run.py                                   # the offline rater, no model
    python benchmarks/importance/run.py --llm openai:qwen --base-url http://localhost:8080/v1
    python benchmarks/importance/run.py --fit                             # print fitted weights

Three lists. `texts.tsv` is parted in halves by a digest of each text: weights were fitted on one half, the other
was held out. But its words and the rater's were chosen by the same person. `later.tsv`, in other registers and written
after the first weights were set, showed that (Spearman .59, where length alone had .71); it was then used for tuning.
`last.tsv` was written before that second tuning and measured after it: short texts that matter, long ones that do
not. It is the figure to believe.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
from halves import Labelled, labelled

from retentive import Retentive
from retentive.indexing import names_in
from retentive.llm.catalogue import resolve_llm
from retentive.types import Floats
from retentive.weighing.features import Features, features

HERE = Path(__file__).parent
FALLING = {"question", "greeting", "passing"}


def main() -> None:
    options = _options()
    if options.fit:
        fit([*(item for item in labelled() if not item.held_out), *labelled("later.tsv")])
        return
    results: dict[str, Any] = json.loads(path.read_text("utf-8")) if (path := HERE / "results.json").exists() else {}
    raters: dict[str, Callable[[Sequence[Labelled]], list[float]]] = {"offline": offline, "length": length}
    if options.llm:
        raters = {options.llm: lambda items: by_model(items, options.llm, options.base_url)}
    for name, rate in raters.items():
        results[name] = {part: measured(items, rate(items)) for part, items in parts().items()}
    path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (HERE / "table.md").write_text(as_table(results), "utf-8")
    print((HERE / "table.md").read_text("utf-8"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--llm")
    parser.add_argument("--base-url")
    return parser.parse_args()


def parts() -> dict[str, list[Labelled]]:
    first = labelled()
    return {
        "tuning half": [item for item in first if not item.held_out],
        "held-out half": [item for item in first if item.held_out],
        "other registers": labelled("later.tsv"),
        "held-out list": labelled("last.tsv"),
    }


def offline(items: Sequence[Labelled]) -> list[float]:
    """Rate by features, as a space does that gets these texts at once."""
    with Retentive(":memory:") as memories:
        memories.rater = "offline"
        return [memory.importance for memory in memories.space("m").remember_many(item.text for item in items)]


def length(items: Sequence[Labelled]) -> list[float]:
    """Rate by length alone: what any rater must beat."""
    return [min(len(item.text) / 200, 1.0) for item in items]


def by_model(items: Sequence[Labelled], name: str, base_url: str | None) -> list[float]:
    """Rate by a language model, through the queue."""
    options = {"base_url": base_url, "timeout": 600} if base_url else {}
    with Retentive(":memory:", llm=resolve_llm(name, options=options)) as memories:
        memories.rater = "llm"
        space = memories.space("m")
        kept = space.remember_many(item.text for item in items)
        space.run_jobs()
        return [space.get(memory.id, touch=False).importance for memory in kept]


def measured(items: Sequence[Labelled], given: Sequence[float]) -> dict[str, float]:
    """Return agreement with the labels, and how ratings spread (on the 1-10 scale)."""
    ratings, labels = 10 * np.array(given), np.array([item.rating for item in items], float)
    return {
        "texts": len(items),
        "spearman": round(float(np.corrcoef(ranks(ratings), ranks(labels))[0, 1]), 3),
        "kendall": round(kendall(ratings, labels), 3),
        "mean": round(float(ratings.mean()), 2),
        "deviation": round(float(ratings.std()), 2),
        "least": round(float(ratings.min()), 1),
        "most": round(float(ratings.max()), 1),
        "commonest": round(float(np.unique(ratings.round(1), return_counts=True)[1].max() / len(items)), 3),
    }


def ranks(values: Floats) -> Floats:
    """Return ranks; equal values share the middle of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = ((ends - counts + 1 + ends) / 2)[places]
    return middle


def kendall(one: Floats, two: Floats) -> float:
    """Return Kendall's tau-b."""
    first, second = np.sign(one[:, None] - one[None]), np.sign(two[:, None] - two[None])
    return float((first * second).sum() / np.sqrt((first != 0).sum() * (second != 0).sum()))


def as_table(results: dict[str, Any]) -> str:
    lines = [
        "<!-- written by benchmarks/importance/run.py -->",
        "",
        "| rater | list | texts | Spearman | Kendall τ-b | mean | deviation | range | commonest rating |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rater, found in results.items():
        lines += [
            f"| {rater} | {part} | {row['texts']} | {row['spearman']:.3f} | {row['kendall']:.3f} | {row['mean']:.1f} | "
            f"{row['deviation']:.2f} | {row['least']:.1f}-{row['most']:.1f} | {row['commonest']:.0%} |"
            for part, row in found.items()
        ]
    return "\n".join(lines) + "\n"


def fit(items: Sequence[Labelled], ridge: float = 5.0) -> None:
    """Fit the weights by ridge regression, each on the side of nothing where it belongs, and print them."""
    names = [item.name for item in fields(Features)]
    sides = np.array([-1.0 if name in FALLING else 1.0 for name in names])
    rows = np.array([astuple(features(item.text, len(names_in(item.text, None)))) for item in items]) * sides
    labels = np.array([item.rating for item in items], float)
    weights, bare = np.zeros(len(names)), float(labels.mean())
    step = 1 / (np.linalg.norm(rows, 2) ** 2 + ridge)
    for _ in range(20_000):
        errors = rows @ weights + bare - labels
        weights = np.maximum(0, weights - step * (rows.T @ errors + ridge * weights))
        bare = float((labels - rows @ weights).mean())
    for name, weight in zip(names, weights * sides, strict=True):
        print(f"{name:<12}{weight:+.2f}")
    print(f"{'bare':<12}{bare:+.2f}")


if __name__ == "__main__":
    main()
