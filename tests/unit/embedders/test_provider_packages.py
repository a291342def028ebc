"""fastembed and sentence-transformers, through small stand-ins at the import seam with their real signatures."""

import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from retentive.embedders import checked_vectors, query_vector, resolve
from retentive.embedders.prompts import Prompts
from retentive.embedders.sentence_transformers import SentenceTransformerEmbedder
from retentive.errors import EmbedderFailed, MissingExtra


class FakeTextEmbedding:
    """The parts of `fastembed.TextEmbedding` 0.9 that we call."""

    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(
        self, model_name: str = "x", cache_dir: str | None = None, threads: int | None = None, **kwargs: Any
    ) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported in TextEmbedding.")
        self.made.append({"model_name": model_name, "cache_dir": cache_dir, "threads": threads, **kwargs})

    def passage_embed(self, texts: Iterable[str], **kwargs: Any) -> Iterator[np.ndarray[Any, Any]]:
        assert set(kwargs) == {"batch_size"}
        return (np.array([len(text), 1.0]) for text in texts)

    def query_embed(self, query: str | Iterable[str], **kwargs: Any) -> Iterator[np.ndarray[Any, Any]]:
        return (np.array([1.0, len(text)]) for text in query)


class FakeSentenceTransformer:
    """The parts of `SentenceTransformer` 3 to 6 that we call; it shows the prompt that each text was read with."""

    prompts: ClassVar[dict[str, str]] = {"query": "Q: ", "document": "", "passage": "P: "}

    def __init__(
        self,
        model_name_or_path: str | None = None,
        *,
        device: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
    ) -> None:
        if model_name_or_path == "unknown":
            raise OSError("unknown is not a local folder")
        self.seen: list[tuple[str, str | None]] = []

    def encode(
        self,
        sentences: list[str],
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
    ) -> np.ndarray[Any, Any]:
        assert show_progress_bar is False
        self.seen += [(text, prompt) for text in sentences]
        return np.ones((len(sentences), 3))


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-ins where the packages would be."""
    for name, attribute, stand_in in (
        ("fastembed", "TextEmbedding", FakeTextEmbedding),
        ("sentence_transformers", "SentenceTransformer", FakeSentenceTransformer),
    ):
        module = ModuleType(name)
        setattr(module, attribute, stand_in)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(FakeTextEmbedding, "made", [])


def test_fastembed_embeds_passages_and_questions_apart() -> None:
    """Each by the model's own method, with the width learned."""
    embedder = resolve("fastembed:org/model")
    np.testing.assert_allclose(checked_vectors(embedder, ["abc"])[0], np.array([3, 1]) / np.sqrt(10), rtol=1e-6)
    np.testing.assert_allclose(query_vector(embedder, "abc"), np.array([1, 3]) / np.sqrt(10), rtol=1e-6)
    assert (embedder.id, embedder.dimension) == ("fastembed:org/model", 2)
    assert embedder.embed([]).shape == (0, 2)


def test_fastembed_loads_from_a_folder() -> None:
    """A folder goes to fastembed under its own name, and only where one is given."""
    resolve("fastembed:m", options={"folder": "/models/m", "threads": 2}).embed(["a"])
    resolve("fastembed:m").embed(["a"])
    first, second = FakeTextEmbedding.made
    assert (first["specific_model_path"], first["threads"]) == ("/models/m", 2)
    assert "specific_model_path" not in second


def test_a_model_loads_when_it_is_first_needed() -> None:
    """Naming an embedder costs nothing."""
    resolve("fastembed:m")
    assert FakeTextEmbedding.made == []


def test_sentence_transformers_reads_with_the_models_own_prompts() -> None:
    """The question's and the passage's, where the model has them; an empty prompt counts as none."""
    embedder = SentenceTransformerEmbedder("org/model")
    embedder.embed(["memory"])
    embedder.embed_query("question")
    assert embedder._model.seen == [("memory", "P: "), ("question", "Q: ")]
    assert embedder.embed([]).shape == (0, 3)


def test_sentence_transformers_takes_prompts_of_the_user() -> None:
    """They replace the model's, an empty one too."""
    embedder = SentenceTransformerEmbedder("org/model", prompts=Prompts(query="ask: "))
    embedder.embed(["memory"])
    embedder.embed_query("question")
    assert embedder._model.seen == [("memory", ""), ("question", "ask: ")]


def test_a_model_without_prompts_is_left_to_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """No prompt is passed, so that the model's own default applies."""
    monkeypatch.setattr(FakeSentenceTransformer, "prompts", {})
    embedder = SentenceTransformerEmbedder("org/model")
    embedder.embed_query("question")
    assert embedder._model.seen == [("question", None)]


def test_a_revision_is_part_of_the_id() -> None:
    """Vectors of two revisions are not compared."""
    assert SentenceTransformerEmbedder("m", revision="abc").id == "sentence-transformers:m@abc"


@pytest.mark.parametrize("provider", ["fastembed", "sentence-transformers"])
def test_a_model_that_cannot_be_loaded_is_named(provider: str) -> None:
    """With what the package said and what to check."""
    embedder = resolve(f"{provider}:unknown")
    with pytest.raises(EmbedderFailed, match=r"could not load 'unknown' \(.*unknown.*\)\. Check the name"):
        embedder.embed(["a"])


@pytest.mark.parametrize("provider", ["fastembed", "sentence-transformers"])
def test_a_missing_package_prints_the_install_command(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra's exact name."""
    monkeypatch.setitem(sys.modules, provider.replace("-", "_"), None)
    with pytest.raises(MissingExtra, match=rf"pip install 'retentive\[{provider}\]'"):
        resolve(f"{provider}:m").embed(["a"])
