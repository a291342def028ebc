"""Embedders: the protocol in `protocol`, names in `catalogue`, and one module per provider."""

from retentive.embedders.catalogue import known_embedders, resolve
from retentive.embedders.protocol import (
    Calibrated,
    Embedder,
    EmbedderIdentity,
    Fingerprinted,
    QueryEmbedder,
    QueryTokenEmbedder,
    TokenEmbedder,
    Vectors,
    checked_vectors,
    identity,
    query_tokens,
    query_vector,
)

__all__ = [
    "Calibrated",
    "Embedder",
    "EmbedderIdentity",
    "Fingerprinted",
    "QueryEmbedder",
    "QueryTokenEmbedder",
    "TokenEmbedder",
    "Vectors",
    "checked_vectors",
    "identity",
    "known_embedders",
    "query_tokens",
    "query_vector",
    "resolve",
]
