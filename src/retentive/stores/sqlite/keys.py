"""Keys of encrypted spaces: one for each, so that losing a key is erasing a tenant, in every copy of its file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final, Protocol
from uuid import uuid4

from retentive.errors import Forbidden, StoreCorrupt
from retentive.stores.sqlite.faults import translate_system
from retentive.stores.sqlite.names import folder_name

LENGTH: Final = 32  # bytes
SUFFIX: Final = ".key"


class Keys(Protocol):
    """Where the keys of spaces come from: a folder of ours, or a vault of yours."""

    def key(self, space: str, *, create: bool) -> bytes:
        """Return the 32 bytes of a space's key; one that is missing is made for a new space, else `Forbidden`."""

    def named(self, name: str) -> str | None:
        """Return the space whose folder in the store has this name; None if no key tells."""

    def shred(self, space: str) -> bool:
        """Destroy a key for good; False if there was none."""


class KeyFolder:
    """Keys as files in a folder, away from the store (another disk, a mounted secret), readable by their owner only."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).expanduser()

    def key(self, space: str, *, create: bool) -> bytes:
        """Return a space's key."""
        path = self._path(space)
        if not path.exists():
            if not create:
                raise Forbidden(
                    f"The key of space {space!r} is not in {self.folder}. Bring it back from where you keep copies of "
                    "keys; without it nobody can read this space.",
                    space=space,
                )
            self._make(path, space)
        return _read(path)[1]

    def _make(self, path: Path, space: str) -> None:
        """Write a new key, whole before it has its name; of two processes that do so at once, one is first."""
        unfinished = path.with_name(f".{uuid4().hex}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{secrets.token_hex(LENGTH)} {space}\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(unfinished, path)
            except FileExistsError:
                return
            finally:
                unfinished.unlink()
        except OSError as error:
            raise translate_system(error, str(path)) from error

    def named(self, name: str) -> str | None:
        """Return the space whose folder has this name."""
        path = self.folder / f"{name}{SUFFIX}"
        return _read(path)[0] if path.exists() else None

    def shred(self, space: str) -> bool:
        """Overwrite a key and remove it; copies of it elsewhere are yours to destroy."""
        path = self._path(space)
        if not path.exists():
            return False
        try:
            with path.open("r+b") as file:
                file.write(secrets.token_bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
        except OSError as error:
            raise translate_system(error, str(path)) from error
        return True

    def _path(self, space: str) -> Path:
        return self.folder / f"{folder_name(space)}{SUFFIX}"


def _read(path: Path) -> tuple[str, bytes]:
    """Return whose key a file holds, and the key."""
    try:
        text, _, space = path.read_text("utf-8").rstrip("\n").partition(" ")
        key = bytes.fromhex(text)
    except OSError as error:
        raise translate_system(error, str(path)) from error
    except ValueError:
        key, space = b"", ""
    if len(key) != LENGTH or not space:
        raise StoreCorrupt(f"{path} is not a key of ours; bring it back from where you keep copies of keys.")
    return space, key
