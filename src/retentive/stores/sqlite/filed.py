"""What filters ask (tags, metadata, names) lies filed beside the memories: compared with them, and filed anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from retentive.stores.ranking import distinct
from retentive.stores.sqlite.database import Database
from retentive.stores.values import canonical

CHUNK: Final = 5_000  # memories compared at a time
Entries: TypeAlias = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Filing:
    """One table of what memories are found by: its column in a memory, and how that is filed."""

    table: str
    column: int  # in `filed_columns`
    entries: Callable[[Any], Entries]
    listed: str
    delete: str
    insert: str


def _each(values: Sequence[str]) -> Entries:
    return [(value,) for value in distinct(values)]


def _named(values: dict[str, Any]) -> Entries:
    return [(name, canonical(value)) for name, value in values.items()]


FILINGS: Final = (
    Filing("tags", 1, _each, "tags_between", "delete_tags", "insert_tag"),
    Filing("entities", 2, _each, "entities_between", "delete_entities", "insert_entity"),
    Filing("metadata", 3, _named, "metadata_between", "delete_metadata", "insert_metadata"),
)


def check_filed(database: Database) -> list[str]:
    """Return where what filters ask differs from the memories, in sentences; over one state of the file."""
    database.run("begin_read")
    try:
        wrong = [(filing.table, sum(1 for _ in _misfiled(database, filing))) for filing in FILINGS]
        worn = [filing.table for filing in FILINGS if _is_worn(database, filing.table)]
    finally:
        database.abandon()
    found = [f"The {table} of {count} memories are filed otherwise than they are." for table, count in wrong if count]
    return [*found, *(f"The index of the table {table} disagrees with the table." for table in worn)]


def refile(database: Database) -> list[str]:
    """File anew what is filed wrongly; say what was done. Inside a write transaction."""
    done = []
    for filing in FILINGS:
        if _is_worn(database, filing.table):
            database.script(f"REINDEX {filing.table};")
            done.append(f"The index of the table {filing.table} was built anew.")
        if wrong := list(_misfiled(database, filing)):
            for row, entries in wrong:
                database.run(filing.delete, (row,))
                database.run_many(filing.insert, [(row, *entry) for entry in entries])
            done.append(f"The {filing.table} of {len(wrong)} memories were filed anew.")
    return done


def _misfiled(database: Database, filing: Filing) -> Iterator[tuple[int, Entries]]:
    """Yield the rows whose entries are not those of the memory, with what they should be."""
    last = 0
    while memories := database.rows("filed_columns", (last, CHUNK)):
        first, last = last, memories[-1][0]
        there: dict[int, Entries] = {}
        for row, *entry in database.rows(filing.listed, (first, last)):
            there.setdefault(row, []).append(tuple(entry))
        for memory in memories:
            entries = filing.entries(json.loads(memory[filing.column]))
            if sorted(entries) != sorted(there.get(memory[0], [])):
                yield memory[0], entries


def _is_worn(database: Database, table: str) -> bool:
    """Whether SQLite itself finds that a table and its indexes disagree, which a quick check does not look for."""
    return [line for (line,) in database.rows(_EXAMINED[table])] != ["ok"]


_EXAMINED: Final = {
    "tags": "integrity_of_tags",
    "entities": "integrity_of_entities",
    "metadata": "integrity_of_metadata",
}
