"""Keys: made here, kept hashed in a file of their own, known again in constant time.

A key reads ``rtv_<id>_<secret>``. The secret is 32 random bytes, so a plain SHA-256 of it cannot be turned back; the
file holds nothing that opens anything. A server looks at the file's stamp at every request: what is revoked is refused
by the next one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound, RetentiveError, StoreBusy, StoreCorrupt, unknown_name
from retentive.paths import space_path
from retentive.server.access import RIGHTS, Grant
from retentive.types import aware
from retentive.wire.values import WireError, read, written

FORM: Final = "retentive-keys-1"
_FORM: Final = re.compile(r"rtv_([a-z2-7]{8})_([A-Za-z0-9_-]{43})")
_NOBODY: Final = hashlib.sha256(b"nobody").hexdigest()
_LOCK_SECONDS: Final = 5.0
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key: all but the secret."""

    id: str
    hash: str = field(repr=False)
    right: str
    spaces: tuple[str, ...] | None  # prefixes; None: the whole store
    created_at: datetime
    name: str = ""
    rate: float | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def counts(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def grant(self) -> Grant:
        """Return what it allows."""
        return Grant(self.id, self.right, self.spaces, self.rate, self.name)


class KeyRing:
    """The keys of one file, which need not exist; safe to share between threads, the file between processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._keys: dict[str, Key] = {}

    def list(self) -> list[Key]:
        """Return every key that was ever made, revoked ones as well, oldest first."""
        return sorted(self._current().values(), key=lambda key: (key.created_at, key.id))

    @property
    def used(self) -> bool:
        """Whether any key was ever made: from then on nobody gets in without one."""
        return bool(self._current())

    def check(self, given: str, now: datetime) -> Key | None:
        """Return the key that was given, if it counts; takes as long for a wrong one as for a right one."""
        match, keys = _FORM.fullmatch(given), self._current()
        key = keys.get(match[1]) if match else None
        digest = _hashed(match[2] if match else given)
        same = hmac.compare_digest(digest, key.hash if key else _NOBODY)
        return key if key is not None and same and key.counts(now) else None

    def create(
        self,
        *,
        right: str,
        spaces: Iterable[str] | None,
        now: datetime,
        name: str = "",
        rate: float | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[Key, str]:
        """Make a key; return what is kept of it, and the key itself, which is nowhere else."""
        if right not in RIGHTS:
            raise unknown_name("right", right, RIGHTS)
        if rate is not None and not rate > 0:
            raise InvalidInput(f"rate={rate!r} is not a number of requests a minute above 0.", value=rate)
        prefixes = tuple(dict.fromkeys(space_path(space) for space in spaces)) if spaces is not None else None
        if prefixes == ():
            raise InvalidInput("A key for no space opens nothing: name spaces, or say that it is for all of them.")
        name_, secret = _fresh_id(), secrets.token_urlsafe(32)
        key = Key(name_, _hashed(secret), right, prefixes, aware(now, "now"), name, rate, expires_at)
        with self._writing() as keys:
            keys[key.id] = key
        return key, f"rtv_{key.id}_{secret}"

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Let a key open nothing any more, from the next request on."""
        with self._writing() as keys:
            if key_id not in keys:
                raise NotFound(f"No key {key_id!r} in {str(self.path)!r}; `retentive keys list` shows them.", id=key_id)
            key = keys[key_id]
            keys[key_id] = key if key.revoked_at else replace(key, revoked_at=aware(now, "now"))
            return keys[key_id]

    def _current(self) -> dict[str, Key]:
        if _stamp(self.path) != self._stamp:
            with self._lock:  # looked at again in here: whoever waited must not put back what was there before
                stamp = _stamp(self.path)
                if stamp != self._stamp:
                    self._keys, self._stamp = (_read(self.path) if stamp else {}), stamp
        return self._keys

    @contextmanager
    def _writing(self) -> Iterator[dict[str, Key]]:
        """Change the keys, alone among processes; the file is replaced whole."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _alone(self.path.with_name(self.path.name + ".lock")):
                keys = _read(self.path) if self.path.exists() else {}
                yield keys
                _write(self.path, keys)
        except OSError as error:
            raise RetentiveError(
                f"The file of keys {str(self.path)!r} cannot be written: {error.strerror}. Name another one with "
                "serve.keys (RETENTIVE_SERVE_KEYS).",
                path=str(self.path),
            ) from error


def _fresh_id() -> str:
    return "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _read(path: Path) -> dict[str, Key]:
    try:
        data = json.loads(path.read_text("utf-8"))
        keys = [read(Key, item) for item in data[FORM]]
    except (OSError, ValueError, KeyError, TypeError, WireError) as error:
        raise StoreCorrupt(
            f"The file of keys {str(path)!r} cannot be used: {error}. Nobody is let in until it is put right; restore "
            "it from a backup, or move it away and make new keys.",
            path=str(path),
        ) from error
    return {key.id: key for key in keys}


def _write(path: Path, keys: dict[str, Key]) -> None:
    text = json.dumps({FORM: [_record(key) for key in keys.values()]}, indent=1)
    part = path.with_name(path.name + ".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _record(key: Key) -> dict[str, Any]:
    record: dict[str, Any] = written(key)
    return record


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock file; keys are made by hand, so a short wait is enough."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise StoreBusy(
                    f"Somebody else is changing the keys. If nobody is, remove {str(lock)!r} and try again.",
                    path=str(lock),
                ) from None
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
