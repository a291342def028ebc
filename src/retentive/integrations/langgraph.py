"""`RetentiveStore`: LangGraph's `BaseStore` over Retentive, so that agents and LangMem get policy recall by one line.

    store = RetentiveStore("./memories")
    agent = create_react_agent(model, tools=[...], store=store)

A namespace is a space: `("memories", "alice")` is the space `memories/alice`, in a file of its own. An item is a
memory: its key the id, its value the metadata, its readable text what is embedded and searched. `search` with a query
is a recall under a policy; without one it lists, newest first.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

from retentive.errors import InvalidInput, NotFound
from retentive.extras import require_extra
from retentive.integrations.filters import matches, split
from retentive.integrations.namespaces import namespace_of, path_of
from retentive.integrations.sweeping import Sweeper
from retentive.memory import Retentive, Space
from retentive.paths import space_path
from retentive.policy.policy import Policy
from retentive.spanning import Place, recall_across
from retentive.types import Memory

require_extra("langgraph.store.base", extra="langgraph", user="RetentiveStore")

from langgraph.store.base import (  # noqa: E402 - behind the message that says how to install it
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from retentive.integrations.langgraph_items import (  # noqa: E402
    CONTENT,
    Describe,
    Written,
    described,
    expired,
    id_of,
    indexed_where,
    key_of,
    shown,
    value_of,
    written,
)
from retentive.integrations.langgraph_writing import (  # noqa: E402
    PAGE,
    delete_item,
    prolong,
    sweep,
    write_items,
)

SWEEP_MINUTES: Final = 5

Namespace = tuple[str, ...]


class RetentiveStore(BaseStore):
    """A LangGraph store whose search is a recall under a policy.

    ``memories`` is a `Retentive`, or where one is. ``policy`` ranks searches (default: that of ``memories``).
    ``fields`` are the paths of a value that are searched (default: all its text); ``ttl`` is LangGraph's `TTLConfig`.
    ``root`` keeps all namespaces below one space path. ``describe`` says more of an item, e.g. its kind and importance.
    Unlike other stores, an expired item is never shown, swept or not.
    """

    supports_ttl = True

    def __init__(
        self,
        memories: Retentive | str | Path,
        *,
        policy: Policy | str | None = None,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        root: str | tuple[str, ...] = "",
        describe: Describe | None = None,
    ) -> None:
        self._owned = not isinstance(memories, Retentive)
        self.memories = memories if isinstance(memories, Retentive) else Retentive(memories)
        self.policy = policy
        self.ttl_config = ttl
        self._fields = fields
        self._root = space_path(root) if root else ""
        self._describe = describe
        self._writing = threading.Lock()
        self._sweeper: Sweeper | None = None

    def close(self) -> None:
        """Stop sweeping; close what was opened here."""
        self.stop_ttl_sweeper()
        if self._owned:
            self.memories.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- LangGraph's two doors --------------------------------------------------------------------------------------

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer all reads from what was there before, then write; of several writes of one key the last counts."""
        results: list[Result] = []
        puts: dict[Namespace, dict[str, PutOp]] = {}
        for op in ops:
            _check(op)
            if isinstance(op, PutOp):
                puts.setdefault(tuple(op.namespace), {})[op.key] = op
                results.append(None)
            else:
                results.append(self._answer(op))
        for namespace, by_key in puts.items():
            self._put(namespace, list(by_key.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same in a worker thread, so that the event loop never waits."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        return self._search(op) if isinstance(op, SearchOp) else self._namespaces(op)

    def _space(self, namespace: Sequence[str]) -> Space:
        return self.memories.space(path_of(namespace, self._root))

    # ---- reading ----------------------------------------------------------------------------------------------------

    def _get(self, op: GetOp) -> Item | None:
        space, now = self._space(op.namespace), self.memories.now()
        try:
            found = space.get(id_of(op.key), touch=False)
            if expired(found, now) or found.superseded_at is not None:
                return None
            memory = space.get(found.id)  # counts as a use, and brings back what was pruned
        except NotFound:
            return None
        if not shown(memory, now):
            return None
        if op.refresh_ttl:
            prolong(self.memories, [memory])
        return self._item(memory)

    def _item(self, memory: Memory) -> Item:
        return Item(**self._shape(memory))

    def _shape(self, memory: Memory) -> dict[str, Any]:
        return {
            "namespace": namespace_of(memory.space, self._root) or (),
            "key": key_of(memory),
            "value": value_of(memory),
            "created_at": memory.created_at,
            "updated_at": memory.updated_at or memory.created_at,
        }

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 1:
            return []
        found = self._recalled(op) if op.query and op.query.strip() else self._listed(op)
        if op.refresh_ttl:
            prolong(self.memories, [memory for memory, _ in found])
        return [SearchItem(**self._shape(memory), score=score) for memory, score in found]

    def _recalled(self, op: SearchOp) -> list[tuple[Memory, float | None]]:
        plain, rest = _parted(op.filter)
        places = []
        for path in self._paths(op.namespace_prefix):
            ids = [memory.id for memory in self._walk(path, plain, rest)] if rest else None
            if ids != []:
                places.append(Place(path, plain, ids))
        hits = recall_across(
            self.memories, op.query or "", places, policy=self.policy, limit=op.limit, offset=max(op.offset, 0)
        )
        return [(hit.memory, hit.score) for hit in hits]

    def _listed(self, op: SearchOp) -> list[tuple[Memory, float | None]]:
        plain, rest = _parted(op.filter)
        first = PAGE if rest else max(op.offset, 0) + op.limit
        walks = [self._walk(path, plain, rest, first=first) for path in self._paths(op.namespace_prefix)]
        newest = heapq.merge(*walks, key=lambda memory: (-memory.created_at.timestamp(), memory.space, memory.id))
        start = max(op.offset, 0)
        return [(memory, None) for memory in islice(newest, start, start + op.limit)]

    def _walk(
        self, path: str, plain: Mapping[str, Any], rest: Mapping[str, Any], *, first: int = PAGE
    ) -> Iterator[Memory]:
        """Yield the items of a space that a filter lets through, newest first; ``first`` is how many may be enough."""
        space, now, cursor = self.memories.space(path), self.memories.now(), None
        size = min(first, PAGE)
        while True:
            page = space.list(where=plain, hidden=True, limit=size, cursor=cursor)
            size = PAGE
            for memory in page:
                if shown(memory, now) and (not rest or matches(value_of(memory), rest)):
                    yield memory
            cursor = page.cursor
            if cursor is None:
                return

    def _paths(self, prefix: Sequence[str]) -> list[str]:
        """Return the spaces of a namespace and of those below it, by whole labels."""
        return [path for path, _ in self._known(tuple(prefix))]

    def _known(self, prefix: Namespace = ()) -> Iterator[tuple[str, Namespace]]:
        for path in self.memories.spaces():
            namespace = namespace_of(path, self._root)
            if namespace and namespace[: len(prefix)] == prefix and not any("." in label for label in namespace):
                yield path, namespace

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """List namespaces that hold something, as far as they are asked for."""
        found: dict[Namespace, None] = {}
        wanted = max(op.offset, 0) + max(op.limit, 0)
        for path, namespace in sorted(self._known(), key=lambda known: known[1]):
            if len(found) >= wanted:
                break
            shortened = namespace[: op.max_depth]
            fits = all(_matches_path(condition, namespace) for condition in op.match_conditions or ())
            if fits and shortened not in found and next(self._walk(path, {}, {}, first=1), None) is not None:
                found[shortened] = None
        return list(found)[max(op.offset, 0) :]

    # ---- writing ----------------------------------------------------------------------------------------------------

    def _put(self, namespace: Namespace, ops: list[PutOp]) -> None:
        space = self._space(namespace)
        items = [self._written(op) for op in ops if op.value is not None]
        with self._writing:
            for op in ops:
                if op.value is None:
                    delete_item(space, id_of(op.key))
            if items:
                write_items(self.memories, space, items)

    def _written(self, op: PutOp) -> Written:
        value = op.value or {}
        paths = op.index if op.index is not None else self._fields
        more = described(self._describe(tuple(op.namespace), op.key, value)) if self._describe else {}
        return written(op.key, value, paths, op.ttl, self.memories.now(), more)

    # ---- time to live -----------------------------------------------------------------------------------------------

    def sweep_ttl(self) -> int:
        """Erase the items whose time has passed; return how many."""
        return sum(sweep(self.memories, path) for path, _ in self._known())

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Sweep in the background until `stop_ttl_sweeper`, every so many minutes (else those of the configuration)."""
        minutes = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or SWEEP_MINUTES
        self._sweeper = self._sweeper or Sweeper(self.sweep_ttl, minutes * 60)
        return self._sweeper.done

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; False if the sweeper is still at it after ``timeout`` seconds."""
        stopped = self._sweeper is None or self._sweeper.stop(timeout)
        self._sweeper = None if stopped else self._sweeper
        return stopped


def _parted(wanted: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part a filter into what the metadata index answers and what each value is looked at for."""
    plain, rest = split(wanted or {})
    if CONTENT in plain:  # of a memory that is no item the text stands for it, and that is not in the index
        rest[CONTENT] = plain.pop(CONTENT)
    return indexed_where(plain), rest


def _check(op: Op) -> None:
    """Refuse labels that other stores refuse too, here also for operations that come by `batch`."""
    if isinstance(op, ListNamespacesOp):
        paths: list[Sequence[str]] = [condition.path for condition in op.match_conditions or ()]
    elif isinstance(op, GetOp | PutOp):
        paths = [op.namespace]
    elif isinstance(op, SearchOp):
        paths = [op.namespace_prefix]
    else:
        raise InvalidInput(f"Unknown operation {op!r}; a store knows GetOp, PutOp, SearchOp and ListNamespacesOp.")
    for label in (label for path in paths for label in path):
        given: object = label
        if not isinstance(given, str) or not given or "." in given:
            raise InvalidNamespaceError(f"Namespace label {label!r} is not a non-empty string without a period.")


def _matches_path(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", label} for wanted, label in zip(path, part, strict=True))
