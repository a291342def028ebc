"""The guard before every application served here: whom a request claims to be for, where it comes from, who asks.

In this order: the ``Host`` (a page that rebinds its name to this machine is refused), the ``Origin`` (a page from
elsewhere is refused unless it was let in), the key, and how often it asks. What passes carries a `Grant`; what is
refused is counted and noted. Every answer leaves with headers that keep browsers from doing anything clever.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retentive.errors import RetentiveError
from retentive.server.access import EVERYTHING, NOTHING, Grant, leave_grant
from retentive.server.keys import KeyRing
from retentive.server.limits import RateLimiter
from retentive.server.refusals import Refusal, refused
from retentive.server.settings import LOOPBACK_NAMES, ServeSettings, is_address, is_loopback

AUDIT: Final = logging.getLogger("retentive.audit")
REQUEST_ID: Final = "retentive.request_id"
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
CORS_METHODS: Final = "GET, POST, PUT, PATCH, DELETE"
CORS_HEADERS: Final = (
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Mcp-Method, Mcp-Name, Mcp-Protocol-Version"
)
CORS_EXPOSED: Final = "ETag, Location, Retry-After, Idempotency-Replayed, Mcp-Session-Id, Retentive-Request"
FORWARDING: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
Denied = Callable[[str], None]


class Guard:
    """Wraps an application; ``public`` says which paths answer without a key."""

    def __init__(
        self,
        inner: ASGIApp,
        *,
        settings: ServeSettings,
        keys: KeyRing,
        now: Callable[[], datetime],
        public: Callable[[str], bool] = lambda _path: False,
        denied: Denied = lambda _reason: None,
        limiter: RateLimiter | None = None,
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._keys = keys
        self._now = now
        self._public = public
        self._denied = denied
        self._limiter = limiter or RateLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request_id = scope[REQUEST_ID] = uuid.uuid4().hex
        headers = Headers(scope=scope)
        dressed = self._dressed(send, request_id, headers)
        try:
            answer = self._admit(scope, headers)
        except RetentiveError as error:
            self._note(scope, error, request_id)
            answer = refused(error, request_id)
        await (answer(scope, receive, dressed) if answer else self._inner(scope, receive, dressed))

    def _admit(self, scope: Scope, headers: Headers) -> Response | None:
        """Check a request; return an answer only to a browser's question about another origin."""
        self._check_host(headers)
        origin = self._check_origin(headers)
        if origin and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204, headers=_preflight())
        if self._public(scope["path"]):
            leave_grant(scope, NOTHING)
            return None
        grant = self._identify(scope, headers)
        self._limit(grant, scope)
        leave_grant(scope, grant)
        return None

    def _check_host(self, headers: Headers) -> None:
        host = _without_port(headers.get("host", ""))
        named = () if self._open else self._settings.hosts
        if host in LOOPBACK_NAMES or is_address(host) or host in named or host == self._settings.host:
            return
        raise Refusal(
            f"This server does not answer to the name {host!r}. If that is its name, say so: `retentive serve "
            f"--allow-host {host or 'NAME'}`, and make a key.",
            status=421,
            reason="host",
        )

    def _check_origin(self, headers: Headers) -> str | None:
        """Return the origin of a page from elsewhere that was let in; a page of this server has none."""
        origin = headers.get("origin")
        if origin is None or origin.partition("://")[2] == headers.get("host"):
            return None
        if origin in self._settings.origins:
            return origin
        raise Refusal(
            f"Pages from {origin!r} may not call this server. To let them: `retentive serve --allow-origin {origin}`.",
            status=403,
            reason="origin",
        )

    @property
    def _open(self) -> bool:
        """Whether no key was ever made: then only this machine is let in."""
        return not self._keys.used

    def _identify(self, scope: Scope, headers: Headers) -> Grant:
        if self._open:
            return self._local(scope, headers)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            raise _unknown("Send a key: `Authorization: Bearer rtv_…`. `retentive keys create` makes one.", "no key")
        key = self._keys.check(given.strip(), self._now())
        if key is None:
            raise _unknown("This key opens nothing: it is wrong, has expired or was revoked.", "bad key")
        return key.grant()

    def _local(self, scope: Scope, headers: Headers) -> Grant:
        """Let this machine in where there are no keys; what a proxy passes on is not this machine."""
        client = scope.get("client")
        here = self._settings.loopback and client is not None and is_loopback(client[0])
        if not here or any(name in headers for name in FORWARDING):
            raise _unknown(
                "There are no keys yet, so only this machine is let in. Make one: `retentive keys create`.", "no keys"
            )
        return EVERYTHING

    def _limit(self, grant: Grant, scope: Scope) -> None:
        client = scope.get("client")
        caller = grant.key_id or (client[0] if client else "")
        wait = self._limiter.take(caller, grant.rate or self._settings.rate)
        if wait:
            raise Refusal(
                f"Too many requests; wait {wait:g} seconds.",
                status=429,
                headers={"Retry-After": f"{wait:g}"},
                reason="rate",
                key=grant.key_id,
            )

    def _note(self, scope: Scope, error: RetentiveError, request_id: str) -> None:
        reason = str(error.details.get("reason", "other"))
        self._denied(reason)
        client = scope.get("client")
        AUDIT.warning(
            "denied",
            extra={
                "facts": {
                    "reason": reason,
                    "method": scope["method"],
                    "client": client[0] if client else None,
                    "key": error.details.get("key"),
                    "request": request_id,
                }
            },
        )

    def _dressed(self, send: Send, request_id: str, asked: Headers) -> Send:
        origin = asked.get("origin")
        allowed = origin if origin in self._settings.origins else None

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                headers["Retentive-Request"] = request_id
                if allowed is not None:
                    headers["Access-Control-Allow-Origin"] = allowed
                    headers["Access-Control-Expose-Headers"] = CORS_EXPOSED
                    headers.add_vary_header("Origin")
            await send(message)

        return dressed


def _without_port(host: str) -> str:
    """Return the name or address of a Host header, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _unknown(message: str, reason: str) -> Refusal:
    return Refusal(message, status=401, headers={"WWW-Authenticate": 'Bearer realm="retentive"'}, reason=reason)


def _preflight() -> dict[str, str]:
    return {
        "Access-Control-Allow-Methods": CORS_METHODS,
        "Access-Control-Allow-Headers": CORS_HEADERS,
        "Access-Control-Max-Age": "600",
    }


def facts_of(record: Any) -> dict[str, Any]:
    """Return the facts that were noted with a line of the log."""
    found = getattr(record, "facts", None)
    return dict(found) if isinstance(found, dict) else {}
