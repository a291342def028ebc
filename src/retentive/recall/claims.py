"""Claims that answer a question: which sentence of a memory states a value of what the cue asks for.

A long message says many things, so that neither its age nor its likeness to another tells which of two states the
newer value. One sentence does: it shares the question's words and holds a value of the kind that was asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from retentive.recall.asked import WHEN, Asked
from retentive.text.amounts import Value, values_of
from retentive.text.claimwords import ASSIGNED, SWITCHES
from retentive.text.sentences import sentences
from retentive.text.stem import stem
from retentive.text.tokens import fold

LONGEST: Final = 4_000  # characters of one text that are looked through
COUNTED: Final = 3  # "150 merged commits": a counted thing stands at most so many words behind its number
REACHED: Final = 12  # "the commits …, which has now reached 165": or so many before one that counts nothing else
ABOUT: Final = 0.5  # of the idf of the cue's words, how much a sentence shares that answers it
ABOUT_CHANGED: Final = 0.3  # … or one that says itself that something changed
EDGE: Final = 1e-9  # a quick look adds in another order, and must not be the stricter for it
NEAR: Final = 8  # words between what is asked for and its value
CHANGES: Final = (
    SWITCHES
    | ASSIGNED
    | frozenset(map(stem, "now instead current latest extend improve grow grown reach adjust revise correct".split()))
)
"""Stems by which a sentence says itself that something changed."""
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FORMULA: Final = re.compile(r"[={}\\\u00d7\u2248]")  # code and arithmetic state nothing
_BARE: Final = re.compile(
    r"\s*(?:[,.;:!?)]|$|(?:and|but|so|which|after|since|because|by|in|on|at|with|for|from|as|now)\b)", re.IGNORECASE
)
_LEFT: Final = re.compile(
    r"\b(?:from|instead of|rather than|(?:initially|originally|previously|formerly)(?: (?:set )?at)?)\s+$",
    re.IGNORECASE,
)
"""In front of a value that a change leaves behind."""


class Claim(NamedTuple):
    """What one sentence states of what was asked."""

    values: frozenset[tuple[str, str]]  # kind and value; several where the sentence counts the thing several times
    terms: frozenset[str]  # the cue's terms that it shares
    changed: bool  # it says itself that something changed

    def denies(self, other: Claim) -> bool:
        """Whether both state values of one kind and no common one."""
        kinds = {kind for kind, _ in self.values} & {kind for kind, _ in other.values}
        return any(self._of(kind).isdisjoint(other._of(kind)) for kind in kinds)

    def _of(self, kind: str) -> frozenset[str]:
        return frozenset(value for one, value in self.values if one == kind)


class Matter(NamedTuple):
    """What a cue asks for, and how much each of its words tells."""

    wanted: Asked
    shares: Mapping[str, float]  # the idf of each term of the cue

    def mass(self, terms: Collection[str]) -> float:
        """Return what some of the cue's terms weigh together."""
        return sum(self.shares[term] for term in sorted(terms))

    def glance(self) -> _Glance:
        """Return the same as a quick look needs it."""
        least = ABOUT_CHANGED * self.mass(self.shares)
        head = _beginning(self.wanted.head) if self.wanted.head else ""
        begins = {_beginning(term): 0.0 for term in self.shares}
        for term, share in self.shares.items():
            begins[_beginning(term)] += share
        telling = (*begins, *([head] if head else ()), *_changing())
        return _Glance(head, tuple(begins.items()), telling, least * (1.0 - EDGE))


class _Glance(NamedTuple):
    """What tells without reading that a text states nothing of a matter: how its words begin."""

    head: str
    begins: tuple[tuple[str, float], ...]
    telling: tuple[str, ...]  # how words begin that are worth their stems
    least: float

    def fits(self, folded: str) -> bool:
        """Whether a text may hold what is asked for, and enough of the cue's words."""
        if self.head not in folded:
            return False
        return sum([share for begin, share in self.begins if begin in folded]) >= self.least


def claims_in(texts: Iterable[str], matter: Matter) -> Iterator[list[Claim]]:
    """Return what each text states of what was asked, sentence by sentence.

    Most of a long text is never read: lines, in which sentences end anyway, and sentences show at a glance that they
    share too little with the cue.
    """
    glance = matter.glance()
    return (list(_claims(text[:LONGEST], matter, glance)) for text in texts)


def _claims(text: str, matter: Matter, glance: _Glance) -> Iterator[Claim]:
    if glance.head not in text.casefold():
        return
    for line in text.splitlines():
        if glance.fits(fold(line)):
            for sentence in sentences(line):
                found = _claim(sentence, matter, glance)
                if found is not None:
                    yield found


@lru_cache(1)
def _changing() -> tuple[str, ...]:
    return tuple(sorted({_beginning(word) for word in CHANGES}))


def _beginning(term: str) -> str:
    """Return how every word with this stem begins: a stem changes the last letters at most ("lie" and "lying")."""
    return term[:-2] if term.endswith("ie") else term[:-1]


def _claim(sentence: str, matter: Matter, glance: _Glance) -> Claim | None:
    folded = fold(sentence)
    if not glance.fits(folded) or _FORMULA.search(sentence):
        return None
    wanted = matter.wanted
    values = [value for value in values_of(sentence) if value.kind in wanted.kinds]
    if not values:
        return None
    if len(folded) != len(sentence):  # places would not agree
        folded = sentence.casefold()
    spans = [match.span() for match in _WORD.finditer(folded)]
    words = [folded[start:end] for start, end in spans]
    stems = [_stemmed(word) if word.startswith(glance.telling) else "" for word in words]
    shared = frozenset(matter.shares).intersection(stems)
    anchors = [at for at, word in enumerate(stems) if (word == wanted.head if wanted.head else word in shared)]
    if not shared or not anchors:
        return None
    changed = not CHANGES.isdisjoint(stems)
    if matter.mass(shared) < (ABOUT_CHANGED if changed else ABOUT) * matter.mass(matter.shares):
        return None
    placed = _placed(sentence, values, [start for start, _ in spans], changed=changed)
    found = _counted(sentence, placed, anchors) if wanted.counted else _nearest(placed, anchors, wanted)
    return Claim(found, shared, changed) if found else None


@lru_cache(8192)
def _stemmed(word: str) -> str:
    return stem(word.removesuffix("'s"))


class _Placed(NamedTuple):
    """A value with the first and the last word that it takes."""

    value: Value
    first: int
    last: int


def _placed(sentence: str, values: Sequence[Value], starts: Sequence[int], *, changed: bool) -> list[_Placed]:
    """Return the values by their place among the words, without what a change leaves behind."""
    return [
        _Placed(value, bisect_right(starts, value.start) - 1, bisect_left(starts, value.end) - 1)
        for value in values
        if not (changed and _LEFT.search(sentence, 0, value.start))
    ]


def _counted(sentence: str, placed: Sequence[_Placed], anchors: Sequence[int]) -> frozenset[tuple[str, str]]:
    """Return the numbers that count the thing; where none does, the nearest behind it that counts nothing else."""
    beside = {
        (one.value.kind, one.value.value)
        for one in placed
        if one.value.kind == "number" and any(0 < at - one.last <= COUNTED for at in anchors)
    }
    if beside:
        return frozenset(beside)
    behind = [
        (min(one.first - at for at in anchors if at < one.first), one)
        for one in placed
        if any(0 < one.first - at <= REACHED for at in anchors) and _BARE.match(sentence, one.value.end)
    ]
    return frozenset([_said(min(behind)[1])] if behind else ())


def _nearest(placed: Sequence[_Placed], anchors: Sequence[int], wanted: Asked) -> frozenset[tuple[str, str]]:
    """Return the value nearest to what is asked for; of a moment the nearest date and the nearest time."""
    best: dict[str, tuple[int, _Placed]] = {}
    for one in placed:
        gap = min(max(one.first - at, at - one.last) for at in anchors)
        kind = one.value.kind if wanted.kinds == WHEN else ""
        if (wanted.head is None or gap <= NEAR) and (kind not in best or (gap, one) < best[kind]):
            best[kind] = (gap, one)
    return frozenset(_said(one) for _, one in best.values())


def _said(one: _Placed) -> tuple[str, str]:
    return one.value.kind, one.value.value
