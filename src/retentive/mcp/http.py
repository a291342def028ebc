"""MCP over streamable HTTP: an application for a server of ours, or one of its own on this machine only.

Nothing is kept between requests, so that any process may answer any of them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Final

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

PATH: Final = "/mcp"
LOOPBACK: Final = "127.0.0.1"
LARGEST_BODY: Final = 4 * 1024 * 1024  # bytes
GRACE: Final = 5  # seconds that requests under way may take when the server is told to end
_NAMES: Final = (LOOPBACK, "localhost")


def http_app(server: Server[Any], port: int) -> Starlette:
    """Return the application that answers on a port of this machine.

    A page in somebody's browser can reach a port of their machine, also under another name that resolves to it (DNS
    rebinding). So the request must be addressed to this machine by one of its own names, and may not come from a page
    of anywhere else.
    """
    hosts = [f"{name}:{port}" for name in _NAMES]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        transport_security=security,
    )


def serve_http(server: Server[Any], port: int, ready: Callable[[str], None]) -> None:
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
        uvicorn.Server(config).run(sockets=[listening])
