"""Typed memories taken from turns without a model: what speakers like, are, decided, promise and know how to do.

Nothing is rewritten: a memory is the clause as it was said, with its speaker beside it. So it can be wrong only in what
it was taken for. English; other languages yield nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from retentive.observe.grammar import (
    BIRTHDAY,
    CUT,
    DECISION,
    FACT,
    FAVOURITE,
    HOME,
    LEADING,
    NAMED,
    OPENERS,
    PREFERENCE,
    PROCEDURE,
    PROMISE,
    PROMISE_OF_AN_ASSISTANT,
    TIMED,
    TIMED_DUTY,
    TIMED_PROMISE_OF_AN_ASSISTANT,
)
from retentive.observe.turns import ASSISTANT, SYSTEM, TOOL
from retentive.text.lazy import Lazy
from retentive.text.sentences import sentences

COMMITMENT: Final = "commitment"
KINDS: Final = ("preference", "fact", "decision", COMMITMENT, "procedure")
"""What is looked for. A commitment is stored as a ``decision`` tagged ``commitment``: the kinds are policy.md's."""

LONGEST: Final = 400  # characters of a sentence that may state one thing
LONGEST_TURN: Final = 20_000  # characters that are read of one turn
SHORTEST: Final = 3  # words: "I agreed" says nothing
_FENCED: Final = Lazy(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE: Final = Lazy(r"^\s*(?:>|\|).*$", re.MULTILINE)
_QUOTED: Final = Lazy(r"\"[^\"\n]{3,}\"|\u201c[^\u201d\n]{3,}\u201d")
_BULLET: Final = Lazy(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_NAME: Final = Lazy(r"^(?:[A-Z][\w'-]+|everyone|guys|team|folks),\s+")
_NEVER: Final = Lazy(r"(?:if|suppose|imagine|what if|maybe|perhaps|unless)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extract:
    """What was taken from a turn: its kind, its words, and the key it holds where there can be only one."""

    kind: str
    text: str
    key: str | None = None


def extract(text: str, role: str, speaker: str) -> list[Extract]:
    """Return what a turn states, in order, each once. Tools and instructions state nothing: they are not people."""
    if role in {TOOL, SYSTEM}:
        return []
    found = [
        item
        for sentence in sentences(_plain(text[:LONGEST_TURN]))
        if len(sentence) <= LONGEST and not sentence.rstrip("\"' )").endswith("?")
        for item in _stated(_BULLET.sub("", sentence), role, speaker)
    ]
    return list(dict.fromkeys(item for item in found if len(item.text.split()) >= SHORTEST))


def _plain(text: str) -> str:
    """Return what the speaker says themselves: no code, no quotations, one kind of apostrophe."""
    text = _QUOTED_LINE.sub("", _FENCED.sub(" ", text))
    return _QUOTED.sub("\u2026", text).replace("\u2019", "'")


def _stated(sentence: str, role: str, speaker: str) -> Iterator[Extract]:
    whole = _opened(sentence)
    if PROCEDURE.match(whole):
        yield Extract("procedure", _trimmed(whole))
        return
    for clause in _clauses(sentence):
        led = LEADING.match(clause)
        kind = _kind_of(clause[led.end() :] if led else clause, role)
        if kind is not None:
            words = _trimmed(clause)
            yield Extract(kind, words, _key(words, speaker) if kind in {"fact", "preference"} else None)
        elif PROCEDURE.match(clause):
            yield Extract("procedure", _trimmed(clause))


def _clauses(sentence: str) -> list[str]:
    """Return the clauses without their openers. A clause behind an "if" is no statement."""
    if _NEVER.match(_opened(sentence)):
        return []
    parts = re.split(CUT.source, sentence, flags=CUT.flags)
    return [opened for part in parts if (opened := _opened(part)) and not _NEVER.match(opened)]


def _opened(text: str) -> str:
    """Return a clause from where it says something: without "Well," and without the name it is said to."""
    while True:
        found = OPENERS.match(text)
        shorter = text[found.end() :] if found else text
        shorter = _NAME.sub("", shorter).lstrip(" ,.:;!-\u2013\u2014\u2026")
        if shorter == text:
            return text
        text = shorter


def _kind_of(clause: str, role: str) -> str | None:
    """Return the first kind that fits. An assistant likes nothing and is nobody: it decides, promises and explains."""
    tests: Sequence[tuple[str, Callable[[str], object]]] = (
        ("decision", DECISION.match),
        (COMMITMENT, lambda said: _promised(said, role)),
        ("preference", PREFERENCE.match),
        ("fact", FACT.match),
    )
    for kind, holds in tests:
        if holds(clause) and not (role == ASSISTANT and kind in {"preference", "fact"}):
            return kind
    return None


def _promised(clause: str, role: str) -> bool:
    timed = bool(TIMED.search(clause))
    if role == ASSISTANT:
        return bool(PROMISE_OF_AN_ASSISTANT.match(clause) or (timed and TIMED_PROMISE_OF_AN_ASSISTANT.match(clause)))
    return bool(PROMISE.match(clause) or (timed and TIMED_DUTY.match(clause)))


def _key(clause: str, speaker: str) -> str | None:
    """Return the key of what a person has only one of, so that a later saying takes the place of an earlier one."""
    favourite = FAVOURITE.match(clause)
    if favourite:
        return f"{speaker}/favourite {' '.join(favourite[1].casefold().split())}"
    for attribute, pattern in (("name", NAMED), ("birthday", BIRTHDAY), ("home", HOME)):
        if pattern.match(clause):
            return f"{speaker}/{attribute}"
    return None


def _trimmed(clause: str) -> str:
    text = " ".join(clause.split()).rstrip(" ,;:.!\u2026\"')")
    return re.sub(r",? please$", "", text)
