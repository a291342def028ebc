"""Mending one space's file: only what follows from the memories themselves, and never a memory."""

from __future__ import annotations

import numpy as np

from retentive.stores.sqlite import rows as mapping
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.filed import refile
from retentive.types import Memory

OWNED = ("accesses", "vectors", "staged", "tags", "metadata", "entities", "terms")
"""Tables whose rows belong to a memory each."""


def incomplete(database: Database, path: str) -> list[Memory]:
    """Return the memories that have no vector, one that holds NaN or infinity, or no index terms."""
    found = {row[1]: mapping.decode(path, row) for row in database.rows("incomplete")}
    last = 0
    while listed := database.rows("vectors_from", (last, 5_000)):
        last = listed[-1][0]
        for row, blob in listed:
            if len(blob) % 4 == 0 and not np.isfinite(np.frombuffer(blob, dtype="<f4")).all():
                memory = mapping.decode(path, database.rows("memory_of_row", (row,))[0])
                found[memory.id] = memory
    return list(found.values())


def mend(database: Database) -> list[str]:
    """Remove what belongs to nothing, refile what filters ask, set the clock; say so. Inside a write transaction."""
    done = []
    for table in OWNED:
        database.script(f"DELETE FROM {table} WHERE row NOT IN (SELECT row FROM memories);")
        if count := database.changes():
            done.append(f"{count} rows of table {table} that belonged to no memory were removed.")
    refiled = refile(database)
    done += refiled
    change, generation = database.rows("clock")[0]
    highest = database.value("highest_change")
    if refiled:
        database.run("set_clock", (change, generation := generation + 1))  # what caches know of filters is out of date
    if highest > change:
        database.run("set_clock", (highest, generation + 1))
        done.append("The clock was set to the latest change; caches start again from the rows.")
    return done
