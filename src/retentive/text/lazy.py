"""Regular expressions compiled when first used.

The grammars of this package take a tenth of a second to compile, which every ``import`` and every ``--help`` would pay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class Lazy:
    """A pattern by its source. Its methods are those of the compiled pattern, bound once: later calls cost nothing."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.source, self.flags)

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """See ``re.Pattern.search``."""
        return self._compiled.search

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        """See ``re.Pattern.match``."""
        return self._compiled.match

    @cached_property
    def fullmatch(self) -> Callable[..., re.Match[str] | None]:
        """See ``re.Pattern.fullmatch``."""
        return self._compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[..., Iterator[re.Match[str]]]:
        """See ``re.Pattern.finditer``."""
        return self._compiled.finditer

    @cached_property
    def findall(self) -> Callable[..., list[Any]]:
        """See ``re.Pattern.findall``."""
        return self._compiled.findall

    @cached_property
    def sub(self) -> Callable[..., str]:
        """See ``re.Pattern.sub``."""
        return self._compiled.sub
