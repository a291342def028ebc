"""Running a server: what is said at the start, the sockets, and an end at which nothing is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import uvicorn

from retentive.errors import InvalidInput
from retentive.server.app import Mounted, application
from retentive.server.service import Service

if TYPE_CHECKING:
    from types import FrameType


def check_exposure(service: Service) -> None:
    """Refuse to listen to others while anybody could come in."""
    if not service.settings.loopback and not service.keys.used:
        raise InvalidInput(
            f"Without a key the server listens on this machine only, and host={service.settings.host!r} is more than "
            "that. Make a key first: `retentive keys create --admin --all-spaces`, or leave --host out.",
            host=service.settings.host,
        )


def greeting(service: Service) -> list[str]:
    """Return what whoever starts the server should know."""
    settings, keys = service.settings, service.keys
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    where = f"http://{host}:{settings.port}" if settings.port else f"a free port of {host}"
    lines = [f"Serving {service.home.store!r} at {where} (inspector at /, documentation at /docs)."]
    if not keys.used:
        lines.append(
            "There are no keys: everybody on this machine may read and write everything; nobody else is let in. "
            "`retentive keys create` makes one, and from then on every request needs one."
        )
    else:
        valid = sum(key.counts(service.home.now()) for key in keys.list())
        lines.append(f"Every request needs a key; {valid} of {len(keys.list())} in {str(keys.path)!r} count.")
    return lines


class Listener(uvicorn.Server):
    """A server that says it is going away before it stops listening, so that nobody sends it more."""

    def __init__(self, config: uvicorn.Config, service: Service, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = service
        self._told = started

    async def startup(self, sockets: Sequence[Any] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets=list(sockets) if sockets else None)
        if self.started:
            self._note_port()
            self._told()

    def _note_port(self) -> None:
        """Keep the port that the system gave where any free one was asked for (0)."""
        settings = self._service.settings
        listening = [socket for server in self.servers for socket in server.sockets]
        if not settings.port and listening:
            self._service.settings = replace(settings, port=listening[0].getsockname()[1])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note that the end is near; what is under way gets ``serve.drain`` seconds."""
        self._service.end()
        super().handle_exit(sig, frame)


def serve(service: Service, *, mounts: Sequence[Mounted] = (), started: Callable[[], None] = lambda: None) -> None:
    """Serve until told to stop by SIGINT or SIGTERM; requests under way are finished first."""
    check_exposure(service)
    settings = service.settings
    config = uvicorn.Config(
        application(service, mounts=mounts),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        log_level=logging.WARNING,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=round(settings.drain),
        timeout_keep_alive=65,
    )
    Listener(config, service, started).run()
