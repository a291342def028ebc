"""The application: operations, health, metrics and documents behind the guard, with room for other applications.

    service = Service(Retentive("./memories"), KeyRing(Path("keys.json")))
    app = application(service, mounts=[Mounted("/mcp", mcp_app), Mounted("/", pages, public=True)])

What is mounted finds its caller's `Grant` with ``access.grant_of(scope)``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.errors import RetentiveError
from retentive.server import custody, looking, memories, minding, recalls, reviewing, spaces
from retentive.server.access import grant_of
from retentive.server.endpoints import Endpoint
from retentive.server.guard import REQUEST_ID, Guard
from retentive.server.metrics import CONTENT_TYPE
from retentive.server.openapi import document
from retentive.server.operations import JSON, Operation
from retentive.server.reference import STYLE, page
from retentive.server.refusals import Refusal, encoded, refused
from retentive.server.service import Service

OPERATIONS: Final[tuple[Operation, ...]] = (
    *spaces.OPERATIONS,
    *custody.OPERATIONS,
    *memories.OPERATIONS,
    *recalls.OPERATIONS,
    *looking.OPERATIONS,
    *minding.OPERATIONS,
    *reviewing.OPERATIONS,
)
PUBLIC: Final = ("/health/live", "/health/ready", "/openapi.json", "/docs", "/docs/style.css")
OFTEN: Final = ("/v1/spaces/{space}/recall", "/v1/spaces/{space}/memories")
CLOSED: Final = ("/v1", "/metrics")
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another application under a path of its own."""

    path: str
    app: ASGIApp
    public: bool = False  # answers without a key, as pages must; what they show they ask for with one
    lifespan: Lifespan | None = None  # entered while the server runs


def application(service: Service, *, mounts: Sequence[Mounted] = ()) -> ASGIApp:
    """Return the whole application of a server."""
    routes = [*_operation_routes(service), *_own_routes(service), *_mounted(mounts)]
    inner = Starlette(routes=routes, lifespan=_lifespan(service, mounts))
    inner.router.default = _not_found
    inner.router.redirect_slashes = False
    return Guard(
        _RawPaths(inner),
        settings=service.settings,
        keys=service.keys,
        now=service.home.now,
        public=_publicness(mounts),
        denied=lambda reason: service.metrics.denials.labels(reason).inc(),
    )


class _RawPaths:
    """Gives the routes below ``/v1`` the path as it was sent, so that a space is one segment of it."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw is not None and scope["path"].startswith("/v1"):
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}
        await self._inner(scope, receive, send)


def _operation_routes(service: Service) -> list[BaseRoute]:
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    # what is asked most is looked at first; names stand before parameters in the same place
    ordered = sorted(by_path, key=lambda path: (path not in OFTEN, path.endswith("}")))
    return [Route(path, Endpoint(service, by_path[path])) for path in ordered]


def _own_routes(service: Service) -> list[BaseRoute]:
    async def live(_request: Request) -> Response:
        return _json({"status": "live"})

    async def ready(_request: Request) -> Response:
        lacking = await service.short.run(service.ready)
        return _json({"status": lacking or "ready"}, 503 if lacking else 200)

    async def described(_request: Request) -> Response:
        return _json(_document())

    async def reference(_request: Request) -> Response:
        return Response(page(_document()), media_type="text/html")

    async def style(_request: Request) -> Response:
        return Response(STYLE, media_type="text/css")

    async def metrics(request: Request) -> Response:
        grant_of(request.scope).require("admin")
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    own = {
        "/health/live": live,
        "/health/ready": ready,
        "/metrics": metrics,
        "/openapi.json": described,
        "/docs": reference,
        "/docs/style.css": style,
    }
    return [Route(path, _told(handler)) for path, handler in own.items()]


Handler = Callable[[Request], Any]


def _told(handler: Handler) -> Handler:
    """Return a handler whose errors are told as problem details."""

    async def handle(request: Request) -> Response:
        try:
            response: Response = await handler(request)
        except RetentiveError as error:
            return refused(error, request.scope[REQUEST_ID])
        return response

    return handle


@cache
def _document() -> dict[str, Any]:
    return document(OPERATIONS)


def _json(data: Any, status: int = 200) -> Response:
    return Response(encoded(data), status, media_type=JSON)


def _mounted(mounts: Iterable[Mounted]) -> list[BaseRoute]:
    routes: list[BaseRoute] = []
    for mounted in sorted(mounts, key=lambda one: -len(one.path)):
        if path := mounted.path.rstrip("/"):
            routes.append(Route(path, _AsItIs(mounted.app)))  # at its own path too, not only below it
        routes.append(Mount(path, mounted.app))
    return routes


class _AsItIs:
    """An application that a route does not take for a function of its own kind."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _publicness(mounts: Iterable[Mounted]) -> Callable[[str], bool]:
    """Return which paths answer without a key: what needs one stays closed even below a public mount at the root."""
    closed = (*CLOSED, *(mounted.path.rstrip("/") for mounted in mounts if not mounted.public))
    opened = tuple(mounted.path.rstrip("/") for mounted in mounts if mounted.public)

    def public(path: str) -> bool:
        return path in PUBLIC or (_below(path, opened) and not _below(path, closed))

    return public


def _below(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(place + "/") for place in places)


def _lifespan(service: Service, mounts: Sequence[Mounted]) -> Lifespan:
    @asynccontextmanager
    async def running(app: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for mounted in mounts:
                if mounted.lifespan is not None:
                    await stack.enter_async_context(mounted.lifespan(app))
            service.loop = asyncio.get_running_loop()
            await service.long.run(service.warm_up)
            service.worker.start()
            yield
            service.draining = True
        await asyncio.to_thread(service.close)

    return running


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    error = Refusal("There is nothing here; GET /openapi.json says what there is.", status=404)
    await refused(error, scope[REQUEST_ID])(scope, receive, send)
