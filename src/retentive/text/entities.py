"""Names in a text, found by their capitals and confirmed by where they stand.

A capital in mid-sentence is a name. At the start of a sentence every word has one, so there a single word counts only
when something else speaks for it: it is the speaker, is already known, stands capitalised elsewhere in the text, or is
spelt like a name (``NASA``, ``GitHub``, ``R2D2``). Handles (``@anna``) are names; hashtags are topics, and are not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Final

from retentive.text.commonwords import COMMON_WORDS, HONORIFICS, PARTICLES
from retentive.text.lazy import Lazy
from retentive.text.stopwords import STOP_WORDS

MAX_WORDS: Final = 5
_HEADLINE: Final = 8
"""A name has at most so many words; that many capitals in a row, common words included, are a headline."""

_ROLES: Final = frozenset(
    ("user", "assistant", "system", "human", "bot", "agent", "ai", "tool", "function", "developer")
)
_LONGEST_KEY: Final = 80

_UPPER: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1fff"
"""Blocks in which capitals and small letters alternate count as a whole; ``_is_common`` looks again."""

_WORD: Final = rf"[{_UPPER}]\w*(?:[-'\u2019&.]\w+)*|[a-z]{{1,2}}[{_UPPER}]\w+"
_TITLE: Final = r"(?:Dr|Mr|Mrs|Ms|Prof|St)\. "
_JOIN: Final = r" (?:(?:of|de|van|von|der|den|da|di|du|la|le|del|al|bin|ibn|&)(?: the| la| den| der)? )?"
_RUN: Final = Lazy(rf"@(\w+)|(?<![\w@#])((?:{_TITLE})?(?:{_WORD})(?:{_JOIN}(?:{_TITLE})?(?:{_WORD}))*)")
_OPENER: Final = Lazy(
    rf"\s*([{_UPPER}][\w\u2019'-]{{2,}})(?:'s|\u2019s)? (?:(?:also|never|always|still|now|just|has|had|is|was|will|can"
    r"|may|must|wants|took|went|got|said|told|gave|made|left|met|came|saw|sold|bought|became|began|kept|knew|let|ran"
    r"|sent|wrote|would|could|should|does|did|and|or)\b|[a-z]{2,}(?:s|ed)\b)"
)
_OPENING: Final = " \t\"'`*_([{<>\u201c\u2018\u00ab\u2022-\u2013\u2014#"
_ENDING: Final = ".!?\n\r:;\u2026\u3002\u2026"
_POSSESSIVE: Final = Lazy(r"['\u2019](?:s|S)?$|['\u2019](?:ll|re|ve|d|m)$")
_SPACES: Final = Lazy(r"\s+")
_TOKEN: Final = Lazy(r"\w+(?:[-'\u2019&.]\w+)*")


@lru_cache(16_384)
def entity_key(name: str) -> str:
    """The form under which a name is stored and looked up: no case, honorific, possessive or doubled space."""
    folded = _SPACES.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip(" \t.,;:!?\"'@\u2019")
    words = [_POSSESSIVE.sub("", word) if "'" in word or "\u2019" in word else word for word in folded.split(" ")]
    while len(words) > 1 and words[0].rstrip(".") in HONORIFICS:
        del words[0]
    return " ".join(words)


def name_parts(key: str) -> tuple[str, ...]:
    """The parts by which people also call a name of several words; nothing for a name of one."""
    parts = [part for part in key.split(" ") if len(part) > 1 and part not in PARTICLES and part not in STOP_WORDS]
    return tuple(dict.fromkeys(parts)) if " " in key else ()


def entities(text: str, *, speaker: str | None = None, known: Collection[str] = ()) -> tuple[str, ...]:
    """The keys of the names in a text, the speaker first, then in reading order, each once.

    ``known`` holds keys that are names already; it confirms a word that only starts a sentence.
    """
    spoken = entity_key(speaker) if speaker else ""
    own = {spoken, *name_parts(spoken)} if spoken else set[str]()
    sure, unsure = _sort(text, lambda key: key in known or key in own)
    if unsure:
        sure += _repeated(unsure, sure)
    named = dict.fromkeys(key for _, key in sorted(sure))
    if spoken and spoken not in _ROLES:
        named = {spoken: None} | named
    return tuple(named)


def opening_name(text: str) -> str:
    """The key of a capitalised opening word that acts like a name: "Marta took over", "Okoro is chief buyer".

    What people tell an agent to remember often begins with the one it is about, and there every word has a capital.
    A noun slips through now and then ("Lunch was late"); as an index key that nobody asks for by name it does no harm.
    """
    found = _OPENER.match(text)
    if found is None or found[1].casefold() in COMMON_WORDS:
        return ""
    return entity_key(found[1])


def cue_entities(text: str, known: Callable[[str], bool] | Collection[str]) -> tuple[str, ...]:
    """The names a cue mentions: those spelt as names, and whatever matches a known key however it is spelt.

    To have "anna" find "anna müller", let ``known`` accept the parts as well (see ``name_parts``).
    """
    knows = known if callable(known) else known.__contains__
    sure, _ = _sort(text, knows)
    named = dict.fromkeys(key for _, key in sure)
    return tuple(named | dict.fromkeys(_mentions(text, knows)))


def _mentions(text: str, knows: Callable[[str], bool]) -> Iterator[str]:
    """Known keys of up to four words, the longest first, none overlapping another."""
    words = [entity_key(word) if len(word) <= _LONGEST_KEY else "" for word in _TOKEN.findall(text)]
    at = 0
    while at < len(words):
        for size in range(min(4, len(words) - at), 0, -1):
            key = " ".join(words[at : at + size])
            if key and (size > 1 or key not in STOP_WORDS) and knows(key):
                yield key
                at += size - 1
                break
        at += 1


def _sort(text: str, knows: Callable[[str], bool]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Position and key of every name, and of every word that might only be starting its sentence."""
    sure: list[tuple[int, str]] = []
    unsure: list[tuple[int, str]] = []
    shouting = text.isupper() and " " in text
    for match in _RUN.finditer(text):
        at = match.start()
        if handle := match[1]:
            sure += [(at, entity_key(handle))] if len(handle) <= _LONGEST_KEY else []
            continue
        starts = _starts_sentence(text, at)
        for offset, name in _names(match[2], starts=starts):
            key = entity_key(name) if len(name) <= _LONGEST_KEY else ""
            if not key:
                continue
            plain = shouting or (starts and not offset and " " not in name and not _spelt_as_name(name))
            (unsure if plain and not knows(key) else sure).append((at + offset, key))
    return sure, unsure


def _starts_sentence(text: str, at: int) -> bool:
    at -= 1
    while at >= 0 and text[at] in _OPENING:
        at -= 1
    return at < 0 or text[at] in _ENDING


def _names(run: str, *, starts: bool) -> list[tuple[int, str]]:
    """A run of capitals without the words that have theirs for another reason, cut after a possessive."""
    if " " not in run:
        return [] if _is_common(run, starts=starts) else [(0, run)]
    found: list[list[tuple[int, str]]] = [[]]
    at = 0
    words = run.split(" ")
    for word in words if len(words) <= _HEADLINE else ():
        if _is_common(word, starts=starts and not at) and not (word in PARTICLES and found[-1]):
            found.append([])
        else:
            found[-1].append((at, word))
            if _POSSESSIVE.search(word):
                found.append([])
        at += len(word) + 1
    return [named for words in found if (named := _joined(words))]


def _joined(words: list[tuple[int, str]]) -> tuple[int, str] | None:
    while words and words[-1][1] in PARTICLES:
        words.pop()
    while words and words[0][1] in PARTICLES:
        words.pop(0)
    if not words or len(words) > MAX_WORDS:
        return None
    return words[0][0], " ".join([word for _, word in words])


def _is_common(word: str, *, starts: bool) -> bool:
    if word[0] > "\x7f" and not word[0].isupper():
        return True
    folded = _POSSESSIVE.sub("", word).casefold()
    if folded == "will" and not starts and word == "Will":
        return False
    return folded in COMMON_WORDS or (len(folded) == 1 and folded.isalpha()) or folded.isdigit()


def _spelt_as_name(word: str) -> bool:
    """An acronym, inner capitals or a digit: no ordinary word looks so, wherever it stands."""
    bare = _POSSESSIVE.sub("", word)
    return len(bare) > 1 and not bare[1:].islower() and not bare.replace("-", "")[1:].islower()


def _repeated(unsure: list[tuple[int, str]], sure: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Sentence starters that the same text also uses as a name, or starts more than one sentence with."""
    seen: dict[str, int] = {}
    for _, key in unsure:
        seen[key] = seen.get(key, 0) + 1
    confirmed = {part for _, key in sure for part in (key, *name_parts(key))}
    return [(at, key) for at, key in unsure if key in confirmed or seen[key] > 1]
