"""The one tokenisation behind every lexical index, so that each store finds the same memories.

Text is cut into chunks by one regular expression: a word, or several joined by connectors (``api_key``, ``JIRA-123``,
``src/app.py``, ``anna@example.com``). A chunk becomes its whole form and its parts, so that an exact identifier is
found exactly and a half-remembered one by its pieces. The costly part is done once per distinct chunk.

- A whole form drops hyphens and underscores unless they separate digits: ``e-mail`` meets ``email`` and ``api_key``
  meets ``apiKey``, while ``555-1234`` is not ``5551234``.
- Words are stemmed; anything with a digit or an underscore is not.
- Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese runs become overlapping pairs of characters (and, in the
  index, single ideographs too, so that a one-character query still finds them).
- Stop words leave queries only. The index keeps them, for the query that has nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Final, NamedTuple

from retentive.text.languages import ENGLISH, NONE, Language, checked_language, language_named
from retentive.text.lazy import Lazy

MAX_TERM: Final = 128
"""Longer terms are cut here: a pasted blob must not become a megabyte term. A sha-512 in hex still fits."""

_CACHED_CHUNK: Final = 48
_CACHE_SIZE: Final = 32_768
_ESCAPE: Final = "x0x"

# Marks are not \w to `re`, but Indic words are unreadable without theirs; these blocks hold letters and marks only.
_MARKED: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c2\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0df3"
_IDEOGRAPHS: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa"
    f"\u30fc-\u30ff\u31f0-\u31ff\uac00-\ud7a3{_IDEOGRAPHS}"
)
_INVISIBLE: Final = dict.fromkeys(
    point
    for first, last in (
        (0xAD, 0xAD),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x2069),
        (0xFE00, 0xFE0F),
        (0xFEFF,) * 2,
    )
    for point in range(first, last + 1)
)
_UNSEEN: Final = _INVISIBLE | {0x2019: "'", 0x2BC: "'"}
"""Characters to drop, and the apostrophes that are typed as another one."""

_FOLDED: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"})
_ACCENTS: Final = Lazy("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")

_NUMBER_OR_LANGUAGE: Final = r"\d{1,3}(?:,\d{3})+(?![\d,])|\b[CFcf](?:\+\+|#)"
_CONNECTOR: Final = r"(?:[-.'/@&+]|::?|:?\\+)"
_WORD: Final = rf"[^\W{_UNSPACED}](?:[^\W{_UNSPACED}]|[{_MARKED}])*"
_ASCII_CHUNK: Final = Lazy(
    rf"https?://[^\s<>\"'`]+|{_NUMBER_OR_LANGUAGE}|\w+(?:{_CONNECTOR}\w+)*", re.ASCII | re.IGNORECASE
)
_CHUNK: Final = Lazy(
    rf"[{_UNSPACED}]+|https?://[^\s<>\"'`{_UNSPACED}]+|{_NUMBER_OR_LANGUAGE}|{_WORD}(?:{_CONNECTOR}{_WORD})*"
)
_RUN: Final = Lazy(rf"[{_UNSPACED}]+")
_IDEOGRAPH: Final = Lazy(f"[{_IDEOGRAPHS}]")

_URL: Final = Lazy(r"https?://(?:www\.)?", re.IGNORECASE)
_ASCII_PIECES: Final = Lazy(r"\w(?:[\w.'-]*\w)?", re.ASCII)
_PIECES: Final = Lazy(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}](?:[\w.'{_MARKED}-]*[\w{_MARKED}])?")
_PARTS: Final = Lazy(r"[^-_.']+")
_CAMEL: Final = Lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TWO_RUNS: Final = Lazy(r"([^\W\d_]+)(\d+)|(\d+)([^\W\d_]+)")
_ORDINAL: Final = frozenset(("st", "nd", "rd", "th", "s"))
_JOINT: Final = Lazy(r"(?<!\d)[-_]|[-_](?!\d)|[']")
_CONTRACTED: Final = Lazy(r"['](?:s|ll|re|ve|d|m)$", re.IGNORECASE)
_VERSION: Final = Lazy(r"v(?=\d)")
_DOTTED: Final = Lazy(r"[^\W\d_](?:\.[^\W\d_])+")
_URL_TAIL: Final = ".,;:!?)]}'\"/"

_CANDIDATE: Final = Lazy(r"[\d_@/\\:.]|[a-z][A-Z]|\+\+|#")
_ROOTED: Final = Lazy(r"(?<![\w/.:])~?(/\w[\w.-]*(?:/[\w.-]+)*)")
# Letters beside digits in one chunk, dotted or hyphenated digit groups, or a bare number of order-number length.
_MIXED: Final = Lazy(r"(?=.*\d)(?=.*[^\W\d_])|\d+(?:\.\d+){2}|(?=(?:\D*\d){7})\d+-\d|^\d{6,}$")
# An address, an inner underscore, a path or module of several steps, a camel-case symbol, a file or host by its ending.
_SYMBOL: Final = Lazy(
    r"\w@\w|[^\W_]_|\\|::|(?:[^/]+/){2}|^[a-z]{2,}[A-Z]\w*$|^[CFcf](?:\+\+|#)$"
    r"|\w\.(?i:py|ipynb|js|tsx?|jsx|md|rst|txt|json|toml|ya?ml|csv|pdf|docx?|xlsx?|pptx?|html?|css|sh|sql|go|rs|java|cpp|rb"
    r"|php|png|jpe?g|svg|gif|log|cfg|ini|lock|xml|zip|gz|tar|exe|com|org|net|edu|gov|io|dev|ai|app|co)$"
)
# Numbers with a unit, clock times, ordinals, decades, "3-day", "mid-2023" and calendar dates.
_QUANTITY: Final = Lazy(
    r"\d{1,5}(?:[.,:]\d+|(?:,\d{3})+|(?::\d\d){2})?[^\W\d_]{0,3}|\d+(?:-[^\W\d_]+)+|[^\W\d_]{2,5}-(?:19|20)\d\ds?"
    r"|\d{1,4}([-/.])\d{1,2}\1\d{2,4}|(?:19|20)\d\d-\d\d-\d\d",
    re.IGNORECASE,
)


class _Analysis(NamedTuple):
    """What one chunk contributes: everything to an index, less the stop words to a query."""

    every: tuple[str, ...]
    telling: tuple[str, ...]


def terms(text: str, *, language: str = ENGLISH) -> list[str]:
    """Every term of a text in reading order, repetitions included: what an index stores."""
    known = _analyser(language)
    return list(chain.from_iterable([known[chunk].every for chunk in chunks(text)]))


def query_terms(text: str, *, language: str = ENGLISH) -> list[str]:
    """The distinct terms a cue is searched by: no stop words, unless it has nothing else."""
    known = _analyser(language)
    found = [known[chunk] for chunk in chunks(text)]
    telling = dict.fromkeys(chain.from_iterable([each.telling for each in found]))
    return list(telling or dict.fromkeys(chain.from_iterable([each.every for each in found])))


def identifiers(text: str) -> frozenset[str]:
    """The exact names in a text, folded: codes, tickets, versions, addresses, paths, code symbols.

    A number, a time, a date or a hyphenated word is not one: sharing it does not mean that the cue names the memory.
    """
    if not _CANDIDATE.search(text):
        return frozenset()
    rooted = (fold(path).strip("/.") for path in _ROOTED.findall(text)) if "/" in text else ()
    return frozenset(chain((name for chunk in chunks(text) if (name := _identifier(chunk))), rooted))


def chunks(text: str) -> list[str]:
    """The words and joined words of a text as they were written, composed and without invisible characters."""
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    return _CHUNK.findall(unicodedata.normalize("NFKC", text.translate(_UNSEEN)))


def fold(text: str) -> str:
    """Case and accents removed: ``Müller`` and ``MULLER`` are one name. Scripts whose marks are letters keep them."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).casefold().translate(_FOLDED)


def encode(terms: Iterable[str]) -> str:
    """Terms as one line that every full-text engine splits back into exactly these terms.

    A plain lower-case ASCII word stands for itself; anything else is ``x0x`` and its UTF-8 in hex, one alphanumeric
    token to SQLite's unicode61, to Tantivy and to PostgreSQL alike.
    """
    return " ".join([encode_term(term) for term in terms])


def encode_term(term: str) -> str:
    """One term as one lower-case ASCII alphanumeric token."""
    if term.isascii() and term.isalnum() and term.islower() | term.isdigit() and not term.startswith(_ESCAPE):
        return term
    return _ESCAPE + term.encode("utf-8", "surrogatepass").hex()


def decode(line: str) -> list[str]:
    """What ``encode`` was given."""
    return [
        bytes.fromhex(token[len(_ESCAPE) :]).decode("utf-8", "surrogatepass") if token.startswith(_ESCAPE) else token
        for token in line.split()
    ]


def _identifier(chunk: str) -> str:
    if _URL.match(chunk):
        return fold(_URL.sub("", chunk, count=1).rstrip(_URL_TAIL))
    chunk = _CONTRACTED.sub("", chunk).strip("_")
    if len(chunk) > MAX_TERM:
        return ""
    if _QUANTITY.fullmatch(chunk) or not (_MIXED.search(chunk) or _SYMBOL.search(chunk)):
        return ""
    return fold(chunk)


def _analyser(language: str) -> _Known:
    known = _ANALYSERS.get(language)
    if known is None:
        known = _ANALYSERS.setdefault(checked_language(language), _Known(language_named(language)))
    return known


class _Known(dict[str, _Analysis]):
    """What chunks come to, remembered: a dictionary answers what it knows without a call.

    Bounded by bytes as well as entries: one huge chunk must not live in it. Threads may work a chunk out twice.
    """

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language._replace(stops=frozenset(map(fold, language.stops)))

    def __missing__(self, chunk: str) -> _Analysis:
        found = _analyse(chunk, self._language)
        if len(chunk) <= _CACHED_CHUNK:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[chunk] = found
        return found


def _analyse(chunk: str, language: Language) -> _Analysis:
    if not chunk.isascii() and _RUN.fullmatch(chunk):
        return _pairs(chunk)
    if chunk[1:] in {"++", "#"}:
        return _both((chunk.lower(),))
    if chunk.isalpha():
        return _word(chunk, language)
    return _compound(chunk, language)


def _both(found: tuple[str, ...]) -> _Analysis:
    found = tuple(filter(None, found))
    return _Analysis(found, found)


def _pairs(run: str) -> _Analysis:
    """Overlapping pairs: the usual search in scripts that do not space their words."""
    folded = fold(run)
    if len(folded) < 2:
        return _both((folded,))
    pairs = tuple(left + right for left, right in pairwise(folded))
    return _Analysis((*_IDEOGRAPH.findall(folded), *pairs), pairs)


def _word(chunk: str, language: Language) -> _Analysis:
    """A plain word: stemmed, and with its parts when it is written in camel case."""
    whole = fold(chunk)
    forms = _forms(chunk, whole, language)
    if whole in language.stops and chunk not in language.meant:
        return _Analysis(forms, ())
    return _both(tuple(dict.fromkeys((*forms, *_humps(chunk, language)))))


def _forms(chunk: str, whole: str, language: Language) -> tuple[str, ...]:
    """The stem of a word as it was written, and where that has accents, of the word as it is often typed: both meet."""
    plain = _stemmed(whole, language)
    if language.ascii_only or language.stem is None or chunk.isascii() or len(chunk) > MAX_TERM:
        return (plain,)
    return tuple(dict.fromkeys((fold(language.stem(chunk.casefold())), plain)))


def _humps(word: str, language: Language) -> Iterator[str]:
    if word.isascii() and not (word.islower() or word[1:].islower() or word.isupper()):
        for hump in _CAMEL.findall(word):
            yield _stemmed(hump.lower(), language)


def _stemmed(word: str, language: Language) -> str:
    stem = language.stem
    if stem is None or len(word) > MAX_TERM or not word.isalpha() or (language.ascii_only and not word.isascii()):
        return word[:MAX_TERM]
    return stem(word)[:MAX_TERM]


def _compound(chunk: str, language: Language) -> _Analysis:
    """Several words in one: the whole as a name of its own, then what it is made of, each once."""
    if _URL.match(chunk):
        chunk = _URL.sub("", chunk, count=1).rstrip(_URL_TAIL)
    chunk = _CONTRACTED.sub("", chunk.replace(",", "")).strip("_")
    if language.article is not None:
        chunk = language.article.sub("", chunk)
    if not chunk or chunk.isalpha():
        return _word(chunk, language) if chunk else _both(())
    parts = _Analysis((), ())
    if not _DOTTED.fullmatch(chunk):
        parts = _parts(chunk, language)
    whole = _whole(chunk, language)
    little = bool(parts.every) or whole[0] in language.stops
    idle = not parts.telling and little and chunk not in language.meant and bool(language.stops)
    every = tuple(dict.fromkeys((*whole, *parts.every)))
    return _Analysis(every, () if idle else tuple(dict.fromkeys((*whole, *parts.telling))))


def _whole(chunk: str, language: Language) -> tuple[str, ...]:
    """The chunk as one term; a version also without its ``v``; nothing when it is too long to be a name."""
    folded = fold(chunk)
    if _DOTTED.fullmatch(folded):
        return (folded.replace(".", ""),)
    if len(folded) > MAX_TERM:
        return (folded[:MAX_TERM],) if folded.isalnum() else ()
    joined = _JOINT.sub("", folded)
    if joined.isalpha() and "_" not in chunk:
        return (_stemmed(joined, language),)
    return (joined, joined[1:]) if _VERSION.match(joined) else (joined,)


def _parts(chunk: str, language: Language) -> _Analysis:
    every: list[str] = []
    telling: list[str] = []
    ascii_only = chunk.isascii()
    for piece in (_ASCII_PIECES if ascii_only else _PIECES).findall(chunk):
        if not ascii_only and _RUN.fullmatch(piece):
            found = [_pairs(piece)]
        else:
            found = [_part(part, language) for part in _PARTS.findall(piece)] if "'" not in piece else []
            if piece != chunk and len(found) != 1:
                found.append(_both(_whole(piece, language)))
        for each in found:
            every += each.every
            telling += each.telling
    return _Analysis(tuple(every), tuple(telling))


def _part(part: str, language: Language) -> _Analysis:
    """One part of a compound. A single character is indexed but too common to search by."""
    if len(part) == 1:
        return _Analysis((fold(part),), ())
    if part.isalpha():
        return _word(part, language)
    runs = _TWO_RUNS.fullmatch(part)
    split = tuple(fold(run) for run in runs.groups() if run) if runs else ()
    kept = [run for run in split if (len(run) > 1 or run.isdigit()) and run not in _ORDINAL]
    return _both(tuple(run[:MAX_TERM] for run in (fold(part), *kept)))


_ANALYSERS: Final = {name: _Known(language_named(name)) for name in (ENGLISH, NONE)}
