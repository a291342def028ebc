"""What was measured, as data and as a table."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from retentive.bench.watch import EMBEDDING, STAGES

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds over many recalls."""

    p50: float
    p95: float
    p99: float
    mean: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        """Summarise measurements in seconds."""
        values = np.asarray(seconds, dtype=np.float64) * 1e3
        p50, p95, p99 = np.percentile(values, (50, 95, 99)) if len(values) else (0.0, 0.0, 0.0)
        return cls(float(p50), float(p95), float(p99), float(values.mean()) if len(values) else 0.0)


@dataclass(frozen=True, slots=True)
class Report:
    """One measured space."""

    space: str
    memories: int
    policy: str
    embedder: str
    queries: int
    touched: bool
    total: Spread
    stages: Mapping[str, Spread]
    work: Mapping[str, float]  # means of a recall's own counters
    found: float  # the share of cues that brought up the memory they were taken from

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, with what it was measured on."""
        return {**asdict(self), "unit": "ms", "environment": environment()}

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the table: a stage, p50, p95, p99, and its share of the mean time."""
        sum_of_means = sum(spread.mean for spread in self.stages.values()) or 1.0
        lines = [("stage", "p50 ms", "p95 ms", "p99 ms", "share")]
        lines += [
            (name, *_three(self.stages[name]), f"{self.stages[name].mean / sum_of_means:.0%}")
            for name in STAGES
            if name in self.stages
        ]
        return [*lines, (TOTAL, *_three(self.total), "")]

    def summary(self) -> str:
        """Say in a line what was measured."""
        touched = "with write-back" if self.touched else "without write-back"
        return (
            f"{self.queries} recalls of {self.memories:,} memories in {self.space!r} under policy {self.policy!r}, "
            f"{touched}; {self.found:.0%} brought up the memory that their cue was taken from."
        )

    @property
    def embedding(self) -> Spread | None:
        """The embedding of the cue, which depends on the embedder more than on the store."""
        return self.stages.get(EMBEDDING)


def _three(spread: Spread) -> tuple[str, str, str]:
    return f"{spread.p50:.2f}", f"{spread.p95:.2f}", f"{spread.p99:.2f}"


def environment() -> dict[str, str]:
    """Return what the figures depend on."""
    import apsw  # noqa: PLC0415 - for its version only

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": platform.processor(),
        "numpy": np.__version__,
        "sqlite": apsw.sqlite_lib_version(),
    }
