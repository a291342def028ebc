"""The models beside the embedder: a token table for late interaction, where one is at hand, and the language model."""

from __future__ import annotations

import threading
from pathlib import Path

from retentive.config import Config
from retentive.embedders.potion import load_potion
from retentive.embedders.protocol import Embedder, TokenTable
from retentive.errors import MissingExtra
from retentive.llm.catalogue import resolve_llm
from retentive.llm.protocol import Closable, Llm
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


class LazyLlm:
    """The language model that was named, by argument or configuration, made when it is first asked for."""

    def __init__(self, spec: Llm | str | None, config: Config | None) -> None:
        self._options = config.llm_options() if config else {}
        self._spec = spec if spec is not None else (config.llm if config else None)
        self._llm: Llm | None = None if isinstance(self._spec, str) else resolve_llm(self._spec)
        self._lock = threading.Lock()

    def get(self) -> Llm | None:
        """Return the model; None where none was named."""
        with self._lock:
            if self._llm is None and isinstance(self._spec, str):
                self._llm = resolve_llm(self._spec, options=self._options)
            return self._llm

    def close(self) -> None:
        """Close a model that was made here; one that a caller brought is the caller's to close."""
        made: object = self._llm if isinstance(self._spec, str) else None
        if isinstance(made, Closable):
            made.close()
