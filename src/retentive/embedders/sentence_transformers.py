"""Any model of `sentence-transformers`, from the hub or from a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from retentive.embedders.prompts import Prompts
from retentive.embedders.protocol import Vectors
from retentive.errors import EmbedderFailed
from retentive.extras import require_extra

PROBE = "dimension"
QUERY_NAMES = ("query",)
PASSAGE_NAMES = ("document", "passage", "corpus")
"""The names under which models keep their prompts, in the order sentence-transformers itself tries them."""


class SentenceTransformerEmbedder:
    """`SentenceTransformer` behind our protocol; the model loads when it is first needed.

    The prompts are those that the model brings, unless `prompts` says otherwise.
    """

    reads_prose = True  # late interaction may borrow the bundled token table

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        prompts: Prompts | None = None,
        batch_size: int = 32,
        revision: str | None = None,
        local_files_only: bool = False,
    ) -> None:
        self.id = f"sentence-transformers:{model}" + (f"@{revision}" if revision else "")
        self._name = model
        self._prompts = prompts
        self._batch_size = batch_size
        self._options = {"device": device, "revision": revision, "local_files_only": local_files_only}

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self._name!r})"

    @cached_property
    def dimension(self) -> int:
        """The model's width, learned by embedding a word: the method that tells it changed its name."""
        return len(self.embed_query(PROBE))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, read as passages."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._encode(list(texts), self._used_prompts.passage)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        vector: Vectors = self._encode([text], self._used_prompts.query)[0]
        return vector

    def _encode(self, texts: list[str], prompt: str) -> Vectors:
        answer = self._model.encode(
            texts,
            prompt=prompt if self._prompts else prompt or None,
            batch_size=self._batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(answer, np.float32)

    @cached_property
    def _used_prompts(self) -> Prompts:
        if self._prompts is not None:
            return self._prompts
        own: Mapping[str, str] = getattr(self._model, "prompts", None) or {}
        return Prompts(_first(own, QUERY_NAMES), _first(own, PASSAGE_NAMES))

    @cached_property
    def _model(self) -> Any:
        package = require_extra(
            "sentence_transformers", extra="sentence-transformers", user=f"The embedder {self.id!r}"
        )
        try:
            return package.SentenceTransformer(self._name, **self._options)
        except Exception as error:  # an unknown name, no network, no device: each its own class, none ours
            raise EmbedderFailed(
                f"sentence-transformers could not load {self._name!r} ({error}). Check the name and the network, or "
                "pass the path of a folder with the model.",
                embedder=self.id,
            ) from error


def _first(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")
