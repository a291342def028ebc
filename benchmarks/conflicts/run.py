"""Precision and recall of conflict and repetition detection over `pairs.tsv`, through the real façade.

    python benchmarks/conflicts/run.py            # measure both halves, write results.json and table.md
    python benchmarks/conflicts/run.py --half development --misses

Each pair is written into a space of its own, the older first; a second reading writes all pairs that must not conflict
into one space, where everything stands beside everything. The halves are drawn by digest within each form: rules are
made on the development half alone, and the held-out half is only ever read for the table.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import sqrt
from pathlib import Path
from typing import Any, Final

from retentive import Retentive

HERE: Final = Path(__file__).resolve().parent
HALVES: Final = ("development", "held-out")
NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sayings, and what the later is to the earlier: a conflict, the same again, or neither."""

    label: str
    form: str
    old: str
    new: str

    @property
    def digest(self) -> str:
        return sha256(f"{self.old}\t{self.new}".encode()).hexdigest()


def pairs(half: str) -> list[Pair]:
    """Return one half of the set: every second pair of each form, in the order of their digests."""
    with (HERE / "pairs.tsv").open(encoding="utf-8", newline="") as file:
        rows = [Pair(**row) for row in csv.DictReader(file, delimiter="\t")]
    forms: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for row in rows:
        forms[row.label, row.form].append(row)
    parted = (sorted(group, key=lambda pair: pair.digest)[HALVES.index(half) :: 2] for group in forms.values())
    return [pair for group in parted for pair in group]


def outcome(home: Retentive, pair: Pair) -> str:
    """Write a pair into a space of its own and say what was made of it."""
    space = home.space(("pairs", pair.digest[:16]))
    space.remember(pair.old, at=NOW - timedelta(days=9))
    space.remember(pair.new, at=NOW)
    if space.repetitions():
        return "merged"
    found = space.conflicts(status=None)
    return found[0].status if found else "nothing"


def crowded(home: Retentive, sayings: Iterable[str]) -> tuple[int, list[tuple[str, str, str]]]:
    """Write sayings that must not conflict into one space; return how many, and every edge that was drawn."""
    space, told = home.space("crowd"), list(dict.fromkeys(sayings))
    for number, text in enumerate(told):
        space.remember(text, at=NOW + timedelta(minutes=number))
    return len(told), [
        (one.status, one.older.text, one.newer.text) for one in space.conflicts(status=None, limit=10_000)
    ]


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, 1927): shares near 1 of few have no normal one."""
    if not whole:
        return 0.0, 1.0
    centre, spread = part + z * z / 2, z * sqrt(part * (whole - part) / whole + z * z / 4)
    return (centre - spread) / (whole + z * z), (centre + spread) / (whole + z * z)


def share(part: int, whole: int) -> dict[str, Any]:
    """Return a share with its 95 % interval."""
    low, high = wilson(part, whole)
    return {
        "of": [part, whole],
        "share": round(part / whole, 3) if whole else None,
        "interval": [round(low, 3), round(high, 3)],
    }


def measured(half: str, *, misses: bool = False) -> dict[str, Any]:
    """Measure one half."""
    chosen = pairs(half)
    with Retentive(":memory:") as home:
        found = [(pair, outcome(home, pair)) for pair in chosen]
        beside = [text for pair in chosen if pair.label == "none" for text in (pair.old, pair.new)]
        told, edges = crowded(home, beside)
    if misses:
        for pair, what in found:
            if (pair.label == "conflict") != (what == "applied") and (what != "nothing" or pair.label == "conflict"):
                print(f"{pair.label:9} {pair.form:11} {what:8} {pair.old}  |  {pair.new}")
        print(*edges, sep="\n")
    return {**_figures(found), "crowd": {"sayings": told, "edges": edges}, "forms": _by_form(found)}


def _figures(found: Sequence[tuple[Pair, str]]) -> dict[str, Any]:
    def counted(label: str | None, *outcomes: str) -> int:
        return sum((label is None or pair.label == label) and what in outcomes for pair, what in found)

    total = {label: sum(pair.label == label for pair, _ in found) for label in ("conflict", "none", "same")}
    applied, noticed = counted(None, "applied"), counted(None, "applied", "open")
    return {
        "pairs": total,
        "applied_precision": share(counted("conflict", "applied"), applied),
        "applied_recall": share(counted("conflict", "applied"), total["conflict"]),
        "noticed_precision": share(counted("conflict", "applied", "open"), noticed),
        "noticed_recall": share(counted("conflict", "applied", "open"), total["conflict"]),
        "merged_precision": share(counted("same", "merged"), counted(None, "merged")),
        "merged_recall": share(counted("same", "merged"), total["same"]),
        "contradictions_merged": counted("conflict", "merged"),
    }


def _by_form(found: Sequence[tuple[Pair, str]]) -> dict[str, dict[str, int]]:
    forms: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pair, what in found:
        forms[f"{pair.label}/{pair.form}"][what] += 1
    return {form: dict(sorted(counts.items())) for form, counts in forms.items()}


def table(results: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    names = {
        "applied_precision": "precision of what was applied",
        "applied_recall": "recall of what was applied",
        "noticed_precision": "precision of what was applied or listed",
        "noticed_recall": "recall of what was applied or listed",
        "merged_precision": "precision of merging repetitions",
        "merged_recall": "recall of merging repetitions",
    }
    lines = ["| | development half | held-out half |", "| --- | --- | --- |"]
    lines += [
        f"| {title} | {' | '.join(_cell(results[half][name]) for half in HALVES)} |" for name, title in names.items()
    ]
    merged = " | ".join(str(results[half]["contradictions_merged"]) for half in HALVES)
    lines.append(f"| contradictions merged away | {merged} |")
    crowds = [results[half]["crowd"] for half in HALVES]
    edges = " | ".join(f"{len(crowd['edges'])} among {crowd['sayings']} sayings" for crowd in crowds)
    lines.append(f"| edges in one space of look-alikes | {edges} |")
    forms = sorted({form for half in HALVES for form in results[half]["forms"]})
    lines += ["", "| label/form | development half | held-out half |", "| --- | --- | --- |"]
    lines += [
        f"| {form} | {' | '.join(_counts(results[half]['forms'].get(form, {})) for half in HALVES)} |" for form in forms
    ]
    return "\n".join(lines) + "\n"


def _cell(figure: dict[str, Any]) -> str:
    part, whole = figure["of"]
    low, high = figure["interval"]
    return f"{figure['share']:.3f} ({part} of {whole}; {low:.2f} to {high:.2f})"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--half", choices=HALVES, help="only this half; nothing is written")
    parser.add_argument("--misses", action="store_true", help="print what went wrong (of the development half, please)")
    options = parser.parse_args()
    if options.half:
        print(json.dumps(measured(options.half, misses=options.misses), indent=1))
        return
    results = {half: measured(half) for half in HALVES}
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (HERE / "table.md").write_text(table(results), "utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
