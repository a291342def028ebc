"""The same API with ``await``: one generic bridge over the synchronous core, so that there is one behaviour to know.

Every verb runs in a worker thread (SQLite and the embedder release the interpreter while they work), so the event loop
never waits. A cancelled call stops waiting; the verb itself runs to its end, so no write is half-done. The types of
the verbs are in ``asynchronous.pyi``, generated from the synchronous classes by ``scripts/async_stub.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import isfunction
from typing import Any, Self

from retentive.memory import Retentive, Space

PLAIN = frozenset({"space", "register_kind", "register_job", "now"})  # cheap and without I/O: called as they are


def awaitable(verb: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return ``verb`` as a coroutine function that runs it in a worker thread."""

    @wraps(verb)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(verb, *args, **kwargs)

    return call


class _Bridge:
    """Looks attributes up on the synchronous object and makes its verbs awaitable."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        verb = isfunction(getattr(type(self._inner), name, None))  # not a clock or an embedder that can be called
        return awaitable(value) if verb and name not in PLAIN else value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._inner)})

    def __repr__(self) -> str:
        return f"<async {self._inner!r}>"


class AsyncSpace(_Bridge):
    """One tenant's memories; see `retentive.Space` for the verbs."""


class AsyncRetentive(_Bridge):
    """A place where memories live; see `retentive.Retentive` for arguments and verbs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(Retentive(*args, **kwargs))

    def space(
        self,
        path: str | tuple[str, ...],
        *,
        shared: str | tuple[str, ...] | None = None,
        actor: str | None = None,
    ) -> AsyncSpace:
        """Return one tenant's space."""
        space: Space = self._inner.space(path, shared=shared, actor=actor)
        return AsyncSpace(space)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._inner.close)
