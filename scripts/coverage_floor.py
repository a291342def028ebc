"""Measure coverage and hold it to the floor in `.ci/coverage-floor`, which only rises. Arguments go to pytest.

A run above the floor says what to write there; a floor lower than one committed before is refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLOOR = ROOT / ".ci/coverage-floor"
SLACK = 1.0  # per cent above the floor from which it is due to rise


def coverage(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=ROOT, check=False).returncode


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def earlier_floors() -> list[float]:
    """Return the floors that were ever committed, as far back as this clone goes."""
    commits = git("log", "--format=%H", "--", str(FLOOR.relative_to(ROOT))).split()
    texts = [git("show", f"{commit}:{FLOOR.relative_to(ROOT)}") for commit in commits]
    return [float(text) for text in texts if text.strip()]


def measured() -> float:
    report = ROOT / ".coverage.json"
    coverage("json", "--quiet", "-o", str(report))
    total: float = json.loads(report.read_text("utf-8"))["totals"]["percent_covered"]
    report.unlink()
    return total


def verdict(percent: float, floor: float, earlier: list[float]) -> str | None:
    """Return what is wrong, if anything."""
    if floor < max(earlier, default=0.0):
        return f"The coverage floor fell to {floor:g} from {max(earlier):g}; it only rises."
    if percent < floor:
        return f"Coverage is {percent:.2f} %, below the floor of {floor:g} %. Test what you added."
    return None


def main() -> int:
    coverage("erase")
    failed = coverage("run", "-m", "pytest", "-q", *sys.argv[1:], "tests")
    coverage("combine", "--quiet")
    coverage("report", "--skip-covered", "--skip-empty")
    if failed:
        return failed
    percent, floor = measured(), float(FLOOR.read_text("utf-8"))
    wrong = verdict(percent, floor, earlier_floors())
    print(wrong or f"Coverage is {percent:.2f} %, the floor {floor:g} %.")
    if not wrong and percent > floor + SLACK:
        print(f"It may rise: write {percent - SLACK / 2:.1f} into {FLOOR.relative_to(ROOT)}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
