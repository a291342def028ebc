"""The book of an adaptive space: on or off, what was learnt, and the latest answers that feedback may speak of.

Both are settings of the space, written in the transaction of the recall or the feedback, so that several processes
learn together and a restart forgets nothing. Answers are kept as ids and numbers, never as text but for their cue's
words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from retentive import space_policy
from retentive.adaptive.decide import Learnt, Move, Noted, Seen, learn, learn_from_ghost
from retentive.errors import InvalidInput
from retentive.policy.policy import Policy
from retentive.stores.protocol import Transaction
from retentive.text.tokens import query_terms

PART: Final = "adaptive"
RECENT: Final = "policy.recent"
ANSWERS_KEPT: Final = 12
GHOST_SECONDS: Final = 3_600.0  # found again within this time, a cut was a mistake
SAME_NEED: Final = 0.5  # share of the fewer words of two cues that both have


@dataclass(frozen=True, slots=True)
class Adaptation:
    """How a space adapts: whether it does, and what it has learnt so far."""

    on: bool
    learnt: Learnt | None = None

    def about(self, policy: str, weights: Mapping[str, float]) -> Learnt:
        """Return what was learnt about a policy; about another one, or other weights, nothing is known."""
        known = self.learnt
        if known is not None and known.policy == policy and dict(known.weights) == dict(weights):
            return known
        return Learnt(policy, dict(weights))

    def told(self) -> tuple[str, ...]:
        """Say in sentences how far each weight has moved, and why last."""
        if not self.on or self.learnt is None or not self.learnt.moves:
            return ("adapts to feedback; nothing learnt yet",) if self.on else ()
        known, bent = self.learnt, self.learnt.bent()
        moved = [
            f"{name} {weight:g} → {bent[name]:.3g} (×{bent[name] / weight:.2f})"
            for name, weight in known.weights.items()
            if weight and abs(bent[name] / weight - 1) >= 0.005
        ]
        last = known.moves[-1]
        steps = ", ".join(f"{name} {amount:+.2f}" for name, amount in last.moved.items() if abs(amount) >= STEP_SHOWN)
        return (
            f"adapted over {known.answers} answers: {', '.join(moved) or 'no weight has moved by a half per cent'}",
            f"last step: {last.why}: {steps or 'too little to show'}",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        if self.learnt is None:
            return {"on": self.on, "learnt": None}
        known = asdict(self.learnt)
        return {"on": self.on, "learnt": {**known, "bent": self.learnt.bent(), "moves": list(known["moves"])}}


STEP_SHOWN: Final = 0.005


def read(own: Mapping[str, Any]) -> Adaptation:
    """Return how a space adapts; off where nobody switched it on. ``own`` is `space_policy.own`."""
    kept = own.get(PART)
    if not kept:
        return Adaptation(on=False)
    return Adaptation(kept["on"], _learnt(kept["learnt"]) if kept["learnt"] else None)


def write(tx: Transaction, adaptation: Adaptation) -> None:
    """Keep it; switched off with nothing learnt there is nothing to keep."""
    plain = {"on": adaptation.on, "learnt": _plain(adaptation.learnt) if adaptation.learnt else None}
    space_policy.keep(tx, PART, plain if adaptation.on or adaptation.learnt else None)
    if not adaptation.on:
        tx.set_setting(RECENT, None)


def bend(policy: Policy, adaptation: Adaptation) -> Policy:
    """Return the policy with the weights that a space has learnt."""
    if not adaptation.on or policy.combine != "sum":
        return policy
    known = adaptation.about(policy.name, policy.weights)
    return policy.replace(weights=known.bent()) if known.moves else policy


def check(policy: Policy) -> None:
    """Refuse to adapt what has no weights to bend."""
    if policy.combine != "sum" or len(policy.signals) < 2:
        raise InvalidInput(
            f"Policy {policy.name!r} has no weights that could adapt (it multiplies, or has one signal). Apply a "
            "summed policy to the space first, e.g. 'blend'.",
            policy=policy.name,
        )


def note(tx: Transaction, answer: Noted) -> None:
    """Keep an answer for the feedback to come; the oldest falls out."""
    kept: Any = tx.setting(RECENT) or []
    tx.set_setting(RECENT, [*kept, _plain_answer(answer)][-ANSWERS_KEPT:])


def take_feedback(tx: Transaction, recall_id: str, used: Sequence[str], at: float) -> None:
    """Learn from what was used of an answer, and from an earlier answer to the same need that had cut it."""
    adaptation = read(space_policy.own(tx))
    if not adaptation.on:
        return
    kept: Any = tx.setting(RECENT)
    answers = [_answer(plain) for plain in kept or []]
    place = next((number for number, one in enumerate(answers) if one.recall_id == recall_id), None)
    if place is None:
        return
    told = answers[place]
    new = [memory_id for memory_id in used if memory_id not in told.taught]
    known = learn(adaptation.about(told.policy, told.weights), told, new, at)
    for earlier in answers[:place]:
        if earlier.policy == told.policy and _same_need(earlier, told):
            known = learn_from_ghost(known, earlier, new, at)
    answers[place] = replace(told, taught=(*told.taught, *new))
    tx.set_setting(RECENT, [_plain_answer(one) for one in answers])
    write(tx, replace(adaptation, learnt=known))


def _same_need(one: Noted, other: Noted) -> bool:
    """Whether the same was asked for soon after, in other words: half the words of the shorter cue are in both."""
    if not 0 <= other.at - one.at <= GHOST_SECONDS:
        return False
    first, second = set(query_terms(one.cue)), set(query_terms(other.cue))
    fewer = min(len(first), len(second))
    return bool(fewer) and len(first & second) >= SAME_NEED * fewer


def _plain(learnt: Learnt) -> dict[str, Any]:
    plain = asdict(learnt)
    return {**plain, "moves": list(plain["moves"])}


def _learnt(plain: Mapping[str, Any]) -> Learnt:
    return Learnt(**{**plain, "moves": tuple(Move(**move) for move in plain["moves"])})


def _plain_answer(answer: Noted) -> dict[str, Any]:
    plain = asdict(answer)
    return plain | {name: list(plain[name]) for name in ("shown", "ghosts", "taught")}


def _answer(plain: Mapping[str, Any]) -> Noted:
    lists = {name: tuple(Seen(**seen) for seen in plain[name]) for name in ("shown", "ghosts")}
    return Noted(**{**plain, **lists, "taught": tuple(plain["taught"])})
