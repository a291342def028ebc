"""Examining one space: the file, its relations, what filters ask, its vectors, and the cache against the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from retentive.errors import RetentiveError
from retentive.stores.sqlite.cache import ARRAYS, Cache
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.fetching import fetch_vectors
from retentive.stores.sqlite.filed import check_filed

CHUNK = 5_000


def check_file(database: Database) -> list[str]:
    """Return what is wrong with a file, in sentences."""
    complaints: list[str] = []
    for examine in (_file, _relations, check_filed, _vectors, _clock):
        complaints += _examined(examine, database)
    return complaints


def check_cache(database: Database, cache: Cache) -> list[str]:
    """Return where what readers are served from differs from the rows, in sentences."""
    return _examined(lambda reader: _cached(reader, cache), database)


def _examined(examine: Callable[[Database], list[str]], database: Database) -> list[str]:
    """Examine; what cannot even be examined is a complaint too, and the other examinations go on."""
    try:
        return examine(database)
    except RetentiveError as error:
        return [error.message]


def _file(database: Database) -> list[str]:
    return [f"{database.file}: {line}." for (line,) in database.rows("quick_check") if line != "ok"]


def _relations(database: Database) -> list[str]:
    broken = database.rows("foreign_key_check")
    complaints = [f"Row {row} of table {table} belongs to no row of {parent}." for table, row, parent, _ in broken]
    for statement, what in (("rows_without_vector", "vector"), ("rows_without_terms", "index terms")):
        if count := database.value(statement):
            complaints.append(f"{count} memories have no {what}.")
    return complaints


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
    """Compare what readers have been served from with what a fresh look at the same state of the rows gives."""
    database.run("begin_read")
    try:
        cache.sync(database)
        fresh = Cache()
        fresh.sync(database)
        alive = np.flatnonzero(cache.alive)
        if not np.array_equal(cache.row[alive], fresh.row):
            return ["The cache holds other rows than the file."]
        other_vectors = cache.vectors.differ(alive, lambda places: fetch_vectors(database, cache, places))
    finally:
        database.abandon()
    places = np.arange(fresh.size)
    names = [name for name in ARRAYS if name not in ("kind", "session", "speaker")]
    wrong = [name for name in names if not np.array_equal(getattr(cache, name)[alive], getattr(fresh, name))]
    if cache.ids.texts(alive) != fresh.ids.texts(places):
        wrong.append("ids")
    if other_vectors:
        wrong.append("vectors")
    if cache.lexical.differs(alive, fresh.lexical):
        wrong.append("lexical index")
    return [f"The cache differs from the file in: {', '.join(wrong)}."] if wrong else []
