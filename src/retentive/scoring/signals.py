"""Signals: one number per candidate, each a small pure function. To add one, write it here; nothing else changes.

A signal takes the candidate `Pool` and keyword options with defaults, and returns one float per candidate. Its keyword
options are its vocabulary in a policy: ``[signals.recency] half_life_days = 7`` in TOML reaches ``half_life_days``
here, and an option that no parameter declares is refused with the list of those that exist.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import numpy as np

from retentive.scoring import counts, decay, recurrence
from retentive.scoring import freshness as fresh
from retentive.scoring import importance as weight
from retentive.types import Columns, Floats

DAY: Final = 86_400.0
_NO_MAPPING: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one recall with everything that signals may read. Arrays run parallel to ``columns``."""

    columns: Columns
    now: float  # seconds since 1970
    cosine: Floats
    lexical: Floats  # BM25 of the cue's terms
    fused: Floats  # reciprocal-rank fusion over the channels, 0 without fusion
    entity: Floats  # share of the cue's entities that the memory mentions, one hop counted half
    late: Floats  # late interaction: how well each word of the cue is met somewhere in the text, 0..1
    context: Floats  # how far the neighbours in the same conversation stand out
    speaker: Floats  # 1 where the memory was said by the one the cue asks about
    window: Floats  # 1 inside the time span the cue speaks of
    session: str | None = None  # the task's current session
    mean_cosine: float = 0.0  # over all gated rows: what similarity is usual here
    invert_recency: bool = False  # temporal intent asked for the old rather than the new
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # over all gated rows, for "population"
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # absolute scales, for "band"

    def count(self) -> Floats:
        """Return the access counts as they stand now, decayed since they were last touched."""
        idle = np.maximum(0.0, self.now - np.nan_to_num(self.columns.last_access, nan=self.now)) / DAY
        return counts.decayed_count(self.columns.count, idle)

    def days_since(self, moment: str) -> Floats:
        """Return ages in days since ``"creation"``, or since ``"access"`` (creation where never read)."""
        columns = self.columns
        then = columns.created
        if moment == "access":
            then = np.where(np.isnan(columns.last_access), columns.created, columns.last_access)
        return np.maximum(0.0, self.now - then) / DAY


SignalFunction: TypeAlias = Callable[..., Floats]
SIGNALS: Final[dict[str, SignalFunction]] = {}


def signal(function: SignalFunction) -> SignalFunction:
    """Register a signal under its function's name."""
    SIGNALS[function.__name__] = function
    return function


def options_of(name: str) -> dict[str, Any]:
    """Return a signal's options with their defaults, read off its signature."""
    parameters = inspect.signature(SIGNALS[name]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


@signal
def similarity(pool: Pool) -> Floats:
    """Exact cosine between cue and memory, -1..1."""
    return pool.cosine


@signal
def lexical(pool: Pool) -> Floats:
    """BM25 of the cue's words, 0 and up."""
    return pool.lexical


@signal
def fusion(pool: Pool) -> Floats:
    """Reciprocal-rank fusion over the channels (policy.md §4)."""
    return pool.fused


@signal
def entity(pool: Pool) -> Floats:
    """Share of the cue's entities that the memory mentions, 0..1."""
    return pool.entity


@signal
def late(pool: Pool) -> Floats:
    """Late interaction (MaxSim) over token vectors: the mean over the cue's words of their best match, 0..1."""
    return pool.late


@signal
def context(pool: Pool) -> Floats:
    """How far the turns beside this one stand out: an answer often follows the words that were asked for."""
    return pool.context


@signal
def speaker(pool: Pool) -> Floats:
    """1 for what was said by the one the cue names, or by the user where the cue says "I" or "my"."""
    return pool.speaker


@signal
def novelty(pool: Pool, *, fades_in_days: float = 30.0) -> Floats:
    """Half-life decay since creation, 0..1: unlike recency it cannot be refreshed by reading."""
    return decay.half_life(pool.days_since("creation"), fades_in_days)


@signal
def recency(
    pool: Pool,
    *,
    decay_by: str = "half_life",
    half_life_days: float = 14.0,
    hourly_base: float = decay.PARK_HOURLY_BASE,
    gain: float = 0.5,
    d: float = 0.5,
    since: str = "access",
    invert_earlier_sessions: bool = False,
) -> Floats:
    """Decay since last access (or creation), 0..1; policy.md §3 has the five curves."""
    age = pool.days_since(since)
    if decay_by == "half_life":
        value = decay.half_life(age, half_life_days)
    elif decay_by == "hourly_base":
        value = decay.hourly_base(age * 24.0, hourly_base)
    elif decay_by == "ebbinghaus":
        value = decay.ebbinghaus(age, half_life_days, pool.count(), gain)
    elif decay_by == "power_law":
        value = decay.power_law(_access_ages(pool, age), d)
    else:
        value = decay.constant(age)
    value = np.where(pool.columns.permanent, 1.0, value)
    return _inverted(pool, value, invert_earlier_sessions=invert_earlier_sessions)


def _access_ages(pool: Pool, fallback: Floats) -> Floats:
    """Return days since each kept access; a memory never read counts its creation as the one encounter it had."""
    history = pool.columns.history
    if history is None:
        return fallback.reshape(-1, 1)
    ages = np.maximum(0.0, pool.now - history) / DAY
    unread = np.isnan(ages).all(axis=1)
    ages[unread, 0] = fallback[unread]
    return ages


def _inverted(pool: Pool, value: Floats, *, invert_earlier_sessions: bool) -> Floats:
    """Turn recency round where the old is what counts: on intent, or for a task's earlier sessions."""
    if pool.invert_recency:
        value = 1.0 - value
    if invert_earlier_sessions and pool.session is not None:
        earlier = np.array([s is not None and s != pool.session for s in pool.columns.sessions], dtype=bool)
        value = np.where(earlier, 1.0 - value, value)
    return value


@signal
def importance(pool: Pool, *, decayed: bool = False, count_bonus: float = 0.0) -> Floats:
    """Importance, optionally decaying while dormant, optionally with ``count_bonus · ln(1+n)`` on top."""
    value = pool.columns.importance
    if decayed:
        half_lives = np.array([weight.importance_half_life(kind) for kind in pool.columns.kinds])
        value = np.where(
            pool.columns.permanent,
            value,
            weight.decayed_importance(value, pool.days_since("access"), half_lives),
        )
    return value + count_bonus * np.log1p(pool.count()) if count_bonus else value


@signal
def frequency(pool: Pool) -> Floats:
    """``min(0.1 · log2(1+n), 1)`` of the decayed access count."""
    return counts.frequency(pool.count())


@signal
def freshness(
    pool: Pool,
    *,
    tau_days: Mapping[str, float] = _NO_MAPPING,
    freshness_floor: float = fresh.FRESHNESS_FLOOR,
    k: float = 1.0,
) -> Floats:
    """Effective freshness of policy.md §3: per-kind half-life from creation, floor, permanence, recurrence, boost."""
    columns = pool.columns
    taus = np.array([fresh.tau_for(kind, tau_days) for kind in columns.kinds], dtype=np.float64)
    return fresh.effective_freshness(
        pool.days_since("creation"),
        taus,
        pool.count(),
        k=k,
        floor=freshness_floor,
        permanent=columns.permanent,
        occurrence_distance_days=_occurrence_distances(pool),
    )


def _occurrence_distances(pool: Pool) -> Floats | None:
    columns = pool.columns
    if not any(columns.recurs):
        return None
    now = datetime.fromtimestamp(pool.now, UTC)
    distances = np.full(len(columns), np.nan)
    for i, rule in enumerate(columns.recurs):
        if rule:
            distances[i] = recurrence.days_to_nearest(rule, datetime.fromtimestamp(columns.created[i], UTC), now)
    return distances
