"""Count the work of a fixed small workload, and hold it to benchmarks/engine/budget.json. Nothing here reads a clock.

    python scripts/work_budget.py --check      # exit 1 where a counter is above its budget
    python scripts/work_budget.py --update     # write what was counted as the new budget; the commit says why
    python scripts/work_budget.py --callgrind  # also instructions a recall, under valgrind; minutes, by hand or nightly

A machine under load counts as one at rest, so this finds what made recall dearer where a timing would only be noisy.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, Final

import apsw

import retentive
from retentive import Retentive
from retentive.answer import Recall
from retentive.bench import probes, synthetic
from retentive.memory import Space

BUDGET: Final = Path(__file__).resolve().parents[1] / "benchmarks/engine/budget.json"
OURS: Final = str(Path(retentive.__file__).parent) + os.sep  # not a name in the path: a clone may be called retentive
MEMORIES, RECALLS, WRITES = 2_000, 50, 200
TOLERANCE: Final = 0.03
"""Above the budget by this share is too much: float rounding may move a candidate, never one in thirty."""
INSTRUCTIONS: Final = "recall.instructions_each"
START: Final = datetime(2026, 6, 1, tzinfo=UTC)
STEP: Final = timedelta(minutes=10)
CALLGRIND: Final = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]


class Counts:
    """What is counted while a phase runs."""

    def __init__(self) -> None:
        self.phases: dict[str, Counter[str]] = {}
        self._now: Counter[str] | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[Counter[str]]:
        """Count what happens inside as one phase."""
        self._now = self.phases[name] = Counter()
        sys.setprofile(self._called)
        try:
            yield self._now
        finally:
            sys.setprofile(None)
            self._now = None

    def _called(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count calls of our own functions; comprehensions are calls in some versions of Python only."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS) and not code.co_name.startswith("<"):
            self._now["python_calls"] += 1  # type: ignore[index] # only set while a phase runs

    def connected(self, connection: apsw.Connection) -> None:
        """Have every connection tell what its statements did."""
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._ran)

    def _ran(self, event: dict[str, Any]) -> None:
        if self._now is None or event["code"] != apsw.SQLITE_TRACE_PROFILE:
            return
        status = event["stmt_status"]
        self._now["sql_statements"] += 1
        self._now["sql_steps"] += status["SQLITE_STMTSTATUS_VM_STEP"]
        self._now["sql_rows_scanned_without_index"] += status["SQLITE_STMTSTATUS_FULLSCAN_STEP"]

    def as_dict(self) -> dict[str, int]:
        """Return every counter of every phase, by ``phase.counter``."""
        return {
            f"{phase}.{name}": count for phase, counts in self.phases.items() for name, count in sorted(counts.items())
        }


def count(memories: int = MEMORIES, recalls: int = RECALLS, writes: int = WRITES) -> dict[str, int]:
    """Run the workload in a temporary folder and return its counters."""
    counts = Counts()
    apsw.connection_hooks.append(counts.connected)
    try:
        with tempfile.TemporaryDirectory() as folder, Retentive(folder, clock=lambda: START) as home:
            _work(home, counts, memories, recalls, writes)
    finally:
        apsw.connection_hooks.remove(counts.connected)
    return counts.as_dict()


def _work(home: Retentive, counts: Counts, memories: int, recalls: int, writes: int) -> None:
    with counts.phase("batch"):
        space = synthetic(home, memories)
    cues = [probe.cue for probe in probes(space.store, recalls, START)]
    with counts.phase("recall") as now:
        for number, cue in enumerate(cues):
            _note(now, space.recall(cue, now=START + number * STEP))
    with counts.phase("remember"):
        for number in range(writes):
            space.remember(f"Dana wrote note {number} about the release.", at=START)
    with counts.phase("recall_after_write") as now:
        for number, cue in enumerate(cues):
            space.remember(f"Emre added line {number} to the plan.", at=START)
            _note(now, space.recall(cue, now=START + (recalls + number) * STEP))
    with counts.phase("cold_open"):
        _reopened(space, cues[0])


def _reopened(space: Space, cue: str) -> None:
    space.store.close()
    space.recall(cue, touch=False, now=START)


def _note(counts: Counter[str], recall: Recall) -> None:
    counts.update(asdict(recall.trace.work))
    counts["hits"] += len(recall)


def above(counted: dict[str, int], budget: dict[str, int], tolerance: float = TOLERANCE) -> list[str]:
    """Return what is above its budget, or has none, in sentences."""
    found = [f"{name}: no budget; run --update" for name in counted if name not in budget]
    for name, value in counted.items():
        most = budget.get(name, value) * (1 + tolerance)
        if value > most:
            found.append(
                f"{name}: {value:,}, {value / max(budget[name], 1) - 1:+.1%} above its budget {budget[name]:,}"
            )
    return found


def below(counted: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Return what got cheaper by more than a tenth: a budget that is too wide guards nothing."""
    cheaper = [name for name, value in counted.items() if value < 0.9 * budget.get(name, value)]
    return [f"{name}: {counted[name]:,} of {budget[name]:,}; lower its budget with --update" for name in cheaper]


def instructions() -> int | None:
    """Return machine instructions of one more recall, by callgrind: two runs apart by many recalls; None without it."""
    if not shutil.which("valgrind"):
        return None
    few, many = (_instructions_of(recalls) for recalls in (5, 25))
    return (many - few) // 20


def _instructions_of(recalls: int) -> int:
    command = ["valgrind", *CALLGRIND, sys.executable, __file__, "--only-recalls", str(recalls)]
    settings = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=settings)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind said nothing that was understood:\n{done.stderr[-1000:]}")
    return int(found[1])


def _only_recalls(recalls: int) -> None:
    """Do what `instructions` counts: a small space and so many recalls."""
    with tempfile.TemporaryDirectory() as folder, Retentive(folder, clock=lambda: START) as home:
        space = synthetic(home, 300)
        for number, probe in enumerate(probes(space.store, 25, START)[:recalls]):
            space.recall(probe.cue, now=START + number * STEP)


def main() -> int:
    options = _options()
    if options.only_recalls is not None:
        _only_recalls(options.only_recalls)
        return 0
    counted = count()
    if options.callgrind and (each := instructions()) is not None:
        counted[INSTRUCTIONS] = each
    budget = json.loads(BUDGET.read_text("utf-8")) if BUDGET.exists() else {}
    if options.update:
        kept = {INSTRUCTIONS: budget[INSTRUCTIONS]} if INSTRUCTIONS in budget else {}
        BUDGET.write_text(json.dumps({**kept, **counted}, indent=1, sort_keys=True) + "\n", "utf-8")
    for name, value in counted.items():
        print(f"{name:48} {value:>14,}  of {budget.get(name, value):>14,}")
    too_much = [] if options.update else above(counted, budget)
    for line in [*too_much, *([] if options.update else below(counted, budget))]:
        print(line, file=sys.stderr)
    return 1 if options.check and too_much else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="exit 1 where a counter is above its budget")
    parser.add_argument("--update", action="store_true", help="write what was counted as the new budget")
    parser.add_argument("--callgrind", action="store_true", help="also count instructions, under valgrind")
    parser.add_argument("--only-recalls", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
