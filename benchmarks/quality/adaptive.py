"""Let simulated users live under every summed preset and under adaptation; writes adaptive.json and adaptive.md here.

python benchmarks/quality/adaptive.py            # 3 seeds, 600 questions each: some minutes
python benchmarks/quality/adaptive.py --steps 120 --seeds 1 --no-write
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from retentive.evaluate.simulation import ADAPTIVE, USERS, Row, simulate

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--base", default="blend")
    parser.add_argument("--no-write", action="store_true")
    given = parser.parse_args()
    rows = []
    for user in USERS:
        rows += simulate([user], base=given.base, seeds=given.seeds, steps=given.steps)
        print(f"{user}: {rows[-1].over_base:+.3f} over {given.base}", flush=True)
    table = markdown(rows, given)
    print(table)
    if not given.no_write:
        (HERE / "adaptive.md").write_text(table, "utf-8")
        plain = [{"user": row.user, "means": {n: round(v, 4) for n, v in row.means.items()}} for row in rows]
        (HERE / "adaptive.json").write_text(json.dumps(plain, indent=1) + "\n", "utf-8")


def markdown(rows: list[Row], given: argparse.Namespace) -> str:
    names = [name for name in rows[0].means if name != ADAPTIVE]
    head = ["user", *(f"`{name}`" for name in names), f"`{given.base}` adaptive", "over it", "over the best fixed one"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        best = row.best_fixed[0]
        cells = [f"**{row.means[name]:.3f}**" if name == best else f"{row.means[name]:.3f}" for name in names]
        figures = [f"{row.means[ADAPTIVE]:.3f}", f"{row.over_base:+.3f}", f"{row.over_best:+.3f}"]
        lines.append(f"| {' | '.join([row.user, *cells, *figures])} |")
    command = f"python benchmarks/quality/adaptive.py --steps {given.steps} --seeds {given.seeds} --base {given.base}"
    return f"Mean nDCG@5 of the first answer. `{command}`\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
