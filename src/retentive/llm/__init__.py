"""Language models: the protocol in `protocol`, names in `catalogue`, asking in `asking`, a module per provider."""

from retentive.llm.asking import ask, ask_json
from retentive.llm.catalogue import known_llms, resolve_llm
from retentive.llm.parsing import Parsed, parse_answer
from retentive.llm.protocol import (
    Closable,
    Llm,
    Message,
    NamedLlm,
    PricedLlm,
    Reply,
    ReplyingLlm,
    Schema,
    Usage,
    assistant,
    model_id,
    system,
    user,
)

__all__ = [
    "Closable",
    "Llm",
    "Message",
    "NamedLlm",
    "Parsed",
    "PricedLlm",
    "Reply",
    "ReplyingLlm",
    "Schema",
    "Usage",
    "ask",
    "ask_json",
    "assistant",
    "known_llms",
    "model_id",
    "parse_answer",
    "resolve_llm",
    "system",
    "user",
]
