"""From a name to an embedder."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from retentive.embedders import known_embedders, resolve
from retentive.embedders.protocol import Vectors
from retentive.errors import InvalidInput, MissingExtra
from retentive.testing.fakes import HashEmbedder


def test_an_embedder_is_returned_as_it_is() -> None:
    """Whoever brings an embedder gets that very one."""
    mine = HashEmbedder()
    assert resolve(mine) is mine


def test_nothing_means_potion() -> None:
    """The default is the bundled one."""
    pytest.importorskip("retentive_potion", reason="the data wheel retentive-potion is not installed")
    assert resolve().id == resolve("potion").id == "potion-base-8M-int8"


def test_an_unknown_name_lists_the_known_ones() -> None:
    """With the nearest in front."""
    with pytest.raises(InvalidInput, match=r"Did you mean 'potion'.*arctic-s.*openai:MODEL"):
        resolve("potoin")


@pytest.mark.parametrize("name", ["openai", "openai:", "fastembed:", "nothing:x", "potion:x", "  "])
def test_a_provider_needs_a_known_name_and_a_model(name: str) -> None:
    """Half a name is an unknown one."""
    with pytest.raises(InvalidInput, match="Known: "):
        resolve(name)


def test_an_object_that_is_no_embedder_is_refused() -> None:
    """The error says what is missing."""
    with pytest.raises(InvalidInput, match="int is no embedder: it needs `id`"):
        resolve(5)  # type: ignore[arg-type]  # what is tested


def test_a_brought_embedder_is_not_asked_anything() -> None:
    """Its width may cost a request or load a model; recognising it does not."""

    class Costly:
        id = "costly"

        @property
        def dimension(self) -> int:
            raise AssertionError("asked")

        def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError("asked")

    mine = Costly()
    assert resolve(mine) is mine


def test_options_reach_the_embedder() -> None:
    """They are its keyword arguments."""
    assert resolve("hash", options={"dimension": 9}).dimension == 9


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    """The error shows what the embedder takes."""
    with pytest.raises(InvalidInput, match=r"'hash'.*'dimensions'.*dimension: 'int' = 64"):
        resolve("hash", options={"dimensions": 9})


def test_a_model_that_is_not_fetched_says_the_command(tmp_path: Path) -> None:
    """The exact command stands in the error."""
    with pytest.raises(MissingExtra, match=r"`retentive models fetch arctic-s`"):
        resolve("arctic-s", models_folder=tmp_path)


def test_known_names_are_listed() -> None:
    """Every name that resolves is in the list."""
    assert known_embedders() == [
        "arctic-s",
        "fastembed:MODEL",
        "hash",
        "openai:MODEL",
        "potion",
        "sentence-transformers:MODEL",
    ]


def test_nothing_is_imported_before_it_is_needed() -> None:
    """The registry brings in neither a provider's package nor the tokenizer."""
    program = (
        "import sys, retentive.embedders; "
        "print([name for name in ('httpx', 'onnxruntime', 'fastembed', 'retentive.embedders.wordpiece') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "[]\n"
