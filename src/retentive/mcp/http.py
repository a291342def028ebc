"""MCP over streamable HTTP: an application for a server of ours, or one of its own on this machine only.

Nothing is kept between requests, so that any process may answer any of them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import uvicorn
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

PATH: Final = "/mcp"
LOOPBACK: Final = "127.0.0.1"
LARGEST_BODY: Final = 4 * 1024 * 1024  # bytes
GRACE: Final = 5  # seconds that requests under way may take when the server is told to end
_NAMES: Final = (LOOPBACK, "localhost")


class Endpoint:
    """A server as an ASGI application, at whatever path it is put; `running` has to be entered while it is served.

    Only POST: there are no sessions to end and no notifications to wait for, and a connection that waits for nothing
    would be one that shutdown has to wait for.
    """

    def __init__(self, server: Server[Any], security: TransportSecuritySettings | None = None) -> None:
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            security_settings=security,
            max_request_body_size=LARGEST_BODY,
        )

    def running(self, _app: object = None) -> AbstractAsyncContextManager[None]:
        """Return what is entered while requests are answered."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST":
            await self._manager.handle_request(scope, receive, send)
        else:
            refusal = Response("MCP is spoken by POST here.", 405, {"Allow": "POST"}, "text/plain")
            await refusal(scope, receive, send)


def http_app(server: Server[Any], port: int) -> Starlette:
    """Return the application that answers on a port of this machine.

    A page in somebody's browser can reach a port of their machine, also under another name that resolves to it (DNS
    rebinding). So the request must be addressed to this machine by one of its own names, and may not come from a page
    of anywhere else.
    """
    hosts = [f"{name}:{port}" for name in _NAMES]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    endpoint = Endpoint(server, security)
    return Starlette(routes=[Route(PATH, endpoint)], lifespan=endpoint.running)


class _Listener(uvicorn.Server):
    """A server that ends the streams that wait for news before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what would not end by itself, then the rest."""
        self._ending()
        await super().shutdown(sockets)


def serve_http(
    server: Server[Any], port: int, ready: Callable[[str], None], ending: Callable[[], None] = lambda: None
) -> None:
    """Serve this machine until told to end; ``ready`` is told the address. Port 0 takes any that is free."""
    with socket.create_server((LOOPBACK, port)) as listening:
        taken: int = listening.getsockname()[1]
        ready(f"http://{LOOPBACK}:{taken}{PATH}")
        config = uvicorn.Config(
            http_app(server, taken),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
        _Listener(config, ending).run(sockets=[listening])
