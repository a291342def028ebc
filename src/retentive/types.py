"""The values that travel through Retentive: frozen, typed, knowing nothing of stores, models or clocks.

A value's name says its stage: a ``Draft`` is what a caller wants remembered, a ``Memory`` is what a store holds,
``Columns`` are the numbers of candidates side by side, and a ``Hit`` (see ``retentive.recall.answer``) is what a caller
gets back.
Times are aware datetimes where people see them and seconds since 1970 (float64, UTC) inside arrays.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retentive.errors import InvalidInput

Json: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
Floats: TypeAlias = NDArray[np.float64]
Vectors: TypeAlias = NDArray[np.float32]
RowIds: TypeAlias = NDArray[np.int64]

Verdict = Literal["used", "good", "bad"]
JobState = Literal["waiting", "running", "dead"]

KINDS = ("fact", "preference", "event", "entity", "relation", "decision", "procedure", "reflection", "episode")
CHANNELS = ("vector", "lexical", "entity", "temporal", "recent", "important")
ACCESS_HISTORY = 16  # how many access times a memory keeps: what the power-law decay of policy.md §3 reads
SLUG = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def _nothing() -> Mapping[str, Json]:
    return MappingProxyType({})


def rating(ten: float) -> float:
    """Turn a 1-10 rating (the scale language models are asked for) into an importance of 0..1."""
    given: object = ten
    if isinstance(given, bool) or not isinstance(given, int | float) or not 1 <= given <= 10:
        raise InvalidInput(f"rating({ten!r}) is outside 1..10; use importance=0..1 for the unit scale.", value=ten)
    return ten / 10


def strings(values: Iterable[str], name: str) -> tuple[str, ...]:
    """Return ``values`` as a tuple, refusing a lone string: ``tags="ab"`` would silently become ``("a", "b")``."""
    if isinstance(values, str):
        raise InvalidInput(f"{name}={values!r} is one string; pass a list of strings, e.g. [{values!r}].", value=values)
    return tuple(values)


def aware(moment: datetime, name: str) -> datetime:
    """Return ``moment`` in UTC, refusing a naive one: guessing its zone would silently reorder memories."""
    if not isinstance(moment, datetime):
        raise InvalidInput(f"{name}={moment!r} is not a datetime; pass an aware datetime.", value=moment)
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{name}={moment!r} has no time zone; pass an aware datetime, e.g. datetime.now(UTC).", value=moment
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{name}={moment!r} lies outside the years 1 to 9999 in UTC.", value=moment) from None


@dataclass(frozen=True, slots=True)
class Access:
    """How a memory has been read: when last, how often (decaying), and the latest moments."""

    last_at: datetime | None = None
    count: float = 0.0  # as it stood at `last_at`; decay it to `now` before use
    recent: tuple[datetime, ...] = ()  # newest last, at most ACCESS_HISTORY
    pending_at: datetime | None = None  # a first touch that waits for a second one (refresh_on="second")


NEVER_READ = Access()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller wants remembered, before anything was decided about it."""

    text: str
    kind: str = "fact"
    importance: float | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=_nothing)
    at: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    supersedes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    pinned: bool = False
    permanent: bool = False
    recurs: str | None = None
    trust: float = 1.0
    id: str | None = None
    ttl: timedelta | float | None = None  # true for so long (seconds) from when it was said: another `valid_until`


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered text with everything known about it. Frozen: a change makes a new value."""

    id: str
    space: str
    text: str
    created_at: datetime  # when it was said or happened (``at=``): ages run from here
    recorded_at: datetime  # when this store learnt it
    kind: str = "fact"
    importance: float = 0.5
    key: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=_nothing)
    speaker: str | None = None
    session: str | None = None
    entities: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    suppressed_at: datetime | None = None  # pruned or forgotten: hidden from recall, never deleted
    pinned: bool = False
    permanent: bool = False
    recurs: str | None = None
    trust: float = 1.0
    updated_at: datetime | None = None
    access: Access = NEVER_READ

    @property
    def retrievable(self) -> bool:
        """Whether recall may return it at all, validity aside."""
        return self.suppressed_at is None and self.superseded_at is None

    @property
    def version(self) -> str:
        """A digest of everything but how it was read: what changes when somebody changes the memory."""
        told = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "access"}
        text = json.dumps(told, sort_keys=True, default=_spelt)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def changed(self, **changes: Any) -> Memory:
        """Return the same memory with some fields changed."""
        return Memory(**dict(zip(MEMORY_FIELDS, _values(self), strict=True)) | changes)


MEMORY_FIELDS = tuple(item.name for item in fields(Memory))
_values = attrgetter(*MEMORY_FIELDS)  # `dataclasses.replace` asks field by field, three times as long


def _spelt(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else dict(value)


@dataclass(frozen=True, slots=True)
class AgentState:
    """Where an agent stands: what it wants, what it is doing, and what is still open."""

    goal: str = ""
    step: str = ""
    open_loops: Sequence[str] = ()
    tags: Sequence[str] = ()
    session: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "open_loops", strings(self.open_loops, "open_loops"))
        object.__setattr__(self, "tags", strings(self.tags, "tags"))


@dataclass(frozen=True, slots=True)
class AsOf:
    """A moment on each of the two time axes; a plain datetime stands for the same moment on both.

    ``true`` asks what held then (``valid_from``, ``valid_until``); ``known`` asks what had been said, and not yet been
    superseded or hidden, by then. The one left out is now.
    """

    true: datetime | None = None
    known: datetime | None = None

    def __post_init__(self) -> None:
        if self.true is None and self.known is None:
            raise InvalidInput("AsOf() names no moment; pass true=..., known=... or both.")
        for name in ("true", "known"):
            moment = getattr(self, name)
            object.__setattr__(self, name, None if moment is None else aware(moment, name))


Moment: TypeAlias = datetime | AsOf


@dataclass(frozen=True, slots=True)
class Gate:
    """Which memories may be looked at. A gate removes; it never down-weights.

    Every store applies the whole gate *before* any limit. ``true_at`` is the moment asked about (validity);
    ``known_at`` is what had been said, superseded and suppressed by then (None: everything up to the present state).
    """

    true_at: datetime
    known_at: datetime | None = None
    kinds: frozenset[str] | None = None
    tags: frozenset[str] = frozenset()  # a memory must carry all of them
    where: Mapping[str, Json] = field(default_factory=_nothing)  # metadata entries that must be equal
    since: datetime | None = None  # created_at >= since
    until: datetime | None = None  # created_at < until
    ids: frozenset[str] | None = None  # only these; None: any
    pinned: bool | None = None  # None: both; recall asks for False, the core block for True
    hidden: bool = False  # True: also superseded, suppressed and invalid ones (list, export, doctor)


@dataclass(frozen=True, slots=True)
class Found:
    """What one channel found: row numbers with scores, best first; ties by newer creation, then id.

    ``low``, ``high`` and (of `nearest` alone) ``mean`` are over all rows that passed the gate (not only those returned;
    for a sampled or compact scan they may be estimates), so that a score can be read against the population;
    ``scanned`` counts the rows looked at.
    """

    rows: RowIds
    scores: Floats
    scanned: int = 0
    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of some candidates, side by side; row i of every array is the same memory."""

    rows: RowIds
    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    vectors: Vectors  # unit length
    created: Floats  # seconds since 1970
    last_access: Floats  # NaN: never read
    count: Floats  # as of last_access
    importance: Floats
    trust: Floats
    permanent: NDArray[np.bool_]
    sessions: tuple[str | None, ...]
    speakers: tuple[str | None, ...]
    recurs: tuple[str | None, ...]
    history: Floats | None = None  # (n, ACCESS_HISTORY) access moments, NaN padded; only where asked for

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of the append-only journal: who did what to which memory, before, after, and why."""

    at: datetime
    action: str  # remember, update, supersede, suppress, reactivate, feedback, erase, import, pin, ...
    memory_id: str
    actor: str = ""
    reason: str = ""
    before: Mapping[str, Json] | None = None
    after: Mapping[str, Json] | None = None
    sequence: int = 0  # given by the store; grows by writing order


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One recall as it was answered: what was asked, by which policy, what came back, and what proved useful."""

    id: str
    at: datetime
    policy: str
    cue: str
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    cue_vector: Vectors | None = None
    used: tuple[str, ...] = ()
    outcome: str | None = None  # "good", "bad" or None: not said


FindingKind = Literal["conflict", "repetition"]
FindingStatus = Literal["open", "applied", "accepted", "dismissed", "undone"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was noticed about two sayings when the later one was written, and what became of it.

    A conflict stands between two memories: ``memory_id`` is the newer, ``other_id`` the older one that it denies. A
    repetition stands between a memory that was kept (``memory_id``) and a saying that was not kept beside it, whose
    content is in ``detail``; ``other_id`` is the memory it became again where that was undone.
    The reason never quotes a text: it outlives the memories it speaks of.
    """

    id: str
    at: datetime
    kind: FindingKind
    memory_id: str
    other_id: str | None = None
    confidence: float = 1.0
    reason: str = ""
    status: FindingStatus = "open"
    decided_at: datetime | None = None
    detail: Mapping[str, Json] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class AskedCue:
    """What a recall was asked with, without what came back: enough to see whether the same is asked again."""

    recall_id: str
    cue: str
    vector: Vectors | None


@dataclass(frozen=True, slots=True)
class Job:
    """Work that waits to be done. What it is about is named by id, so that no text lies in a second place.

    ``due_at`` is when to begin; of a running job, when its lease ends and somebody else may take it over.
    """

    id: str
    kind: str
    created_at: datetime
    due_at: datetime
    memories: tuple[str, ...] = ()  # erasing any of them erases the job
    payload: Mapping[str, Json] = field(default_factory=_nothing)
    state: JobState = "waiting"
    attempts: int = 0  # begun so far
    lease: str = ""  # the token of whoever runs it
    error: str = ""  # why it failed last


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which embedder made a store's vectors; a different one is refused, never mixed in."""

    id: str
    dimension: int
    fingerprint: str = ""
