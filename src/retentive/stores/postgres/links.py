"""One connection inside one transaction of one space: where statements meet their bindings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from retentive.errors import NotFound
from retentive.stores.postgres.gates import conditions
from retentive.stores.postgres.rows import Bindings, Row
from retentive.stores.postgres.statements import DIMENSION, GATE, SQL, qualified
from retentive.types import Gate

if TYPE_CHECKING:
    from psycopg import Connection

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


@dataclass(frozen=True, slots=True)
class Head:
    """What a space's own row says: how far it was written, and the statistics that ranking needs."""

    change: int
    last_row: int
    last_sequence: int
    memories: int
    terms: int
    dimension: int | None

    @property
    def mean_length(self) -> float:
        """Return the mean number of index terms of a memory, 1 where there are none."""
        return self.terms / self.memories if self.terms else 1.0


@lru_cache(maxsize=4096)
def _text(schema: str, name: str, gate: str, dimension: int | None) -> bytes:
    return qualified(SQL[name].replace(GATE, gate).replace(DIMENSION, str(dimension)), schema).encode()


class Link:
    """Runs the statements of `queries.sql` for one space; every one of them gets the space bound."""

    def __init__(self, connection: Connection[Any], schema: str, space: str, exact_up_to: int = 0) -> None:
        self.connection = connection
        self.exact_up_to = exact_up_to
        self.schema = schema
        self.space = space

    def begin(self, mode: str, *, lock_timeout: float | None = None) -> Row | None:
        """Begin a transaction in this space, and return what `head` (or, to write, `lock_head`) says."""
        connection = self.connection
        with connection.pipeline():
            connection.execute(mode.encode())
            self.local("retentive.space", self.space)
            if lock_timeout is not None:
                self.local("lock_timeout", f"{max(1, round(1000 * lock_timeout))}ms")
            cursor = self._execute("head" if lock_timeout is None else "lock_head", {})
        row: Row | None = cursor.fetchone()
        return row

    def local(self, name: str, value: str) -> None:
        """Set a setting until the transaction ends (SET LOCAL is what Citus hands on to its workers)."""
        from psycopg import sql  # noqa: PLC0415 # whoever has a connection has it

        self.connection.execute(sql.SQL("SET LOCAL {} = {}").format(_setting(name), sql.Literal(value)))

    def end(self, *, commit: bool = True) -> None:
        """End the transaction."""
        self.connection.execute(b"COMMIT" if commit else b"ROLLBACK")

    def rows(
        self, name: str, bindings: Bindings | None = None, gate: Gate | None = None, *, dimension: int | None = None
    ) -> list[Row]:
        """Return all rows of a statement; one that names its dimension is given it."""
        found: list[Row] = self._execute(name, bindings or {}, gate, dimension).fetchall()
        return found

    def value(self, name: str, bindings: Bindings | None = None, gate: Gate | None = None) -> Any:
        """Return the first column of the first row, None where there is none."""
        row = self._execute(name, bindings or {}, gate).fetchone()
        return None if row is None else row[0]

    def run_all(self, writes: Sequence[tuple[str, Sequence[Bindings]]], *, commit: bool = False) -> None:
        """Run writes in order, without waiting for the answer of each, and commit behind them where asked to."""
        with self.connection.pipeline():
            for name, many in writes:
                for bindings in many:
                    self._execute(name, bindings)
            if commit:
                self.end()

    def transaction_number(self) -> str:
        """Return the number under which the server knows this transaction."""
        row = self.connection.execute(b"SELECT pg_current_xact_id()::text").fetchone()
        return str(row[0]) if row else ""

    def was_committed(self, number: str) -> bool:
        """Say whether the transaction of a number was committed."""
        row = self.connection.execute(b"SELECT pg_xact_status(%s::text::xid8)", (number,)).fetchone()
        return row == ("committed",)

    def _execute(self, name: str, bindings: Bindings, gate: Gate | None = None, dimension: int | None = None) -> Any:
        condition, bound = ("", {}) if gate is None else conditions(gate)
        cursor = self.connection.cursor(binary=True)
        cursor.execute(_text(self.schema, name, condition, dimension), {**bindings, **bound, "space": self.space})
        return cursor


def _setting(name: str) -> Any:
    from psycopg import sql  # noqa: PLC0415 # whoever has a connection has it

    return sql.SQL(".").join(map(sql.Identifier, name.split(".")))


def head_of(row: Row | None, space: str) -> Head:
    """Return what a space's row says, or that there is none."""
    if row is None:
        raise NotFound(f"There is no space {space!r}.", space=space)
    return Head(*row)
