"""MCP at ``/mcp``: whose memories an agent works on is said by its key and its address, never by the agent.

A key that is bound to one space works on that; one that reaches several needs its client's configuration to name one
of them: ``/mcp/acme/alice``. A key that may only read is offered only what reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from starlette.types import Message, Receive, Scope, Send

from retentive.errors import Forbidden, InvalidInput, RetentiveError
from retentive.mcp.app import server_of
from retentive.mcp.http import PATH, Endpoint
from retentive.mcp.news import News
from retentive.mcp.offer import Offer
from retentive.mcp.toolbox import Access
from retentive.paths import space_path
from retentive.server.access import Grant, grant_of
from retentive.server.app import Mounted
from retentive.server.guard import AUDIT, REQUEST_ID
from retentive.server.refusals import refused
from retentive.server.service import Service

T = TypeVar("T")
ACCESS: Final = "retentive.mcp.access"
"""Where a request's access lies in its ASGI scope."""


def mcp_mount(service: Service, offered: Offer, *, default: str | None = None) -> Mounted:
    """Return what serves an offer at ``/mcp``; ``default`` is the space of who may reach all and names none."""

    async def run(work: Callable[[], T], *, slow: bool = False) -> T:
        return await service.pool("long" if slow else "short").run(work)

    news = News()
    server = server_of(
        offered.toolbox, lambda request: _access_in(request.scope), resources=offered.resources, news=news, runner=run
    )

    def changed(path: str) -> None:
        written = Access(service.home.space(path), service.home.now)
        for resource in offered.resources:
            news.note(resource.uri(written))

    service.when_changed.append(changed)
    service.when_ending.append(news.close)
    endpoint = Endpoint(server)
    return Mounted(PATH, _Door(service, endpoint, default), lifespan=endpoint.running)


def _access_in(scope: Scope) -> Access:
    found = scope.get(ACCESS)
    if not isinstance(found, Access):
        raise Forbidden("This request did not come through the door.", reason="unguarded")
    return found


class _Door:
    """Says whose memories a request is about before the protocol sees it."""

    def __init__(self, service: Service, inner: Endpoint, default: str | None) -> None:
        self._service = service
        self._inner = inner
        self._default = default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = self._counted(send)
        try:
            scope[ACCESS] = self._access(scope)
        except RetentiveError as error:
            self._note(error, scope)
            await refused(error, scope[REQUEST_ID])(scope, receive, answered)
        else:
            await self._inner(scope, receive, answered)

    def _access(self, scope: Scope) -> Access:
        grant = grant_of(scope)
        path = space_of(grant, _named(scope), self._default)
        grant.require("read", path)
        home = self._service.home
        return Access(home.space(path, actor=grant.actor), home.now, grant.may("write"))

    def _note(self, error: RetentiveError, scope: Scope) -> None:
        if isinstance(error, Forbidden):
            reason = str(error.details.get("reason", "other"))
            self._service.metrics.denials.labels(reason).inc()
            facts = {"reason": reason, "method": scope["method"], "request": scope[REQUEST_ID]}
            AUDIT.warning("denied", extra={"facts": {**facts, "key": grant_of(scope).key_id}})

    def _counted(self, send: Send) -> Send:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._service.metrics.requests.labels("mcp", str(message["status"])).inc()
            await send(message)

        return counted


def space_of(grant: Grant, named: str | None, default: str | None) -> str:
    """Return the space that a caller works on: the one its address names, else the one its key is bound to."""
    if named is not None:
        return named
    if grant.prefixes is not None and len(grant.prefixes) == 1:
        return grant.prefixes[0]
    if grant.prefixes is None and default is not None:
        return space_path(default)
    reached = "every space" if grant.prefixes is None else ", ".join(grant.prefixes)
    raise InvalidInput(
        f"Whose memories? This key reaches {reached}: name one space in the address that the client is configured "
        f"with, e.g. {PATH}/acme/alice, or use a key that is bound to one.",
        malformed=True,
    )


def _named(scope: Scope) -> str | None:
    """Return the space in the address, if there is one; its slashes may be written as %2F or as they are."""
    raw: Any = scope.get("raw_path") or scope["path"].encode()
    rest = raw.partition(b"?")[0].decode("latin-1").removeprefix(PATH).strip("/")
    try:
        return space_path(unquote(rest, errors="strict")) if rest else None
    except UnicodeDecodeError:
        raise InvalidInput(f"The address {rest!r} is not UTF-8 behind its percent signs.", malformed=True) from None
