"""Dropping a space, and the certificate that is left of it: that it happened, and not a word of what was in it.

The journal goes with the space, so the certificate lies beside the spaces. It names the space by a digest: whoever
knows the path can look it up, and nobody reads in it whose memories they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from retentive.errors import RetentiveError
from retentive.pages import Listed, Walk, checked_size
from retentive.stores.protocol import CertifyingStore, Cursor, Store
from retentive.types import Gate, Json

_LONGEST_NUMBER: Final = 16


@dataclass(frozen=True, slots=True)
class Dropped:
    """The certificate of a space that was dropped."""

    at: datetime
    space: str  # `digest_of` its path
    memories: int | None  # how many it held; None where it could not be read any more
    actor: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "at": self.at.astimezone(UTC).isoformat()}


def digest_of(path: str) -> str:
    """Return what stands for the path of a space that is gone."""
    return f"blake2b:{hashlib.blake2b(path.encode(), digest_size=16).hexdigest()}"


def drop_space(store: Store, path: str, now: datetime, actor: str, reason: str) -> bool:
    """Remove a space, and certify it where the store can keep that; False if there was none."""
    count = None
    with suppress(RetentiveError):  # a damaged space is dropped all the same
        count = store.open(path, create=False).count(Gate(now, hidden=True))
    if not store.drop(path):
        return False
    if isinstance(store, CertifyingStore):
        store.certify(Dropped(now, digest_of(path), count, actor, reason).as_dict())
    return True


def certificates_of(
    store: Store, path: str | None, limit: int | None = None, cursor: str | None = None
) -> Listed[Dropped]:
    """Return a page of the certificates a store keeps, oldest first: all, or those of a space that had this path."""
    walk = Walk("certificates", path or "")
    after, size = walk.begin(cursor), None if limit is None else checked_size(limit)
    kept = store.certificates() if isinstance(store, CertifyingStore) else []
    found = [_read(data) for data in kept if path is None or _read(data).space == digest_of(path)]
    seen = 0 if after is None else _number(after.id)  # they are only ever added to: a number is a place
    numbered = list(enumerate(found, 1))[seen:]
    page = walk.page(numbered, size, lambda line: Cursor(line[1].at, str(line[0])))
    return Listed((one for _, one in page), page.cursor)


def _number(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) < _LONGEST_NUMBER else 0


def _read(data: Mapping[str, Json]) -> Dropped:
    count = data.get("memories")
    return Dropped(
        at=datetime.fromisoformat(str(data["at"])),
        space=str(data["space"]),
        memories=count if isinstance(count, int) else None,
        actor=str(data.get("actor", "")),
        reason=str(data.get("reason", "")),
    )
