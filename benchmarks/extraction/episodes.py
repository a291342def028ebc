"""Join public conversations end to end, without times, and see where episodes begin; write episodes.md here.

    python benchmarks/extraction/episodes.py --data ../shared/data

A boundary between two conversations is right to find; any other episode is counted as wrong, though people do change
the topic inside a conversation. The sets are for evaluation only and not part of this repository: only figures are.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from retentive import Retentive
from retentive.evaluate.datasets import load

HERE: Final = Path(__file__).parent
Talk: TypeAlias = list[dict[str, str]]
JOINED: Final = 40
SHORTEST: Final = 4
OPENING: Final = 3  # turns cut off the beginning where greetings must not help


def talks(data: Path, name: str, spaces: int) -> list[Talk]:
    """Return the sessions of some spaces as messages; LongMemEval keeps a session's user turns in one text."""
    found: dict[tuple[str, str], Talk] = defaultdict(list)
    for space in load(data / f"{name}.json.gz").conversations[:spaces]:
        for item in space.items:
            lines = [item.said] if item.speaker else item.text.split("\n")[:-1]
            session = found[space.space, item.session or item.id]
            session += [{"speaker": item.speaker or "user", "text": line} for line in lines if line.strip()]
    return list(found.values())


def chosen(every: Sequence[Talk], cut: int) -> list[Talk]:
    """Return the conversations to be joined, always the same ones."""
    long = [talk[cut:] for talk in every if len(talk) >= cut + SHORTEST]
    random.Random(3).shuffle(long)  # noqa: S311 -- a fixed order, nothing secret
    return long[:JOINED]


def measured(every: Sequence[Talk]) -> tuple[int, int, int, int]:
    """Return how many boundaries there are, how many episodes began, and how many of those at a boundary."""
    messages: Talk = []
    bounds = set()
    for talk in every:
        bounds.add(len(messages))
        messages += talk
    told = Retentive(":memory:").space("joined").observe(messages, session="joined", extract="none")
    places = {turn.id: at for at, turn in enumerate(told.turns)}
    begun = {places[episode.turns[0]] for episode in told.episodes} - {0}
    bounds.discard(0)
    return len(bounds), len(begun), len(bounds & begun), len(messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=HERE / "../../../shared/data")
    options = parser.parse_args()
    rows = ["| set | turns | boundaries | found | precision | recall |", "|---|---|---|---|---|---|"]
    for name, spaces in (("locomo-dev", 4), ("realtalk-dev", 6), ("longmemeval-s-user500-dev", 20)):
        every = talks(options.data, name, spaces)
        for cut, said in ((0, ""), (OPENING, f", first {OPENING} turns cut")):
            bounds, begun, hit, turns = measured(chosen(every, cut))
            shares = f"{hit / max(begun, 1):.2f} | {hit / max(bounds, 1):.2f}"
            rows.append(f"| {name}{said} | {turns} | {bounds} | {begun} | {shares} |")
    page = "\n".join(["Conversations joined end to end, without times: where episodes begin.", "", *rows, ""])
    (HERE / "episodes.md").write_text(page, "utf-8")
    print(page)


if __name__ == "__main__":
    main()
