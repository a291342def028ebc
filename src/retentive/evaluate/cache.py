"""An embedder that remembers: a run asks every policy the same questions, and only the first should pay for them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from retentive.embedders.protocol import (
    Calibrated,
    Embedder,
    Fingerprinted,
    QueryEmbedder,
    TokenEmbedder,
    Vectors,
)


class _Cached:
    """Keeps every vector it was asked for; the same identity as the embedder inside, so stores cannot tell."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._texts: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        self._tokens: dict[str, Vectors] = {}
        self._lock = threading.Lock()
        self.id = inner.id
        self.dimension = inner.dimension
        self.fingerprint = inner.fingerprint if isinstance(inner, Fingerprinted) else ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, embedding only those that are new."""
        with self._lock:
            new = list(dict.fromkeys(text for text in texts if text not in self._texts))
            if new:
                self._texts.update(zip(new, np.asarray(self._inner.embed(new), np.float32), strict=True))
            rows = [self._texts[text] for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)


class _Queries(_Cached):
    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        if text not in self._queries and isinstance(self._inner, QueryEmbedder):
            self._queries[text] = self._inner.embed_query(text)
        return self._queries[text]


class _Tokens(_Cached):
    def embed_tokens(self, text: str) -> Vectors:
        """Return the token vectors of a text."""
        if text not in self._tokens and isinstance(self._inner, TokenEmbedder):
            self._tokens[text] = self._inner.embed_tokens(text)
        return self._tokens[text]


class _TokensAnew(_Cached):
    def embed_tokens(self, text: str) -> Vectors:
        """Return the token vectors of a text, computed each time: a recall pays for them, so the timing must too."""
        if not isinstance(self._inner, TokenEmbedder):
            raise TypeError(f"{self.id!r} has no token vectors")
        return self._inner.embed_tokens(text)


def cached(embedder: Embedder, *, keep_tokens: bool = False) -> Embedder:
    """Wrap an embedder so that it answers for whatever it answered for before, and for nothing more than it could.

    ``keep_tokens`` also keeps token vectors: it makes a run with a slow model bearable and its timings flattering.
    """
    bases: list[type] = []
    if isinstance(embedder, QueryEmbedder):
        bases.append(_Queries)
    if isinstance(embedder, TokenEmbedder):
        bases.append(_Tokens if keep_tokens else _TokensAnew)
    kind = type("CachedEmbedder", (*bases, _Cached), {"__doc__": _Cached.__doc__})
    wrapped = kind(embedder)
    if isinstance(embedder, Calibrated):
        wrapped.band = embedder.band
    answer: Embedder = wrapped
    return answer
