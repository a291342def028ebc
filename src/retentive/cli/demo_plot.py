"""Curves in a terminal: eight braille dots a character, and a letter on each curve for want of colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

BLANK: Final = 0x2800
DOTS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # the bit of a dot by column, then row
ASCII_DOT: Final = "."


class Canvas:
    """A field of characters on which curves with values from 0 to 1 are drawn, each in its style."""

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self._width, self._height, self._ascii = width, height, ascii_only
        self._bits = [[0] * width for _ in range(height)]
        self._styles = [[""] * width for _ in range(height)]
        self._letters: dict[tuple[int, int], str] = {}

    @property
    def samples(self) -> int:
        """How many values a curve has: one for each column of dots."""
        return self._width * 2

    def draw(self, values: Sequence[float], style: str) -> None:
        """Draw one curve, joined up where it is steep."""
        rows = [self._row(value) for value in values]
        for x, row in enumerate(rows):
            before = rows[max(0, x - 1)]
            for y in range(min(row, before + (row > before)), max(row, before - (row < before)) + 1):
                self._dot(x, y, style)

    def _row(self, value: float) -> int:
        return round((1.0 - min(1.0, max(0.0, value))) * (self._height * 4 - 1))

    def _dot(self, x: int, y: int, style: str) -> None:
        self._bits[y // 4][x // 2] |= DOTS[x % 2][y % 4]
        self._styles[y // 4][x // 2] = style

    def label(self, curves: Sequence[Sequence[float]], letters: str, styles: Sequence[str]) -> None:
        """Put each curve's letter on it, where it stands farthest from the others."""
        for at, curve in enumerate(curves):
            others = [other for index, other in enumerate(curves) if index != at]
            x = max(range(2, self.samples - 2), key=lambda x: min(abs(curve[x] - other[x]) for other in others))
            spot = (self._row(curve[x]) // 4, x // 2)
            self._letters[spot] = letters[at]
            self._styles[spot[0]][spot[1]] = f"bold {styles[at]}"

    def lines(self) -> list[Text]:
        """Return the drawing line by line."""
        return [self._line(row) for row in range(self._height)]

    def _line(self, row: int) -> Text:
        line = Text()
        for column in range(self._width):
            bits = self._bits[row][column]
            drawn = (ASCII_DOT if bits else " ") if self._ascii else chr(BLANK + bits) if bits else " "
            line.append(self._letters.get((row, column), drawn), style=self._styles[row][column])
        return line
