"""`LangGraphStore`: our policies over any existing LangGraph `BaseStore`.

    memories = Retentive(store=LangGraphStore(PostgresStore(...), sidecar="./retentive-state"))

The items stay where they are, and everybody else who reads that store sees them as before: an item is a memory, a
namespace a space. What a `BaseStore` has no place for (vectors, index terms, how a memory was read, journal, ledger)
lies in a sidecar, a store of ours. The base store is asked what it holds before the sidecar answers, so items that
others put, change or delete there are found, under the new text, or gone.

A `BaseStore` cannot tell what changed since, so that look reads the whole namespace: right for thousands of items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from retentive.embedders.protocol import Embedder
from retentive.integrations.langgraph_mirror import memory_of_item, value_for_base, with_its_text
from retentive.integrations.mirror import MAX_AGE, Change, Item, MirrorStore
from retentive.integrations.namespaces import label_of, segment_of
from retentive.stores.locations import EPHEMERAL
from retentive.stores.protocol import Store
from retentive.stores.values import canonical
from retentive.types import Memory

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, SearchItem

_PAGE: Final = 1_000

Namespace = tuple[str, ...]


class LangGraphStore(MirrorStore):
    """A `Store` over a LangGraph `BaseStore`.

    ``sidecar`` is a store of ours, or where one is; in memory if not given, and then how memories were read ends with
    the process. ``embedder`` reads items that others put; it must be the one that `Retentive` uses. ``root`` is a
    namespace above all spaces; ``fields`` are the paths of a value that are searched; ``max_age`` is for how many
    seconds a look at the base store serves.
    """

    def __init__(
        self,
        base: BaseStore,
        *,
        sidecar: Store | str | Path = EPHEMERAL,
        embedder: Embedder | str | None = None,
        root: Sequence[str] = (),
        fields: Sequence[str] | None = None,
        max_age: float = MAX_AGE,
    ) -> None:
        super().__init__(sidecar=sidecar, embedder=embedder, max_age=max_age)
        self.base = base
        self.root = tuple(root)
        self.fields = fields

    def namespace(self, space: str) -> Namespace:
        """Return where a space's items are."""
        return (*self.root, *(label_of(segment) for segment in space.split("/")))

    def holds(self, space: str) -> bool:
        """Say whether the namespace of a space has an item."""
        return next(self._found(space), None) is not None

    def items(self, space: str) -> Iterator[Item]:
        """Yield the items of exactly this space's namespace."""
        return (Item(item.key, canonical(dict(item.value)), item) for item in self._found(space))

    def _found(self, space: str) -> Iterator[SearchItem]:
        namespace = self.namespace(space)
        for page in count():
            found = self.base.search(namespace, limit=_PAGE, offset=page * _PAGE, refresh_ttl=False)
            yield from (item for item in found if tuple(item.namespace) == namespace)
            if len(found) < _PAGE:
                return

    def named(self) -> Iterator[str]:
        """Yield the space of every namespace that holds something."""
        for page in count():
            names = self.base.list_namespaces(prefix=self.root or None, limit=_PAGE, offset=page * _PAGE)
            yield from (path for name in names if (path := self._path(tuple(name))) and self.holds(path))
            if len(names) < _PAGE:
                return

    def _path(self, namespace: Namespace) -> str:
        if namespace[: len(self.root)] != self.root:
            return ""
        return "/".join(segment_of(label) for label in namespace[len(self.root) :])

    def clear(self, space: str) -> bool:
        """Delete the items of a space."""
        keys = [item.id for item in self.items(space)]
        for key in keys:
            self.base.delete(self.namespace(space), key)
        return bool(keys)

    def memory_of(self, item: Item, space: str, before: Memory | None) -> Memory:
        """Return an item as a memory."""
        return memory_of_item(item.source, space, before, self.fields)

    def agrees(self, item: Item, before: Memory) -> bool:
        """Say whether a memory would be put as the item is."""
        return canonical(value_for_base(before)) == item.token

    def admitted(self, memory: Memory, before: Memory | None) -> Memory:
        """Return a memory with a value that says its text."""
        return with_its_text(memory, before)

    def push(self, space: str, changes: Mapping[str, Change]) -> None:
        """Put and delete the items of what was changed, those alone whose value moved."""
        namespace = self.namespace(space)
        for key, change in changes.items():
            there = self.base.get(namespace, key, refresh_ttl=False)
            value = None if change.memory is None else value_for_base(change.memory)
            if value is None and there is not None:
                self.base.delete(namespace, key)
            elif value is not None and (there is None or canonical(dict(there.value)) != canonical(value)):
                self.base.put(namespace, key, value)
