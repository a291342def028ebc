"""Who may do what: a grant says which spaces a caller reaches and how far, and refuses the rest.

A grant is bound to prefixes of whole segments: ``acme`` reaches ``acme`` and ``acme/alice``, never ``acme-corp``. What
is refused is refused alike whether it exists or not, so that nobody learns other tenants' names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

from retentive.errors import Forbidden

RIGHTS: Final = ("read", "write", "admin")
"""Each includes the ones before it."""
GRANT: Final = "retentive.grant"
"""Where the guard leaves the grant in an ASGI scope."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What one caller may do."""

    key_id: str
    """Whose it is, for logs and limits; empty for whoever is on this machine while there are no keys."""
    right: str
    prefixes: tuple[str, ...] | None
    """The spaces it reaches, with all below them; None: the whole store."""
    rate: float | None = None
    """Requests a minute; None: as the server's settings say."""
    name: str = ""

    @property
    def actor(self) -> str | None:
        """Who writes, as the journal notes it; None: whom the configuration names."""
        return f"key:{self.key_id}" if self.key_id else None

    def may(self, right: str) -> bool:
        """Whether it goes as far as a right."""
        return RIGHTS.index(self.right) >= RIGHTS.index(right)

    def reaches(self, space: str) -> bool:
        """Whether a space is at or below one of its prefixes, segment by segment."""
        if self.prefixes is None:
            return True
        return any(space == prefix or space.startswith(prefix + "/") for prefix in self.prefixes)

    def reachable(self, spaces: Iterable[str]) -> list[str]:
        """Return those spaces that it reaches."""
        return [space for space in spaces if self.reaches(space)]

    def require(self, right: str, space: str | None = None) -> None:
        """Refuse what it does not go as far as; without a space, whoever asks needs the right for the whole store."""
        if space is not None and not self.reaches(space):
            raise Forbidden(f"This key does not reach space {space!r}.", reason="space", space=space)
        if space is None and self.prefixes is not None:
            raise Forbidden("This needs a key for the whole store; yours is bound to some spaces.", reason="store")
        if not self.may(right):
            raise Forbidden(
                f"This needs a key with the right {right!r}; yours has {self.right!r}.", reason="right", right=right
            )


EVERYTHING: Final = Grant(key_id="", right="admin", prefixes=None)
"""What a caller on this machine may do while there are no keys."""

NOTHING: Final = Grant(key_id="", right="read", prefixes=())
"""What a caller without a key may do where none is asked for: reach no space."""


def grant_of(scope: Mapping[str, Any]) -> Grant:
    """Return the grant of a request that came through the guard; anything else has none and is refused."""
    found = scope.get(GRANT)
    if not isinstance(found, Grant):
        raise Forbidden("This request did not come through the guard.", reason="unguarded")
    return found


def leave_grant(scope: MutableMapping[str, Any], grant: Grant) -> None:
    """Leave the grant in a scope for whoever answers the request."""
    scope[GRANT] = grant
