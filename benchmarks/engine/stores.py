"""Spaces of every size, built once for one state of the writing code and copied for each measurement."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from corpus import CACHE, Corpus
from given import Given

from retentive import Retentive
from retentive.memory import Space

SOURCE = Path(__file__).resolve().parents[2] / "src/retentive"
WRITES = (
    "stores/sqlite/schema.sql",
    "stores/sqlite/migrations/*.sql",
    "stores/sqlite/tokens.py",
    "stores/sqlite/rows.py",
)
WRITES += ("text/*.py", "indexing.py", "writing.py")  # what decides which rows a text becomes
SPACE = "bench/one"
BATCH = 1000
FIRST = datetime(2024, 6, 1, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def draft(corpus: Corpus, number: int, size: int) -> dict[str, Any]:
    """Return a text as what is remembered: its document is the session, and all of them fill two years."""
    return {"text": corpus.texts[number], "session": corpus.sessions[number], "at": FIRST + number * _step(size)}


def _step(size: int) -> timedelta:
    return (NOW - FIRST) / max(size, 1)


def state(corpus: Corpus) -> str:
    """Return a digest of the code that writes and of the corpus: another one needs other stores."""
    digest = hashlib.sha256(corpus.digest.encode())
    for pattern in WRITES:
        for path in sorted(SOURCE.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def built(corpus: Corpus, embedder: Given, size: int) -> tuple[Path, dict[str, Any]]:
    """Return a store of the first ``size`` texts, and how fast it was written; from the cache where it is there."""
    folder = CACHE / "stores" / f"{state(corpus)}-{size}"
    note = folder / "built.json"
    if not note.exists():
        shutil.rmtree(folder, ignore_errors=True)
        rates = write(corpus, embedder, folder, size)
        note.write_text(json.dumps(rates), "utf-8")
    return folder, json.loads(note.read_text("utf-8"))


def write(corpus: Corpus, embedder: Given, folder: Path, size: int) -> dict[str, Any]:
    """Write texts in batches, their vectors at hand, and say how fast."""
    with home(folder, embedder) as memories:
        space = memories.space(SPACE)
        start, worked = time.perf_counter(), time.process_time()
        for first in range(0, size, BATCH):
            space.remember_many(draft(corpus, n, size) for n in range(first, min(first + BATCH, size)))
        wall, cpu = time.perf_counter() - start, time.process_time() - worked
        next(iter(space.store.recent(_gate(), 1).rows.tolist()), None)  # lets the derived caches be written
    return {
        "memories": size,
        "seconds": round(wall, 2),
        "per_second": round(size / wall),
        "per_cpu_second": round(size / cpu),
    }


def _gate() -> Any:
    from retentive.types import Gate  # noqa: PLC0415 - only here

    return Gate(true_at=NOW)


def home(folder: Path, embedder: Given) -> Retentive:
    """Open a store at the benchmark's own moment."""
    return Retentive(folder, embedder=embedder, clock=lambda: NOW)


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """Copy a store, for a measurement that writes into it."""
    copy = CACHE / "work" / uuid4().hex
    copy.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(folder), str(copy)], check=True)
    try:
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def file_of(space: Space) -> Path:
    """Return the database file of a space."""
    file: Path = space.store.file  # type: ignore[attr-defined] # an SQLite space has one
    return file
