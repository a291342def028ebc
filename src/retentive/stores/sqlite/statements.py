"""The SQL of this store, read from `queries.sql`; no statement is written in Python."""

from __future__ import annotations

import re
from importlib.resources import files

ENTRY = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Return the statements by name, comments dropped and {fragments} put in."""
    _, *pieces = ENTRY.split(text)
    found: dict[str, str] = {}
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        lines = (line for line in body.splitlines() if not line.startswith("--"))
        statement = "\n".join(lines).strip()
        found[name] = re.sub(r"\{(\w+)\}", lambda match: found[match[1]], statement)
    return found


SQL = parse((files(__package__) / "queries.sql").read_text(encoding="utf-8"))
