"""From where a user says his memories are, to the store that keeps them there."""

from __future__ import annotations

import re
from pathlib import Path

from retentive.errors import InvalidInput
from retentive.stores.memory import MemoryStore
from retentive.stores.protocol import Store
from retentive.stores.sqlite.database import Durability
from retentive.stores.sqlite.keys import KeyFolder
from retentive.stores.sqlite.store import MOST_OPEN, SqliteStore

EPHEMERAL = ":memory:"
POSTGRES = ("postgresql", "postgres")
SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://")


def store_for(
    location: str | Path,
    *,
    max_open: int = MOST_OPEN,
    busy_timeout: float = 5.0,
    durability: Durability = "normal",
    keys: str | Path | None = None,
) -> Store:
    """Return the store at a location: ":memory:", "postgresql://…", or a folder (made when the first space is)."""
    if location == EPHEMERAL:
        return MemoryStore(busy_timeout=busy_timeout)
    scheme = SCHEME.match(str(location)) if isinstance(location, str) else None
    if scheme and scheme[1] in POSTGRES:
        from retentive.stores.postgres import PostgresStore  # noqa: PLC0415 # an extra

        return PostgresStore(str(location), busy_timeout=busy_timeout)
    if scheme:
        raise InvalidInput(
            f"location={location!r}: there is no store at {scheme[1]}://; use postgresql://, the path of a folder, or "
            f"{EPHEMERAL!r}.",
            value=location,
        )
    if not str(location) or "\0" in str(location):
        raise InvalidInput(f"location={location!r} is not a path; use a folder, or {EPHEMERAL!r}.", value=location)
    folder = Path(location).expanduser()
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"location={location!r} is a file; a store is a folder.", value=location)
    ring = None if keys is None else KeyFolder(keys)
    return SqliteStore(folder, max_open=max_open, busy_timeout=busy_timeout, durability=durability, keys=ring)
