"""The SQL of this store, read from `queries.sql`; no statement on memories is written in Python."""

from __future__ import annotations

import re
from importlib.resources import files

from retentive.stores.sqlite.statements import parse

TABLE = re.compile(r"@(\w+)")
GATE = "/* gate */"
DIMENSION = "/* dimension */"


# The place of a gate stays open until one is asked with.
SQL = parse((files(__package__) / "queries.sql").read_text(encoding="utf-8").replace("{gate}", GATE))


def quoted(name: str) -> str:
    """Return a name as SQL takes it whatever it is made of."""
    return '"' + name.replace('"', '""') + '"'


def qualified(sql: str, schema: str) -> str:
    """Put the schema before every table: nothing depends on a search path that a pooler might have lost."""
    return TABLE.sub(lambda match: f"{quoted(schema)}.{match[1]}", sql)
