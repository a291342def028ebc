"""The connections of one space of the SQLite store: who may use which when."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retentive.errors import NotFound, RetentiveError, StoreBusy
from retentive.stores.protocol import Transaction
from retentive.stores.sqlite import derived
from retentive.stores.sqlite.cache import Cache
from retentive.stores.sqlite.check import check_cache, check_file
from retentive.stores.sqlite.copying import Progress, copy_file
from retentive.stores.sqlite.database import Database, Durability
from retentive.stores.sqlite.forks import leak
from retentive.stores.sqlite.keys import Keys
from retentive.stores.sqlite.mending import incomplete, mend
from retentive.stores.sqlite.reading import Reading
from retentive.stores.sqlite.schema import prepare
from retentive.stores.sqlite.scrub import mark, marked, rebuild, residue, unmark
from retentive.stores.sqlite.tally import Tally
from retentive.stores.sqlite.transaction import SqliteTransaction
from retentive.types import Memory

PATIENCE = 1.0  # seconds that cutting the log waits for our readers


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a store opens its files."""

    busy_timeout: float
    durability: Durability
    keys: Keys | None = None
    tally: Tally = field(default_factory=Tally)


class Connections:
    """The two connections to one SQLite file.

    Two connections at most: one reads, one writes, so that a reader never waits for a writer; each has a lock. Both are
    opened when first needed and closed when the store has too many open; the object itself holds nothing and stays
    good. Before every use the file is looked at: one that was dropped, or dropped and made anew, is never read through
    an old connection.
    """

    def __init__(self, path: str, file: Path, terms: Terms, used: Callable[[Any], None]) -> None:
        self.path = path
        self.file = file
        self._file = str(file)
        self._terms = terms
        self._used = used
        self.forked()

    def forked(self) -> None:
        """Begin anew, as after a fork: locks and connections of the parent are not ours to use, or to close."""
        leak(getattr(self, "_reader", None), getattr(self, "_writer", None))
        self._reading_lock, self._writing_lock = threading.RLock(), threading.Lock()
        self._reader: Database | None = None
        self._writer: Database | None = None
        self._read_file = self._written_file = (0, 0)
        self._cache = Cache()
        self._held: Database | None = None  # the reader of a `snapshot` under way; only its thread holds the lock
        self._synced = False  # whether the cache has caught up with that snapshot
        self._reads = 0  # how many reads are under way, one inside another, in the thread that holds the lock
        self._unclean = False  # whether the write-ahead log or unused parts of pages may still hold what was erased

    # Connections

    def connect(self) -> None:
        """Open the file for reading, which checks that it is ours and brings its schema up to date."""
        with self._reading_lock:
            before = self._reader
            after = before if self._reads else self._connected_reader()
            self._terms.tally.note("spaces", "no" if before is None or after is not before else "yes")

    def _connected_reader(self) -> Database:
        try:
            identity = self._identity()
        except NotFound:
            self._close_reader()
            raise
        if self._reader is None or identity != self._read_file:
            self._close_reader()
            self._reader = self._open()
            self._read_file = identity
        return self._reader

    def _connected_writer(self) -> Database:
        identity = self._identity()
        if self._writer is None or identity != self._written_file:
            self._close_writer()
            self._writer = self._open()
            self._written_file = identity
            self._unclean |= marked(self.file)
        return self._writer

    def _open(self) -> Database:
        self._used(self)
        database = self._database()
        try:
            prepare(database, self.path)
        except BaseException:
            database.close()
            raise
        return database

    def _database(self) -> Database:
        """Open a connection of its own, with the key where there are keys; a new file's key is made now."""
        terms = self._terms
        key = None if terms.keys is None else terms.keys.key(self.path, create=not self.file.stat().st_size)
        return Database(self.file, busy_timeout=terms.busy_timeout, durability=terms.durability, key=key)

    def _identity(self) -> tuple[int, int]:
        """Return which file lies at our path now."""
        try:
            stat = os.stat(self._file)  # noqa: PTH116 - asked at every use; a Path takes twice as long
        except FileNotFoundError:
            raise NotFound(f"There is no space {self.path!r} (no {self.file}).", space=self.path) from None
        return stat.st_dev, stat.st_ino

    def _close_reader(self) -> None:
        reader, self._reader, self._cache = self._reader, None, Cache()
        if reader is not None:
            reader.close()

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def close(self) -> None:
        """Release what is held for this space, once whoever uses it is done."""
        with self.alone(), self._reading_lock:
            self._release()

    def close_if_idle(self) -> bool:
        """Release what is held unless somebody is using it; say whether it was released."""
        if not self._writing_lock.acquire(blocking=False):
            return False
        try:
            if not self._reading_lock.acquire(blocking=False):
                return False
            try:
                return self._release()
            finally:
                self._reading_lock.release()
        finally:
            self._writing_lock.release()

    def _release(self) -> bool:
        """Close both connections; not while this very thread is reading: the lock lets its own thread in."""
        if self._reads:
            return False
        if self._cache.worth_keeping:
            self._keep()
        self._close_reader()
        self._close_writer()
        return True

    def keep(self) -> bool:
        """Write the derived file now, so that the next opening is quick; say whether it was written."""
        with self._reading():
            pass
        with self._reading_lock:
            return not self._reads and self._keep()

    def _keep(self) -> bool:
        """Write the derived file, and take it back where meanwhile something in it was erased, or the space dropped.

        An eraser commits, then removes the file. Whoever writes one looks at the erasures after it is in its place: one
        of the two sees the other.
        """
        reader, clock, folder = self._reader, self._cache.clock, self.file.parent
        try:
            if reader is None or clock is None or self._identity() != self._read_file:
                return False
            self._cache.moved = 0  # one attempt, whatever comes of it
            if self._terms.keys is not None:  # the derived file is not encrypted
                return False
            if not self._cache.keep(folder, self.path):
                return False
            if self._identity() == self._read_file and not reader.rows("erased_since", (clock[0],)):
                return True
        except RetentiveError:
            pass  # the next opening is slower, that is all
        derived.discard(folder)
        return False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other writers of this process out."""
        if not self._writing_lock.acquire(timeout=self._terms.busy_timeout):
            raise StoreBusy(
                f"{self.file}: another thread was writing to it for more than {self._terms.busy_timeout:g} s; try "
                "again, raise busy_timeout, and do not begin a transaction inside another one.",
                file=str(self.file),
            )
        try:
            yield
        finally:
            self._writing_lock.release()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread read one state for a while; other threads of this process wait to read."""
        with self._snapshot() as reader:
            outer, self._held = self._held, reader
            try:
                yield
            finally:
                self._held = outer
                self._synced = False

    @contextmanager
    def _snapshot(self) -> Iterator[Database]:
        """Read one state of the file, however many statements it takes."""
        with self._reading_lock:
            if self._held is not None:
                yield self._held
                return
            reader = self._connected_reader()
            self._reads += 1
            try:
                self._used(self)
                reader.run("begin_read")
                yield reader
            finally:
                self._reads -= 1
                reader.abandon()
            if self._cache.overdue:
                self._keep()

    @contextmanager
    def _statement(self) -> Iterator[Database]:
        """Read by a single statement: that sees one state by itself, and needs no transaction around it."""
        with self._reading_lock:
            if self._held is not None:
                yield self._held
                return
            reader = self._connected_reader()
            self._used(self)
            yield reader

    @contextmanager
    def _reading(self) -> Iterator[Reading]:
        with self._snapshot() as reader:
            if not self._synced:
                self._terms.tally.note("columns", self._cache.sync(reader, self.path))
                self._synced = self._held is not None
            yield Reading(self.path, reader, self._cache)

    def check(self) -> list[str]:
        """Return what is wrong with this space, in sentences.

        The file over a connection of its own, which remembers nothing of it.
        """
        with self._reading_lock:
            reader = self._connected_reader()
            fresh = self._database()
            try:
                return [*check_file(fresh), *check_cache(reader, self._cache)]
            finally:
                fresh.close()

    def copy_to(self, target: Path, progress: Progress | None = None) -> None:
        """Copy one state of this space into a new file.

        Over a connection of its own, so that neither readers nor writers of this process wait for it.
        """
        self.connect()
        source = self._database()
        keys = self._terms.keys
        try:
            copy_file(source, target, progress, None if keys is None else keys.key(self.path, create=False))
        finally:
            source.close()

    def incomplete(self) -> list[Memory]:
        """Return the memories that lack a sound vector or index terms."""
        with self._snapshot() as reader:
            return incomplete(reader, self.path)

    def mend(self) -> list[str]:
        """Remove what belongs to nothing, and have every cache built anew."""
        with self.alone():
            writer = self._connected_writer()
            writer.run("begin_write")
            try:
                done = mend(writer)
                writer.run("commit")
            except BaseException:
                writer.abandon()
                raise
        with self._reading_lock:
            if not self._reads:
                self._cache = Cache()
        derived.discard(self.file.parent)
        if marked(self.file) and self.scrub():
            done.append("What an erasure had left behind was overwritten.")
        return done

    # Writing

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin writing; waits for other writers, then `StoreBusy`."""
        return self._transaction()

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        with self.alone():
            writer = self._connected_writer()
            self._used(self)
            writer.run("begin_write")
            transaction = SqliteTransaction(writer, self.path)
            try:
                yield transaction
                transaction.finish()
                if transaction.erased:
                    self._unclean = True
                    mark(self.file)
                writer.run("commit")
            except BaseException:
                writer.abandon()
                raise
            finally:
                transaction.end()
            if transaction.erased:
                derived.discard(self.file.parent)
            if self._unclean:
                self._clean(writer)

    def scrub(self) -> bool:
        """Overwrite what erasing left behind; False while somebody still reads an old state."""
        with self.alone():
            writer = self._connected_writer()
            if self._unclean:
                self._clean(writer)
            return not self._unclean

    def _clean(self, writer: Database) -> None:
        """Leave nothing of what was erased: neither in the write-ahead log nor in the unused parts of pages.

        What is not possible now is tried again by the next transaction, of whatever process: a mark beside the file
        outlives this one.
        """
        if self._cut_log(writer) and (not self._residue() or (rebuild(writer) and self._cut_log(writer))):
            unmark(self.file)
            self._unclean = False

    def _residue(self) -> bool:
        """Whether pages keep copies of what is gone; of encrypted pages nobody can say."""
        return self._terms.keys is not None or residue(self.file)

    def _cut_log(self, writer: Database) -> bool:
        """Cut the write-ahead log to nothing: it still holds what was erased; say whether it is cut.

        Our own readers are kept out meanwhile. A reader of another process, or a snapshot of ours that lasts, may need
        the log.
        """
        if not self._reading_lock.acquire(timeout=min(PATIENCE, self._terms.busy_timeout)):
            return False
        try:
            return not self._reads and not writer.value("truncate_log")
        finally:
            self._reading_lock.release()
