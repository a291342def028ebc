"""The embedded store: one SQLite database per space."""

from retentive.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
