"""Updates: of memories that state different values for what the cue asks, the one that states the newest goes first.

Only the head of the ranking is looked at, only questions for a value how things stand, and only memories that answer
them in words: the first statement of a newer value is lifted just above older ones that it denies, and nothing else
moves. Who repeats a value, above all an assistant, states nothing new: a value is as old as its first statement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from retentive.recall.asked import Asked, asked
from retentive.recall.claims import Claim, claims_in
from retentive.recall.cue import Cue
from retentive.recall.ranking import Ranked
from retentive.recall.stance import ROLES
from retentive.stores.protocol import SpaceStore
from retentive.types import Floats

HEAD: Final = 50  # the best so many are read
ABOUT: Final = 0.5  # of the idf of the cue's words, how much a sentence shares that answers it
ABOUT_CHANGED: Final = 0.3  # … or one that says itself that something changed
SAME: Final = 0.5  # of the share of the lesser of two, how much both have in common
STEP: Final = 1e-6


class _Stated(NamedTuple):
    """A claim with who states it and when: its own moment, and since when its value is known."""

    at: int
    claim: Claim
    created: float
    since: float


def newest_claims_first(ranked: Ranked, cue: Cue, store: SpaceStore) -> list[str]:
    """Lift what states a newer value above what states an older one; says what was done, for `explain`."""
    reach = ranked.policy.modifiers.claims
    wanted = asked(cue.utterance) if reach and cue.wants_current and ranked.policy.combine != "product" else None
    if wanted is None or not cue.terms[0]:
        return []
    terms = cue.terms[0]
    shares = dict(zip(terms, (1.0 + store.term_weights(terms)).tolist(), strict=True))
    stated = _stated(ranked, wanted, shares)
    lifts, notes = _lifts(ranked, stated, shares, reach)
    if notes:
        ranked.add("claims", lifts)
    return notes


def _stated(ranked: Ranked, wanted: Asked, shares: Mapping[str, float]) -> list[_Stated]:
    """Return what people state in answer to the question, the value that has been known longest first."""
    texts, columns = ranked.evidence.texts, ranked.evidence.columns
    found = [
        (at, claim)
        for at in ranked.order()[:HEAD]
        for claim in claims_in(texts.get(at, ""), wanted, frozenset(shares))
        if _mass(claim.terms, shares) >= (ABOUT_CHANGED if claim.changed else ABOUT) * _mass(shares, shares)
    ]
    first: dict[tuple[str, str], float] = {}
    for at, claim in found:
        for value in claim.values:
            first[value] = min(first.get(value, np.inf), float(columns.created[at]))
    stated = [
        _Stated(at, claim, created, created if claim.changed else max(first[value] for value in claim.values))
        for at, claim in found
        for created in (float(columns.created[at]),)
        if ROLES.get((columns.speakers[at] or "").casefold()) != "assistant"
    ]
    return sorted(stated, key=lambda one: (one.since, -ranked.scores[one.at], columns.ids[one.at]))


def _mass(terms: Collection[str], shares: Mapping[str, float]) -> float:
    return sum(shares[term] for term in sorted(terms))


def _lifts(
    ranked: Ranked, stated: Sequence[_Stated], shares: Mapping[str, float], reach: float
) -> tuple[Floats, list[str]]:
    """Go from the oldest value to the newest, and put the first statement of each above what it denies."""
    scores, lifts, notes = ranked.scores.copy(), np.zeros(len(ranked.scores)), []
    ids, speakers = ranked.evidence.columns.ids, ranked.evidence.columns.speakers
    for one in stated:
        if _repeats(one, stated):
            continue
        above = [
            other
            for other in stated
            if speakers[one.at] == speakers[other.at]
            and _updates(one, other, shares)
            and 0.0 <= scores[other.at] - scores[one.at] <= reach
        ]
        if above:
            highest = max(above, key=lambda other: scores[other.at])
            lift = scores[highest.at] - scores[one.at] + STEP
            scores[one.at] += lift
            lifts[one.at] += lift
            notes.append(f"{ids[one.at]} was put before {ids[highest.at]}: it states a newer value for what was asked")
    return lifts, notes


def _repeats(one: _Stated, stated: Sequence[_Stated]) -> bool:
    """Whether somebody had said the same before, and nothing else since."""
    before = [o.created for o in stated if o.created < one.created and o.claim.values >= one.claim.values]
    between = (other.claim for other in stated if max(before, default=np.inf) < other.created < one.created)
    return bool(before) and not any(claim.denies(one.claim) for claim in between)


def _updates(newer: _Stated, older: _Stated, shares: Mapping[str, float]) -> bool:
    """Whether one states a newer value of the same matter: later, denied by it, and about the same words."""
    if older.created >= newer.created or older.since >= newer.since or not newer.claim.denies(older.claim):
        return False
    lesser = min(_mass(newer.claim.terms, shares), _mass(older.claim.terms, shares))
    return _mass(newer.claim.terms & older.claim.terms, shares) >= SAME * lesser
