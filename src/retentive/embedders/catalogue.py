"""From a name to an embedder; each is imported only when it is asked for, so that `import retentive` stays cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from inspect import getattr_static, signature
from pathlib import Path
from typing import Any

from retentive.embedders.protocol import Embedder
from retentive.errors import InvalidInput, unknown_name

DEFAULT = "potion"
_NAMED = {
    "potion": ("retentive.embedders.potion", "load_potion"),
    "arctic-s": ("retentive.embedders.arctic", "load_arctic"),
    "hash": ("retentive.testing.fakes", "HashEmbedder"),
}
_LOCAL = ("potion", "arctic-s")
"""The ones that are read from the models folder."""
_WITH_MODEL = {
    "fastembed": ("retentive.embedders.fastembed", "FastEmbedEmbedder"),
    "sentence-transformers": ("retentive.embedders.sentence_transformers", "SentenceTransformerEmbedder"),
    "openai": ("retentive.embedders.openai", "OpenAIEmbedder"),
}


def known_embedders() -> list[str]:
    """List what `resolve` understands; `MODEL` stands for any model of that provider."""
    return sorted([*_NAMED, *(f"{provider}:MODEL" for provider in _WITH_MODEL)])


def resolve(
    spec: str | Embedder | None = None,
    *,
    models_folder: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> Embedder:
    """Return the embedder that a name stands for; an embedder is returned as it is, and nothing means `potion`.

    `options` are the keyword arguments of the embedder, such as `base_url` and `api_key` for `openai:MODEL`.
    """
    if spec is not None and not isinstance(spec, str):
        return _checked(spec)
    name = spec or DEFAULT
    build = _builder(name, models_folder)
    chosen = dict(options or {})
    try:
        signature(build).bind(**chosen)
    except TypeError as error:
        raise InvalidInput(f"Embedder {name!r}: {error}. It takes {signature(build)}.", embedder=name) from error
    return build(**chosen)


def _checked(embedder: Embedder) -> Embedder:
    """Look for the attributes without reading them: `isinstance` would on 3.11, and a width may cost a request."""
    missing = object()
    if all(getattr_static(embedder, name, missing) is not missing for name in ("id", "dimension", "embed")):
        return embedder
    raise InvalidInput(
        f"{type(embedder).__name__} is no embedder: it needs `id`, `dimension` and `embed(texts)`. "
        f"Pass such an object or one of: {', '.join(known_embedders())}.",
    )


def _builder(name: str, models_folder: Path | None) -> Callable[..., Embedder]:
    provider, separator, model = name.partition(":")
    if name in _NAMED:
        make = _load(_NAMED[name])
        return partial(make, models_folder) if name in _LOCAL else make
    if provider in _WITH_MODEL and separator and model:
        return partial(_load(_WITH_MODEL[provider]), model=model)
    raise unknown_name("embedder", name, known_embedders())


def _load(where: tuple[str, str]) -> Callable[..., Embedder]:
    module, attribute = where
    found: Callable[..., Embedder] = getattr(import_module(module), attribute)
    return found
