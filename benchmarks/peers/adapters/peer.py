"""What every peer is put through: the same texts, vectors and questions, in the peer's own environment.

    python ADAPTER.py FOLDER OUT.json [SECONDS]

FOLDER has texts.json, vectors.npy, cues.json (cue and the place of the right text) and cue_vectors.npy. An adapter says
how its library is used as its documentation has it; this module times it. Nothing of Retentive is imported here.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

RUNS = 100
SPARE = 100  # texts at the end, added one by one while measuring
RETURNED = 5


class Peer(ABC):
    """A library under test. Places are positions in the list of texts."""

    packages: ClassVar[Sequence[str]] = ()
    how: ClassVar[str] = ""
    after_write_needs: ClassVar[str] = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def build(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        """Take all texts in, in bulk, and make the indexes."""

    @abstractmethod
    def search(self, cue: str, vector: np.ndarray[Any, Any], limit: int) -> list[int]:
        """Return the places of the best texts."""

    @abstractmethod
    def add(self, place: int, text: str, vector: np.ndarray[Any, Any]) -> None:
        """Take one more text in, so that the next search finds it."""

    def update(self, places: Sequence[int], number: int) -> None:
        """Note on some texts that they were read; what a write-back has to do."""
        raise NotImplementedError


def main(kind: type[Peer]) -> None:
    """Measure and write the result; what fails is a result as well."""
    source, out, seconds = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 300.0
    folder = out.with_suffix(".data")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result: dict[str, Any] = {"how": kind.how, "versions": _versions(kind.packages)}
    try:
        _measure(kind(folder), source, result, seconds)
    except Exception as error:  # noqa: BLE001 - a peer may fail in any way, and that is what we then report
        result["error"] = f"{type(error).__name__}: {error}"[:500]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        out.write_text(json.dumps(result, indent=1), "utf-8")


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def _measure(peer: Peer, source: Path, result: dict[str, Any], seconds: float) -> None:
    texts: list[str] = json.loads((source / "texts.json").read_text("utf-8"))
    vectors = np.load(source / "vectors.npy")
    cues: list[tuple[str, int]] = json.loads((source / "cues.json").read_text("utf-8"))
    asked = np.load(source / "cue_vectors.npy")
    size = len(texts) - SPARE
    start = time.perf_counter()
    peer.build(texts[:size], vectors[:size])
    result |= {"size": size, "build_seconds": round(time.perf_counter() - start, 2)}
    result["build_per_second"] = round(size / result["build_seconds"]) if result["build_seconds"] else None
    result["resident"] = _resident()
    each = seconds / 8
    search: Callable[[int], list[int]] = lambda n: peer.search(cues[n % len(cues)][0], asked[n % len(cues)], RETURNED)  # noqa: E731
    result["search"] = _timed(search, RUNS, each, warm=10)
    result["quality"] = _quality(peer, cues, asked, each)
    result |= _with_updates(peer, search, each)
    result |= _with_writes(peer, search, texts[size:], vectors[size:], size, each)


def _quality(peer: Peer, cues: Sequence[tuple[str, int]], asked: np.ndarray[Any, Any], most: float) -> dict[str, Any]:
    top5 = top10 = done = 0
    began = time.perf_counter()
    for (cue, target), vector in zip(cues, asked, strict=True):
        found = peer.search(cue, vector, 10)
        top5 += target in found[:5]
        top10 += target in found[:10]
        done += 1
        if time.perf_counter() - began > most:
            break
    return {"top5": top5 / done, "top10": top10 / done, "asked": done}


def _with_updates(peer: Peer, search: Callable[[int], list[int]], most: float) -> dict[str, Any]:
    """Time the search followed by its write-back, and the write-back alone."""
    if type(peer).update is Peer.update:
        return {}
    both, update, began = [], [], time.perf_counter()
    for number in range(RUNS):
        start = time.perf_counter()
        found = search(number)
        middle = time.perf_counter()
        peer.update(found, number)
        end = time.perf_counter()
        both.append(end - start)
        update.append(end - middle)
        if end - began > most:
            break
    return {"search_and_update": spread(both), "update": spread(update)}


def _with_writes(
    peer: Peer, search: Callable[[int], list[int]], texts: Sequence[str], vectors: Any, first: int, most: float
) -> dict[str, Any]:
    add, after, began = [], [], time.perf_counter()
    for number, text in enumerate(texts[: RUNS // 2]):
        start = time.perf_counter()
        peer.add(first + number, text, vectors[number])
        middle = time.perf_counter()
        search(number)
        add.append(middle - start)
        after.append(time.perf_counter() - middle)
        if time.perf_counter() - began > most:
            break
    return {"add": spread(add), "search_after_add": spread(after)}


def _timed(function: Callable[[int], Any], runs: int, most: float, *, warm: int) -> dict[str, Any]:
    began = time.perf_counter()
    for number in range(warm):
        function(number)
        if time.perf_counter() - began > most / 2:
            break
    seconds, began = [], time.perf_counter()
    for number in range(runs):
        start = time.perf_counter()
        function(number)
        seconds.append(time.perf_counter() - start)
        if time.perf_counter() - began > most:
            break
    return spread(seconds)


def spread(seconds: Sequence[float]) -> dict[str, Any]:
    """Summarise seconds in milliseconds."""
    values = np.array(seconds) * 1e3
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3), "p99": round(float(p99), 3), "runs": len(values)}


def _resident() -> float:
    gc.collect()
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith("VmRSS:"))
