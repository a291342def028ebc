"""The resources of a space: what is pinned, and what was said lately, quoted as prompts quote memories.

Their addresses name the space, but only for people to read: an address is compared with those of the caller's own
space and never taken apart, so that there is none that leads elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

from retentive.errors import NotFound
from retentive.mcp.toolbox import Access
from retentive.mcp.wording import quoted

SCHEME: Final = "retentive"
RECENT: Final = 20
CORE: Final = 100
XML: Final = "application/xml"

Read: TypeAlias = Callable[[Access], str]


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: its address for a caller, what it says of itself, and how it is read."""

    name: str
    title: str
    description: str
    uri: Callable[[Access], str]
    read: Read
    mime: str = XML


def _address(name: str) -> Callable[[Access], str]:
    def address(access: Access) -> str:
        segments = access.space.path.split("/")
        return f"{SCHEME}://{'/'.join(quote(segment, safe='') for segment in segments)}/{name}"

    return address


def _core(access: Access) -> str:
    return quoted(access.space.list(pinned=True, limit=CORE), access.now(), name="core")


def _recent(access: Access) -> str:
    return quoted(access.space.list(limit=RECENT), access.now(), name="recent")


OWN: Final = (
    Resource("core", "Core memories", "Pinned memories: what belongs into every prompt.", _address("core"), _core),
    Resource("recent", "Recent memories", f"The latest {RECENT} memories.", _address("recent"), _recent),
)


def resource_at(uri: str, resources: tuple[Resource, ...], access: Access) -> Resource:
    """Return the caller's own resource with this address, however it spells its percent signs."""
    for resource in resources:
        if unquote(uri) == unquote(resource.uri(access)):
            return resource
    known = ", ".join(resource.uri(access) for resource in resources)
    raise NotFound(f"There is no resource {uri[:200]!r} here; there are {known}.", uri=uri)
