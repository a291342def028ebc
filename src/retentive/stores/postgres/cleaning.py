"""What an erasure leaves in the server, and who can take it away.

DELETE leaves the row's bytes in its page until VACUUM, VACUUM leaves them in the page's free space until that is used
again, and the write-ahead log has seen them. Only writing the tables anew takes them out of the tables' files, and that
stops everybody who uses these. So an erasure is followed by a VACUUM that does not take long, and says what is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retentive.stores.postgres.statements import quoted

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.errors import Diagnostic

FREED = "free space in the pages of its tables, until it is used again: `retentive postgres scrub --rewrite` clears it"
ROWS = "old versions of rows, until VACUUM: `retentive postgres scrub`, or autovacuum in its time"
LOG = "the server's write-ahead log, until it is recycled, and every backup made before"

UNSURE = (ROWS, FREED, LOG)
TABLES = b"""SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind = 'r' AND c.relname <> 'schema_versions' ORDER BY 1"""
KEPT = b"""SELECT current_setting('archive_mode') <> 'off', (SELECT count(*) FROM pg_replication_slots),
    (SELECT count(*) FROM pg_stat_replication)"""
DEAD = re.compile(r"^tuples: \d+ removed, \d+ remain, (\d+) are dead but not yet removable", re.MULTILINE)
MISSED = "tuples missed:"  # a page was in use just then
MAY_CHECKPOINT = b"SELECT pg_has_role('pg_checkpoint', 'USAGE')"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was done about what erasures leave, and what only the operator can do."""

    clean: tuple[str, ...]
    """Tables that hold no version of a row any more that nobody is to see."""
    left: tuple[str, ...]
    """Tables that may: somebody reads an old state or has just written, or the role may not clean them."""
    rewritten: bool
    remains: tuple[str, ...]
    """Where else copies are, and until when."""


def scrub(connection: Connection[Any], schema: str, *, rewrite: bool = False) -> Scrubbed:
    """Clean all tables of a schema; ``rewrite`` writes them anew, for which nobody may use them meanwhile."""
    tables = [name for (name,) in connection.execute(TABLES, (schema,)).fetchall()]
    left = tuple(table for table in tables if not _cleaned(connection, schema, table, rewrite=rewrite))
    if rewrite and _value(connection, MAY_CHECKPOINT):
        connection.execute(b"CHECKPOINT")
    clean, rewritten = tuple(table for table in tables if table not in left), rewrite and not left
    return Scrubbed(clean, left, rewritten, _remains(connection, rows=bool(left), freed=not rewritten))


def _cleaned(connection: Connection[Any], schema: str, table: str, *, rewrite: bool) -> bool:
    """Clean one table; True where the server says that it kept no version of a row that is not to be seen any more."""
    name = f"{quoted(schema)}.{quoted(table)}"
    if rewrite:
        connection.execute(f"VACUUM (FULL) {name}".encode())
    said: list[str] = []

    def hear(notice: Diagnostic) -> None:
        said.append(notice.message_primary or "")

    connection.add_notice_handler(hear)
    connection.execute(f"VACUUM (VERBOSE) {name}".encode())
    connection.remove_notice_handler(hear)
    told = "\n".join(said)
    return set(DEAD.findall(told)) == {"0"} and MISSED not in told  # of the table, and of what it keeps beside it


def _remains(connection: Connection[Any], *, rows: bool, freed: bool) -> tuple[str, ...]:
    archived, slots, standbys = connection.execute(KEPT).fetchone() or (False, 0, 0)
    found: tuple[tuple[object, str], ...] = (
        (rows, ROWS),
        (freed, FREED),
        (True, LOG),
        (archived, "its archive of that log: archive_mode is on"),
        (slots, f"what {slots} replication slots keep of that log until it is read"),
        (standbys, f"{standbys} standbys, which follow, and have logs of their own"),
    )
    return tuple(text for holds, text in found if holds)


def _value(connection: Connection[Any], query: bytes) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
