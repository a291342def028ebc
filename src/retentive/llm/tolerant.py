"""Read JSON as language models write it: with trailing commas, other quotes, comments, Python's words, or cut off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

DEEPEST: Final = 64
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_WORDS: Final = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "NaN": None,
}  # fmt: skip
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUOTES: Final = {'"': '"', "'": "'", "“": "”"}


class Unreadable(ValueError):
    """Here is no JSON value."""


class _Cut(Exception):
    """The text ended inside a value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read, where it ended, and whether the text broke off inside it."""

    data: Any
    end: int
    cut: bool


def read_value(text: str, start: int = 0) -> Value:
    """Read the object, array or scalar that begins at ``start``; what was cut off keeps its complete parts."""
    reader = _Reader(text, start)
    try:
        data = reader.value(0)
    except _Cut:
        raise Unreadable("the text ends before a value") from None
    return Value(data, reader.at, reader.cut)


class _Reader:
    """A recursive-descent reader. A cut inside a member drops that member and closes everything around it."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.cut = False

    def value(self, depth: int) -> Any:
        self._skip()
        sign = self._peek()
        if depth > DEEPEST:
            raise Unreadable(f"nested deeper than {DEEPEST}")
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._array(depth)
        if sign in _QUOTES:
            return self._string(sign)
        return self._scalar()

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _peek(self) -> str:
        if self.at >= len(self.text):
            raise _Cut
        return self.text[self.at]

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        try:
            while self._more("}"):
                name = self._name()
                self._colon()
                self._member(found, name, depth)
        except _Cut:
            self.cut = True
        return found

    def _colon(self) -> None:
        self._skip()
        if self._peek() != ":":
            raise Unreadable(f"a colon was expected at {self.at}")
        self.at += 1

    def _member(self, found: dict[str, Any], name: str, depth: int) -> None:
        found[name] = self.value(depth + 1)
        self._check_cut()

    def _check_cut(self) -> None:
        if self.cut:
            raise _Cut

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        try:
            while self._more("]"):
                found.append(self.value(depth + 1))
                self._check_cut()
        except _Cut:
            self.cut = True
        return found

    def _more(self, closing: str) -> bool:
        """Step over commas; False at the closing bracket, which is eaten."""
        self._skip()
        while self._peek() == ",":
            self.at += 1
            self._skip()
        if self._peek() != closing:
            return True
        self.at += 1
        return False

    def _name(self) -> str:
        if self._peek() in _QUOTES:
            return self._string(self._peek())
        found = _WORD.match(self.text, self.at)
        if not found:
            raise Unreadable(f"a name was expected at {self.at}")
        self.at = found.end()
        return found[0]

    def _string(self, quote: str) -> str:
        closing, parts = _QUOTES[quote], []
        self.at += 1
        while (sign := self._peek()) != closing:
            self.at += 1
            parts.append(self._escaped() if sign == "\\" else sign)
        self.at += 1
        # Halves of a pair become one character; a lone half, which no store can hold, becomes the replacement sign.
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _escaped(self) -> str:
        sign = self._peek()
        self.at += 1
        if sign != "u":
            return _ESCAPES.get(sign, sign)
        digits = self.text[self.at : self.at + 4]
        self.at += 4
        try:
            return chr(int(digits, 16))
        except ValueError:
            return "\ufffd"

    def _scalar(self) -> Any:
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            if self.at == len(self.text):
                raise _Cut  # "1" may have been the beginning of "10"
            return _number(number[0])
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        if word and word.end() == len(self.text):
            raise _Cut
        raise Unreadable(f"no value at {self.at}")


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
