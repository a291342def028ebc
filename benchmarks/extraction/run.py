"""Measure extraction by patterns on both halves of the labelled turns; write results.json and table.md here.

python benchmarks/extraction/run.py            # both halves
python benchmarks/extraction/run.py --misses   # and what was missed or wrong, of the development half only
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from retentive.observe.patterns import KINDS, extract
from retentive.observe.turns import ROLES, USER

HERE = Path(__file__).parent
HALVES = ("dev", "heldout")
ALL = "all"


@dataclass
class Labelled:
    """One turn with the memories it should yield."""

    conversation: str
    speaker: str
    text: str
    expected: list[tuple[str, str]] = field(default_factory=list)

    @property
    def role(self) -> str:
        return ROLES.get(self.speaker.casefold(), USER)


@dataclass
class Score:
    """What was right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)


def read(half: str) -> list[Labelled]:
    turns: list[Labelled] = []
    conversation = ""
    for line in (HERE / f"{half}.txt").read_text("utf-8").splitlines():
        if line.startswith("## "):
            conversation = line[3:]
        elif found := re.match(r"\s+= (\w+): (.+)", line):
            turns[-1].expected.append((found[1], found[2]))
        elif line.strip() and not line.startswith("#"):
            speaker, _, text = line.partition(": ")
            turns.append(Labelled(conversation, speaker, text))
    return turns


def measure(turns: list[Labelled]) -> tuple[dict[str, Score], list[str]]:
    """Score every kind, and say what went wrong."""
    scores = {kind: Score() for kind in (*KINDS, ALL)}
    said: list[str] = []
    for turn in turns:
        for kind, verdict, words in _judged(turn):
            for name in (kind, ALL):
                setattr(scores[name], verdict, getattr(scores[name], verdict) + 1)
            if verdict != "right":
                said.append(f"{verdict} {kind}: {words!r} in {turn.text!r}")
    return scores, said


def _judged(turn: Labelled) -> Iterator[tuple[str, str, str]]:
    left = list(turn.expected)
    for item in extract(turn.text, turn.role, turn.speaker):
        met = next((one for one in left if one[0] == item.kind and _folded(one[1]) in _folded(item.text)), None)
        if met:
            left.remove(met)
        yield item.kind, "right" if met else "wrong", item.text
    for kind, words in left:
        yield kind, "missed", words


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def interval(right: int, of: int) -> str:
    """Wilson's 95 % interval: small numbers say little, and should be seen to."""
    if not of:
        return "–"
    z, share = 1.96, right / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.2f} ({middle - reach:.2f}–{middle + reach:.2f})"


def page(scores: dict[str, dict[str, Score]], turns: dict[str, int]) -> str:
    lines = [
        "Share right, with Wilson's 95 % interval; n is how many memories the labels hold.",
        "",
        "| kind | " + " | ".join(f"{half}: n | precision | recall" for half in HALVES) + " |",
        "|---|" + "---|" * 3 * len(HALVES),
    ]
    for kind in (*KINDS, ALL):
        cells = []
        for half in HALVES:
            score = scores[half][kind]
            cells += [str(score.right + score.missed), interval(score.right, score.right + score.wrong)]
            cells += [interval(score.right, score.right + score.missed)]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines += ["", f"Turns: {', '.join(f'{half} {turns[half]}' for half in HALVES)}.", ""]
    return "\n".join(lines)


def measured() -> tuple[str, dict[str, dict[str, dict[str, int]]], list[str]]:
    """Return the table, the counts, and what went wrong in the development half."""
    turns = {half: read(half) for half in HALVES}
    found = {half: measure(turns[half]) for half in HALVES}
    scores = {half: found[half][0] for half in HALVES}
    counts = {half: {kind: vars(score) for kind, score in scores[half].items()} for half in HALVES}
    return page(scores, {half: len(turns[half]) for half in HALVES}), counts, found["dev"][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--misses", action="store_true", help="List what went wrong in the development half.")
    options = parser.parse_args()
    table, counts, said = measured()
    (HERE / "table.md").write_text(table, "utf-8")
    (HERE / "results.json").write_text(json.dumps(counts, indent=1) + "\n", "utf-8")
    print(table)
    if options.misses:
        print("\n".join(said))


if __name__ == "__main__":
    main()
