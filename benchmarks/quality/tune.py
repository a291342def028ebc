"""Tune presets on labelled sets and print what that gained on held-out questions; writes tuning.md here.

python benchmarks/quality/tune.py locomo-dev.json.gz beam100k-dev.json.gz realtalk-dev.json.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path

from retentive.evaluate.datasets import load
from retentive.evaluate.tuning import tune

COLUMNS = ("set", "from", "learnt from", "held out", "before", "after", "gain [95 %]", "believed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--policy", action="append")
    given = parser.parse_args()
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|" + "--:|" * 5 + "---|"]
    for name in given.sets:
        dataset = load(name)
        for policy in given.policy or ("blend", "operational", "retentive"):
            outcome = tune(dataset, policy)
            gain = outcome.gain.interval
            figures = (
                f"{outcome.before:.3f} | {outcome.after:.3f} | {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
            )
            counts = f"{outcome.learnt_from} | {outcome.gain.questions}"
            believed = "yes" if outcome.accepted else "no"
            lines.append(f"| {dataset.name} | `{policy}` | {counts} | {figures} | {believed} |")
            print(lines[-1], flush=True)
    Path(__file__).with_name("tuning.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
