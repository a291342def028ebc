"""Small integers for strings that repeat, and plain data as bytes: parts of what a cache keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Codes:
    """Small integers for strings that repeat: kinds, sessions."""

    def __init__(self) -> None:
        self._names: list[str | None] = []
        self._codes: dict[str | None, int] = {}
        self._table: NDArray[Any] = np.empty(0, dtype=object)  # the names again, to look many up at once

    def encode(self, names: Iterable[str | None]) -> list[int]:
        """Return the codes of some names, new ones where needed."""
        return [self._code(name) for name in names]

    def decode(self, codes: NDArray[np.int32]) -> tuple[str | None, ...]:
        """Return the names of some codes."""
        if len(self._table) != len(self._names):
            self._table = np.array(self._names, dtype=object)
        names: list[str | None] = self._table[codes].tolist() if len(codes) else []
        return tuple(names)

    def find(self, names: Iterable[str]) -> list[int]:
        """Return the codes of those names that occur."""
        return [self._codes[name] for name in names if name in self._codes]

    def packed(self, used: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return the names as bytes, those left out that no row has any more."""
        kept = set(used.tolist())
        names = [name if code in kept else None for code, name in enumerate(self._names)]
        return packed(names)

    @classmethod
    def unpacked(cls, array: NDArray[np.uint8]) -> Codes:
        """Come back."""
        codes = cls()
        codes._names = json.loads(array.tobytes())
        codes._codes = {name: code for code, name in reversed(list(enumerate(codes._names)))}
        return codes

    def _code(self, name: str | None) -> int:
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self._names)
            self._names.append(name)
        return code


def packed(value: object) -> NDArray[np.uint8]:
    """Return plain data as bytes."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
