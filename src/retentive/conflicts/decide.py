"""Whether a later text denies an earlier one, how surely, and why. Pure: two texts in, a ruling out.

Every rule must find the same subject on both sides and nothing else that differs: two texts that part in two places
speak of two things. A rule that is unsure says so in its confidence; what no rule reads is no conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from retentive.text.claims import CANCELLED, LONGEST, Claim, Reading, read_short
from retentive.text.claimwords import (
    ATTRIBUTES,
    BETWEEN,
    CESSATIONS,
    COLOURS,
    EXCLUSIVE,
    MANY,
    PARTICIPLES,
    SINGLE,
)
from retentive.text.commonwords import MONTHS, WEEKDAYS

LISTED_FROM: Final = 0.5
"""Below this a ruling is not worth a person's time."""

LONGEST_VALUE: Final = 6
"""Words; what goes on for longer is a story, not a value."""

CHANGED: Final = "it says that this was changed or replaced"
ENDED: Final = "it says that this is over"
DENIED: Final = "it denies this"
AFFIRMED: Final = "it affirms what this denies"
EXCLUDED: Final = "it states what excludes this"
OTHER_VALUE: Final = "it states another value for the same thing"
OTHER_NUMBER: Final = "it states another number or time for the same thing"

_WHEN: Final = frozenset((*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), "next", "this", "noon", "midnight"))
_WHERE: Final = {
    "work": {"at", "for"},
    "run": {"on"},
    "go": {"to"},
    "live": {"in", "at", "on"},
    "sit": {"in", "at", "on"},
}
"""Verbs of which one holds only together with a place: one works at one place, and on many things."""
_MEASURED: Final = frozenset("be have need take last".split())
"""Verbs whose number says how much there is of something."""
_ORDINALS: Final = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth".split())
_HARMLESS: Final = frozenset("as with since near because".split())
"""Scopes that a newer text may leave out and still speak of the whole."""
_SEVERAL: Final = 0.85  # a memory that says more than what is denied is not retired for it
_SAID_SO: Final = 0.1  # "now", "actually": it says itself that something changed


@dataclass(frozen=True, slots=True)
class Ruling:
    """A later text denies an earlier one."""

    confidence: float
    reason: str


def judge(newer: str, older: str) -> Ruling | None:
    """Say whether the newer text denies the older; None where nothing says so."""
    if len(newer) > LONGEST or len(older) > LONGEST:
        return None
    new = read_short(newer)
    if not new.claims:
        return None
    old = read_short(older)
    if not old.claims or new.claims == old.claims:  # a text that denies itself denies no other
        return None
    share = _SEVERAL if len(old.claims) > 1 else 1.0
    found = [ruling for one in new.claims for other in old.claims for ruling in _rulings(one, other, new)]
    best = max(found, key=lambda ruling: ruling.confidence, default=None)
    if best is None or best.confidence * share < LISTED_FROM:
        return None
    return Ruling(round(best.confidence * share, 3), best.reason)


def _rulings(new: Claim, old: Claim, said: Reading) -> Iterator[Ruling]:
    if new.unsure or old.unsure or (old.past and new.verb != CANCELLED):
        return
    if new.outgoing and (sure := _left_behind(new, old)):
        yield Ruling(sure, CHANGED)
    if new.denied:
        if not old.denied and (sure := _ended(new, old) if new.verb.startswith("!") else _denied(new, old)):
            yield Ruling(sure, ENDED if new.ceased else DENIED)
        return
    if new.past and not said.corrects:
        return
    if old.denied:
        if _about(new) == _about(old) and new.words == old.words:
            yield Ruling(0.93, AFFIRMED)
        return
    if _exclusive(new, old):
        yield Ruling(0.95, EXCLUDED)
    elif sure := _other_value(new, old, said):
        yield Ruling(sure, OTHER_NUMBER if _numbers(new, old) else OTHER_VALUE)


def _about(claim: Claim) -> tuple[str, ...]:
    return tuple(word for word in claim.subject if word != "and")


def _telling(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words) - BETWEEN


# It was changed


def _left_behind(new: Claim, old: Claim) -> float:
    """ "Switched from A to B", "B instead of A", "B, not A": against what says A of the same subject."""
    gone = _telling(new.outgoing)
    if not gone or not gone <= old.words or old.denied or gone & _telling(new.subject):
        return 0.0
    named = new.words | _telling(new.lead)
    if not _telling(old.subject) - gone <= named or not _telling(new.subject) <= old.words:
        return 0.0
    if new.verb != "switch":
        return 0.95 if old.words - gone <= named else 0.0
    if new.lead and not _telling(new.lead) & old.words:
        return 0.9 if old.verb in {"work", "live", "be", "run"} else 0.6
    return 0.95 if old.verb not in MANY else 0.4


# It is over, or was never so


def _ended(new: Claim, old: Claim) -> float:
    """ "Sold the Vespa", "the dinner is cancelled": against what says that it is owned, that it takes place."""
    gone = _telling(new.value)
    if new.verb == CANCELLED and old.subject and not new.subject:
        return 0.95 if gone <= old.words and _telling(old.subject) <= gone else 0.0
    verbs = {key[0]: verbs for key, verbs in CESSATIONS.items()}.get(new.verb[1:])
    if not gone or not gone <= old.words or _about(new) != _about(old):
        return 0.0
    return 0.95 if not verbs or old.verb in verbs else 0.0


def _denied(new: Claim, old: Claim) -> float:
    """ "Does not …", "no longer …": everything it denies must be in what the older says, of the same subject."""
    scoped = tuple(word for part in new.scope for word in part)
    gone = _telling((*new.value, *scoped))
    if _about(new) != _about(old) or not gone <= old.words:
        return 0.0
    if new.verb == old.verb and (gone or not old.value or new.ceased):
        same = new.lead == old.lead or not new.lead
        return (0.95 if new.ceased or new.words == old.words else 0.92) if same else 0.6
    return 0.8 if new.verb == "be" and new.lead and new.lead == old.lead and gone and new.ceased else 0.0


# It is otherwise


def _exclusive(new: Claim, old: Claim) -> bool:
    """Whether they part in one word, and that word excludes the other."""
    if _about(new) != _about(old) or new.scope != old.scope:
        return False
    flat = [(claim.verb, *claim.lead, *claim.value) for claim in (new, old)]
    parted = {(one, other) for one, other in zip(*flat, strict=False) if one != other}
    if len(flat[0]) != len(flat[1]) or len(parted) != 1:
        return False
    pair = set(parted.pop())
    if new.verb != old.verb and not _telling(new.value):
        return False  # "Enjoy!" and "I hate it": nothing says that it is the same thing
    return any(pair <= group for group in EXCLUSIVE)


def _other_value(new: Claim, old: Claim, said: Reading) -> float:
    """The same subject, verb and scope with another value: as sure as one thing has only one of it."""
    if _about(new) != _about(old) or new.verb != old.verb or new.verb == "switch" or {"of", "1"} <= set(new.subject):
        return 0.0
    if max(len(new.value), len(old.value)) > LONGEST_VALUE:
        return 0.0
    values = _telling(new.value), _telling(old.value)
    if not all(values) or values[0] <= values[1] or values[1] <= values[0]:
        return 0.0
    if new.assigned:
        return 0.93 if old.verb == "be" else 0.0
    sure = _single(new, old) if new.lead == old.lead else 0.0
    if sure and sure < 0.9 and (said.present or said.corrects):
        sure += _SAID_SO
    return sure * _scoped(new, old)


def _scoped(new: Claim, old: Claim) -> float:
    """Return how far both speak of the same part of the matter."""
    if new.scope == old.scope:
        return 1.0
    if new.scope and old.scope:
        return 0.0
    if new.scope:
        return 0.6
    return 1.0 if all(part[0] in _HARMLESS for part in old.scope) else 0.8


def _single(new: Claim, old: Claim) -> float:
    """Return how surely the value of a claim is the only one."""
    if _numbers(new, old):
        return SINGLE.get(new.verb, 0.92 if new.verb in _MEASURED else 0.6 if new.verb in MANY else 0.4)
    if new.verb in MANY:
        return 0.0
    if new.verb == "be":
        return _only_being(new, old)
    if new.verb in {"prefer", "use"}:
        alike = bool(_telling(new.value) & _telling(old.value)) or (_purpose(new) and new.scope == old.scope)
        return (0.93 if new.verb == "prefer" else 0.85) if alike else 0.0
    if new.verb in _WHERE and not _WHERE[new.verb] & set(new.lead):
        return 0.0
    return SINGLE.get(new.verb, 0.4)


def _purpose(claim: Claim) -> bool:
    return any(part[0] in {"for", "as"} for part in claim.scope)


def _only_being(new: Claim, old: Claim) -> float:
    """ "X is B": sure where X is something of which there is one, or the way to the value says so."""
    if new.lead and new.lead[0] in PARTICIPLES:
        return 0.93
    if not new.plural and not new.lead and ATTRIBUTES & set(new.subject):
        return 0.93
    both = (new, old)
    if new.lead and new.lead[0] in {"in", "on", "at"}:
        return 0.9 if all(_is_name(claim) for claim in both) else 0.6
    return 0.93 if all(set(claim.value) <= COLOURS for claim in both) else 0.35


def _is_name(claim: Claim) -> bool:
    return any(word[:1].isupper() or any(map(str.isdigit, word)) for word in claim.written)


def _numbers(new: Claim, old: Claim) -> bool:
    """Whether both values are a number with one unit, or a time."""
    if _numbered(new) or _numbered(old):
        return False
    one, other = _shape(new), _shape(old)
    return (one == other and "#" in one) or all(set(shape) <= {"#", "when"} for shape in (one, other))


def _numbered(claim: Claim) -> bool:
    """Whether a number names which one of many it is, as in "box 21" or "room 204", and says nothing of how much."""
    shape = _shape(claim)
    return any(word not in {"#", "when"} and behind == "#" for word, behind in pairwise(shape))


def _shape(claim: Claim) -> tuple[str, ...]:
    """Return a value with its numbers and names of days masked."""
    return tuple(map(_masked, claim.written))


def _masked(word: str) -> str:
    folded = word.lower()
    if any(map(str.isdigit, word)) or folded in _ORDINALS:
        return "#"
    return "when" if folded in _WHEN else folded
