"""Who may use which connection when: a pool, snapshots of a thread, writers one after another, and what is done again.

A read that met a lost connection is simply read again. A transaction is played again only where nobody wrote to the
space in between, and after a commit whose answer was lost the server is asked what became of it (`writing.py`).
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from retentive.errors import StoreBusy
from retentive.stores.postgres import driver, schema
from retentive.stores.postgres.addresses import Terms
from retentive.stores.postgres.faults import is_lost, is_passing, translated
from retentive.stores.postgres.links import Link
from retentive.stores.postgres.rows import Row
from retentive.stores.sqlite.forks import leak

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

T = TypeVar("T")
PAUSE = 0.05  # seconds before the first repetition; doubled each time


class Connections:
    """The pool of one store, made at the first need, and made anew in a forked child."""

    def __init__(self, terms: Terms) -> None:
        driver.imported()
        self.terms = terms
        self.place = _without_password(terms.url)
        self._forked()
        _ALL.add(self)

    def _forked(self) -> None:
        """Begin anew: the parent's connections are not the child's to use, nor even to close."""
        leak(getattr(self, "_pool", None))
        self._pool: ConnectionPool | None = None
        self._lock = threading.Lock()
        self._writers: dict[str, threading.Lock] = {}
        self._writing = threading.BoundedSemaphore(max(1, self.terms.pool_size // 2))

    def _opened(self) -> ConnectionPool:
        from psycopg_pool import ConnectionPool  # noqa: PLC0415 # an extra, seen to be there

        with self._lock:
            if self._pool is None:
                with translated(self.place):
                    schema.prepare(self.terms.url, self.terms.schema)
                self._pool = ConnectionPool(
                    self.terms.url,
                    kwargs={"autocommit": True, "prepare_threshold": 3 if self.terms.prepare else None},
                    configure=driver.adapted(),
                    min_size=0,
                    max_size=self.terms.pool_size,
                    timeout=self.terms.busy_timeout,
                    name="retentive",
                    open=True,
                )
            return self._pool

    @contextmanager
    def lent(self, begin: Callable[[Connection[Any]], T]) -> Iterator[T]:
        """Lend a connection on which something was begun; one on which something failed goes back rolled back."""
        connection, begun = self.taken(begin)
        try:
            with translated(self.place):
                yield begun
        except BaseException:
            self.abandon(connection)
            raise
        finally:
            self.give_back(connection)

    def taken(self, begin: Callable[[Connection[Any]], T]) -> tuple[Connection[Any], T]:
        """Return a connection and what was begun on it, trying again where that may help; to be given back."""

        def once() -> tuple[Connection[Any], T]:
            connection = self._opened().getconn()
            try:
                return connection, begin(connection)
            except BaseException:
                self.abandon(connection)
                self.give_back(connection)
                raise

        return self.again(once)

    def give_back(self, connection: Connection[Any]) -> None:
        """Return a connection to the pool it came from."""
        pool = getattr(connection, "_pool", None)
        if pool is not None:
            pool.putconn(connection)

    def abandon(self, connection: Connection[Any]) -> None:
        """Roll back; a connection on which even that fails is closed, and the pool makes another."""
        from psycopg import Error  # noqa: PLC0415 # whoever has a connection has it

        try:
            connection.execute(b"ROLLBACK")
        except Error:
            connection.close()

    @contextmanager
    def apart(self, *, patient: bool = True) -> Iterator[Connection[Any]]:
        """Lend a connection that is not the pool's, for what stands in no transaction and may take long.

        Not ``patient``: no statement waits or works for longer than `busy_timeout`.
        """
        import psycopg  # noqa: PLC0415 # an extra, seen to be there

        with translated(self.place), psycopg.connect(self.terms.url, autocommit=True) as connection:
            if not patient:
                limit = f"{max(1, round(1000 * self.terms.busy_timeout))}ms"
                for name in ("lock_timeout", "statement_timeout"):
                    connection.execute(b"SELECT set_config(%s, %s, false)", (name, limit))
            yield connection

    def inside(self, space: str, mode: str, work: Callable[[Link, Row | None], T]) -> T:
        """Do work in a transaction of its own, given what the space's row says; do it again where that may help."""

        def begin(connection: Connection[Any]) -> T:
            link = self.link(connection, space)
            answer = work(link, link.begin(mode))
            link.end()
            return answer

        connection, answer = self.taken(begin)
        self.give_back(connection)
        return answer

    def link(self, connection: Connection[Any], space: str) -> Link:
        """Return a link of a connection to a space."""
        return Link(connection, self.terms.schema, space, self.terms.exact_up_to)

    def translated(self) -> AbstractContextManager[None]:
        """Raise our errors in the place of the driver's."""
        return translated(self.place)

    def checked(self) -> None:
        """Throw lost connections out of the pool."""
        self._opened().check()

    def again(self, work: Callable[[], T]) -> T:
        """Do work that has no effect, or all of it at once; do it again where that may well help."""
        deadline = time.monotonic() + self.terms.busy_timeout
        pause, lost = PAUSE, False
        while True:
            try:
                with translated(self.place):
                    if lost:
                        self.checked()
                    return work()
            except StoreBusy as error:
                cause = error.__cause__
                if not is_passing(cause) or time.monotonic() + pause > deadline:
                    raise
                lost = is_lost(cause)
            time.sleep(pause)
            pause *= 2

    @contextmanager
    def alone(self, space: str) -> Iterator[None]:
        """Wait in this process before waiting in the server: a waiting writer then costs no connection."""
        with self._lock:
            writer = self._writers.setdefault(space, threading.Lock())
        deadline = time.monotonic() + self.terms.busy_timeout
        if not writer.acquire(timeout=self.terms.busy_timeout):
            raise StoreBusy(
                f"Space {space!r} was being written for more than {self.terms.busy_timeout:g} s; try again, "
                "and do not begin a transaction inside another one.",
                space=space,
            )
        try:
            if not self._writing.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise StoreBusy(f"{self.place}: too many transactions at once; raise pool_size.", space=space)
            try:
                yield
            finally:
                self._writing.release()
        finally:
            writer.release()

    def close(self) -> None:
        """Close the pool; using the store again opens another."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _without_password(url: str) -> str:
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 # an extra, seen to be there

    with translated("The address of a store"):
        parts = conninfo_to_dict(url)
    where = f"{parts.get('host', 'localhost')}/{parts.get('dbname', '')}"
    return f"postgresql://{where}"


_ALL: weakref.WeakSet[Connections] = weakref.WeakSet()


def _after_fork() -> None:
    for connections in list(_ALL):
        connections._forked()  # noqa: SLF001 # the hook is part of the class; a method could not be registered once for all


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
