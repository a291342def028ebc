"""What a recall may use beside the embedder: a token table for late interaction, where one is at hand."""

from __future__ import annotations

from retentive.embedders.protocol import Embedder, TokenTable
from retentive.recall.late import Windows


def token_windows(embedder: Embedder) -> Windows | None:
    """Return token windows over the embedder's own table, if it is one."""
    return Windows(embedder) if isinstance(embedder, TokenTable) else None
