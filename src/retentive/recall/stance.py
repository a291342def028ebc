"""The stance of a question: who it is about, and whether it asks how things stand now. Small grammar, no model."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from retentive.text.tokens import chunks, fold

ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant"}
_FIRST_PERSON: Final = frozenset({"i", "my", "me", "mine", "myself", "we", "our", "us"})
_ASKED: Final = frozenset({"what", "which", "when", "where", "who", "whose", "why", "how"})
_YOU_SAID: Final = re.compile(
    r"\b(?:did you|you (?:had |have )?(?:said|told|suggested|recommended|mentioned|gave|provided|listed|explained"
    r"|advised|proposed)|your (?:suggestions?|recommendations?|advice|answers?|repl(?:y|ies)))\b",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(
    r"\s*(?:what|when|how|where|which|who)(?:['\u2019]s| (?:\w+ ){0,4}?(?:is|are|am|do|does|has|have|should|will)\b)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\W*(?:(?:and|or|but|also|then|so)\s+)*(?:what|when|how|where|which|who|whose|whom|why|is|are|was|were|do|does|did"
    r"|has|have|had|can|could|should|would|will)\b",
    re.IGNORECASE,
)
_PAST: Final = frozenset(
    "did was were had originally initially first before previously used ago happened yesterday last earlier earliest "
    "original order history".split()
)
_NOW: Final = frozenset("now currently current latest nowadays recent lately".split())
_VALUE: Final = re.compile(
    r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b"
)


@lru_cache(4096)
def words_of(text: str) -> frozenset[str]:
    """Return the folded words of a text."""
    return frozenset(chunks(fold(text)))


def role_asked(text: str) -> str | None:
    """Return whose turns a question is about: what the assistant said, or the user's own; None where neither."""
    if _YOU_SAID.search(text):
        return "assistant"
    return "user" if words_of(text) & _FIRST_PERSON else None


def wants_current(text: str) -> bool:
    """Whether a question asks how things stand now: it says so, or asks in the present tense and nothing says past."""
    words = words_of(text)
    return not words & _PAST and "between" not in words and bool(words & _NOW or _PRESENT.match(text))


def asks(text: str) -> bool:
    """Whether a clause is a question of its own: it begins like one."""
    return _ASKS.match(text) is not None


def asks_for(text: str) -> str | None:
    """Return the question word that stands first: two questions that differ in it ask for different things."""
    words = (word for word in chunks(fold(text)) if word in _ASKED)
    first = next(words, None)
    return "what" if first == "which" else first


def values_in(text: str) -> frozenset[str]:
    """Return what a text states as values that later texts may state anew: numbers, weekdays, months."""
    return frozenset(_VALUE.findall(text.lower()))
