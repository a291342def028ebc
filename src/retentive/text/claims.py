"""What a short text claims: of whom, by which verb, what, and whether it says so or denies it.

No grammar and no model: a list of verbs, the order of words, and the rule that what cannot be read for sure is not read
at all. It serves the search for conflicts, where a wrong reading retires a true memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from retentive.text.claimwords import (
    ASSIGNED,
    AUXILIARIES,
    BE,
    BETWEEN,
    CALLED_OFF,
    CEASED,
    CESSATIONS,
    HYPOTHETICAL,
    MODIFIERS,
    NEGATIONS,
    NO_LONGER,
    PARTICIPLES,
    PAST,
    PLACES,
    PLURAL_SUBJECTS,
    SELF,
    SWITCHES,
    VERBS,
)
from retentive.text.lazy import Lazy
from retentive.text.lemmas import lemma, run_at
from retentive.text.sentences import sentences
from retentive.text.wording import POSSESSIVE, Word, wording

LONGEST: Final = 240  # characters: what is longer tells a story, and is not read
MOST_CLAUSES: Final = 4
CANCELLED: Final = "!cancel"  # the verb of what was called off
_CLAUSE: Final = Lazy(
    r";\s+|,?\s+but\s+(?!(?:in|at|on)\b)|,\s+(?=(?:it|he|she|they)\s+(?:is|are)\b)"
    r"|,?\s+and\s+(?=[a-z]+s\s)"
)
_ASKED: Final = Lazy(r"\?\s*$")
_REPORTED: Final = Lazy(
    r"^\w+ (?:said|says|suggested|proposed|claimed|thinks|believes|heard|asked|wondered|mentioned)\b"
    r"|^(?:asked|heard|wondered)\b",
    re.IGNORECASE,
)
_PLANNED: Final = Lazy(
    r"\bplan(?:s|ning)? (?:to|on)\b|\bgoing to (?!the\b|an?\b|my\b|our\b|his\b|her\b|their\b)[a-z]", re.IGNORECASE
)
_NAMED: Final = Lazy(r"\s*(?:the|an?|my|our|your|his|her|its|their|this|that|these|those)\s+(?!user\b)", re.IGNORECASE)
_LABEL: Final = Lazy(r"^\s*([^:?.!]{2,60}):\s+(?=\S)")
_DATED: Final = Lazy(
    r"\b(?:(?:until|in|back in) (?:19|20)\d\d|last (?:year|month|week|spring|summer|autumn|winter|night)|as a child)\b",
    re.IGNORECASE,
)


class Claim(NamedTuple):
    """One claim. Words are stems; ``subject`` is empty where the text is about whoever the space is about."""

    subject: tuple[str, ...]
    verb: str
    lead: tuple[str, ...] = ()  # what stands between verb and value: "based in", "called", "at"
    value: tuple[str, ...] = ()
    written: tuple[str, ...] = ()  # the value as it was written
    scope: tuple[tuple[str, ...], ...] = ()  # "for relational work", "on Mondays"
    denied: bool = False  # "does not …", "no longer …"
    ceased: bool = False  # … and says that it was so before
    past: bool = False
    unsure: bool = False  # a plan, a question, a condition, a report
    outgoing: tuple[str, ...] = ()  # what a change leaves behind: "from X", "instead of X", ", not X"
    plural: bool = False  # "are": one of several may change without the others
    assigned: bool = False  # "was changed to …": says itself that something else was so before
    words: frozenset[str] = frozenset()  # every telling stem


class Reading(NamedTuple):
    """A text as it was read."""

    claims: tuple[Claim, ...]
    corrects: bool
    present: bool


def read(text: str) -> Reading:
    """Read a text; one that is too long or has too many parts yields no claims."""
    return read_short(text) if len(text) <= LONGEST else Reading((), corrects=False, present=False)


@lru_cache(4096)
def read_short(text: str) -> Reading:
    """Read a text of at most `LONGEST` characters; longer ones do not belong into its cache."""
    whole = wording(text)
    clauses = [part for part in _split(text.strip()) if part.strip()]
    read_of = [_claim(part) for part in clauses] if len(clauses) <= MOST_CLAUSES else []
    return Reading(tuple(claim for claim in read_of if claim), whole.corrects, whole.present)


def _split(text: str) -> list[str]:
    return [part for sentence in sentences(text) for part in _clauses(sentence)]


def _clauses(text: str) -> list[str]:
    cuts = [match.span() for match in _CLAUSE.finditer(text)]
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _claim(text: str) -> Claim | None:
    """Read one clause: by what it leaves behind, by what it ends, else as a plain claim."""
    words = [word for word in wording(_LABEL.sub(r"\1 is ", text)).words if word.plain != "?"]
    words, outgoing = _left_behind(words)
    unsure = _is_unsure(text, words)
    found = _switched(words) or _ended(words) or _plain(words, named=bool(_NAMED.match(text)))
    if found is None:
        return None
    return found._replace(
        words=_telling(found),
        unsure=unsure,
        past=found.past or bool(_DATED.search(text)),
        outgoing=found.outgoing or outgoing,
    )


def _telling(claim: Claim) -> frozenset[str]:
    scoped = [word for part in claim.scope for word in part]
    return frozenset([*claim.subject, claim.verb, *claim.lead, *claim.value, *scoped]) - BETWEEN - {"", CANCELLED}


def _is_unsure(text: str, words: Sequence[Word]) -> bool:
    """Whether it is asked, reported, possible or planned; "is planned for May" is none of it."""
    doubted = {lemma(word.plain) for word in words if word.raw != "May"} & HYPOTHETICAL
    return bool(doubted or _ASKED.search(text) or _REPORTED.match(text) or _PLANNED.search(text))


def _stems(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(lemma(word.plain) for word in words if word.plain != POSSESSIVE)


def _find(words: Sequence[Word], phrase: Sequence[str], behind: int = 0) -> int:
    """Return where a run of stems begins, -1 where it does not."""
    return run_at([lemma(word.plain) for word in words], phrase, behind)


def _subject(words: Sequence[Word]) -> tuple[str, ...]:
    """Return who or what a claim is about; "I", "my" and "the user" are whoever the space is about."""
    return tuple(word for word in _stems(words) if word not in SELF and word not in AUXILIARIES)


# Changes: what is left behind


def _left_behind(words: list[Word]) -> tuple[list[Word], tuple[str, ...]]:
    """Part "… B instead of A" and "… B, not A" into claim and what it replaces; of "not A but B" the denial stays."""
    but = _find(words, ("but",))
    if but > 0 and _denies(words[:but]):
        return words[:but], ()
    at = _find(words, ("instead", "of"))
    if at > 0:
        end = _until_modifier(words, at + 2)
        return words[:at] + words[end:], _stems(words[at + 2 : end])
    for place in range(len(words) - 1, 1, -1):
        before = words[place - 1].plain
        if words[place].plain == "not" and before not in BE and before not in AUXILIARIES:
            return words[:place], _stems(words[place + 1 :])
    return words, ()


def _until_modifier(words: Sequence[Word], start: int) -> int:
    places = range(start + 1, len(words))
    return next((at for at in places if lemma(words[at].plain) in MODIFIERS), len(words))


def _switched(words: list[Word]) -> Claim | None:
    """Read "switched (X) from A to B" and "replaced A with B", wherever the subject stands."""
    origin = _find(words, ("from",))
    target = _find(words, ("to",), origin + 2)
    switch = next((at for at, word in enumerate(words[:origin]) if lemma(word.plain) in SWITCHES), -1)
    if -1 not in (origin, target, switch) and target - origin <= 6:
        end = _until_modifier(words, target + 1)
        what = [word for word in words[switch + 1 : origin] if word.plain not in {"up", "down"}]
        return Claim(
            _subject(_without_auxiliaries(words[:switch])),
            "switch",
            lead=tuple(word for word in _stems(what) if word not in {"her", "his", "their", "its", *SELF}),
            value=_stems(words[target + 1 : end]),
            scope=_scopes(words[end:]),
            outgoing=_stems(words[origin + 1 : target]),
        )
    at, by = _find(words, ("replac",)), max(_find(words, ("with",)), _find(words, ("by",)))
    if at < 0 or by < at + 2 or (at and words[at - 1].plain in BE):
        return None
    end = _until_modifier(words, by + 1)
    subject, old = _subject(_without_auxiliaries(words[:at])), _stems(words[at + 1 : by])
    return Claim(subject, "switch", value=_stems(words[by + 1 : end]), scope=_scopes(words[end:]), outgoing=old)


def _without_auxiliaries(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.plain not in AUXILIARIES and word.plain not in BE and word.plain != "got"]


# Endings: what is no longer so


def _ended(words: list[Word]) -> Claim | None:
    """Read what says that something is over: "stopped smoking", "used to sing", "sold the Vespa", "… is cancelled"."""
    stems = [lemma(word.plain) for word in words]
    for phrase in CESSATIONS:
        at = run_at(stems, phrase)
        if at >= 0 and not _denies(words[:at]) and not _told_of(words, at):
            return _over(words, at, at + len(phrase), "!" + phrase[0])
    used = run_at(stems, ("use", "to"))
    if used >= 0 and words[used].plain == "used" and words[used - 1 if used else 0].plain not in BE:
        found = _predicate(words[:used], words[used + 2 :])
        return found._replace(denied=True, ceased=True) if found else None
    at = next((at for at, stem_ in enumerate(stems) if stem_ in CEASED), -1)
    if at < 0 or at + 1 == len(words) or _denies(words[:at]) or _told_of(words, at):
        return _called_off(words)
    behind = words[at + 1 :]
    if behind[0].plain.endswith("ing"):
        found = _predicate(_without_auxiliaries(words[:at]), behind)
        return found._replace(denied=True, ceased=True) if found else None
    return _over(words, at, at + 1, "!quit")


def _told_of(words: Sequence[Word], at: int) -> bool:
    """Whether a verb that ends something stands in another's sentence: "plans to stop", "is selling"."""
    return at > 0 and (words[at - 1].plain == "to" or words[at].plain.endswith("ing"))


def _denies(words: Sequence[Word]) -> bool:
    return any(word.plain in NEGATIONS for word in words)


def _over(words: Sequence[Word], start: int, end: int, verb: str) -> Claim | None:
    if start and words[start - 1].plain in BE and verb == CANCELLED:
        return _called_off(words)
    value = [word for word in words[end:] if word.plain not in {"her", "his", "their", "its", "job", "work"}]
    cut = _until_modifier([Word("", ""), *value], 0) - 1
    if value and lemma(value[0].plain) in PLACES:
        cut = _until_modifier(value, 1)
    if not value[:cut] and verb != "!give":
        return None
    return Claim(
        _subject(_without_auxiliaries(words[:start])),
        verb,
        value=tuple(word for word in _stems(value[:cut]) if word not in BETWEEN),
        scope=_scopes(value[cut:]),
        denied=True,
        ceased=True,
    )


def _called_off(words: Sequence[Word]) -> Claim | None:
    """Read "X is cancelled", "X is off", "X was called off": all of X is the value."""
    be = next((at for at, word in enumerate(words) if word.plain in BE or word.plain in {"has", "have"}), -1)
    behind = [lemma(word.plain) for word in words[be + 1 :] if word.plain != "been"]
    if be < 1 or not behind or len(behind) > 2 or not set(behind) <= CALLED_OFF or behind == ["call"]:
        return None
    if behind == ["off"] and words[be - 1].plain.endswith("s"):
        return None  # "notifications are off": a switch, not an appointment
    value = tuple(word for word in _stems(words[:be]) if word not in BETWEEN)
    return Claim((), CANCELLED, value=value, denied=True, ceased=True)


# Plain claims


def _plain(words: list[Word], *, named: bool) -> Claim | None:
    words, over = _without_no_longer(words)
    at = _verb_at(words, named=named)
    if at is None:
        return None
    found = _predicate(words[:at], words[at:])
    return found and found._replace(denied=found.denied or over, ceased=over)


def _without_no_longer(words: list[Word]) -> tuple[list[Word], bool]:
    """Take "no longer" and "not … any more" out; the latter keeps its "not"."""
    plain = [word.plain for word in words]
    if "no" not in plain and "not" not in plain:
        return words, False
    for phrase in NO_LONGER:
        for at in range(len(plain) - len(phrase) + 1):
            if tuple(plain[at : at + len(phrase)]) == phrase and (phrase[0] == "no" or "not" in plain):
                return words[:at] + words[at + len(phrase) :], True
    return words, False


def _verb_at(words: Sequence[Word], *, named: bool) -> int | None:
    """Return where the predicate begins, not with the first word of what is ``named``; None where nothing can be it."""
    for at, word in enumerate(words):
        if named and at == 0:
            continue
        if word.plain in BE or word.plain in AUXILIARIES or word.plain in NEGATIONS:
            return at
        if _is_verb(words, at):
            return at
    return None


def _is_verb(words: Sequence[Word], at: int) -> bool:
    plain = words[at].plain
    if lemma(plain) not in VERBS:
        follows = at > 0 and words[at - 1].raw[:1].isupper() and not any(word.plain in BE for word in words[at:][:5])
        return follows and plain == words[at].raw and plain.endswith("s") and len(plain) > 3
    base = not plain.endswith(("s", "ed", "ing")) and plain not in PAST
    if at == 0:
        return not base or not any(_inflected(word.plain) for word in words[1:])
    before = words[at - 1].plain
    return not base or before in PLURAL_SUBJECTS or (before.endswith("s") and before != POSSESSIVE)


def _inflected(plain: str) -> bool:
    """Whether a word is a verb that stands in a sentence with a subject: what comes before it names something."""
    return plain in BE or plain in PAST or (plain.endswith(("s", "ed")) and lemma(plain) in VERBS)


def _predicate(before: Sequence[Word], words: Sequence[Word]) -> Claim | None:
    """Read a subject and what stands behind it: auxiliaries and "not", the verb, the way to the value, the value."""
    at, denied, past = 0, False, False
    while at < len(words) - 1 and (words[at].plain in NEGATIONS or _passes(words, at)):
        denied |= words[at].plain in NEGATIONS
        past |= words[at].plain in PAST
        at += 1
    if at == len(words):
        return None
    verb, past = lemma(words[at].plain), past or _is_past(words, at)
    rest = list(words[at + 1 :])
    if verb == "be":
        denied |= bool(rest) and rest[0].plain in NEGATIONS
        rest = rest[1:] if rest and rest[0].plain in NEGATIONS else rest
    elif rest and rest[0].plain == "no":
        rest, denied = rest[1:], True
    assigned = verb == "be" and _assigned(rest)
    return _valued(_subject(before), verb, rest, assigned=assigned)._replace(
        denied=denied, past=past and not assigned, assigned=assigned, plural=words[at].plain == "are"
    )


def _passes(words: Sequence[Word], at: int) -> bool:
    """Whether this word only leads to the verb: "has been paid", "is learning", "does not like"; not "has a dog"."""
    plain = words[at].plain
    behind = next((word.plain for word in words[at + 1 :] if word.plain not in NEGATIONS), "")
    if plain in BE:
        return behind in BE or (behind.endswith("ing") and lemma(behind) in VERBS)
    if plain in {"have", "has", "had"}:
        return behind in BE or behind in PAST or (behind.endswith("ed") and len(behind) > 4)
    return plain in AUXILIARIES


def _is_past(words: Sequence[Word], at: int) -> bool:
    plain = words[at].plain
    helped = at > 0 and (words[at - 1].plain in BE or words[at - 1].plain in AUXILIARIES)
    return not helped and (plain in PAST or (plain.endswith("ed") and lemma(plain) != "need"))


def _assigned(rest: Sequence[Word]) -> bool:
    """Whether it goes on "changed to …", "replaced by …": what comes behind is the new value."""
    return len(rest) > 2 and lemma(rest[0].plain) in ASSIGNED and rest[1].plain in {"to", "by"}


def _valued(subject: tuple[str, ...], verb: str, rest: list[Word], *, assigned: bool) -> Claim:
    at = 2 if assigned else 0
    if verb == "be" and not assigned and rest and lemma(rest[0].plain) in PARTICIPLES:
        at = 1
    while at < len(rest) - 1 and lemma(rest[at].plain) in PLACES and not assigned:
        at += 1
    lead = () if assigned else _stems(rest[:at])
    end = _until_modifier(rest, at) if at < len(rest) else at
    value = rest[at:end]
    return Claim(subject, verb, lead, _stems(value), tuple(word.raw for word in value), _scopes(rest[end:]))


def _scopes(words: Sequence[Word]) -> tuple[tuple[str, ...], ...]:
    """Part what stands behind the value at its prepositions."""
    found: list[list[str]] = []
    for word in _stems(words):
        if word in MODIFIERS or not found:
            found.append([word])
        else:
            found[-1].append(word)
    return tuple(tuple(part) for part in found)
