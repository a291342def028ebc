"""Looking at whose file one is, without opening it as a store."""

from __future__ import annotations

from pathlib import Path

from retentive.errors import RetentiveError
from retentive.stores.sqlite.database import Database


def space_inside(file: Path) -> str | None:
    """Return the space path that a file says it holds; None where it cannot say (then opening it will complain)."""
    try:
        database = Database(file, busy_timeout=1.0)
    except RetentiveError:
        return None
    try:
        held: str | None = database.value("identity")
    except RetentiveError:
        return None
    finally:
        database.close()
    return held
