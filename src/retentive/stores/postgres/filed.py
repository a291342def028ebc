"""What filters ask (tags, metadata, names) lies in tables of its own: compared with the memories it was made from."""

from __future__ import annotations

import json
from typing import Final
from uuid import UUID

from retentive.stores.postgres import rows
from retentive.stores.postgres.keys import entry_of, key_of
from retentive.stores.postgres.links import Link

CHUNK: Final = 5_000  # memories compared at a time
TABLES: Final = ("tags", "entities", "metadata")


def check_filed(link: Link) -> list[str]:
    """Return in which tables how many memories are filed otherwise than they are, in sentences."""
    wrong = dict.fromkeys(TABLES, 0)
    last = -1
    while memories := link.rows("filed_columns", {"after": last, "limit": CHUNK}):
        first, last = last, memories[-1][0]
        for table, column in zip(TABLES, (1, 2, 3), strict=True):
            there: dict[int, set[UUID]] = {}
            for row, key in link.rows(f"{table}_between", {"after": first, "last": last}):
                there.setdefault(row, set()).add(key)
            wrong[table] += sum(_keys(table, line[column]) != there.get(line[0], set()) for line in memories)
    return [
        f"The {table} of {count} memories are filed otherwise than they are." for table, count in wrong.items() if count
    ]


def _keys(table: str, said: str) -> set[UUID]:
    """Return the keys under which a memory should be found."""
    if table == "metadata":
        return {entry_of(name, value) for name, value in json.loads(said).items()}
    return {key_of(text) for text in rows.strings(said)}
