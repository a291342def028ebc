"""The wire under a transaction: writes are gathered and sent together, and played again where a connection was lost.

Playing again is safe because everything read under the space's lock still holds as long as nobody wrote in between:
the space's change number says so. What became of a commit whose answer was lost, the server knows by its number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from retentive.errors import StoreBusy
from retentive.stores.postgres.connections import Connections
from retentive.stores.postgres.faults import is_passing
from retentive.stores.postgres.links import WRITE, Head, Link, head_of
from retentive.stores.postgres.rows import Bindings, Row

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class Writer:
    """Holds a space's row for writing."""

    def __init__(self, connections: Connections, space: str) -> None:
        self._connections = connections
        self._space = space
        self._written: list[tuple[str, Sequence[Bindings]]] = []
        self._sent = 0
        self._committing: str | None = None
        self._settled = False
        self._again = False  # begun again: what was sent before is not there yet
        self._begin()
        self.head = self._begun

    def _begin(self) -> None:
        self._connection, (self._link, self._begun, self._number) = self._connections.taken(self._lock)

    def _lock(self, connection: Connection[Any]) -> tuple[Link, Head, str]:
        link = self._connections.link(connection, self._space)
        head = head_of(link.begin(WRITE, lock_timeout=self._connections.terms.busy_timeout), self._space)
        return link, head, link.transaction_number()

    def write(self, name: str, *many: Bindings) -> None:
        """Gather a statement with one or more sets of bindings."""
        if many:
            self._written.append((name, many))

    @property
    def idle(self) -> bool:
        """Whether nothing was written."""
        return not self._written

    def flush(self) -> None:
        """Send what was gathered."""
        if self._sent < len(self._written):
            self._safely(self._send)

    def rows(self, name: str, bindings: Bindings | None = None, *, flush: bool = True) -> list[Row]:
        """Return all rows of a statement; ``flush=False`` where nothing gathered can change the answer."""

        def ask() -> list[Row]:
            if flush or self._again:
                self._send()
            return self._link.rows(name, bindings)

        return self._safely(ask)

    def link(self) -> Link:
        """Return the link, everything gathered sent."""
        self.flush()
        return self._link

    def commit(self) -> None:
        """Send the rest and commit; where the answer was lost, the server is asked before anything is done again."""
        self._safely(self._commit)

    def _commit(self) -> None:
        if self._settled:
            self.abandon()
            return
        self._committing = self._number
        self._send(commit=True)

    def abandon(self) -> None:
        """Roll back."""
        self._connections.abandon(self._connection)

    def release(self) -> None:
        """Give the connection back."""
        self._connections.give_back(self._connection)

    def _send(self, *, commit: bool = False) -> None:
        self._link.run_all(self._written[self._sent :], commit=commit)
        self._sent = len(self._written)

    def _safely(self, work: Callable[[], T]) -> T:
        """Do work; where the connection was lost or the server undid it, begin again, play what was written, go on."""
        deadline = time.monotonic() + self._connections.terms.busy_timeout
        while True:
            try:
                with self._connections.translated():
                    return work()
            except StoreBusy as error:
                if not is_passing(error.__cause__) or time.monotonic() > deadline:
                    raise
            self._recover()

    def _recover(self) -> None:
        """Begin again, unless what was sent turns out to be committed, or somebody wrote in between."""
        self._connections.abandon(self._connection)
        self._connections.give_back(self._connection)
        self._begin()
        self._settled = self._committing is not None and self._link.was_committed(self._committing)
        if self._begun.change != self.head.change and not self._settled:
            raise StoreBusy(
                f"Space {self._space!r}: the connection was lost and another writer came in between; nothing of this "
                "transaction was written, begin it again.",
                space=self._space,
            )
        self._sent, self._again = 0, True
