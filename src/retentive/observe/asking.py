"""What a language model is asked about turns, and what of its answer counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from retentive.llm.protocol import Llm, Message, PricedLlm, Schema, Usage, estimated_tokens
from retentive.observe.outcome import NotTaken
from retentive.observe.patterns import KINDS
from retentive.recall.lines import line_of
from retentive.recall.quoting import question
from retentive.text.tokens import query_terms
from retentive.types import Memory, rating

TURNS_AT_ONCE: Final = 16
CHARACTERS_AT_ONCE: Final = 12_000
LONGEST_SHOWN: Final = 6_000  # characters of one turn
LONGEST_TAKEN: Final = 600
MOST_TAKEN: Final = 40
TOKENS_PER_TURN: Final = 60  # of an answer, at most, as a guess before it is asked for
TASK: Final = f"""You take memories from a conversation. For each statement that will still matter in other
conversations, write one memory: a single sentence that can be understood alone, with the speaker's name in it, and
with dates instead of words like "tomorrow" (every turn says on which day it was said).

Kinds:
- preference: what a speaker likes, dislikes or wants things to be like
- fact: who a speaker is, has, does; the people and things around them
- decision: what was decided or agreed
- commitment: what somebody promised or has to do, with the date if there is one
- procedure: how something is done, a rule for next time

Take only what the turns say; infer nothing. Leave out questions, courtesies, jokes, hypotheses and what is only about
this moment. Turns of a tool are not statements of the speakers. At most {MOST_TAKEN} memories; none is a good answer.

Answer with JSON alone: {{"memories": [{{"kind": "...", "text": "...", "turns": [1], "importance": 5}}]}}
`turns` are the ids of the turns that say it; `importance` is 1 (trivial) to 10 (decides over life and work)."""
REMINDER: Final = 'Answer with the JSON object alone, beginning with {"memories":'
SCHEMA: Final[Schema] = {
    "type": "object",
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "maxItems": MOST_TAKEN,
            "items": {
                "type": "object",
                "required": ["kind", "text", "turns"],
                "properties": {
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "text": {"type": "string", "minLength": 3, "maxLength": LONGEST_TAKEN},
                    "turns": {"type": "array", "minItems": 1, "maxItems": 8, "items": {"type": "integer"}},
                    "importance": {"type": "number", "minimum": 1, "maximum": 10},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a model says the turns hold, checked as far as it can be without the store."""

    kind: str
    text: str
    turns: tuple[Memory, ...]
    importance: float | None


def asked_about(turns: Sequence[Memory]) -> list[Message]:
    """Return the question about some turns; a turn is known to the model by its number."""
    lines = [
        replace(line_of(turn, ""), id=str(number), text=_shown(turn.text), kind="turn", source=None)
        for number, turn in enumerate(turns, 1)
    ]
    return question(TASK, lines, REMINDER)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " […]"


def batches(turns: Sequence[Memory]) -> list[list[Memory]]:
    """Cut turns into what is asked at once: one episode, not too many, not too long."""
    found: list[list[Memory]] = []
    for turn in turns:
        if not found or not _belongs(found[-1], turn):
            found.append([])
        found[-1].append(turn)
    return found


def _belongs(group: Sequence[Memory], turn: Memory) -> bool:
    size = sum(min(len(one.text), LONGEST_SHOWN) for one in [*group, turn])
    together = group[-1].metadata.get("episode") == turn.metadata.get("episode")
    return together and len(group) < TURNS_AT_ONCE and size <= CHARACTERS_AT_ONCE


def estimate(turns: Sequence[Memory], llm: Llm | None) -> Usage:
    """Return what asking about these turns would take, before anybody is asked."""
    groups = batches(turns)
    asked = sum(estimated_tokens(message["content"]) for group in groups for message in asked_about(group))
    answered = TOKENS_PER_TURN * len(turns)
    model: object = llm
    cost = model.price(asked, answered) if isinstance(model, PricedLlm) else 0.0
    return Usage(len(groups), asked, answered, cost, estimated=True)


def claims(data: Mapping[str, Any], turns: Sequence[Memory], language: str) -> tuple[list[Claimed], list[NotTaken]]:
    """Return what of an answer can be believed: it names turns that were shown, and shares words with them."""
    taken, refused = [], []
    for item in data["memories"]:
        named = tuple(turns[n - 1] for n in dict.fromkeys(item["turns"]) if 1 <= n <= len(turns))
        reason = _refusal(item["text"], named, language)
        if reason is None:
            importance = rating(item["importance"]) if "importance" in item else None
            taken.append(Claimed(item["kind"], " ".join(item["text"].split()), named, importance))
        else:
            refused.append(NotTaken(item["text"][:200], item["kind"], reason))
    return taken, refused


def _refusal(text: str, turns: Sequence[Memory], language: str) -> str | None:
    if not turns:
        return "it names no turn that exists"
    said = {term for turn in turns for term in query_terms(f"{turn.speaker}: {turn.text}", language=language)}
    spoken = {term for turn in turns for term in query_terms(turn.speaker or "", language=language)}
    if not set(query_terms(text, language=language)) & (said - spoken):
        return "it shares no word with the turns it names"
    return None
