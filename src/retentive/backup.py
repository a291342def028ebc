"""Backups: a folder with one file for each space and a manifest, taken while the store is in use.

Every space is one state of itself; spaces know nothing of one another, so there is no state of all of them to keep. The
folder gets its name only when it is whole, and is looked at, digest by digest, before anything is restored from it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound, RetentiveError, StoreCorrupt, StoreFull, unknown_name
from retentive.stores.protocol import CopiedStore, Store

MANIFEST: Final = "backup.json"
FORMAT: Final = "retentive-backup"
VERSION: Final = 1
CHUNK: Final = 1 << 20

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Copied:
    """One space of a backup: its path, its file in the folder, how long it is, and its digest."""

    space: str
    file: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds, and when it was taken."""

    folder: Path
    at: datetime
    spaces: tuple[Copied, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data: what the manifest says."""
        spaces = [asdict(space) for space in self.spaces]
        return {"format": FORMAT, "version": VERSION, "at": self.at.isoformat(), "spaces": spaces}


def back_up(
    store: Store,
    folder: Path,
    now: datetime,
    *,
    spaces: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Backup:
    """Copy spaces (all, if none are named) into a new folder, while the store is in use."""
    copying, folder = _copying(store), Path(folder)
    if folder.exists():
        raise InvalidInput(f"{str(folder)!r} exists; give the backup a folder of its own, with the date in its name.")
    chosen = _chosen(store.spaces(), spaces)
    part = folder.with_name(f"{folder.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True, mode=0o700)
        copied = []
        for done, space in enumerate(chosen, 1):
            copied.append(_copy(copying, space, part, done))
            if progress is not None:
                progress(done, len(chosen))
        backup = Backup(folder, now, tuple(copied))
        (part / MANIFEST).write_text(json.dumps(backup.as_dict(), indent=2, ensure_ascii=False) + "\n", "utf-8")
        part.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return backup


def restore(
    store: Store,
    folder: Path,
    *,
    spaces: Sequence[str] | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Backup:
    """Put the spaces of a backup (all, if none are named) back: all verified first, each put in place in one step."""
    copying, backup = _copying(store), read_backup(Path(folder))
    chosen = set(_chosen([copied.space for copied in backup.spaces], spaces))
    wanted = [copied for copied in backup.spaces if copied.space in chosen]
    taken = set(store.spaces()) & chosen
    if taken and not replace:
        raise InvalidInput(
            f"{len(taken)} of the spaces exist already, such as {min(taken)!r}; restore with replace=True, or into "
            "another store.",
            spaces=sorted(taken),
        )
    checked_whole(Backup(backup.folder, backup.at, tuple(wanted)))
    for done, copied in enumerate(wanted, 1):
        copying.place(copied.space, backup.folder / copied.file, replace=replace)
        if progress is not None:
            progress(done, len(wanted))
    return Backup(backup.folder, backup.at, tuple(wanted))


def checked_whole(backup: Backup) -> None:
    """Refuse a backup of which a space is missing or not as it was written."""
    for copied in backup.spaces:
        _verify(backup.folder, copied)


def read_backup(folder: Path) -> Backup:
    """Read a backup's manifest."""
    try:
        said = json.loads((folder / MANIFEST).read_text("utf-8"))
        if said["format"] != FORMAT or said["version"] != VERSION:
            raise InvalidInput(f"{str(folder)!r} is a backup of another version; upgrade Retentive and restore again.")
        spaces = tuple(Copied(**space) for space in said["spaces"])
        return Backup(folder, datetime.fromisoformat(said["at"]), spaces)
    except FileNotFoundError:
        raise NotFound(f"{str(folder)!r} is no backup: it has no {MANIFEST}.", folder=str(folder)) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, RetentiveError):
            raise
        raise StoreCorrupt(f"{str(folder / MANIFEST)!r} cannot be read: {error}. Use another backup.") from error


def _copying(store: Store) -> CopiedStore:
    if not isinstance(store, CopiedStore):
        raise InvalidInput(
            f"{type(store).__name__} keeps no files of ours: back it up with its own tools (pg_dump for PostgreSQL), "
            "or export its spaces."
        )
    return store


def _chosen(known: Sequence[str], spaces: Sequence[str] | None) -> list[str]:
    if spaces is None:
        return sorted(known)
    for space in spaces:
        if space not in known:
            raise NotFound(unknown_name("space", space, known).message, space=space)
    return sorted(set(spaces))


def _copy(store: CopiedStore, space: str, part: Path, number: int) -> Copied:
    file = f"{number:06}.db"
    store.copy_to(space, part / file)
    return Copied(space, file, (part / file).stat().st_size, _digest(part / file))


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _verify(folder: Path, copied: Copied) -> None:
    path = folder / copied.file
    if Path(copied.file).name != copied.file or not path.is_file() or _digest(path) != copied.sha256:
        raise StoreCorrupt(
            f"{str(path)!r} is missing or is not as it was written; nothing was restored. Use another backup.",
            space=copied.space,
        )


def _unwritable(folder: Path, error: OSError) -> RetentiveError:
    kind = StoreFull if error.errno == 28 else RetentiveError  # ENOSPC
    return kind(f"{str(folder)!r} cannot be written: {error.strerror}. Make room, or give another folder.")
