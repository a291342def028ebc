"""Examining one space: the file, its relations, its lexical index, its vectors, and the cache against the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from retentive.errors import RetentiveError
from retentive.stores.sqlite.cache import ARRAYS, Cache
from retentive.stores.sqlite.database import Database

CHUNK = 5_000


def check(database: Database, cache: Cache) -> list[str]:
    """Return what is wrong, in sentences."""
    examinations: tuple[Callable[[], list[str]], ...] = (
        lambda: _file(database),
        lambda: _relations(database),
        lambda: _lexical(database),
        lambda: _vectors(database),
        lambda: _clock(database),
        lambda: _cached(database, cache),
    )
    complaints: list[str] = []
    for examine in examinations:
        try:
            complaints += examine()
        except RetentiveError as error:
            complaints.append(error.message)
    return complaints


def _file(database: Database) -> list[str]:
    return [f"{database.file}: {line}." for (line,) in database.rows("quick_check") if line != "ok"]


def _relations(database: Database) -> list[str]:
    broken = database.rows("foreign_key_check")
    complaints = [f"Row {row} of table {table} belongs to no row of {parent}." for table, row, parent, _ in broken]
    for statement, what in (("rows_without_vector", "vector"), ("rows_without_terms", "index terms")):
        if count := database.value(statement):
            complaints.append(f"{count} memories have no {what}.")
    return complaints


def _lexical(database: Database) -> list[str]:
    if not database.writable:
        return []  # FTS5 takes its own check as a write
    try:
        database.run("verify_lexical")
    except RetentiveError as error:
        return [f"The lexical index does not agree with the index terms ({error.message})"]
    return []


def _vectors(database: Database) -> list[str]:
    complaints: list[str] = []
    last, expected = 0, None
    while listed := database.rows("vectors_from", (last, CHUNK)):
        last = listed[-1][0]
        for row, blob in listed:
            expected = len(blob) if expected is None else expected
            if len(blob) != expected or len(blob) % 4:
                complaints.append(f"The vector of row {row} has {len(blob)} bytes instead of {expected}.")
            elif not np.isfinite(np.frombuffer(blob, dtype="<f4")).all():
                complaints.append(f"The vector of row {row} holds NaN or infinity.")
    return complaints


def _clock(database: Database) -> list[str]:
    change, _ = database.rows("clock")[0]
    highest = database.value("highest_change")
    return [f"The clock stands at {change}, but a row says {highest}."] if highest > change else []


def _cached(database: Database, cache: Cache) -> list[str]:
    """Compare what readers have been served from with what a fresh look at the rows gives."""
    cache.sync(database)
    fresh = Cache()
    fresh.sync(database)
    alive = np.flatnonzero(cache.alive)
    if not np.array_equal(cache.row[alive], fresh.row):
        return ["The cache holds other rows than the file."]
    places = np.arange(fresh.size)
    names = [name for name in ARRAYS if name not in ("kind", "session", "speaker")]
    wrong = [name for name in names if not np.array_equal(getattr(cache, name)[alive], getattr(fresh, name))]
    if cache.ids.texts(alive) != fresh.ids.texts(places):
        wrong.append("ids")
    if not np.array_equal(cache.vectors.at(alive), fresh.vectors.at(places)):
        wrong.append("vectors")
    return [f"The cache differs from the file in: {', '.join(wrong)}."] if wrong else []
