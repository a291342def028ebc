"""mem0's `Memory` over Retentive: change the import, keep the agent.

    from retentive.compat.mem0 import Memory   # was: from mem0 import Memory

    memory = Memory()
    memory.add("Prefers Postgres", user_id="alice")
    memory.search("which database?", filters={"user_id": "alice"})   # and the older: user_id="alice", limit=5

Every user is a space of their own (`mem0/user/alice`); so is every agent and run that is used without a user. What is
added is kept word for word: no language model decides what to keep, unless ``extract`` is given.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Final, Self

from retentive.compat.mem0_filters import parted, passes
from retentive.compat.mem0_shapes import (
    SCOPES,
    Scope,
    as_messages,
    changes,
    chosen,
    end_of,
    expiration,
    located,
    public_id,
    result,
    said_at,
    scope_of,
    strip_identity,
)
from retentive.config import load_config
from retentive.errors import InvalidInput, NotFound, unknown_name
from retentive.memory import Retentive, Space
from retentive.paths import space_path
from retentive.policy.policy import Policy
from retentive.spanning import Place, recall_across
from retentive.types import Memory as Kept

Extract = Callable[[list[Any]], list[str]]

PROCEDURAL: Final = "procedural_memory"
TOP_K: Final = 20
_PAGE: Final = 500
_UNSET: Final[Any] = object()

_log = logging.getLogger(__name__)


class Memory:
    """mem0's memory, ranked by a policy.

    ``memories`` is a `Retentive` or where one is (default: the configured store). ``extract`` turns messages into the
    texts to keep, for ``infer=True``. ``across`` lets a scope without a user see memories of all users that carry its
    agent or run id, as mem0 does; without it users are walls.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None = None,
        *,
        memories: Retentive | str | Path | None = None,
        policy: Policy | str | None = None,
        root: str = "mem0",
        extract: Extract | None = None,
        across: bool = False,
    ) -> None:
        place = memories if memories is not None else _location(config)
        self._owned = not isinstance(place, Retentive)
        if isinstance(place, Retentive):
            self.memories = place
        else:
            self.memories = Retentive(place) if place is not None else Retentive(config=load_config({}))
        self.policy = policy
        self.root = space_path(root)
        self._extract = extract
        self._across = across

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one from a mem0 configuration; only ``location`` means something here, the rest is warned about."""
        return cls(config_dict)

    # ---- writing ----------------------------------------------------------------------------------------------------

    def add(
        self,
        messages: Any,
        *,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Keep a text or messages (system messages aside) for a user, agent or run."""
        scope = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "add()")
        if memory_type not in {None, PROCEDURAL}:
            raise unknown_name("memory_type", memory_type, [PROCEDURAL])
        if prompt is not None:
            _log.debug("add(prompt=...) is ignored: no language model is asked")
        day = expiration(expiration_date)
        shared = {
            "kind": "procedure" if memory_type else "fact",
            "at": said_at({"created_at": timestamp} if timestamp is not None else metadata or {}),
            "session": scope.ids.get("run_id"),
            "valid_until": end_of(day),
        }
        base = {**strip_identity(metadata), **scope.ids, **({} if day is None else {"expiration_date": day})}
        said = self._said(as_messages(messages), infer=infer)
        drafts = [{**shared, "text": text, "metadata": {**base, **more}} for text, more in said]
        kept = self._space(scope).remember_many(drafts)
        return {"results": [self._added(memory, more) for memory, (_, more) in zip(kept, said, strict=True)]}

    def _said(self, messages: list[Any], *, infer: bool) -> list[tuple[str, dict[str, Any]]]:
        """Return the texts to keep with what is known of each: extracted ones, or what was said by whom."""
        if infer and self._extract is not None:
            return [(text, {}) for text in self._extract(messages)]
        return [found for message in messages if (found := _spoken(message)) is not None]

    def _added(self, memory: Kept, more: Mapping[str, Any]) -> dict[str, Any]:
        added: dict[str, Any] = {"id": public_id(memory, self.root), "memory": memory.text, "event": "ADD"}
        return {**added, "actor_id": more.get("actor_id"), "role": more["role"]} if "role" in more else added

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory's text, add to its metadata, or move its expiration (None clears it)."""
        text = chosen(text, data, ("text", "data"))
        if text is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("At least one of text, metadata, or expiration_date must be provided.")
        space, held = self._held(memory_id)
        fields: dict[str, Any] = {} if text is None else {"text": text}
        merged = {**held.metadata, **strip_identity(metadata)}
        if expiration_date is not _UNSET:
            day = expiration(expiration_date)
            merged["expiration_date"] = day
            fields["valid_until"] = end_of(day)
        space.update(held.id, metadata=merged, **fields)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory: its text is gone from the file; the history keeps that it was, and when."""
        space, held = self._held(memory_id)
        space.forget(held.id, erase=True, reason="delete()")
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, user_id: Any = None, agent_id: Any = None, run_id: Any = None) -> dict[str, str]:
        """Erase all memories of a user, agent or run."""
        scope = scope_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "delete_all()")
        for place in self._places(scope, {}):
            for memory in list(self._walk(place, {}, expired=True)):
                self.memories.space(place.path).forget(memory.id, erase=True, reason="delete_all()")
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Drop everything below the root."""
        for path in self.memories.spaces():
            if path.startswith(f"{self.root}/"):
                self.memories.drop(path)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return one memory, None if there is none."""
        try:
            space, held = self._held(memory_id)
        except InvalidInput:
            return None
        return result(space.get(held.id), self.root, score=None)

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """List memories, newest first; ids stand in ``filters``, or beside them as mem0 had it before 2.0."""
        count = _count(top_k, limit)
        scope, wanted = _asked(filters, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "get_all()")
        plain, rest = parted(wanted)
        found = [
            memory for place in self._places(scope, plain) for memory in self._walk(place, rest, expired=show_expired)
        ]
        found.sort(key=lambda memory: (-memory.created_at.timestamp(), memory.space, memory.id))
        return {"results": [result(memory, self.root) for memory in found[:count]]}

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        user_id: Any = None,
        agent_id: Any = None,
        run_id: Any = None,
        limit: int | None = None,
        metadata_filters: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Recall under the policy. ``threshold`` cuts by score; without one the policy's own floor decides."""
        query = _query(query)
        filters = chosen(filters, metadata_filters, ("filters", "metadata_filters"))
        if reference_date is not None:
            raise InvalidInput("reference_date is not supported; say when in the query: 'in May 2023', 'last week'.")
        if rerank:
            _log.debug("search(rerank=...) is ignored: reranking belongs to the policy and the Retentive given")
        scope, wanted = _asked(filters, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, "search()")
        places = self._narrowed(scope, wanted, expired=show_expired)
        hits = recall_across(self.memories, query, places, policy=self.policy, limit=_count(top_k, limit))
        least = _threshold(threshold)
        kept = [hit for hit in hits if least is None or hit.score >= least]
        found = [result(hit.memory, self.root, score=hit.score) for hit in kept]
        if explain:
            for item, hit in zip(found, kept, strict=True):
                item["score_details"] = {name: signal.contribution for name, signal in hit.signals.items()}
        return {"results": found}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what was done to a memory, oldest first."""
        found = located(memory_id, self.root)
        return [] if found is None else changes(self.memories.space(found[0]).journal(found[1]), memory_id)

    # ---- the rest ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close what was opened here."""
        if self._owned:
            self.memories.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _space(self, scope: Scope) -> Space:
        return self.memories.space(f"{self.root}/{scope.path}")

    def _held(self, memory_id: str) -> tuple[Space, Kept]:
        found = located(memory_id, self.root)
        try:
            if found is not None:
                space = self.memories.space(found[0])
                memory = space.get(found[1], touch=False)
                if memory.retrievable:
                    return space, memory
        except NotFound:
            pass
        raise InvalidInput(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'.", id=memory_id)

    def _places(self, scope: Scope, plain: Mapping[str, Any]) -> list[Place]:
        """Return the spaces of a scope: the user's own, else the agent's or run's; others only where asked for."""
        where = {**plain, **scope.ids}
        own = f"{self.root}/{scope.path}"
        if "user_id" in scope.ids or not self._across:
            return [Place(own, where)]
        return [Place(path, where) for path in self.memories.spaces() if path.startswith(f"{self.root}/")]

    def _narrowed(self, scope: Scope, wanted: Mapping[str, Any], *, expired: bool) -> Iterator[Place]:
        """Yield where to recall from, by ids where no index answers the filter."""
        plain, rest = parted(wanted)
        for place in self._places(scope, plain):
            if not rest and not expired:
                yield place
                continue
            ids = [memory.id for memory in self._walk(place, rest, expired=expired)]
            if ids:
                yield Place(place.path, place.where, ids, hidden=expired)

    def _walk(self, place: Place, rest: Mapping[str, Any], *, expired: bool) -> Iterator[Kept]:
        """Yield what a filter lets through: neither forgotten nor superseded, and expired only where asked for."""
        space, cursor = self.memories.space(place.path), None
        while True:
            page = space.list(where=place.where, hidden=expired, limit=_PAGE, cursor=cursor)
            yield from (memory for memory in page if memory.retrievable and passes(memory.metadata, rest))
            cursor = page.cursor
            if cursor is None:
                return


def _location(config: Mapping[str, Any] | None) -> str | None:
    ignored = sorted(set(config or {}) - {"location"})
    if ignored:
        warnings.warn(
            f"mem0's settings {', '.join(ignored)} mean nothing to Retentive and are ignored; it needs no vector store "
            "and no model. Say where memories live with location, or pass memories=Retentive(...).",
            stacklevel=3,
        )
    location = (config or {}).get("location")
    return None if location is None else str(location)


def _spoken(message: Any) -> tuple[str, dict[str, Any]] | None:
    """Return what a message says and who said it; None for instructions, and for what says nothing."""
    if not isinstance(message, Mapping):
        return None
    role, content, name = message.get("role"), message.get("content"), message.get("name")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text")) for part in content if isinstance(part, Mapping) and part.get("text"))
    if not role or role == "system" or not isinstance(content, str) or not content.strip():
        return None
    return content, {"role": str(role), **({"actor_id": str(name)} if name else {})}


def _asked(filters: Mapping[str, Any] | None, beside: Mapping[str, Any], verb: str) -> tuple[Scope, dict[str, Any]]:
    """Return the scope and the other conditions; an id may stand in the filters or beside them."""
    within = dict(filters or {})
    ids = {name: chosen(beside[name], within.pop(name, None), (name, f"filters[{name!r}]")) for name in SCOPES}
    return scope_of(ids, verb), within


def _count(top_k: int | None, limit: int | None) -> int:
    count = chosen(top_k, limit, ("top_k", "limit"))
    if count is None:
        return TOP_K
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise InvalidInput(f"Invalid top_k: {count!r}. Must be a non-negative integer.", value=count)
    return count


def _query(query: Any) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput(f"Invalid query: {query!r} must be a non-empty string.", value=query)
    return query.strip()


def _threshold(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
        raise InvalidInput(f"Invalid threshold: {value!r}. Must be between 0 and 1 (inclusive).", value=value)
    return None if value is None else float(value)


def _bridged(verb: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(verb)
    async def call(self: AsyncMemory, *args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(verb, self.inner, *args, **options)

    return call


class AsyncMemory:
    """The same with ``await``: every verb runs in a worker thread."""

    def __init__(self, config: Mapping[str, Any] | None = None, **options: Any) -> None:
        self.inner = Memory(config, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one as `Memory.from_config` does."""
        return cls(config_dict)

    add = _bridged(Memory.add)
    update = _bridged(Memory.update)
    delete = _bridged(Memory.delete)
    delete_all = _bridged(Memory.delete_all)
    reset = _bridged(Memory.reset)
    get = _bridged(Memory.get)
    get_all = _bridged(Memory.get_all)
    search = _bridged(Memory.search)
    history = _bridged(Memory.history)

    def close(self) -> None:
        """Close what was opened here."""
        self.inner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
