"""What a language model must do: `complete`. Whatever else it may do is a protocol of its own, looked for.

Messages are mappings with ``role`` ("system", "user", "assistant") and ``content``, as every chat endpoint takes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

Message: TypeAlias = Mapping[str, str]
Schema: TypeAlias = Mapping[str, Any]
"""The part of JSON Schema that `parsing` knows: type, properties, required, items, enum, bounds of numbers, strings and
arrays. The root is an object, for some endpoints take nothing else."""
CHARACTERS_PER_TOKEN = 4
"""Of English, roughly; only where a model does not count for itself."""


def system(content: str) -> dict[str, str]:
    """Return a message that instructs; memory text never belongs in one."""
    return {"role": "system", "content": content}


def user(content: str) -> dict[str, str]:
    """Return a message that asks."""
    return {"role": "user", "content": content}


def assistant(content: str) -> dict[str, str]:
    """Return a message as if the model had said it."""
    return {"role": "assistant", "content": content}


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls took. ``cost`` is in the currency of the prices that were configured, 0 where none were."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False  # True where a model did not count and the tokens are guessed from the characters

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, what it took, and why it ended: "stop", "length" (cut off), "refusal", "filter" or ""."""

    text: str
    usage: Usage
    ended: str = ""


@runtime_checkable
class Llm(Protocol):
    """A language model.

    - ``schema`` asks for JSON of that shape; a model that cannot promise it answers text, which is read tolerantly.
    - An answer may be anything: callers read it as data from a stranger. What cannot be answered raises (`LlmFailed`
      in ours; callers treat every `Exception` of other people's models alike).
    - Safe to call from several threads.
    """

    def complete(self, messages: Sequence[Message], *, schema: Schema | None = None) -> str:
        """Return the answer's text."""
        ...


@runtime_checkable
class ReplyingLlm(Protocol):
    """Optional: a model that says what an answer took and why it ended."""

    def reply(self, messages: Sequence[Message], *, schema: Schema | None = None) -> Reply:
        """Return the answer with its usage."""
        ...


@runtime_checkable
class NamedLlm(Protocol):
    """Optional: a model with a name, such as "openai:gpt-4o-mini", under which its usage is counted."""

    @property
    def id(self) -> str:
        """The name."""
        ...


@runtime_checkable
class PricedLlm(Protocol):
    """Optional: a model whose price is known before it is asked, so that a large job can be priced first."""

    def price(self, input_tokens: int, output_tokens: int) -> float:
        """Return what that many tokens cost."""
        ...


@runtime_checkable
class Closable(Protocol):
    """Optional: a model that holds connections or weights."""

    def close(self) -> None:
        """Release them."""
        ...


def model_id(llm: Llm) -> str:
    """Return the name under which a model is counted."""
    name = getattr(llm, "id", None)
    return name if isinstance(name, str) and name else type(llm).__name__


def estimated_tokens(text: str) -> int:
    """Return roughly how many tokens a text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def estimated_usage(messages: Sequence[Message], answer: str) -> Usage:
    """Return the usage of one call to a model that does not count."""
    asked = sum(estimated_tokens(message["content"]) for message in messages)
    return Usage(1, asked, estimated_tokens(answer), estimated=True)
