"""Any model of Qdrant's `fastembed`, which runs ONNX models from the hub or a local cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from retentive.embedders.protocol import Vectors
from retentive.errors import EmbedderFailed
from retentive.extras import require_extra

PROBE = "dimension"


class FastEmbedEmbedder:
    """`fastembed.TextEmbedding` behind our protocol; the model loads when it is first needed.

    `cache_dir` is where fastembed keeps what it downloads, `folder` one with the model's files in it, which needs no
    network; with `local_files_only=True` nothing is looked up on the hub.
    """

    reads_prose = True  # late interaction may borrow the bundled token table

    def __init__(
        self,
        model: str,
        *,
        cache_dir: str | None = None,
        folder: str | None = None,
        threads: int | None = None,
        batch_size: int = 64,
        local_files_only: bool = False,
    ) -> None:
        self.id = f"fastembed:{model}"
        self._batch_size = batch_size
        self._options: dict[str, Any] = {
            "model_name": model,
            "cache_dir": cache_dir,
            "threads": threads,
            "local_files_only": local_files_only,
        }
        if folder is not None:
            self._options["specific_model_path"] = folder

    def __repr__(self) -> str:
        return f"FastEmbedEmbedder({self._options['model_name']!r})"

    @cached_property
    def dimension(self) -> int:
        """The model's width, learned by embedding a word: older releases have no other way to tell."""
        return len(self.embed_query(PROBE))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.array(list(self._model.passage_embed(list(texts), batch_size=self._batch_size)), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, with the model's own way for questions."""
        return np.asarray(next(iter(self._model.query_embed([text]))), np.float32)

    @cached_property
    def _model(self) -> Any:
        fastembed = require_extra("fastembed", extra="fastembed", user=f"The embedder {self.id!r}")
        try:
            return fastembed.TextEmbedding(**self._options)
        except Exception as error:  # an unknown name, no network, a damaged cache: each its own class, none ours
            raise EmbedderFailed(
                f"fastembed could not load {self._options['model_name']!r} ({error}). Check the name against "
                "`TextEmbedding.list_supported_models()` and the network, or pass folder= with the model in it.",
                embedder=self.id,
            ) from error
