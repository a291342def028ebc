"""An embedder that remembers: a run asks every policy the same questions, and only the first should pay for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from retentive.embedders.protocol import Embedder, QueryEmbedder, Vectors


class _Cached:
    """Keeps every vector it was asked for; the same identity as the embedder inside, so stores cannot tell."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._texts: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        self._lock = threading.Lock()

    def know(self, texts: Mapping[str, Vectors]) -> None:
        """Take vectors that the same embedder made before: what is asked for again costs nothing."""
        with self._lock:
            self._texts.update(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, embedding only those that are new."""
        with self._lock:
            new = list(dict.fromkeys(text for text in texts if text not in self._texts))
            if new:
                self._texts.update(zip(new, np.asarray(self._inner.embed(new), np.float32), strict=True))
            rows = [self._texts[text] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self._inner.dimension)


class _CachedQueries(_Cached):
    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        with self._lock:
            if text not in self._queries and isinstance(self._inner, QueryEmbedder):
                self._queries[text] = self._inner.embed_query(text)
            return self._queries[text]


Known = Mapping[str, Vectors]
"""Vectors that need not be made again, by the text as it is embedded."""


def cached(embedder: Embedder, known: Known | None = None) -> Embedder:
    """Wrap an embedder so that it answers for whatever it answered for before, and can all that it could.

    Optional powers (token tables, a calibrated band, a fingerprint) are asked for by protocol, so every public name of
    the embedder becomes a property that hands it on, also those that are not invented yet. Listing them instead once
    hid the token table from the engine and cost a whole column of figures six points without a word. Nothing but
    `embed` and `embed_query` is kept: what else a recall computes, it pays for, and the timings must show it.
    """
    base = _CachedQueries if isinstance(embedder, QueryEmbedder) else _Cached
    handed_on = [name for name in dir(embedder) if not name.startswith("_") and not hasattr(base, name)]
    kind = type("CachedEmbedder", (base,), {name: property(_reader(name)) for name in handed_on})
    made = kind(embedder)
    if known is not None:
        made.know(known)
    wrapped: Embedder = made
    return wrapped


def _reader(name: str) -> Callable[[Any], Any]:
    return lambda wrapper: getattr(wrapper._inner, name)  # noqa: SLF001 - our own wrapper
