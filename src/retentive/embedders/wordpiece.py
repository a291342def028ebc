"""BERT's uncased WordPiece in plain Python: the ids `tokenizers` gives, without its 45 MB of dependencies.

Normalising, splitting and looking words up follow `BertNormalizer(lowercase=True)`, `BertPreTokenizer` and `WordPiece`
of `tokenizers`, compared over every code point and some thousands of texts (docs/decisions/0002-embedders.md). One
difference is wanted: `[SEP]` or `[MASK]` written inside a text is text, as with `encode_special_tokens=True`; a memory
must not be able to smuggle a control token into the model.

Speed comes from two caches. Most words of a language are few, so a word's pieces are remembered; and most texts are
ASCII, where one regular expression does the splitting. Both caches forget everything when full, which costs less than
keeping an order of use.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from retentive.embedders.unicode_classes import IDEOGRAPHS, PUNCTUATION, REMOVED, SPACES
from retentive.errors import InvalidInput

UNKNOWN = "[UNK]"
LONGEST_WORD = 100
"""Characters; the reference gives up on a longer word and calls it unknown."""
CACHED_WORDS = 65_536
CACHED_CHARACTERS = 16_384
SLICE = 65_536
"""Characters normalised at a time, so that a text of megabytes needs the memory of one slice."""

_ASCII_WORDS = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {point: None for point in (*range(0x20), 0x7F) if chr(point) not in "\t\n\r"}
_BOUNDARY = re.compile(r"[ \t\n\r!-/:-@\[-`{-~\u3400-\u4dbf\u4e00-\u9fff]")


class _Characters(dict[int, str]):
    """A table for `str.translate` that works out what a character becomes when it is first seen."""

    def __missing__(self, point: int) -> str:
        if len(self) >= CACHED_CHARACTERS:
            self.clear()
        self[point] = text = _normalised(point)
        return text


def _normalised(point: int) -> str:
    """What one character becomes: nothing, itself in lower case without accents, or a word of its own.

    Lowered one by one, as the reference does: within a word Python would write a final sigma.
    """
    if point in SPACES:
        return " "
    if point in REMOVED or 0xD800 <= point < 0xE000:  # a lone surrogate is no character at all
        return ""
    marks = [mark for mark in unicodedata.normalize("NFD", chr(point)) if ord(mark) not in REMOVED]
    text = "".join(f" {mark} " if ord(mark) in PUNCTUATION else mark.lower() for mark in marks)
    return f" {text} " if point in IDEOGRAPHS else text


class _Pieces(dict[str, tuple[int, ...]]):
    """Word → the ids of its pieces, worked out on first use; `map` over it runs at the speed of C."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._unknown = (vocabulary[UNKNOWN],)

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return self._unknown  # not remembered: the cache would hold the text of every blob it met
        if len(self) >= CACHED_WORDS:
            self.clear()
        self[word] = pieces = self._split(word)
        return pieces

    def _split(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece from the left, again and again; a word with a gap is unknown as a whole."""
        found: list[int] = []
        start = 0
        while start < len(word):
            piece = self._longest(word, start)
            if piece is None:
                return self._unknown
            found.append(piece[0])
            start = piece[1]
        return tuple(found)

    def _longest(self, word: str, start: int) -> tuple[int, int] | None:
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            found = self._vocabulary.get(prefix + word[start:end])
            if found is not None:
                return found, end
        return None


class WordPiece:
    """A BERT-uncased tokenizer over a vocabulary: the n-th token has id n."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.ids: Mapping[str, int] = {token: at for at, token in enumerate(vocabulary)}
        if UNKNOWN not in self.ids:
            raise InvalidInput(
                f"A WordPiece vocabulary needs the token {UNKNOWN!r}; got {len(vocabulary)} tokens without it. "
                "Pass the model's own vocab.txt.",
                tokens=len(vocabulary),
            )
        self.unknown = self.ids[UNKNOWN]
        self._pieces = _Pieces(self.ids)
        self._characters = _Characters()

    def words(self, text: str) -> list[str]:
        """Split into lower-case words, each punctuation mark and ideograph a word of its own."""
        if text.isascii():
            plain = text if text.isprintable() else text.translate(_ASCII_CONTROLS)
            return _ASCII_WORDS.findall(plain.lower())
        return text.translate(self._characters).split()

    def encode(self, text: str, limit: int | None = None) -> list[int]:
        """Return the ids of a text without special tokens, at most `limit` of them."""
        if limit is None and len(text) <= SLICE:
            return list(chain.from_iterable(map(self._pieces.__getitem__, self.words(text))))
        ids: list[int] = []
        for part in slices(text):
            ids.extend(chain.from_iterable(map(self._pieces.__getitem__, self.words(part))))
            if limit is not None and len(ids) >= limit:
                return ids[:limit]
        return ids


def slices(text: str) -> Iterator[str]:
    """Cut a long text where a new word begins anyway, so that the pieces have the words of the whole."""
    if len(text) <= SLICE:
        yield text
        return
    start = 0
    while start < len(text):
        gap = _BOUNDARY.search(text, start + SLICE)
        end = gap.start() if gap else len(text)
        yield text[start:end]
        start = end
