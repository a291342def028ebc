"""Clocks, percentiles, memory and the machine: what every part of the benchmark needs."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np


def spread(seconds: Iterable[float]) -> dict[str, float]:
    """Summarise seconds in milliseconds."""
    values = np.array(list(seconds)) * 1e3
    if not len(values):
        return {}
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    found = {"p50": p50, "p95": p95, "p99": p99, "mean": values.mean(), "least": values.min()}
    return {name: round(float(value), 4) for name, value in found.items()} | {"runs": len(values)}


def timed(function: Callable[[int], object], runs: int, *, most: float = 30.0, warm: int = 1) -> dict[str, Any]:
    """Time a function of the run's number: wall and CPU of this process; ends early after ``most`` seconds."""
    for number in range(warm):
        function(number)
    wall, cpu, began = [], [], time.perf_counter()
    for number in range(warm, warm + runs):
        start, worked = time.perf_counter(), time.process_time()
        function(number)
        cpu.append(time.process_time() - worked)
        wall.append(time.perf_counter() - start)
        if time.perf_counter() - began > most:
            break
    return {"wall": spread(wall), "cpu": spread(cpu)}


def resident() -> float:
    """Return this process's resident memory in MB, after collecting garbage."""
    gc.collect()
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def handles() -> int:
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count of names, not of paths


def forget_pages(folder: Path) -> None:
    """Ask the kernel to drop the cached pages of a folder's files, so that opening them reads the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)


def environment() -> dict[str, Any]:
    """Return what figures depend on: machine, versions, commit, load and date."""
    import apsw  # noqa: PLC0415 - peers' environments have none

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run(["git", "status", "--short", "src"], capture_output=True, text=True, check=False)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() + ("+" if changed.stdout.strip() else ""),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "nice": os.nice(0),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sqlite": apsw.sqlite_lib_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()
