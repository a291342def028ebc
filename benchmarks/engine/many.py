"""Ten thousand tenants of a hundred memories each."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from corpus import CACHE, load
from given import Given, real
from stores import draft, home

from retentive import Retentive

EACH = 100
WRITTEN = 20  # spaces that are really written; the others are copies of these under names of their own


@contextmanager
def many_spaces(count: int, embedder: Callable[[], Given]) -> Iterator[tuple[Retentive, list[str], dict[str, Any]]]:
    """Make a store of many spaces, and remove it behind."""
    folder = CACHE / "work" / "many"
    shutil.rmtree(folder, ignore_errors=True)
    start, given = time.perf_counter(), embedder()
    corpus = load(WRITTEN * EACH, real())
    given.give(corpus.texts, corpus.vectors)
    paths = [f"tenant/{number:05d}" for number in range(count)]
    try:
        with home(folder, given) as memories:
            for number, path in enumerate(paths[:WRITTEN]):
                drafts = [draft(corpus, n, WRITTEN * EACH) for n in range(number * EACH, (number + 1) * EACH)]
                memories.space(path).remember_many(drafts)
            files = [Path(memories.space(path).store.file) for path in paths[:WRITTEN]]  # type: ignore[attr-defined]
        for number, path in enumerate(paths[WRITTEN:]):
            _copy(files[number % WRITTEN], paths[number % WRITTEN], path)
        making = {
            "seconds": round(time.perf_counter() - start, 1),
            "written": min(WRITTEN, count),
            "copied": count - WRITTEN,
        }
        with home(folder, given) as memories:
            yield memories, paths, making
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(file: Path, old: str, new: str) -> None:
    """Copy a space's file under another name: the file knows its name and must be told."""
    from retentive.stores.sqlite.names import folder_name  # noqa: PLC0415

    target = file.parent.parent / folder_name(new) / file.name
    target.parent.mkdir(mode=0o700)
    shutil.copy(file, target)
    connection = apsw.Connection(str(target))
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("UPDATE identity SET space = ? WHERE space = ?", (new, old))
    connection.execute("UPDATE settings SET value = value")
    connection.close()
