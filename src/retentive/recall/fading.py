"""How one memory fades: what the signals of time say of it at moments past and to come, by the functions that rank.

Nothing is fitted or drawn from memory: each point is the signal itself, asked at that moment of what was known then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from retentive.errors import InvalidInput, NotFound
from retentive.policy.policy import Policy
from retentive.scoring.signals import SIGNALS, Pool
from retentive.stores.protocol import SpaceStore
from retentive.types import Columns, Floats, Gate

OF_TIME: Final = ("recency", "freshness", "novelty", "importance", "frequency")
"""The signals that change while nobody does anything."""
MOST_POINTS: Final = 1_000
LONGEST: Final = timedelta(days=36_525)


@dataclass(frozen=True, slots=True)
class Fading:
    """Curves of one memory under one policy; every curve has a value for every moment."""

    id: str
    policy: str
    now: datetime
    moments: tuple[datetime, ...]
    curves: Mapping[str, tuple[float, ...]]
    """By signal, as it goes into the score: raw, before weights."""
    weights: Mapping[str, float]
    accesses: tuple[datetime, ...]
    """The latest readings, oldest first; earlier ones are not kept one by one."""


def fading(store: SpaceStore, memory_id: str, policy: Policy, now: datetime, ahead: timedelta, points: int) -> Fading:
    """Follow a memory from its creation to some time ahead."""
    if not 2 <= points <= MOST_POINTS:
        raise InvalidInput(f"points={points!r} must be between 2 and {MOST_POINTS}.", points=points)
    if not timedelta(0) <= ahead <= LONGEST:
        raise InvalidInput(f"ahead={ahead!r} must be between no time and {LONGEST.days} days.", ahead=ahead)
    rows = store.recent(Gate(true_at=now, hidden=True, ids=frozenset({memory_id})), 1).rows
    if not len(rows):
        raise NotFound(f"There is no memory {memory_id!r} in {store.path!r}.", id=memory_id)
    columns = store.columns(rows, history=True)
    seconds = np.linspace(float(columns.created[0]), max(now.timestamp(), columns.created[0]) + _seconds(ahead), points)
    reads = _reads(columns)
    wanted = [name for name in OF_TIME if name in policy.signals]
    pools = [_pool(_known_at(columns, reads, moment), moment) for moment in seconds.tolist()]
    curves = {
        name: tuple(float(SIGNALS[name](pool, **policy.signals[name].options)[0]) for pool in pools) for name in wanted
    }
    return Fading(
        id=memory_id,
        policy=policy.name,
        now=now,
        moments=tuple(_moment(moment) for moment in seconds.tolist()),
        curves=curves,
        weights={name: policy.weights[name] for name in wanted},
        accesses=tuple(_moment(moment) for moment in reads.tolist()),
    )


def _seconds(span: timedelta) -> float:
    return span / timedelta(seconds=1)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _reads(columns: Columns) -> Floats:
    """Return the moments of the readings that are known, oldest first."""
    last = columns.last_access
    kept = columns.history[0] if columns.history is not None else last
    known = np.concatenate([kept, last])
    return np.unique(known[~np.isnan(known)])


def _known_at(columns: Columns, reads: Floats, moment: float) -> Columns:
    """Return the numbers as they stood: after the last reading as kept, before it by the readings until then."""
    before = reads[reads <= moment]
    if len(before) == len(reads):
        return columns
    history = np.full_like(columns.history, np.nan) if columns.history is not None else None
    if history is not None:
        history[0, : len(before)] = before[-history.shape[1] :]
    last = np.array([before[-1] if len(before) else np.nan])
    return replace(columns, last_access=last, count=np.array([float(len(before))]), history=history)


def _pool(columns: Columns, moment: float) -> Pool:
    nothing = np.zeros(1)
    return Pool(
        columns,
        moment,
        cosine=nothing,
        lexical=nothing,
        fused=nothing,
        entity=nothing,
        late=nothing,
        context=nothing,
        speaker=nothing,
        window=nothing,
    )
