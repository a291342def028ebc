"""The shipped fakes: predictable geometry, the same everywhere."""

import subprocess
import sys

import numpy as np
import pytest

from retentive.embedders import Embedder, TokenEmbedder, checked_vectors, query_tokens
from retentive.errors import InvalidInput
from retentive.testing.fakes import HashEmbedder, MappedEmbedder


def test_hash_vectors_are_these() -> None:
    """The first values are frozen: other vectors would break the tests of users who rely on them."""
    got = HashEmbedder(8).embed(["the red fox"])[0]
    np.testing.assert_allclose(got, FOX, atol=1e-6)


FOX = [0.2539167, -0.3264643, -0.6166548, -0.1813691, -0.2539167, 0.2539167, 0.4715596, 0.2539167]


def test_hash_vectors_do_not_depend_on_the_process() -> None:
    """Python's salted `hash` plays no part."""
    program = "from retentive.testing.fakes import HashEmbedder as H; print(H(16).embed(['a b']).tobytes().hex())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {HashEmbedder(16).embed(["a b"]).tobytes().hex() + "\n"}


def test_shared_words_bring_texts_closer() -> None:
    """Same words in another order are equal, a shared word is near, none is far."""
    same, shared, none = "fox red", "red car", "blue sky"
    vectors = HashEmbedder(256).embed(["red fox", same, shared, none])
    cosines = vectors @ vectors[0]
    assert cosines[1] == pytest.approx(1, abs=1e-6)
    assert cosines[1] > cosines[2] > 0.3 > cosines[3]


def test_a_shared_stem_brings_words_closer() -> None:
    """Trigrams make `deploy` and `deployment` relatives."""
    vectors = HashEmbedder(1024).embed(["deploy", "deployment", "breakfast"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.05


@pytest.mark.parametrize("text", ["", "   ", "🎉", "\ud800", "\x00"])
def test_hash_gives_every_text_a_direction(text: str) -> None:
    """Even a text without words passes the check for usable vectors."""
    assert checked_vectors(HashEmbedder(), [text]).shape == (1, 64)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_hash_never_cancels_to_zero(dimension: int) -> None:
    """Few dimensions cancel easily; a direction comes out all the same."""
    checked_vectors(HashEmbedder(dimension), [f"{at} {at + 1}" for at in range(200)])


def test_hash_tokens_are_unit_rows() -> None:
    """One row a word."""
    rows = HashEmbedder().embed_tokens("the red fox")
    assert rows.shape == (3, 64)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    assert isinstance(HashEmbedder(), TokenEmbedder)


def test_tokens_of_a_question_weigh_the_same_by_default() -> None:
    """An embedder that knows no better gives each token the same share, and a text matches itself fully."""
    hashed = HashEmbedder()
    rows = query_tokens(hashed, "the red fox")
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1 / 3, rtol=1e-6)
    assert (rows @ hashed.embed_tokens("the red fox").T).max(axis=1).sum() == pytest.approx(1, abs=1e-6)


def test_hash_needs_a_dimension() -> None:
    """Zero dimensions are refused by value."""
    with pytest.raises(InvalidInput, match="got 0"):
        HashEmbedder(0)


def test_mapped_gives_the_vectors_it_was_told() -> None:
    """Known texts have exactly their vector, unknown ones a hashed one."""
    mapped = MappedEmbedder({"old": [1, 0], "new": [0.6, 0.8]})
    assert isinstance(mapped, Embedder)
    got = mapped.embed(["new", "other", "old"])
    np.testing.assert_array_equal(got[[0, 2]], np.array([[0.6, 0.8], [1, 0]], np.float32))
    np.testing.assert_array_equal(got[1], HashEmbedder(2).embed(["other"])[0])


@pytest.mark.parametrize("vectors", [{}, {"a": [1], "b": [1, 2]}, {"a": [[1, 2]]}])
def test_mapped_needs_vectors_of_one_length(vectors: dict[str, list[float]]) -> None:
    """Nothing, a mixture or a matrix is refused with the shapes seen."""
    with pytest.raises(InvalidInput, match="shapes"):
        MappedEmbedder(vectors)


def test_no_texts_give_no_rows() -> None:
    """An empty batch has the right width for both."""
    assert HashEmbedder().embed([]).shape == (0, 64)
    assert MappedEmbedder({"a": [1, 0]}).embed([]).shape == (0, 2)
