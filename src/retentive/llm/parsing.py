"""From a model's answer to data of a known shape, or a reason why not. Nothing a model says can crash this.

Answers come fenced, with a preface, after a train of thought, with trailing commas, cut off in the middle, or with the
right values of the wrong type. All of that is read. Prose, refusals and loops hold no value of the shape: `Misshapen`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from retentive.llm.protocol import Schema
from retentive.llm.shape import Misshapen, Shaper
from retentive.llm.tolerant import Unreadable, read_value

LONGEST_ANSWER: Final = 400_000  # characters that are looked at; a longer answer is a loop
_CANDIDATES: Final = 24  # places where a value may begin: an answer of nothing but brackets costs no more than this
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """Data in the shape asked for; ``cut``: the answer broke off inside it; ``dropped``: array elements of no use."""

    data: Any
    cut: bool = False
    dropped: int = 0


def parse_answer(text: object, schema: Schema) -> Parsed:
    """Return the first value in an answer that has the schema's shape; `Misshapen` says why there is none."""
    if not isinstance(text, str):
        raise Misshapen(f"the answer is no text but {type(text).__name__}")
    if not text.strip():
        raise Misshapen("the answer is empty")
    reason: Misshapen | None = None
    for data, cut in _values(_THOUGHT.sub(" ", text[:LONGEST_ANSWER])):
        shaper = Shaper()
        try:
            shaped = shaper.shaped(data, schema)
        except Misshapen as error:
            reason = reason or error  # the first value is the likeliest to have been meant
        else:
            return Parsed(shaped, cut, shaper.dropped)
    raise reason or Misshapen("there is no JSON in the answer", f", which begins {text.strip()[:60]!r}")


def _values(text: str) -> Iterator[tuple[Any, bool]]:
    """Yield the values in a text: all of it where it is one, else what begins at each bracket outside the last."""
    with suppress(ValueError, RecursionError):
        yield json.loads(text), False
    at, tried = 0, 0
    while tried < _CANDIDATES and (found := _OPENING.search(text, at)):
        tried += 1
        at = found.end()
        try:
            value = read_value(text, found.start())
        except Unreadable:
            continue
        at = max(at, value.end)
        yield value.data, value.cut
