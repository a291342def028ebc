"""What a space does with single memories: fetch, list, change, forget, tell their story, move them out and in.

The verbs are a base of `retentive.Space`, and only delegate.
"""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.errors import NotFound
from retentive.keeping import Keeper
from retentive.maintain.forget import Forgotten, Order, named
from retentive.pages import Page, Version
from retentive.recall.request import Tools
from retentive.recalling import Filters, gate_of, holds, moments_of
from retentive.stores.protocol import SpaceStore
from retentive.types import JournalEntry, Json, Memory, Moment
from retentive.writing import checked_id

Progress = Callable[[int, int], None]


class Records:
    """The verbs of a space that take a memory by its id, and those that take all."""

    @property
    @abstractmethod
    def store(self) -> SpaceStore:
        """The rows underneath."""

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    @property
    @abstractmethod
    def _recall_tools(self) -> Tools: ...

    @abstractmethod
    def _known(self, kinds: Iterable[str] | None) -> tuple[str, ...] | None: ...

    def get(self, id: str, *, touch: bool = True, as_of: Moment | None = None) -> Memory:  # noqa: A002 - the contract
        """Fetch one memory by its id, retrievable or not; counts as an access unless ``touch=False``.

        ``as_of`` gives it in the state in which it was known then, and touches nothing.
        """
        if as_of is None:
            return self._keeper(self._kept).get(id, touch=touch)
        from retentive.transfer.past import as_known  # noqa: PLC0415 - only those who ask for the past

        memory, (true_at, known_at) = self._keeper(self._kept).get(id, touch=False), moments_of(as_of)
        found = memory if known_at is None else as_known(memory, self._kept, known_at)
        if found is None or not holds(found, true_at):
            raise NotFound(f"Memory {id!r} was not yet known, or not true, at the moment asked for.", id=id)
        return found

    def list(
        self,
        *,
        kinds: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        where: Mapping[str, Json] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: Moment | None = None,
        pinned: bool | None = None,
        hidden: bool = False,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """List memories, newest first; ``hidden=True`` shows superseded, forgotten and expired ones as well."""
        filters = Filters(self._known(kinds), tags, where, since, until, as_of)
        page = self._keeper(self._kept).page(filters, pinned=pinned, hidden=hidden, limit=limit, cursor=cursor)
        if as_of is None:
            return page
        from retentive.transfer.past import memories_as_known  # noqa: PLC0415 - only those who ask for the past

        return Page(memories_as_known(page, self._kept, moments_of(as_of)[1]), page.cursor)

    def update(
        self,
        id: str,  # noqa: A002
        *,
        reason: str = "",
        version: str | None = None,
        once: str | None = None,
        **changes: Any,
    ) -> Memory:
        """Change fields of a memory; a changed text is embedded anew. The journal keeps what it was.

        With ``version`` (a memory's, as it was last seen) a memory that somebody changed since is `Changed`.
        """
        return self._keeper(self._kept).update(id, changes, reason, version=version, once=once)

    def forget(
        self,
        id: str | Iterable[str] | None = None,  # noqa: A002
        *,
        source: str | None = None,
        person: str | None = None,
        erase: bool = False,
        derived: bool = False,
        dry_run: bool = False,
        reason: str = "",
        version: str | None = None,
        once: str | None = None,
    ) -> Forgotten:
        """Hide memories from recall for good; ``erase=True`` removes every word of them and leaves tombstones.

        They are named by id (or several), by their source, or by a person they name. What was concluded from them, or
        still says the same, is listed in ``left``; ``derived=True`` takes it along. ``dry_run`` says what would go.
        """
        order = Order(erase, derived, dry_run, reason)
        return self._keeper(self._kept).forget(named(id, source, person), order, version=version, once=once)

    def history(self, id: str) -> builtins.list[Version]:  # noqa: A002
        """Return every state a memory has had, oldest first."""
        return self._keeper(self._kept).history(id)

    def journal(
        self,
        id: str | None = None,  # noqa: A002
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> builtins.list[JournalEntry]:
        """Return what was done, in order: to one memory, or in the whole space.

        ``after`` is the ``sequence`` of the last line already seen, ``limit`` how many lines at most.
        """
        return self._kept.read_journal(id if id is None else checked_id(id), after=after, limit=limit)

    def chain(self, id: str) -> builtins.list[Memory]:  # noqa: A002
        """Return the supersession chain a memory belongs to, oldest first."""
        return self._keeper(self._kept).chain(id)

    def export(self, path: str | Path, *, as_of: Moment | None = None, progress: Progress | None = None) -> int:
        """Write everything to a JSONL file; returns the number of memories.

        With ``as_of`` only the memories that were known and true then, as they were known, without journal and recalls.
        """
        from retentive.transfer import export_space  # noqa: PLC0415

        gate = None if as_of is None else gate_of(Filters(as_of=as_of), self._keeper(self._kept).author.now)
        return export_space(self._kept, Path(path), progress=progress, gate=gate)

    def import_(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Read a JSONL export into this space; returns the number of memories added."""
        from retentive.transfer import import_space  # noqa: PLC0415

        return import_space(self.store, Path(path), embedder=self._recall_tools.embedder, progress=progress)
