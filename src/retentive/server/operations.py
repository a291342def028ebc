"""What the server can be asked: each operation with its route, its right, what it takes, and what it answers.

The table of operations is the only list: routing, checks, the OpenAPI document and the labels of metrics come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from retentive.server.access import Grant
from retentive.server.shapes import Schema

if TYPE_CHECKING:
    from retentive.memory import Retentive, Space
    from retentive.server.settings import ServeSettings

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
_TAGS: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[ -~]+$"}
HEADERS: Final[dict[str, Schema]] = {
    "Idempotency-Key": {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[!-~]+$"},
    "If-Match": _TAGS,
    "If-None-Match": _TAGS,
}
"""What the headers may be that say under which conditions something is done."""
Lane = Literal["short", "long"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read and checked: what an operation works on."""

    home: Retentive
    grant: Grant
    settings: ServeSettings
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any = None
    upload: Path | None = None  # a body that was too large for memory, in a file of its own
    once: str | None = None  # the Idempotency-Key
    if_match: tuple[str, ...] | None = None
    if_none_match: tuple[str, ...] = ()
    progress: Callable[[int, int], None] | None = None

    @property
    def space(self) -> Space:
        """The space in the path; who asks reaches it, or the call would not exist."""
        return self.home.space(self.path["space"], actor=self.grant.actor)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation gives back."""

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None  # sent in parts, then removed


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that the server can be asked."""

    name: str
    method: str
    path: str
    right: str
    summary: str
    run: Callable[[Call], Answer]
    about: str = ""
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    example: Any = None
    answers: Any = None  # a type whose schema it is, a schema, or None for no content
    answer_example: Any = None
    status: int = 200
    lane: Lane = "short"
    once: bool = False  # takes an Idempotency-Key
    noted: Literal["", "space", "store", "dropping"] = ""  # where that is noted, if not by the façade
    etag: Literal["", "match", "give"] = ""
    upload: bool = False  # takes a file as its body
    download: str = ""  # gives a file of this media type
    tag: str = "memories"

    @property
    def writes(self) -> bool:
        """Whether it changes what is kept."""
        return self.method != "GET" and self.right in {"write", "admin"}

    @property
    def in_space(self) -> bool:
        """Whether it is asked of one space."""
        return "{space}" in self.path
