"""What every store over somebody else's items has in common: a complete store of ours that is kept up with them.

The items stay where they are. A sidecar, a store of ours, answers every question, after a look at the items took over
what others put, changed or deleted there; what is written goes to the items before the sidecar commits. So recall,
explanation and evaluation are the code that all stores have, and every vector, term and filter is exact.

A kind of store says what its items are (`MirrorStore`, the methods without a body); the rest is here.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import isfunction
from pathlib import Path
from typing import Any, Final, cast

from retentive.embedders.catalogue import resolve
from retentive.embedders.protocol import Embedder, checked_vectors, identity
from retentive.indexing import EMBEDDER_SETTING, identity_setting, index_terms, language_of, passage
from retentive.opening import system_clock
from retentive.stores.locations import EPHEMERAL, store_for
from retentive.stores.protocol import ScrubbedStore, SpaceStore, Store, Transaction
from retentive.types import Access, EmbedderIdentity, Gate, JournalEntry, Memory, Vectors

MAX_AGE: Final = 1.0
"""Seconds for which a look at the items serves; one recall asks its store a dozen things."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that lies in the other store: whose memory it is, a text that tells its states apart, and itself."""

    id: str
    token: str
    source: Any


@dataclass(frozen=True, slots=True)
class Change:
    """A memory as it is after a transaction (None: erased), and its vector where the transaction gave one."""

    memory: Memory | None
    vector: Vectors | None = None


class MirrorStore(ABC):
    """A `Store` over items of somebody else's; see the module."""

    def __init__(
        self, *, sidecar: Store | str | Path | None, embedder: Embedder | str | None, max_age: float = MAX_AGE
    ) -> None:
        place = EPHEMERAL if sidecar is None else sidecar
        self.sidecar: Store = store_for(place) if isinstance(place, str | Path) else place
        self.max_age = max_age
        self.known: dict[str, dict[str, str | None]] = {}  # by space and id: the state last agreed on, None: to compare
        self.looked: dict[str, object] = {}  # by space: the stamp of the items at the last look
        self.opened: dict[str, MirrorSpace] = {}
        self.writes_access = False
        self._embedder = embedder
        self._lock = threading.Lock()

    @property
    def embedder(self) -> Embedder:
        """What reads items that others put, loaded when the first is met."""
        with self._lock:
            if self._embedder is None or isinstance(self._embedder, str):
                self._embedder = resolve(self._embedder)
            return self._embedder

    # ---- what a kind of store says ----------------------------------------------------------------------------------

    @abstractmethod
    def items(self, space: str) -> Iterator[Item]:
        """Yield what lies there for exactly this space."""

    @abstractmethod
    def memory_of(self, item: Item, space: str, before: Memory | None) -> Memory:
        """Return an item as a memory; ``before`` is what the sidecar has of it."""

    @abstractmethod
    def agrees(self, item: Item, before: Memory) -> bool:
        """Say whether the sidecar's memory says already what the item says."""

    @abstractmethod
    def push(self, space: str, changes: Mapping[str, Change]) -> object:
        """Put and delete items; return the stamp of the items if nobody else can have written meanwhile, else None."""

    @abstractmethod
    def holds(self, space: str) -> bool:
        """Say whether anything lies there for a space."""

    @abstractmethod
    def named(self) -> Iterable[str]:
        """Return the spaces for which something lies there."""

    @abstractmethod
    def clear(self, space: str) -> bool:
        """Delete all items of a space; False if there was none."""

    def stamp(self) -> object:
        """Return what changes whenever an item does, None where the other store cannot say."""
        return None

    def vectors_of(self, space: str, items: Sequence[Item]) -> Mapping[str, Vectors]:  # noqa: ARG002 -- a hook
        """Return the unit vectors that the other store has for these items, by id; others are embedded."""
        return {}

    def admitted(self, memory: Memory, before: Memory | None) -> Memory:  # noqa: ARG002 -- a hook
        """Return a memory as it shall be written, or refuse it."""
        return memory

    def erasing(self) -> None:  # noqa: B027 -- a hook that most kinds leave as it is
        """Refuse to erase where that may not be."""

    def reach(self, space: str, *, create: bool) -> None:  # noqa: B027 -- the same
        """Refuse a space that cannot be here."""

    # ---- the store --------------------------------------------------------------------------------------------------

    def open(self, space: str, *, create: bool = True) -> SpaceStore:
        """Return one space; one that has items exists."""
        self.reach(space, create=create)
        if space not in self.opened:  # kept: what a look saw serves the next operation too
            inner = self.sidecar.open(space, create=create or self.holds(space))
            self.opened[space] = self.over(space, inner)
        return cast("SpaceStore", self.opened[space])  # its reads are made below, from the protocol

    def over(self, space: str, inner: SpaceStore) -> MirrorSpace:
        """Return what answers for a space, over its part of the sidecar."""
        return MirrorSpace(self, space, inner)

    def spaces(self) -> list[str]:
        """List the spaces: those of the sidecar, and those for which something lies there."""
        return sorted({*self.sidecar.spaces(), *self.named()})

    def drop(self, space: str) -> bool:
        """Remove a space: its items, and what the sidecar holds of them."""
        cleared = self.clear(space)
        self.known.pop(space, None)
        self.looked.pop(space, None)
        self.opened.pop(space, None)
        return self.sidecar.drop(space) or cleared

    def close(self) -> None:
        """Release the sidecar; the items' store is the caller's."""
        self.opened.clear()
        self.sidecar.close()


class MirrorSpace:
    """One space as a `SpaceStore`: the sidecar answers, after a look at the items."""

    def __init__(self, store: MirrorStore, path: str, inner: SpaceStore) -> None:
        self.path = path
        self._store = store
        self._inner = inner
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
        """Begin writing; what changed goes to the items before the sidecar commits."""
        self.look()
        with self._inner.transaction() as inner:
            writing = MirrorTransaction(self._store, inner)
            yield cast("Transaction", writing)
            before, changes = self._store.stamp(), writing.changes()
            after = self._store.push(self.path, changes) if changes else None
        known = self._store.known.setdefault(self.path, {})  # of a commit that failed, a look takes the items over
        for key, change in changes.items():
            known[key] = None
            if change.memory is None:
                del known[key]
        if after is not None and self._store.looked.get(self.path) == before:
            self._store.looked[self.path] = after

    def close(self) -> None:
        """Release what the sidecar holds for this space."""
        self._inner.close()

    def scrub(self) -> bool:
        """Clean the sidecar's files of what was erased; never a yes, for the items' own files are beyond us."""
        if isinstance(self._inner, ScrubbedStore):
            self._inner.scrub()
        return False

    # ---- keeping up with the items ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Take over what others did to the items, unless that was just done or nothing can have changed."""
        now = time.monotonic()
        fresh = self._looked is not None and now - self._looked < self._store.max_age
        if fresh or getattr(self._held, "snapshot", False):
            return
        stamp = self._store.stamp()
        if stamp is None or self._store.looked.get(self.path) != stamp:
            if self._changes():
                with self._inner.transaction() as tx:  # alone now: what was found may have been a write under way
                    changes = self._changes()
                    self._take_over(tx, changes)
                self._note(changes)
            self._store.looked[self.path] = stamp
        self._looked = now

    def _changes(self) -> dict[str, Item | None]:
        """Return the items that are not as we know them, None for those that are gone."""
        known = self._known()
        items = {item.id: item for item in self._store.items(self.path)}
        changed: dict[str, Item | None] = {key: item for key, item in items.items() if known.get(key) != item.token}
        return changed | {key: None for key in known if key not in items}

    def _known(self) -> dict[str, str | None]:
        """Return the states that the sidecar was last seen to agree with; of what it held before, none is known."""
        known = self._store.known.get(self.path)
        if known is None:
            gate = Gate(true_at=system_clock(), hidden=True)
            held = self._inner.page(gate, limit=self._inner.count(gate))
            known = self._store.known[self.path] = {memory.id: None for memory in held}
        return known.copy()

    def _note(self, changes: Mapping[str, Item | None]) -> None:
        known = self._store.known.setdefault(self.path, {})
        for key, item in changes.items():
            if item is None:
                known.pop(key, None)
            else:
                known[key] = item.token

    def _take_over(self, tx: Transaction, changes: Mapping[str, Item | None]) -> None:
        """Bring the sidecar up to the items; what it agrees with already (another process wrote it) is left alone."""
        heard: list[tuple[Item, Memory]] = []
        accesses: dict[str, Access] = {}
        for key, item in changes.items():
            before = tx.get(key)
            if item is None:
                if tx.erase(key):
                    tx.journal(JournalEntry(system_clock(), "erase", key, reason="deleted from the base store"))
            elif before is None or not self._store.agrees(item, before):
                memory = self._as_memory(item, before)
                if before is None or memory.changed(access=before.access) != before:
                    heard.append((item, memory))
                accesses[key] = memory.access
        self._write(tx, heard)
        tx.set_access(accesses)

    def _as_memory(self, item: Item, before: Memory | None) -> Memory:
        return self._store.memory_of(item, self.path, before)

    def _write(self, tx: Transaction, heard: Sequence[tuple[Item, Memory]]) -> None:
        vectors, language = self._vectors(tx, heard), language_of(tx)
        for (_, memory), vector in zip(heard, vectors, strict=True):
            if tx.get(memory.id) is None:
                tx.insert(memory, vector, index_terms(memory, language))
            else:
                tx.replace(memory, vector, index_terms(memory, language))
            tx.journal(JournalEntry(system_clock(), "import", memory.id, reason="as the base store has it"))

    def _vectors(self, tx: Transaction, heard: Sequence[tuple[Item, Memory]]) -> list[Vectors]:
        """Return the vectors of memories: those that lie beside their items, and made ones for the others."""
        if not heard:
            return []
        embedder = self._store.embedder
        if tx.setting(EMBEDDER_SETTING) is None:
            found = identity(embedder)
            made = EmbedderIdentity(found.id, found.dimension, found.fingerprint)
            tx.set_setting(EMBEDDER_SETTING, identity_setting(made))
        there = dict(self._store.vectors_of(self.path, [item for item, _ in heard]))
        lacking = [memory for item, memory in heard if item.id not in there]
        if lacking:
            new = checked_vectors(embedder, [passage(memory) for memory in lacking])
            there |= {memory.id: vector for memory, vector in zip(lacking, new, strict=True)}
        return [there[item.id] for item, _ in heard]


class MirrorTransaction:
    """A `Transaction` of the sidecar that notes which items the other store has to be told of."""

    def __init__(self, store: MirrorStore, inner: Transaction) -> None:
        self._store = store
        self._inner = inner
        self._changed: dict[str, Vectors | None] = {}

    def insert(self, memory: Memory, vector: Vectors, terms: Sequence[str]) -> None:
        """Add a memory, and its item."""
        self._inner.insert(self._store.admitted(memory, None), vector, terms)
        self._changed[memory.id] = vector

    def replace(self, memory: Memory, vector: Vectors | None = None, terms: Sequence[str] | None = None) -> None:
        """Overwrite a memory, and its item."""
        before = self._inner.get(memory.id)
        self._inner.replace(memory if before is None else self._store.admitted(memory, before), vector, terms)
        self._changed[memory.id] = self._changed.get(memory.id) if vector is None else vector

    def set_access(self, accesses: Mapping[str, Access]) -> None:
        """Overwrite how memories were read; in their items too where that is kept there."""
        self._inner.set_access(accesses)
        if self._store.writes_access:
            self._changed |= {key: self._changed.get(key) for key in accesses if self._inner.get(key) is not None}

    def erase(self, memory_id: str) -> bool:
        """Remove a memory, and its item."""
        self._store.erasing()
        erased = self._inner.erase(memory_id)
        if erased:
            self._changed[memory_id] = None
        return erased

    def changes(self) -> dict[str, Change]:
        """Return what was changed, as it is now."""
        return {key: Change(self._inner.get(key), vector) for key, vector in self._changed.items()}


def _reading(name: str) -> Callable[..., Any]:
    def read(self: MirrorSpace, *args: Any, **options: Any) -> Any:
        self.look()
        return getattr(self._inner, name)(*args, **options)

    return read


def _writing(name: str) -> Callable[..., Any]:
    def write(self: MirrorTransaction, *args: Any, **options: Any) -> Any:
        return getattr(self._inner, name)(*args, **options)

    return write


def _complete(kind: type, protocol: type, make: Callable[[str], Callable[..., Any]]) -> None:
    """Give a class what its protocol names and it does not do itself, so that a new power of stores is one here too."""
    for name, method in vars(protocol).items():
        if isfunction(method) and not name.startswith("_") and name not in vars(kind):
            made = make(name)
            made.__name__, made.__doc__ = name, method.__doc__
            setattr(kind, name, made)


_complete(MirrorSpace, SpaceStore, _reading)
_complete(MirrorTransaction, Transaction, _writing)
