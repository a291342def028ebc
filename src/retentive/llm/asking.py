"""Ask a model safely: whatever it does, the caller gets an answer of the right shape or `LlmFailed`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retentive.errors import LlmFailed, RetentiveError
from retentive.llm.parsing import Parsed, parse_answer
from retentive.llm.protocol import (
    Llm,
    Message,
    Reply,
    ReplyingLlm,
    Schema,
    Usage,
    assistant,
    estimated_usage,
    model_id,
    user,
)
from retentive.llm.shape import Misshapen

Spend = Callable[[Usage], None]
UNUSABLE = "(an answer that could not be used)"
"""Stands for an unusable answer in the second question: what a memory made the model say is not said to it again."""


def ask(llm: Llm, messages: Sequence[Message], *, schema: Schema | None = None, spend: Spend | None = None) -> Reply:
    """Ask once; ``spend`` hears what it took. Every failure is `LlmFailed`, whatever the model raises."""
    try:
        reply = _replied(llm, messages, schema)
    except RetentiveError:
        raise
    except Exception as error:
        raise LlmFailed(f"{model_id(llm)} failed: {type(error).__name__}: {error}.", llm=model_id(llm)) from error
    if spend is not None:
        spend(reply.usage)
    if not isinstance(reply.text, str):
        raise LlmFailed(f"{model_id(llm)} answered {type(reply.text).__name__}, not text.", llm=model_id(llm))
    return reply


def _replied(llm: Llm, messages: Sequence[Message], schema: Schema | None) -> Reply:
    if isinstance(llm, ReplyingLlm):
        return llm.reply(messages, schema=schema)
    text = llm.complete(messages, schema=schema)
    return Reply(text, estimated_usage(messages, str(text)))


def ask_json(
    llm: Llm, messages: Sequence[Message], schema: Schema, *, attempts: int = 2, spend: Spend | None = None
) -> Parsed:
    """Ask for data of a shape, and once more with the reason where the answer was of no use; then `LlmFailed`.

    A refusal is not asked again: the same question is refused again.
    """
    asked: list[Message] = list(messages)
    reason: Any = None
    for _ in range(attempts):  # the messages of the second are ours alone: nothing of the answer is in them
        reply = ask(llm, asked, schema=schema, spend=spend)
        try:
            return parse_answer(reply.text, schema)
        except Misshapen as error:
            reason = error
        if reply.ended in {"refusal", "filter"}:
            reason = f"it refused ({reply.text.strip()[:60]!r})"
            break
        again = f"That answer cannot be used: {reason.what}. Answer again with the JSON alone."
        asked = [*messages, assistant(UNUSABLE), user(again)]
    raise LlmFailed(f"{model_id(llm)} did not answer usably: {reason}.", llm=model_id(llm))
