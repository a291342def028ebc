"""What a recall may use beside the embedder: a token table for late interaction, where one is at hand."""

from __future__ import annotations

from pathlib import Path

from retentive.embedders.potion import load_potion
from retentive.embedders.protocol import Embedder, TokenTable
from retentive.errors import MissingExtra
from retentive.recall.late import Windows


def token_windows(embedder: Embedder, models_folder: Path | None = None) -> Windows | None:
    """Return token windows over the embedder's own table, or over the bundled one for embedders that read prose.

    Late interaction asks whether a word is met, for which a static table serves beside any sentence embedder. Without
    the bundled weights, or for fakes and embedders of other things, there is none.
    """
    if isinstance(embedder, TokenTable):
        return Windows(embedder)
    if not getattr(embedder, "reads_prose", False):
        return None
    try:
        return Windows(load_potion(models_folder))
    except MissingExtra:
        return None
