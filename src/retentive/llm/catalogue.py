"""From a name to a language model; each is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any

from retentive.errors import InvalidInput, unknown_name
from retentive.llm.protocol import Llm

_WITH_MODEL: Mapping[str, tuple[str, str]] = {
    "anthropic": ("retentive.llm.anthropic", "AnthropicLlm"),
    "llama": ("retentive.llm.llama", "LlamaLlm"),
    "openai": ("retentive.llm.openai", "OpenAILlm"),
}


def known_llms() -> list[str]:
    """List what `resolve_llm` understands; `MODEL` stands for any model of that provider."""
    return sorted(f"{provider}:MODEL" for provider in _WITH_MODEL)


def resolve_llm(spec: str | Llm | None, *, options: Mapping[str, Any] | None = None) -> Llm | None:
    """Return the model that a name stands for; a model is returned as it is, and nothing means none.

    `options` are the keyword arguments of the provider, such as `base_url` and `api_key`.
    """
    if spec is None:
        return None
    if not isinstance(spec, str):
        return _checked(spec)
    provider, _, model = spec.partition(":")
    if provider not in _WITH_MODEL or not model:
        raise unknown_name("language model", spec, known_llms())
    module, attribute = _WITH_MODEL[provider]
    build = partial(getattr(import_module(module), attribute), model=model)
    chosen = dict(options or {})
    try:
        signature(build).bind(**chosen)
    except TypeError as error:
        raise InvalidInput(f"Language model {spec!r}: {error}. It takes {signature(build)}.", llm=provider) from error
    made: Llm = build(**chosen)
    return made


def _checked(llm: Llm) -> Llm:
    if callable(getattr(llm, "complete", None)):
        return llm
    raise InvalidInput(
        f"{type(llm).__name__} is no language model: it needs `complete(messages, *, schema=None) -> str`. "
        f"Pass such an object or one of: {', '.join(known_llms())}."
    )
