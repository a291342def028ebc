"""What reflection decides, without a store, a model or a clock: whether it is due, on what, what counts as an insight.

Sources: Park et al. 2023 (§4.2: importance of the latest events as the trigger, questions, insights with evidence);
the budget of 30 instead of their 150 is policy.md's, for spaces that see a handful of messages a day.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from retentive.errors import InvalidInput
from retentive.text.sentences import sentences
from retentive.text.speech import spoken
from retentive.types import Floats, JournalEntry, Json, Memory, Vectors

BUDGET: Final = 30.0  # on the 1-10 scale: six memories of ordinary importance
LOOKED_AT: Final = 100  # the latest memories, as in the paper
LEASE: Final = timedelta(minutes=15)  # a run that has not ended by then has died
LONGEST_INSIGHT: Final = 600  # characters; a model that writes more has not concluded anything
SMALLEST_THEME: Final = 3  # memories that must agree before an extractive reflection calls it a theme
MOST_THEMES: Final = 5
ALIKE: Final = 0.8  # where between an embedder's unrelated and clearly related two memories are one theme
ALIKE_UNCALIBRATED: Final = 0.5
SAME: Final = 0.95  # policy.md §6: a near-duplicate
_SHOWN: Final = 300  # characters of a representative statement


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a space has been reflected on: a line of its journal, and by what it is known again."""

    sequence: int = 0
    at: datetime | None = None
    memory: str = ""

    def is_at(self, line: JournalEntry) -> bool:
        """Whether this is the line: after an import the same number may be another one's."""
        return (line.sequence, line.at, line.memory_id) == (self.sequence, self.at, self.memory)


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that is under way: others leave the space alone until it ends or its lease does."""

    token: str
    at: datetime

    def holds(self, now: datetime) -> bool:
        """Whether the run may still be alive; a clock that was set back must not lock a space for years."""
        return abs(now - self.at) <= LEASE


@dataclass(frozen=True, slots=True)
class Standing:
    """What a space keeps about reflection: its budget, how far it got, and who is at it."""

    budget: float = BUDGET
    mark: Mark = Mark()
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Insight:
    """A conclusion before it is stored: what it says, what it rests on, how important it is."""

    text: str
    evidence: tuple[str, ...]
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class Refused:
    """A conclusion that was not stored, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Theme:
    """Memories that say much the same, and the one that stands for them."""

    members: tuple[int, ...]
    stands_for: int


def checked_budget(budget: Any) -> float:
    """Refuse a budget that could never be reached, or always."""
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget <= 1_000_000:
        raise InvalidInput(f"budget={budget!r} is not a number above 0; policy.md uses 30.", value=budget)
    return float(budget)


def read_standing(setting: Any) -> Standing:
    """Read what a space keeps; what another version wrote and cannot be read counts as nothing."""
    if not isinstance(setting, Mapping):
        return Standing()
    try:
        claim = setting.get("claim")
        at = setting.get("at")
        return Standing(
            float(setting.get("budget", BUDGET)),
            Mark(
                int(setting.get("sequence", 0)),
                datetime.fromisoformat(at) if at else None,
                str(setting.get("memory", "")),
            ),
            Claim(str(claim["token"]), datetime.fromisoformat(claim["at"])) if claim else None,
        )
    except (KeyError, TypeError, ValueError):
        return Standing()


def write_standing(standing: Standing) -> dict[str, Any]:
    """Return what is kept of it, as JSON."""
    mark, claim = standing.mark, standing.claim
    return {
        "budget": standing.budget,
        "sequence": mark.sequence,
        "at": mark.at.isoformat() if mark.at else None,
        "memory": mark.memory,
        "claim": {"token": claim.token, "at": claim.at.isoformat()} if claim else None,
    }


def weight(line: JournalEntry) -> float:
    """Return what one journal line adds to the pressure: the importance of a new memory, on the 1-10 scale.

    Only what was remembered first hand counts. Insights would bring on the next reflection by themselves, and what was
    taken from a turn would count the turn twice.
    """
    memory = line.after
    if line.action != "remember" or memory is None or memory.get("kind") == "reflection" or memory.get("derived_from"):
        return 0.0
    importance = memory.get("importance")
    return 10 * float(importance) if isinstance(importance, int | float) else 0.0


def why_not(standing: Standing, pressure: float, now: datetime, *, force: bool) -> str | None:
    """Say why no reflection begins now; None if one does."""
    if standing.claim is not None and standing.claim.holds(now):
        return "another run is reflecting on this space"
    if not force and pressure < standing.budget:
        return f"{pressure:g} of {standing.budget:g} points of importance have gathered"
    return None


def threshold(band: tuple[float, float] | None) -> float:
    """Return the cosine from which two memories belong to one theme, on the embedder's own scale."""
    if band is None:
        return ALIKE_UNCALIBRATED
    low, high = band
    return min(low + ALIKE * (high - low), SAME)


def themes(vectors: Vectors, importance: Floats, alike: float) -> list[Theme]:
    """Gather memories around the ones that most others resemble, greatest theme first; each belongs to one at most.

    Greedy and exact for the hundred memories looked at: the memory with the most free neighbours founds a theme. Ties
    go to the more important, then the earlier in order, so the same memories give the same themes.
    """
    near = vectors.astype(np.float64) @ vectors.astype(np.float64).T >= alike
    np.fill_diagonal(near, val=True)
    free = np.ones(len(vectors), bool)
    found: list[Theme] = []
    while len(found) < MOST_THEMES and free.any():
        sizes = np.where(free, (near & free).sum(axis=1), 0)
        founder = max(range(len(sizes)), key=lambda i: (sizes[i], importance[i], -i))
        if sizes[founder] < SMALLEST_THEME:
            break
        members = np.flatnonzero(near[founder] & free)
        found.append(Theme(tuple(int(member) for member in members), _central(vectors, importance, members)))
        free[members] = False
    return found


def _central(vectors: Vectors, importance: Floats, members: Any) -> int:
    """Return the member nearest to the middle of all."""
    chosen = vectors[members].astype(np.float64)
    closeness = chosen @ chosen.mean(axis=0)
    best = max(range(len(members)), key=lambda i: (round(float(closeness[i]), 9), importance[members[i]], -i))
    return int(members[best])


def extracted(theme: Theme, memories: Sequence[Memory]) -> Insight:
    """Write a theme as an insight: counted, and quoted from the memory that stands for it. Nothing is concluded."""
    members = [memories[at] for at in theme.members]
    shown = quoted(memories[theme.stands_for])
    importance = sum(memory.importance for memory in members) / len(members)
    return Insight(f"Recurring in {len(members)} memories: {shown}", tuple(memory.id for memory in members), importance)


def quoted(memory: Memory) -> str:
    """Return the first sentence of a memory between quotation marks, with who said it."""
    first = sentences(memory.text)[0]
    words = spoken(first, memory.speaker)
    return f"“{words if len(words) <= _SHOWN else words[: _SHOWN - 1] + '…'}”"


def supported(insight: Insight, standing: Collection[str]) -> Insight | Refused:
    """Keep what rests on memories that exist: the rest of the evidence named is dropped, and without any it is refused.

    ``standing`` are the ids that were shown and still stand. A model that names others has made them up.
    """
    text = insight.text.strip()
    if not text:
        return Refused(insight.text, "it says nothing")
    if len(text) > LONGEST_INSIGHT:
        return Refused(text[:80] + "…", f"it has {len(text):,} characters; an insight has at most {LONGEST_INSIGHT}")
    evidence = tuple(dict.fromkeys(name for name in insight.evidence if name in standing))
    if not evidence:
        return Refused(text, "no evidence that exists")
    return Insight(text, evidence, min(max(insight.importance, 0.0), 1.0))


def believed(evidence: Sequence[Memory]) -> float:
    """Return how far a conclusion is believed: as far as the least of what it rests on."""
    return min((memory.trust for memory in evidence), default=1.0)


def origin(evidence: Sequence[Memory]) -> dict[str, Json]:
    """Return whose words a conclusion rests on in the end, as metadata: those of its least trusted evidence."""
    known = [memory for memory in evidence if memory.metadata.get("origin") is not None]
    weakest = min(known, key=lambda memory: (memory.trust, memory.id), default=None)
    return {} if weakest is None else {"origin": weakest.metadata["origin"]}
