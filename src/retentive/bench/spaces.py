"""What is measured instead of the user's own file: a copy of it, or a space made up for the purpose."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import apsw

from retentive.memory import Retentive, Space

Progress = Callable[[int, int], None]

COPY: Final = ".bench-"  # names with a dot are no spaces; one that a crash left over may be deleted
BATCH: Final = 1000
SYNTHETIC: Final = "synthetic"
_START: Final = datetime(2025, 1, 1, tzinfo=UTC)
_PEOPLE: Final = "Alice Bruno Chen Dana Emre Fatima Goran Hana Ivan Jamila Kofi Lena Mateo Nadia Omar Priya".split()
_THINGS: Final = (
    "billing service,search index,mobile app,staging cluster,data warehouse,release notes,login page,payment webhook,"
    "backup job,design review,hiring plan,support queue,sales deck,travel booking,garden fence,guitar lesson,"
    "running shoes,sourdough starter,visa form,kitchen tap,school play,tax return,dentist appointment,book club"
).split(",")
_VERBS: Final = (
    "moved finished postponed reviewed broke repaired bought cancelled praised forgot planned tested".split()
)
_WHY: Final = (
    "because the deadline moved,after a long call,for the second time,and wrote down why,while the others waited,"
    "to save money,before the holidays,on short notice,with help from a neighbour,as the customer had asked"
).split(",")


@contextmanager
def copied(space: Space, home: Retentive) -> Iterator[Space]:
    """Copy a space's file beside it, on the same disk, and give that: what is written back must not reach the user.

    A store that has no file (in memory) is measured as it is.
    """
    file: Path | None = getattr(space.store, "file", None)
    if file is None:
        yield space
        return
    folder = file.parent.parent / f"{COPY}{uuid4().hex}"
    target = folder / file.parent.name / file.name
    target.parent.mkdir(parents=True, mode=0o700)
    try:
        _back_up(file, target)
        with Retentive(folder, embedder=home.embedder, policy=home.policy) as copy:
            yield copy.space(space.path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _back_up(file: Path, target: Path) -> None:
    source, copy = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE), apsw.Connection(str(target))
    try:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(10_000)
        copy.execute("PRAGMA journal_mode = WAL;")
    finally:
        copy.close()
        source.close()


def synthetic(home: Retentive, size: int, *, seed: int = 0, progress: Progress | None = None) -> Space:
    """Fill a space with made-up sentences about people and what they did; the same seed gives the same ones."""
    space = home.space(SYNTHETIC)
    chosen = random.Random(seed)  # noqa: S311 - a sample, not a secret
    for first in range(0, size, BATCH):
        space.remember_many(_made_up(chosen, number) for number in range(first, min(first + BATCH, size)))
        if progress is not None:
            progress(min(first + BATCH, size), size)
    return space


def _made_up(chosen: random.Random, number: int) -> dict[str, Any]:
    one, other = chosen.sample(_PEOPLE, 2)
    thing, more = chosen.sample(_THINGS, 2)
    text = (
        f"{one} {chosen.choice(_VERBS)} the {thing} {chosen.choice(_WHY)}; {other} asked about the {more} no. {number}."
    )
    return {"text": text, "speaker": other, "session": f"day-{number // 20}", "at": _START + timedelta(minutes=number)}
