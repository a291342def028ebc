"""Telling clients that a resource they listen to has changed.

In this year's protocol a client asks with ``subscriptions/listen`` and the answer is a stream: over HTTP as well as
over stdio. Last year's ``resources/subscribe`` needs a connection that is one client's own: stdio. What a client
listens to is its own space's and nobody else's; `server_of` sees to that. The list of resources is always the same, so
there is nothing to tell of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import anyio
import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY, ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError

Context: TypeAlias = ServerRequestContext[Any, Any]
LISTENS_SECONDS: Final = 3_600.0
"""After this long a stream ends and the client listens again: with a key that is looked at again."""
MOST_PER_SPACE: Final = 64
"""Streams on one space, so that one caller does not take them all."""


class Bus:
    """Hands events to whoever listens, at once, on the event loop's own thread."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    def give(self, event: ServerEvent) -> None:
        """Hand an event to every listener; none of them waits."""
        for listener in list(self._listeners.values()):
            listener(event)

    async def publish(self, event: ServerEvent) -> None:
        """Hand out an event, as the SDK's handler wants it."""
        self.give(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Add a listener; returns how to remove it."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None


class News:
    """Who wants to hear of which resource; with ``one_client`` in last year's way as well."""

    def __init__(self, *, one_client: bool = False) -> None:
        self.one_client = one_client
        self._wanted: set[str] = set()
        self._bus = Bus()
        self._listen = ListenHandler(self._bus)
        self._listening: Counter[str] = Counter()

    async def subscribe(self, _context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Note that the one client wants to hear of a resource."""
        self._wanted.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, _context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Note that it does no longer."""
        self._wanted.discard(params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams, space: str, own: Iterable[str]
    ) -> types.SubscriptionsListenResult:
        """Stream to a client what becomes of these resources of its ``own`` space."""
        if self._listening[space] >= MOST_PER_SPACE:
            raise MCPError(types.INTERNAL_ERROR, f"{MOST_PER_SPACE} clients listen to this space already.")
        heard = params.notifications.model_copy(update={"resource_subscriptions": list(own) or None})
        self._listening[space] += 1
        try:
            with anyio.move_on_after(LISTENS_SECONDS):
                return await self._listen(context, params.model_copy(update={"notifications": heard}))
        finally:
            self._listening[space] -= 1
        return types.SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    async def tell(self, context: Context, uri: str) -> None:
        """Say that a request changed a resource, to whoever wanted to hear of it."""
        if uri in self._wanted:
            await context.session.send_resource_updated(uri)
        self.note(uri)

    def note(self, uri: str) -> None:
        """Say that a resource changed, to all streams that are about it; on the event loop's thread."""
        self._bus.give(ResourceUpdated(uri=uri))

    def close(self) -> None:
        """End every stream; on the event loop's thread."""
        self._listen.close()
