"""A cross-encoder by way of fastembed: ONNX on the CPU, fetched from the hub once or read from a folder.

The model is loaded when the object is made, not at the first recall: loading takes seconds and would always miss the
deadline that ``retentive.recall.rerank`` sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from retentive.errors import InvalidInput, MissingExtra, NotFound

DEFAULT_MODEL = "Xenova/ms-marco-MiniLM-L-6-v2"
"""22 million parameters, 80 MB, Apache-2.0: the smallest of fastembed's that is known to help."""


class FastEmbedReranker:
    """Scores with ``fastembed.rerank.cross_encoder.TextCrossEncoder``; greater is better, the scale is the model's.

    ``folder`` holds the model's files (``onnx/model.onnx``, ``config.json``, ``tokenizer.json``, ...): nothing is then
    downloaded. ``local_only`` refuses to download too, but looks in fastembed's own cache.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        folder: Path | str | None = None,
        cache: Path | str | None = None,
        threads: int | None = None,
        local_only: bool = False,
    ) -> None:
        self.id = f"fastembed:{model}"
        encoder = _encoder_class()
        _check_model(encoder, model)
        places: dict[str, Any] = {"specific_model_path": str(_existing(folder))} if folder is not None else {}
        self._encoder = encoder(
            model,
            cache_dir=str(cache) if cache is not None else None,
            threads=threads,
            local_files_only=local_only or folder is not None,
            **places,
        )

    def __repr__(self) -> str:
        return f"FastEmbedReranker({self.id!r})"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's logit for each text."""
        scores: Iterable[float] = self._encoder.rerank(query, list(texts))
        return [float(score) for score in scores]


def _encoder_class() -> Callable[..., Any]:
    try:
        module = import_module("fastembed.rerank.cross_encoder")
    except ImportError as error:
        raise MissingExtra(
            "FastEmbedReranker needs fastembed. Run `pip install 'retentive[rerank]'`.", extra="rerank"
        ) from error
    encoder: Callable[..., Any] = module.TextCrossEncoder
    return encoder


def _check_model(encoder: Any, model: str) -> None:
    known = sorted(entry["model"] for entry in encoder.list_supported_models())
    if model.lower() not in {name.lower() for name in known}:
        raise InvalidInput(
            f"fastembed has no cross-encoder {model!r}. Known: {', '.join(known)}; others after "
            "TextCrossEncoder.add_custom_model(...).",
            value=model,
            known=known,
        )


def _existing(folder: Path | str) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise NotFound(f"folder={str(folder)!r} is not a folder; pass the one that holds the model's files.", path=path)
    return path
