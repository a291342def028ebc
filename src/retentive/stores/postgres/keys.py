"""Digests under which texts are looked up: an index entry may not be longer than 2,700 bytes, a name may."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from uuid import UUID

from retentive.stores.values import canonical, storable
from retentive.types import Json


def key_of(text: str) -> UUID:
    """Return the 128-bit digest of a text."""
    return UUID(bytes=blake2b(text.encode(), digest_size=16).digest())


def keys_of(texts: Iterable[str]) -> list[UUID]:
    """Return the digests of those texts that can be stored at all: nothing stored equals a broken string."""
    return [key_of(text) for text in texts if storable(text)]


def entry_of(name: str, value: Json) -> UUID:
    """Return the digest of a metadata entry: its name and its canonical value."""
    return key_of(f"{len(name)}:{name}{canonical(value)}")


def token_of(term: str) -> int:
    """Return the 64-bit digest of an encoded index term, as PostgreSQL's bigint."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big", signed=True)
