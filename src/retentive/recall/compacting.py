"""A language model as a `Compactor`: it writes the facts, we write which memories each of them is from.

The model sees the memories quoted, by number, and answers facts with the numbers they rest on. The ids, kinds, dates
and marks of every line are ours, so none can be lost, swapped or invented; and a fact may state no figure that its
memories do not. Anything else is refused with its reason, and the extractive block takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from retentive.llm.asking import ask_json
from retentive.llm.protocol import Llm, Message, Schema
from retentive.recall.budget import Entry
from retentive.recall.lines import Line, visible
from retentive.recall.quoting import question
from retentive.text.tokens import query_terms

WORDS_PER_TOKEN: Final = 0.6  # what a model should aim at; it cannot count tokens
HEAD_TOKENS: Final = 12  # what naming one memory costs
LONGEST_FACT: Final = 1_000
LONGEST_SHOWN: Final = 4_000  # characters of one memory
REMINDER: Final = 'Answer with the JSON object alone, beginning with {"facts":'
_FIGURE: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class NoModel(Exception):
    """A policy asks for a language model, and none is named."""


class Unfaithful(Exception):
    """The answer forgets a memory, or states what none of them does."""


def task(words: int) -> str:
    """Return what the model is asked to do, in at most so many words."""
    return (
        "You shorten memories so that they fit into a prompt. Write the facts in them in as few words as possible, "
        f"at most {words} words in all. Put memories that say the same into one fact. Keep names, dates, figures "
        "and negations exactly as they are; add nothing, explain nothing. Every memory must be named by at least "
        "one fact.\n\n"
        'Answer with JSON alone: {"facts": [{"ids": [1, 3], "text": "..."}]}'
    )


def schema(entries: int) -> Schema:
    """Return the shape of an answer about so many memories."""
    numbers = {"type": "array", "minItems": 1, "maxItems": entries, "items": {"type": "integer"}}
    text = {"type": "string", "minLength": 2, "maxLength": LONGEST_FACT}
    fact = {"type": "object", "required": ["ids", "text"], "properties": {"ids": numbers, "text": text}}
    facts = {"type": "array", "minItems": 1, "maxItems": entries, "items": fact}
    return {"type": "object", "required": ["facts"], "properties": {"facts": facts}}


class LlmCompactor:
    """Compacts by a language model; ``llm`` is asked for when there is something to compact."""

    def __init__(self, llm: Callable[[], Llm | None], language: str = "english") -> None:
        self._llm = llm
        self._language = language

    def compact(self, entries: Sequence[Entry], budget: int) -> str:
        """Return the block's text: a line for each fact, behind the heads of the memories it is from."""
        llm = self._llm()
        if llm is None:
            raise NoModel("no language model is named")
        parsed = ask_json(llm, asked_about(entries, budget), schema(len(entries)), attempts=1)
        return self._block(parsed.data, entries)

    def _block(self, data: Mapping[str, Any], entries: Sequence[Entry]) -> str:
        lines: list[str] = []
        named: set[int] = set()
        for fact in data["facts"]:
            numbers = list(dict.fromkeys(n for n in fact["ids"] if 1 <= n <= len(entries)))
            self._check(fact["text"], [entries[n - 1] for n in numbers])
            named.update(numbers)
            heads = "; ".join(entries[n - 1].head.rstrip(":") for n in numbers)
            lines.append(f"{heads}: {visible(fact['text'])}")
        forgotten = [entry.id for number, entry in enumerate(entries, 1) if number not in named]
        if forgotten:
            raise Unfaithful(f"the answer names no fact of {len(forgotten)} memories")
        return "\n".join(lines)

    def _check(self, fact: str, entries: Sequence[Entry]) -> None:
        if not entries:
            raise Unfaithful("a fact names no memory that was shown")
        said = " ".join(f"{entry.head} {entry.text}" for entry in entries)
        if set(_FIGURE.findall(fact)) - set(_FIGURE.findall(said)):
            raise Unfaithful("a fact states a figure that its memories do not")
        words = set(query_terms(fact, language=self._language))
        if words and not words & set(query_terms(said, language=self._language)):
            raise Unfaithful("a fact shares no word with its memories")


def asked_about(entries: Sequence[Entry], budget: int) -> list[Message]:
    """Return the question: the memories by number, and how many words they may have."""
    words = max(int((budget - HEAD_TOKENS * len(entries)) * WORDS_PER_TOKEN), len(entries))
    lines = [
        Line(str(number), "memory", "", "", f"{entry.head} {entry.text}"[:LONGEST_SHOWN])
        for number, entry in enumerate(entries, 1)
    ]
    return question(task(words), lines, REMINDER)
