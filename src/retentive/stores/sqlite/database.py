"""One connection to one file: how it is opened, and the seam at which its errors are translated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import apsw

from retentive.errors import Forbidden, MissingExtra
from retentive.stores.sqlite.faults import translate
from retentive.stores.sqlite.statements import SQL

Row: TypeAlias = tuple[Any, ...]
Bindings: TypeAlias = Sequence[Any]
Durability = Literal["normal", "full"]

CACHE = -2048  # KiB of pages a connection may keep; more do not stay in the processor's cache
LOG_LIMIT = 4 << 20  # bytes the write-ahead log is cut back to
# What every connection is told. secure_delete overwrites what is freed: erased texts must not lie about in free pages;
# temp_store keeps sorting out of temporary files for the same reason.
PRAGMAS = f"""
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cache_size = {CACHE};
PRAGMA journal_size_limit = {LOG_LIMIT};
"""


class Database:
    """A connection that speaks our errors. Not for two threads at once: its owner holds a lock."""

    def __init__(
        self, file: Path, *, busy_timeout: float, durability: Durability = "normal", key: bytes | None = None
    ) -> None:
        self.file = file
        self.busy_timeout = busy_timeout
        try:
            self._connection = _connect(file, busy_timeout, key)
            # Else SQLite plans a join anew whenever other values are bound to it, ten times the cost of running it.
            self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            self._connection.execute(PRAGMAS).fetchall()  # to the end: apsw stops at the first row that one returns
            self._connection.execute(f"PRAGMA synchronous = {durability.upper()};")
        except apsw.NotADBError as error:
            if key is None:
                raise translate(error, str(file)) from error
            raise Forbidden(
                f"{file}: this key does not open it. Either it is another space's key, or the file was never encrypted "
                "(export it without keys and import it with them), or it is damaged.",
                file=str(file),
            ) from error
        except apsw.Error as error:
            raise translate(error, str(file)) from error

    @property
    def connection(self) -> apsw.Connection:
        """The raw connection, for what is not a statement."""
        return self._connection

    @property
    def writable(self) -> bool:
        """Whether the file can be written through this connection."""
        return not self._connection.readonly("main")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return self._connection.in_transaction

    def script(self, text: str) -> None:
        """Run statements that are not ours by name: migrations."""
        try:
            self._connection.execute(text).fetchall()
        except apsw.Error as error:
            raise self._translated(error) from error

    def rows(self, name: str, bindings: Bindings = ()) -> list[Row]:
        """Run a statement by name and return all its rows."""
        try:
            return self._connection.execute(SQL[name], bindings).fetchall()
        except apsw.Error as error:
            raise self._translated(error) from error

    def run(self, name: str, bindings: Bindings = ()) -> None:
        """Run a statement by name."""
        self.rows(name, bindings)

    def run_many(self, name: str, bindings: Iterable[Bindings]) -> None:
        """Run a statement by name for each of the bindings."""
        try:
            self._connection.executemany(SQL[name], bindings).fetchall()
        except apsw.Error as error:
            raise self._translated(error) from error

    def value(self, name: str, bindings: Bindings = ()) -> Any:
        """Run a statement by name and return the first column of its first row, None without rows."""
        found = self.rows(name, bindings)
        return found[0][0] if found else None

    def pragma(self, name: str) -> Any:
        """Return the value of a pragma."""
        try:
            return self._connection.pragma(name)
        except apsw.Error as error:
            raise self._translated(error) from error

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._connection.changes()

    def last_row(self) -> int:
        """Return the number of the row inserted last."""
        return self._connection.last_insert_rowid()

    def abandon(self) -> None:
        """Roll back what is under way; SQLite may have done so itself (a full disk)."""
        if self.in_transaction:
            self.run("rollback")

    def close(self) -> None:
        """Close the connection; the last one to go folds the write-ahead log into the file."""
        try:
            self._connection.close()
        except apsw.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: apsw.Error) -> Exception:
        return translate(error, str(self.file), system_errno=self._connection.system_errno)


def unlock(connection: apsw.Connection, key: bytes | None) -> None:
    """Give a connection the key of its file, before anything is read."""
    if key is None:
        return
    if not hasattr(apsw, "mc_version"):
        raise MissingExtra(
            "Encrypted spaces need SQLite3 Multiple Ciphers, and the installed apsw has plain SQLite. Run "
            "`pip install --force-reinstall --no-deps apsw-sqlite3mc` (it takes apsw's place).",
            extra="encryption",
            module="apsw",
        )
    connection.pragma("cipher", "chacha20")
    connection.pragma("key", f"raw:{key.hex()}")


def _connect(file: Path, busy_timeout: float, key: bytes | None) -> apsw.Connection:
    """Open for writing where possible, else for reading, else as a file that nobody can change.

    The last is for a folder on a read-only medium: SQLite cannot lay its shared memory beside the file there. It would
    ignore a write-ahead log, so where one is left over we refuse rather than answer from old pages.
    """
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
        unlock(connection, key)
        connection.set_busy_timeout(round(busy_timeout * 1000))
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1;").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        log = file.with_name(f"{file.name}-wal")
        if not file.is_file():
            raise
        if log.is_file() and log.stat().st_size:
            raise Forbidden(
                f"{file} is read-only and has a write-ahead log that was never folded in; open it once where it can be "
                "written, then copy it again.",
                file=str(file),
            ) from None
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"file:{quote(str(file.resolve()))}?immutable=1", flags=flags)
        unlock(connection, key)
    return connection
