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
from typing import Any

from retentive.errors import RetentiveError
from retentive.stores.protocol import CertifyingStore, Store
from retentive.types import Gate, Json


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


def certificates_of(store: Store, path: str | None) -> list[Dropped]:
    """Return the certificates that a store keeps, oldest first: all, or those of a space that had this path."""
    kept = store.certificates() if isinstance(store, CertifyingStore) else []
    found = [_read(data) for data in kept]
    return [one for one in found if path is None or one.space == digest_of(path)]


def _read(data: Mapping[str, Json]) -> Dropped:
    count = data.get("memories")
    return Dropped(
        at=datetime.fromisoformat(str(data["at"])),
        space=str(data["space"]),
        memories=count if isinstance(count, int) else None,
        actor=str(data.get("actor", "")),
        reason=str(data.get("reason", "")),
    )
