"""Telling a client that a resource it subscribed to has changed: on stdio, where there is one client."""

from __future__ import annotations

from typing import Any, TypeAlias

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

Context: TypeAlias = ServerRequestContext[Any, Any]


class News:
    """Who wants to hear of which resource, in both eras of the protocol.

    Not for a server of many keys: its bus would tell one that another's resource changed.
    """

    def __init__(self) -> None:
        self._wanted: set[str] = set()
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus)

    async def subscribe(self, _context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Note that the client wants to hear of a resource."""
        self._wanted.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, _context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Note that it does no longer."""
        self._wanted.discard(params.uri)
        return types.EmptyResult()

    async def tell(self, context: Context, uri: str) -> None:
        """Say that a resource changed, to whoever wanted to hear of it."""
        if uri in self._wanted:
            await context.session.send_resource_updated(uri)
        await self._bus.publish(ResourceUpdated(uri=uri))
