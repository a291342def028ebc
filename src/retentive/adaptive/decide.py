"""What one answer teaches: how far each weight moves, and when what was learnt is given up. Pure; `book` keeps it.

Only mistakes teach. A memory that was used from below others that were not says that the signals in which it leads
deserve more; one that was used from the top says nothing new. So a user whom the policy serves well moves no weight,
however much feedback there is, and a habit of clicking what stands first cannot feed itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

RATE: Final = 0.15
STEP: Final = 0.1  # what one answer may move a weight's logarithm at most
LIMIT: Final = math.log(4.0)  # a weight ends up between a quarter and four times its own, before rescaling
PULL: Final = 0.01  # what is forgotten with every answer
BOUND: Final = 0.05  # how far the moving average of answers may fall behind the policy's own
MEMORY: Final = 0.05  # weight of the newest answer in that average
HISTORY: Final = 50  # steps that can be undone

Values = Mapping[str, float]  # a memory's normalised signals


@dataclass(frozen=True, slots=True)
class Seen:
    """One candidate of a past answer: shown in it, or cut just behind it."""

    id: str
    values: Values


@dataclass(frozen=True, slots=True)
class Noted:
    """A past answer as far as it can teach: what was shown, best first, and what was just cut."""

    recall_id: str
    at: float  # seconds since 1970
    cue: str
    policy: str
    weights: Values  # the policy's own, before any adaptation
    shown: tuple[Seen, ...]
    ghosts: tuple[Seen, ...] = ()
    taught: tuple[str, ...] = ()  # what feedback has named already: saying it twice teaches nothing


@dataclass(frozen=True, slots=True)
class Move:
    """One step: when, why, and how far each weight's logarithm went; with it the state before can be restored."""

    at: float
    why: str
    moved: Mapping[str, float]
    before: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What has been learnt about one policy."""

    policy: str
    weights: Mapping[str, float]  # the policy's own
    shifts: Mapping[str, float] = field(default_factory=dict)  # logarithms of the factors
    lead: float = 0.0  # moving average: how far ahead of the policy's own order used memories stood
    answers: int = 0
    moves: tuple[Move, ...] = ()

    def bent(self) -> dict[str, float]:
        """Return the weights in force: bent, then rescaled to their old sum, so that a floor keeps its meaning."""
        raw = {name: weight * math.exp(self.shifts.get(name, 0.0)) for name, weight in self.weights.items()}
        before, after = (sum(map(abs, weights.values())) for weights in (self.weights, raw))
        return {name: weight * before / after for name, weight in raw.items()} if after else raw


def learn(learnt: Learnt, noted: Noted, used: Sequence[str], at: float) -> Learnt:
    """Return what is known after a user said what was used of an answer."""
    wanted = [seen for seen in noted.shown if seen.id in set(used)]
    if not wanted:
        return learnt
    last = max(noted.shown.index(seen) for seen in wanted)
    above = [seen for seen in noted.shown[:last] if seen.id not in set(used)]
    pairs = [(one, other) for one in wanted for other in above if noted.shown.index(other) < noted.shown.index(one)]
    why = f"{_named(wanted)} was used though {len(above)} stood above it" if pairs else ""
    return _stepped(_judged(learnt, noted, wanted), pairs, why, at)


def learn_from_ghost(learnt: Learnt, earlier: Noted, used: Sequence[str], at: float) -> Learnt:
    """Return what is known after a memory that was cut from an answer was found by asking again, and used."""
    ghosts = [seen for seen in earlier.ghosts if seen.id in set(used)]
    pairs = [(ghost, other) for ghost in ghosts for other in earlier.shown if other.id not in set(used)]
    why = f"{_named(ghosts)} was cut from an answer, then found by asking again and used" if ghosts else ""
    return _stepped(learnt, pairs, why, at) if pairs else learnt


def undone(learnt: Learnt, steps: int) -> Learnt:
    """Return what was known before the latest steps."""
    taken = learnt.moves[-steps:] if steps else ()
    if not taken:
        return learnt
    return replace(learnt, shifts=taken[0].before, moves=learnt.moves[: len(learnt.moves) - len(taken)])


def _named(seen: Sequence[Seen]) -> str:
    return seen[0].id if len(seen) == 1 else f"{len(seen)} memories together"


def _stepped(learnt: Learnt, pairs: Sequence[tuple[Seen, Seen]], why: str, at: float) -> Learnt:
    """Forget a little, then move toward what the better of each pair leads in."""
    answers = learnt.answers + 1
    pulled = {name: shift * (1 - PULL) for name, shift in learnt.shifts.items()}
    step = _step(learnt.bent(), pairs)
    if not step:
        return replace(learnt, shifts=pulled, answers=answers)
    shifts = dict(pulled)
    for name, amount in step.items():
        shifts[name] = min(LIMIT, max(-LIMIT, shifts.get(name, 0.0) + amount))
    move = Move(at, why, step, learnt.shifts)
    return replace(learnt, shifts=shifts, answers=answers, moves=(*learnt.moves, move)[-HISTORY:])


def _step(weights: Mapping[str, float], pairs: Sequence[tuple[Seen, Seen]]) -> dict[str, float]:
    """Return the mean over the pairs of where the better one leads, by each signal's share of all differences."""
    total = dict.fromkeys(weights, 0.0)
    for better, worse in pairs:
        lead = {
            name: weight * (better.values.get(name, 0.0) - worse.values.get(name, 0.0))
            for name, weight in weights.items()
        }
        size = sum(map(abs, lead.values()))
        for name, difference in lead.items() if size else ():
            total[name] += RATE * difference / size / len(pairs)
    return {name: max(-STEP, min(STEP, amount)) for name, amount in total.items() if abs(amount) > 1e-9}


def _judged(learnt: Learnt, noted: Noted, wanted: Sequence[Seen]) -> Learnt:
    """Compare the bent order with the policy's own on what was used; fallen too far behind, half of it is given up."""
    everything = (*noted.shown, *noted.ghosts)
    gained = _worth(everything, wanted, learnt.bent()) - _worth(everything, wanted, learnt.weights)
    lead = (1 - MEMORY) * learnt.lead + MEMORY * gained
    if lead >= -BOUND:
        return replace(learnt, lead=lead)
    return replace(learnt, lead=0.0, shifts={name: shift / 2 for name, shift in learnt.shifts.items()})


def _worth(seen: Sequence[Seen], wanted: Sequence[Seen], weights: Mapping[str, float]) -> float:
    """Return the discounted gain of the best wanted one in the order that some weights give."""
    scores = {one.id: sum(w * one.values.get(name, 0.0) for name, w in weights.items()) for one in seen}
    best = max(scores[one.id] for one in wanted)
    rank = 1 + sum(score > best for score in scores.values())
    return 1 / math.log2(1 + rank)
