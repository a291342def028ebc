"""A cross-encoder by way of sentence-transformers: any of the hub's, on the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from retentive.errors import MissingExtra

DEFAULT_MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"


class SentenceTransformersReranker:
    """Scores with ``sentence_transformers.CrossEncoder``; ``model`` is a name on the hub or a folder.

    Loaded when made, for the reason given in ``retentive.rerankers.fastembed``. The scale is the model's own.
    """

    def __init__(self, model: str = DEFAULT_MODEL, *, device: str | None = None, local_only: bool = False) -> None:
        self.id = f"sentence-transformers:{model}"
        self._encoder = _encoder_class()(model, device=device, local_files_only=local_only)

    def __repr__(self) -> str:
        return f"SentenceTransformersReranker({self.id!r})"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's score for each text."""
        pairs = [(query, text) for text in texts]
        return [float(score) for score in self._encoder.predict(pairs, show_progress_bar=False)]


def _encoder_class() -> Callable[..., Any]:
    try:
        module = import_module("sentence_transformers")
    except ImportError as error:
        raise MissingExtra(
            "SentenceTransformersReranker needs sentence-transformers. "
            "Run `pip install 'retentive[sentence-transformers]'`.",
            extra="sentence-transformers",
        ) from error
    encoder: Callable[..., Any] = module.CrossEncoder
    return encoder
