"""Updates: of memories that state different values for what the cue asks, the one that states the newest goes first.

Only the head of the ranking is looked at, only questions for a value how things stand, and only memories that answer
them in words: the first statement of a newer value is lifted just above older ones that it denies, and nothing else
moves. Who repeats a value, above all an assistant, states nothing new: a value is as old as its first statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from retentive.recall.asked import asked
from retentive.recall.claims import Claim, Matter, claims_in
from retentive.recall.cue import Cue
from retentive.recall.ranking import Ranked
from retentive.recall.stance import ROLES
from retentive.stores.protocol import SpaceStore
from retentive.types import Floats

HEAD: Final = 50  # the best so many are read
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
    matter = Matter(wanted, dict(zip(terms, (1.0 + store.term_weights(terms)).tolist(), strict=True)))
    stated = _stated(ranked, matter)
    lifts, notes = _lifts(ranked, stated, matter, reach)
    if notes:
        ranked.add("claims", lifts)
    return notes


def _stated(ranked: Ranked, matter: Matter) -> list[_Stated]:
    """Return what people state in answer to the question, the value that has been known longest first.

    What an assistant says only tells since when a value is known: where people deny nothing, it need not be read.
    """
    columns = ranked.evidence.columns
    best = ranked.order()[:HEAD]
    theirs = [at for at in best if ROLES.get((columns.speakers[at] or "").casefold()) == "assistant"]
    said = _read(ranked, [at for at in best if at not in set(theirs)], matter)
    if not _denied(said, columns.speakers):
        return []
    first: dict[tuple[str, str], float] = {}
    latest = max(float(columns.created[at]) for at, _ in said)
    for at, claim in said + _read(ranked, [at for at in theirs if columns.created[at] < latest], matter):
        for value in claim.values:
            first[value] = min(first.get(value, np.inf), float(columns.created[at]))
    stated = [
        _Stated(at, claim, created, created if claim.changed else max(first[value] for value in claim.values))
        for at, claim in said
        for created in (float(columns.created[at]),)
    ]
    return sorted(stated, key=lambda one: (one.since, -ranked.scores[one.at], columns.ids[one.at]))


def _read(ranked: Ranked, places: Sequence[int], matter: Matter) -> list[tuple[int, Claim]]:
    texts = ranked.evidence.texts
    read = claims_in((texts.get(at, "") for at in places), matter)
    return [(at, claim) for at, claims in zip(places, read, strict=True) for claim in claims]


def _denied(said: Sequence[tuple[int, Claim]], speakers: Sequence[str | None]) -> bool:
    """Whether a speaker states what another memory of theirs denies: else nothing can be newer."""
    return any(
        one != other and speakers[one] == speakers[other] and claim.denies(counter)
        for (one, claim), (other, counter) in combinations(said, 2)
    )


def _lifts(ranked: Ranked, stated: Sequence[_Stated], matter: Matter, reach: float) -> tuple[Floats, list[str]]:
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
            and _updates(one, other, matter)
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


def _updates(newer: _Stated, older: _Stated, matter: Matter) -> bool:
    """Whether one states a newer value of the same matter: later, denied by it, and about the same words."""
    if older.created >= newer.created or older.since >= newer.since or not newer.claim.denies(older.claim):
        return False
    lesser = min(matter.mass(newer.claim.terms), matter.mass(older.claim.terms))
    return matter.mass(newer.claim.terms & older.claim.terms) >= SAME * lesser
