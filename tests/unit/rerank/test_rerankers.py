"""The shipped cross-encoders: their calls to the real libraries, and what is said without these."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from retentive.errors import InvalidInput, MissingExtra, NotFound
from retentive.recall.rerank import Reranker
from retentive.rerankers.fastembed import DEFAULT_MODEL, FastEmbedReranker
from retentive.rerankers.sentence_transformers import SentenceTransformersReranker


class Encoder:
    """Both libraries' cross-encoders, as far as we call them; scores a text by its length."""

    made: dict[str, Any]

    def __init__(self, model: str, **options: Any) -> None:
        Encoder.made = {"model": model, **options}

    @staticmethod
    def list_supported_models() -> list[dict[str, Any]]:
        return [{"model": DEFAULT_MODEL}]

    def rerank(self, query: str, documents: list[str]) -> Any:
        yield from (float(len(document)) for document in documents)

    def predict(self, pairs: list[tuple[str, str]], *, show_progress_bar: bool) -> list[float]:
        assert not show_progress_bar
        return [float(len(text)) for _, text in pairs]


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    fastembed: Any = ModuleType("fastembed.rerank.cross_encoder")
    fastembed.TextCrossEncoder = Encoder
    transformers: Any = ModuleType("sentence_transformers")
    transformers.CrossEncoder = Encoder
    for name in ("fastembed", "fastembed.rerank"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", fastembed)
    monkeypatch.setitem(sys.modules, "sentence_transformers", transformers)


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("kind", [FastEmbedReranker, SentenceTransformersReranker])
def test_both_are_rerankers(kind: type[Any]) -> None:
    """They satisfy the protocol and give one score per text."""
    reranker = kind()
    assert isinstance(reranker, Reranker)
    assert reranker.score("query", ["a", "abc"]) == [1.0, 3.0]
    assert reranker.id in repr(reranker)


@pytest.mark.usefixtures("libraries")
def test_a_folder_is_read_without_downloading(tmp_path: Path) -> None:
    """With a folder the hub is never asked."""
    FastEmbedReranker(folder=tmp_path)
    assert Encoder.made["specific_model_path"] == str(tmp_path)
    assert Encoder.made["local_files_only"]


@pytest.mark.usefixtures("libraries")
def test_a_missing_folder_and_an_unknown_model_are_named(tmp_path: Path) -> None:
    """Before anything is loaded or fetched."""
    with pytest.raises(NotFound, match="is not a folder"):
        FastEmbedReranker(folder=tmp_path / "none")
    with pytest.raises(InvalidInput, match=DEFAULT_MODEL):
        FastEmbedReranker("nobody/has-this")


@pytest.mark.parametrize(
    ("kind", "module", "command"),
    [
        (FastEmbedReranker, "fastembed.rerank.cross_encoder", "pip install 'retentive[rerank]'"),
        (SentenceTransformersReranker, "sentence_transformers", "pip install 'retentive[sentence-transformers]'"),
    ],
)
def test_without_the_extra_the_command_is_given(
    kind: type[Any], module: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message ends with what to type."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as missing:
        kind()
    assert command in str(missing.value)
