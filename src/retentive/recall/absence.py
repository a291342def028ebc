"""Absence: why a recall did not return a certain memory. It asks the question again and follows that one memory.

Nothing is guessed: gates are tried one by one, channels are asked without their bound, and what was cut was cut by the
very code that cuts for everyone (`pipeline.work_out`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from retentive.recall.channels import ASK, Finding
from retentive.recall.outcome import Hit, Signal, Trace
from retentive.recall.pipeline import Worked, hit_of, trace_of, work_out
from retentive.recall.request import Question, Tools
from retentive.stores.protocol import SpaceStore
from retentive.stores.values import canonical
from retentive.types import CHANNELS, Gate, Json, Memory

PAGE: Final = 1_000
BLIND: Final = frozenset({"recent", "important"})  # channels that do not look at the cue
NO_ROW: Final = -1  # erased meanwhile
MOMENT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that kept a memory out: at which stage, in words, and what would have let it in."""

    stage: str  # gate, pinned, channel, fusion, floor, near-duplicate, diversity, rotation, limit, budget
    says: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands in one channel when the channel's bound is taken away."""

    channel: str
    rank: int | None  # None: it does not match there at all
    score: float | None
    bound: int  # how many the channel may bring
    asked: bool  # whether the policy asks it


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of one memory in one recall."""

    memory: Memory
    rank: int | None  # among the returned hits, or where it stood when it was cut
    returned: bool
    reasons: tuple[Reason, ...]
    places: tuple[Place, ...]
    similarity: float
    trace: Trace
    hit: Hit | None = None  # its arithmetic, where it was scored
    last: Hit | None = None  # the last one that did come back
    notes: tuple[str, ...] = ()

    @property
    def kept_out_by(self) -> str | None:
        """The stage that kept it out first, None where it came back."""
        return self.reasons[0].stage if self.reasons else None

    @property
    def behind(self) -> Mapping[str, float]:
        """By how much each signal fell short of the last hit's, the greatest gap first; empty where none did."""
        if self.hit is None or self.last is None:
            return {}
        mine, other = self.hit.signals, self.last.signals
        gaps = {name: other[name].contribution - _contribution(mine.get(name)) for name in other}
        return dict(sorted(((n, gap) for n, gap in gaps.items() if gap > 0), key=lambda one: -one[1]))

    def explain(self) -> str:
        """Return the reasons as text that a person can read."""
        from retentive.recall.absence_lines import explain  # noqa: PLC0415 - only those who ask pay for it

        return explain(self)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON-ready data, without the memory's text."""
        hit = self.hit
        return {
            "id": self.memory.id,
            "returned": self.returned,
            "kept_out_by": self.kept_out_by,
            "rank": self.rank,
            "reasons": [asdict(reason) for reason in self.reasons],
            "channels": [asdict(place) for place in self.places],
            "similarity": self.similarity,
            "score": None if hit is None else hit.score,
            "relevance": None if hit is None else hit.relevance,
            "signals": {} if hit is None else {name: asdict(signal) for name, signal in hit.signals.items()},
            "modifiers": [] if hit is None else [asdict(modifier) for modifier in hit.modifiers],
            "last": None if self.last is None else {"id": self.last.memory.id, "score": self.last.score},
            "behind": dict(self.behind),
            "notes": list(self.notes),
            "trace": self.trace.as_dict(),
        }


def _contribution(signal: Signal | None) -> float:
    return 0.0 if signal is None else signal.contribution


def look_for(memory: Memory, question: Question, store: SpaceStore, tools: Tools) -> WhyNot:
    """Ask the question and say what became of this memory in it. Reads only."""
    worked = work_out(question, store, tools)
    found = WhyNot(
        memory=memory,
        rank=None,
        returned=False,
        reasons=(),
        places=(),
        similarity=_similarity(memory, worked, store),
        trace=trace_of(question, worked),
        last=worked.hits[-1] if worked.hits else None,
    )
    gates = tuple(_gates(memory, question.gate, store))
    if gates:
        return replace(found, reasons=gates)
    found = replace(found, places=_places(memory, question, worked, store))
    ids = worked.ranked.evidence.columns.ids
    if memory.id not in ids:
        return replace(found, reasons=(_not_found(found, question, worked),))
    return _judged(found, ids.index(memory.id), question, worked)


def _similarity(memory: Memory, worked: Worked, store: SpaceStore) -> float:
    vector = store.vectors([memory.id]).get(memory.id)
    if vector is None or vector.shape != worked.cue.parts[0].shape:
        return 0.0
    return float(np.max(worked.cue.parts.astype(np.float64) @ vector.astype(np.float64)))


# Gates


def _gates(memory: Memory, gate: Gate, store: SpaceStore) -> Iterator[Reason]:
    """Try every gate by itself: one that is closed must not hide another."""
    if gate.pinned is False and memory.pinned:
        yield Reason("pinned", "it is pinned: it stands in the core block, and is never repeated among the hits")
    yield from _filters(memory, gate)
    yield from _moments(memory, gate)
    yield from _fates(memory, gate, store)


def _filters(memory: Memory, gate: Gate) -> Iterator[Reason]:
    if gate.kinds is not None and memory.kind not in gate.kinds:
        wanted = ", ".join(sorted(gate.kinds))
        says = f"its kind is {memory.kind}, and only {wanted} was asked for"
        yield Reason("gate", says, f"kinds with {memory.kind!r}")
    for tag in sorted(gate.tags - set(memory.tags)):
        has = ", ".join(memory.tags) or "none"
        yield Reason("gate", f"it has not the tag {tag!r} (its tags: {has})", f"leave the tag {tag!r} out")
    for name, value in gate.where.items():
        if not _equal(memory, name, value):
            held = f"is {memory.metadata[name]!r}" if name in memory.metadata else "is not set"
            yield Reason("gate", f"its metadata {name!r} {held}, not {value!r}", f"leave {name!r} out of where")


def _equal(memory: Memory, name: str, value: Json) -> bool:
    """As the stores compare: 1 is 1.0, and neither is true."""
    return name in memory.metadata and canonical(memory.metadata[name]) == canonical(value)


def _moments(memory: Memory, gate: Gate) -> Iterator[Reason]:
    """The moments of a gate: filters on when it was said, when it is true, and what was known by then."""
    said = f"it was said on {_day(memory.created_at)}"
    if gate.since is not None and memory.created_at < gate.since:
        yield Reason("gate", f"{said}, before since={_day(gate.since)}", "an earlier since")
    if gate.until is not None and memory.created_at >= gate.until:
        yield Reason("gate", f"{said}, not before until={_day(gate.until)}", "a later until")
    if gate.known_at is not None and memory.created_at > gate.known_at:
        yield Reason("gate", f"{said}: it was not known on {_day(gate.known_at)}", "a later as_of")
    if memory.valid_from is not None and gate.true_at < memory.valid_from:
        yield Reason("gate", f"it is true only from {_day(memory.valid_from)}", f"as_of {_day(memory.valid_from)}")
    if memory.valid_until is not None and gate.true_at >= memory.valid_until:
        yield Reason("gate", f"it expired on {_day(memory.valid_until)}", "an earlier as_of, or another valid_until")


def _fates(memory: Memory, gate: Gate, store: SpaceStore) -> Iterator[Reason]:
    if memory.superseded_at is not None and _by(memory.superseded_at, gate.known_at):
        by = f" by {memory.superseded_by}" if memory.superseded_by else ""
        yield Reason("gate", f"it was superseded on {_day(memory.superseded_at)}{by}", "an earlier as_of")
    if memory.suppressed_at is not None and _by(memory.suppressed_at, gate.known_at):
        yield _suppressed(memory, memory.suppressed_at, store)


def _suppressed(memory: Memory, at: datetime, store: SpaceStore) -> Reason:
    lines = [line for line in store.read_journal(memory.id) if line.action in {"suppress", "forget"}]
    if lines and lines[-1].action == "suppress":
        says = f"it was taken out on {_day(at)}: {lines[-1].reason}"
        return Reason("gate", says, "fetch it by its id: that brings it back")
    why = f": {lines[-1].reason}" if lines and lines[-1].reason else ""
    return Reason("gate", f"it was forgotten on {_day(at)}{why}", "nothing: who forgets means it")


def _by(moment: datetime, known_at: datetime | None) -> bool:
    return known_at is None or moment <= known_at


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


# Channels


def _places(memory: Memory, question: Question, worked: Worked, store: SpaceStore) -> tuple[Place, ...]:
    """Ask every channel without its bound, and look where the memory stands."""
    row = _row(memory, store)
    everything = max(store.count(question.gate), 1)
    policy = question.policy.replace(pool=everything, background=everything)
    wide = replace(question, policy=policy)
    return tuple(_place(channel, row, wide, question, worked, store, everything) for channel in CHANNELS)


def _place(
    channel: str, row: int, wide: Question, question: Question, worked: Worked, store: SpaceStore, limit: int
) -> Place:
    ranks: list[tuple[int, float]] = []
    for found in ASK[channel](wide, worked.cue, store, limit):
        at = np.flatnonzero(found.rows == row)[:1].tolist()
        ranks += [(place + 1, float(found.scores[place])) for place in at]
    rank, score = min(ranks) if ranks else (None, None)
    return Place(channel, rank, score, _bound(channel, question), channel in question.policy.sources.channels)


def _bound(channel: str, question: Question) -> int:
    sources = question.policy.sources
    pool = max(sources.pool, int(np.ceil(question.policy.selection.limit * sources.over_fetch)))
    return (sources.background or pool) if channel in BLIND else pool


def _row(memory: Memory, store: SpaceStore) -> int:
    """Find a memory's row: among those said in the same moment, by its id."""
    gate = Gate(memory.created_at, since=memory.created_at, until=memory.created_at + MOMENT, hidden=True)
    rows = store.recent(gate, store.count(gate)).rows
    for first in range(0, len(rows), PAGE):
        columns = store.columns(rows[first : first + PAGE])
        if memory.id in columns.ids:
            return int(columns.rows[columns.ids.index(memory.id)])
    return NO_ROW


def _not_found(found: WhyNot, question: Question, worked: Worked) -> Reason:
    """Say why a memory that may be looked at was no candidate."""
    asked = [place for place in found.places if place.asked]
    if question.policy.fusion.method == "rrf" and any(place.rank and place.rank <= place.bound for place in asked):
        return _lost_in_fusion(worked.finding, question)
    told = [f"{place.channel}: {_told(place)}" for place in asked]
    others = [place for place in found.places if not place.asked and place.rank and place.channel not in BLIND]
    near = [place for place in asked if place.rank]
    remedy = f"a pool of {min(place.rank for place in near if place.rank)}" if near else "other words in the question"
    if others:
        best = min(others, key=lambda place: place.rank or 0)
        remedy = f"ask the channel {best.channel!r} too (it stands {best.rank}. there), or {remedy}"
    return Reason("channel", f"no channel brought it: {'; '.join(told)}", remedy)


def _told(place: Place) -> str:
    return f"rank {place.rank} of a pool of {place.bound}" if place.rank else "no match"


def _lost_in_fusion(finding: Finding, question: Question) -> Reason:
    size = _bound("vector", question)
    return Reason(
        "fusion",
        f"a channel found it, but of {len(finding.rows)} found only the {size} of best joint rank are candidates",
        f"a pool above {size}",
    )


# Cuts


def _judged(found: WhyNot, at: int, question: Question, worked: Worked) -> WhyNot:
    """Say what became of a candidate: returned, compacted, or cut at which stage."""
    hit = hit_of(worked.ranked, worked.finding, at, found.memory)
    found = replace(found, hit=hit, similarity=hit.similarity, notes=tuple(_unread(at, worked)))
    place = worked.chosen.order.index(at) + 1 if at in worked.chosen.order else None
    if worked.compacted is not None and found.memory.id in worked.compacted.ids:
        return replace(found, rank=place, reasons=(_over_budget(question, place),))
    if place is not None:
        return replace(found, rank=place, returned=True)
    ranked = worked.chosen.ranking.index(at) + 1 if at in worked.chosen.ranking else None
    return replace(found, rank=ranked, reasons=(_cut(found, ranked, question, worked),))


def _unread(at: int, worked: Worked) -> Iterator[str]:
    texts, weights = worked.ranked.evidence.texts, worked.ranked.weights
    if texts and at not in texts and weights.get("late"):
        yield f"its words were not compared one by one: only the {len(texts)} best by the other evidence are"


def _over_budget(question: Question, place: int | None) -> Reason:
    budget = question.policy.selection.token_budget
    says = f"it ranks {place}, and did not fit the {budget} tokens: it is in the compacted block"
    return Reason("budget", says, "a larger token_budget")


def _cut(found: WhyNot, rank: int | None, question: Question, worked: Worked) -> Reason:
    cut = next((cut for cut in worked.chosen.cuts if cut.id == found.memory.id), None)
    limit = question.policy.selection.limit
    if cut is None or cut.stage == "limit":
        return Reason("limit", f"it ranks {rank} with a limit of {limit}{_gap(found)}", f"a limit of {rank}")
    return Reason(cut.stage, cut.reason, _remedy(cut.stage, found, question, rank))


def _gap(found: WhyNot) -> str:
    """Say how far it stands behind the last hit; one that came in for diversity may have the lower score."""
    if found.hit is None or found.last is None:
        return ""
    gap = found.last.score - found.hit.score
    return f", {gap:.4f} behind the last hit" if gap >= 0 else "; the last hit stands there for diversity"


def _remedy(stage: str, found: WhyNot, question: Question, rank: int | None) -> str:
    selection = question.policy.selection
    if stage == "floor" and found.hit is not None:
        value = found.hit.score if selection.floor_on == "score" else found.hit.relevance
        return f"a floor of {value:.3f} or less"
    return {
        "near-duplicate": "near_duplicate=None: then both may come back",
        "diversity": f"diversity='none' (it is {selection.diversity!r}), or a greater limit",
        "rotation": f"rotation='off', a limit of {rank}, or wait out the window",
    }.get(stage, "")
