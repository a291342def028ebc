"""The embedded store: a folder, in it a folder for each space, in that one SQLite file."""

from __future__ import annotations

import os
import shutil
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from retentive.errors import InvalidInput, NotFound
from retentive.stores.sqlite import certificates
from retentive.stores.sqlite.connections import Terms
from retentive.stores.sqlite.copying import ARRIVING, Progress, arrive
from retentive.stores.sqlite.database import Durability
from retentive.stores.sqlite.faults import translate_system
from retentive.stores.sqlite.keys import Keys
from retentive.stores.sqlite.marks import mark_of
from retentive.stores.sqlite.names import HASHED, folder_name, space_of
from retentive.stores.sqlite.peek import space_inside
from retentive.stores.sqlite.space import SqliteSpace
from retentive.stores.values import require_storable
from retentive.types import Json, Memory

FILE = "space.db"
DROPPED = ".dropped-"
LEFT_AFTER = 600.0  # seconds after which the folder of a drop or a restore is nobody's any more
MOST_OPEN = 32  # spaces; each holds up to 6 file handles, and macOS allows a process 256


class SqliteStore:
    """A `Store` on one folder. Several threads and several processes may use it at once.

    At most ``max_open`` spaces hold connections and caches; the least recently used is closed first and opens again
    when it is next used. ``durability="normal"`` may lose the last commits in a power cut, but nothing else and never
    the file; ``"full"`` waits for the disk at every commit. With ``keys`` every space's file is encrypted by its own.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        max_open: int = MOST_OPEN,
        busy_timeout: float = 5.0,
        durability: Durability = "normal",
        keys: Keys | None = None,
    ) -> None:
        if durability not in ("normal", "full"):
            raise InvalidInput(f"durability={durability!r} is unknown; use 'normal' or 'full'.", value=durability)
        if max_open < 1:
            raise InvalidInput(f"max_open={max_open!r} is too small; at least one space must be open.", value=max_open)
        self.folder = Path(folder)
        self._max_open = max_open
        self._keys = keys
        self._terms = Terms(busy_timeout=busy_timeout, durability=durability, keys=keys)
        self._known: weakref.WeakValueDictionary[str, SqliteSpace] = weakref.WeakValueDictionary()
        self._forked()
        _STORES.add(self)

    def __repr__(self) -> str:
        return f"<SqliteStore {str(self.folder)!r}>"

    def _forked(self) -> None:
        """Begin anew: the parent's threads, and with them the holders of its locks, do not exist in a child."""
        self._lock = threading.RLock()
        self._open: OrderedDict[str, SqliteSpace] = OrderedDict()
        for space in list(self._known.values()):
            space.forked()

    def open(self, space: str, *, create: bool = True) -> SqliteSpace:
        """Return one space; every caller gets the same object, and with it the same cache."""
        require_storable([("space", space)])
        if not space:
            raise InvalidInput("A space needs a path, e.g. 'acme/alice'.", value=space)
        known = self._known.get(space)
        if known is not None:
            with suppress(NotFound):  # it was dropped meanwhile
                known.connect()
                return known
        file = self._file(space)
        if create:
            self._create(file)
        elif not file.exists():
            raise NotFound(f"There is no space {space!r} in {self.folder}.", space=space)
        opened = self._space(space, file)
        opened.connect()
        return opened

    def spaces(self) -> list[str]:
        """List the spaces, from the names of their folders; only a name that is a digest needs a look inside."""
        if not self.folder.is_dir():
            return []
        with _file_errors(self.folder), os.scandir(self.folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".")]
        found = (self._named(name) for name in names if (self.folder / name / FILE).exists())
        return sorted(space for space in found if space is not None)

    def marks(self, spaces: Sequence[str]) -> dict[str, str]:
        """Return what the files of these spaces look like from outside."""
        return {space: mark for space in spaces if (mark := mark_of(self._file(space))) is not None}

    def drop(self, space: str) -> bool:
        """Remove a space: its folder is moved away in one step, then deleted.

        A transaction of this process is waited for. Whoever else has the file open goes on in a file that nobody will
        see again, and finds out at its next use. The key of an encrypted space is destroyed with it.
        """
        dropped = self._remove(space)
        if self._keys is not None:
            self._keys.shred(space)
        return dropped

    def _remove(self, space: str) -> bool:
        require_storable([("space", space)])
        file = self._file(space)
        if not file.exists():
            return False
        held = self._space(space, file)
        grave = self.folder / f"{DROPPED}{uuid4().hex}"
        with held.alone(), _file_errors(file):
            file.parent.rename(grave)
        held.close()
        with self._lock:
            self._open.pop(space, None)
        shutil.rmtree(grave, ignore_errors=True)
        return True

    def certify(self, certificate: Mapping[str, Json]) -> None:
        """Keep what was done to a whole space in a file beside the spaces."""
        with _file_errors(self.folder):
            certificates.append(self.folder, certificate)

    def certificates(self) -> list[dict[str, Json]]:
        """Return what was done to whole spaces."""
        with _file_errors(self.folder):
            return certificates.listed(self.folder)

    def copy_to(self, space: str, target: Path, progress: Progress | None = None) -> None:
        """Copy one state of a space into a new file, while it stays in use."""
        self.open(space, create=False).copy_to(target, progress)

    def place(self, space: str, source: Path, *, replace: bool = False) -> None:
        """Put a copy in the place of a space; one that is there is left alone, or with ``replace`` taken out first.

        The copy is looked at before anything is touched, and takes its place in one step.
        """
        target = self._file(space).parent
        if target.exists() and not replace:
            raise InvalidInput(f"Space {space!r} exists in {self.folder}; use replace=True, or drop it first.")
        key = None if self._keys is None else self._keys.key(space, create=False)
        arrived = arrive(source, self.folder, FILE, space, key)
        try:
            self._remove(space)
            with _file_errors(target):
                arrived.rename(target)
        finally:
            shutil.rmtree(arrived, ignore_errors=True)

    def counts(self) -> dict[tuple[str, str], int]:
        """Return how often a space was open already, and its columns were at hand, when they were needed."""
        return self._terms.tally.counts()

    def incomplete(self, space: str) -> list[Memory]:
        """Return the memories that lack a sound vector or index terms."""
        return self.open(space, create=False).incomplete()

    def mend(self, space: str) -> list[str]:
        """Put right what follows from the rows."""
        return self.open(space, create=False).mend()

    def leftovers(self) -> list[str]:
        """Return the folders of drops and restores that were interrupted."""
        if not self.folder.is_dir():
            return []
        old = time.time() - LEFT_AFTER
        with _file_errors(self.folder), os.scandir(self.folder) as entries:
            left = [e.name for e in entries if e.name.startswith((DROPPED, ARRIVING)) and e.stat().st_mtime < old]
        return sorted(left)

    def tidy(self) -> list[str]:
        """Remove what interrupted drops and restores left."""
        left = self.leftovers()
        for name in left:
            shutil.rmtree(self.folder / name, ignore_errors=True)
        return [f"The leftover {name} was removed." for name in left if not (self.folder / name).exists()]

    def check(self, space: str) -> list[str]:
        """Return what is wrong with a space, in sentences."""
        return self.open(space, create=False).check()

    def close(self) -> None:
        """Close every space, once whoever uses it is done; using one again reopens it."""
        with self._lock:
            spaces, self._open = list(self._open.values()), OrderedDict()
        for space in spaces:
            space.close()

    def _file(self, space: str) -> Path:
        return self.folder / folder_name(space) / FILE

    def _create(self, file: Path) -> None:
        with _file_errors(file):
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                file.touch(mode=0o600)

    def _space(self, space: str, file: Path) -> SqliteSpace:
        with self._lock:
            known = self._known.get(space)
            if known is None:
                known = self._known[space] = SqliteSpace(space, file, self._terms, self._used)
            return known

    def _named(self, name: str) -> str | None:
        space = space_of(name)
        if space is None and self._keys is not None:
            return self._keys.named(name)
        return space_inside(self.folder / name / FILE) if space is None and HASHED in name else space

    def _used(self, space: SqliteSpace) -> None:
        """Note a use, and close the least recently used idle spaces beyond the bound."""
        with self._lock:
            self._open[space.path] = space
            self._open.move_to_end(space.path)
            surplus = len(self._open) - self._max_open
            if surplus <= 0:
                return
            for path in list(self._open)[:-1]:
                if surplus > 0 and self._open[path].close_if_idle():
                    del self._open[path]
                    surplus -= 1


@contextmanager
def _file_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise translate_system(error, str(file)) from error


_STORES: weakref.WeakSet[SqliteStore] = weakref.WeakSet()


def _after_fork() -> None:
    for store in list(_STORES):
        store._forked()  # noqa: SLF001 # the hook is part of the class; a method could not be registered once for all


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
