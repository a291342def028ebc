"""`LangGraphStore`: our policies over any existing LangGraph `BaseStore`.

    memories = Retentive(store=LangGraphStore(PostgresStore(...), sidecar="./retentive-state"))

The items stay where they are, and everybody else who reads that store sees them as before: an item is a memory, a
namespace a space. What a `BaseStore` has no place for (vectors, index terms, how a memory was read, journal, ledger)
lies in a sidecar, a store of ours. The base store is asked what it holds before the sidecar answers, so items that
others put, change or delete there are found, under the new text, or gone.

A `BaseStore` cannot tell what changed since, so that look reads the whole namespace: right for thousands of items.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import isfunction
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from retentive.embedders.catalogue import resolve
from retentive.embedders.protocol import Embedder, checked_vectors, identity
from retentive.indexing import EMBEDDER_SETTING, identity_setting, index_terms, passage
from retentive.integrations.langgraph_mirror import (
    label_of,
    memory_of_item,
    segment_of,
    value_for_base,
    with_its_text,
)
from retentive.opening import system_clock
from retentive.stores.locations import EPHEMERAL, store_for
from retentive.stores.protocol import ScrubbedStore, SpaceStore, Store, Transaction
from retentive.stores.values import canonical
from retentive.types import EmbedderIdentity, Gate, JournalEntry, Memory, Vectors

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, SearchItem

_PAGE: Final = 1_000
MAX_AGE: Final = 1.0
"""Seconds for which a look at the base store serves; one recall asks its store a dozen things."""

Namespace = tuple[str, ...]


class LangGraphStore:
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
        self.base = base
        self.sidecar: Store = store_for(sidecar) if isinstance(sidecar, str | Path) else sidecar
        self.root = tuple(root)
        self.fields = fields
        self.max_age = max_age
        self.known: dict[str, dict[str, str]] = {}  # by space and key: the value that both sides last agreed on
        self._embedder = embedder
        self._lock = threading.Lock()

    @property
    def embedder(self) -> Embedder:
        """What reads items that others put, loaded when the first is met."""
        with self._lock:
            if self._embedder is None or isinstance(self._embedder, str):
                self._embedder = resolve(self._embedder)
            return self._embedder

    def namespace(self, space: str) -> Namespace:
        """Return where a space's items are."""
        return (*self.root, *(label_of(segment) for segment in space.split("/")))

    def open(self, space: str, *, create: bool = True) -> SpaceStore:
        """Return one space; one that has items in the base store exists."""
        inner = self.sidecar.open(space, create=create or self._holds(space))
        return cast("SpaceStore", LangGraphSpace(self, space, inner))  # its reads are made below, from the protocol

    def _holds(self, space: str) -> bool:
        return next(self.items(self.namespace(space)), None) is not None

    def items(self, namespace: Namespace) -> Iterator[SearchItem]:
        """Yield the items of exactly this namespace."""
        for page in count():
            found = self.base.search(namespace, limit=_PAGE, offset=page * _PAGE, refresh_ttl=False)
            yield from (item for item in found if tuple(item.namespace) == namespace)
            if len(found) < _PAGE:
                return

    def spaces(self) -> list[str]:
        """List the spaces: those of the sidecar, and every namespace that holds something."""
        found = set(self.sidecar.spaces())
        for page in count():
            named = self.base.list_namespaces(prefix=self.root or None, limit=_PAGE, offset=page * _PAGE)
            found |= {path for name in named if (path := self._path(tuple(name))) and self._holds(path)}
            if len(named) < _PAGE:
                break
        return sorted(found)

    def _path(self, namespace: Namespace) -> str:
        if namespace[: len(self.root)] != self.root:
            return ""
        return "/".join(segment_of(label) for label in namespace[len(self.root) :])

    def drop(self, space: str) -> bool:
        """Remove a space: its items, and what the sidecar holds of them."""
        namespace = self.namespace(space)
        keys = [item.key for item in self.items(namespace)]
        for key in keys:
            self.base.delete(namespace, key)
        self.known.pop(space, None)
        return self.sidecar.drop(space) or bool(keys)

    def close(self) -> None:
        """Release the sidecar; the base store is the caller's."""
        self.sidecar.close()


class LangGraphSpace:
    """One namespace as a `SpaceStore`: the sidecar answers, after a look at the base store."""

    def __init__(self, store: LangGraphStore, path: str, inner: SpaceStore) -> None:
        self.path = path
        self._store = store
        self._inner = inner
        self._namespace = store.namespace(path)
        self._looked: float | None = None
        self._held = threading.local()

    # ---- what the protocol names ------------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Look once, then let this thread read one state."""
        self.look()
        outer = getattr(self._held, "snapshot", False)
        self._held.snapshot = True
        try:
            with self._inner.snapshot():
                yield
        finally:
            self._held.snapshot = outer

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Begin writing; what changed goes to the base store before the sidecar commits."""
        self.look()
        with self._inner.transaction() as inner:
            writing = LangGraphTransaction(inner)
            yield cast("Transaction", writing)
            agreed = writing.push(self._store.base, self._namespace)
        self._note(agreed)  # only now: of a commit that failed, the base store's side is taken over at the next look

    def close(self) -> None:
        """Release what the sidecar holds for this space."""
        self._inner.close()

    def scrub(self) -> bool:
        """Clean the sidecar's files of what was erased; never a yes, for the base store's own files are beyond us."""
        if isinstance(self._inner, ScrubbedStore):
            self._inner.scrub()
        return False

    # ---- keeping up with the base store -----------------------------------------------------------------------------

    def look(self) -> None:
        """Take over what others did to the items, unless that was just done."""
        now = time.monotonic()
        fresh = self._looked is not None and now - self._looked < self._store.max_age
        if fresh or getattr(self._held, "snapshot", False):
            return
        if self._changes():
            with self._inner.transaction() as tx:  # alone now: what was found may have been a write under way
                changes = self._changes()
                self._take_over(tx, changes)
            self._note({key: None if item is None else canonical(dict(item.value)) for key, item in changes.items()})
        self._looked = now

    def _changes(self) -> dict[str, SearchItem | None]:
        """Return the items that are not as we know them, None for those that are gone."""
        known = self._known()
        items = {item.key: item for item in self._store.items(self._namespace)}
        changed: dict[str, SearchItem | None] = {
            key: item for key, item in items.items() if known.get(key) != canonical(dict(item.value))
        }
        return changed | {key: None for key in known if key not in items}

    def _known(self) -> dict[str, str]:
        """Return the values that the sidecar was last seen to agree with; read from it once."""
        known = self._store.known.get(self.path)
        if known is None:
            gate = Gate(true_at=system_clock(), hidden=True)
            held = self._inner.page(gate, limit=self._inner.count(gate))
            known = self._store.known[self.path] = {memory.id: canonical(value_for_base(memory)) for memory in held}
        return known.copy()

    def _note(self, agreed: Mapping[str, str | None]) -> None:
        known = self._store.known.setdefault(self.path, {})
        for key, value in agreed.items():
            if value is None:
                known.pop(key, None)
            else:
                known[key] = value

    def _take_over(self, tx: Transaction, changes: Mapping[str, SearchItem | None]) -> None:
        """Bring the sidecar up to the items; what it agrees with already (another process wrote it) is left alone."""
        found = []
        for key, item in changes.items():
            before = tx.get(key)
            if item is None:
                if tx.erase(key):
                    tx.journal(JournalEntry(system_clock(), "erase", key, reason="deleted from the base store"))
            elif before is None or canonical(value_for_base(before)) != canonical(dict(item.value)):
                found.append(memory_of_item(item, self.path, before, self._store.fields))
        for memory, vector in zip(found, self._vectors(tx, found), strict=True):
            if tx.get(memory.id) is None:
                tx.insert(memory, vector, index_terms(memory))
            else:
                tx.replace(memory, vector, index_terms(memory))
            tx.journal(JournalEntry(system_clock(), "import", memory.id, reason="as the base store has it"))

    def _vectors(self, tx: Transaction, memories: list[Memory]) -> Sequence[Vectors]:
        if not memories:
            return []
        embedder = self._store.embedder
        if tx.setting(EMBEDDER_SETTING) is None:
            found = identity(embedder)
            made = EmbedderIdentity(found.id, found.dimension, found.fingerprint)
            tx.set_setting(EMBEDDER_SETTING, identity_setting(made))
        return list(checked_vectors(embedder, [passage(memory) for memory in memories]))


class LangGraphTransaction:
    """A `Transaction` of the sidecar that notes which items the base store has to be told of."""

    def __init__(self, inner: Transaction) -> None:
        self._inner = inner
        self._changed: dict[str, None] = {}

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory, and its item."""
        self._inner.insert(memory, vector, terms)
        self._changed[memory.id] = None

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite a memory, and its item."""
        self._inner.replace(with_its_text(memory, self._inner.get(memory.id)), vector, terms)
        self._changed[memory.id] = None

    def erase(self, memory_id: str) -> bool:
        """Remove a memory, and its item."""
        self._changed[memory_id] = None
        return self._inner.erase(memory_id)

    def push(self, base: BaseStore, namespace: Namespace) -> dict[str, str | None]:
        """Put and delete the items of what was changed, those alone whose value moved; return what they now are."""
        agreed: dict[str, str | None] = {}
        for memory_id in self._changed:
            memory = self._inner.get(memory_id)
            there = base.get(namespace, memory_id, refresh_ttl=False)
            value = None if memory is None else value_for_base(memory)
            agreed[memory_id] = None if value is None else canonical(value)
            if value is None and there is not None:
                base.delete(namespace, memory_id)
            elif value is not None and (there is None or canonical(dict(there.value)) != agreed[memory_id]):
                base.put(namespace, memory_id, value)
        return agreed


def _reading(name: str) -> Callable[..., Any]:
    def read(self: LangGraphSpace, *args: Any, **options: Any) -> Any:
        self.look()
        return getattr(self._inner, name)(*args, **options)

    return read


def _writing(name: str) -> Callable[..., Any]:
    def write(self: LangGraphTransaction, *args: Any, **options: Any) -> Any:
        return getattr(self._inner, name)(*args, **options)

    return write


def _complete(kind: type, protocol: type, make: Callable[[str], Callable[..., Any]]) -> None:
    """Give a class what its protocol names and it does not do itself, so that a new power of stores is one here too."""
    for name, method in vars(protocol).items():
        if isfunction(method) and not name.startswith("_") and name not in vars(kind):
            made = make(name)
            made.__name__, made.__doc__ = name, method.__doc__
            setattr(kind, name, made)


_complete(LangGraphSpace, SpaceStore, _reading)
_complete(LangGraphTransaction, Transaction, _writing)
