"""What an embedder returns is checked once, and what is wrong is named."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from retentive.embedders import (
    Embedder,
    EmbedderIdentity,
    QueryEmbedder,
    TokenEmbedder,
    checked_vectors,
    identity,
    query_vector,
)
from retentive.embedders.protocol import Calibrated, Fingerprinted, Vectors
from retentive.errors import InvalidInput


class Plain:
    """The least an embedder has to be; it answers what it is told to."""

    id = "plain"
    dimension = 2

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> Any:
        return self.answer


class Asking(Plain):
    """One with a way of its own for questions."""

    def embed_query(self, text: str) -> Vectors:
        return np.array([0, 5], np.float32)


def test_three_attributes_make_an_embedder() -> None:
    """`id`, `dimension` and `embed` are enough, and promise nothing else."""
    plain = Plain([])
    assert isinstance(plain, Embedder)
    assert not isinstance(plain, QueryEmbedder | TokenEmbedder | Fingerprinted | Calibrated)


def test_vectors_come_back_with_length_one() -> None:
    """Rows are normalised, whatever their length and type were."""
    got = checked_vectors(Plain([[3, 4], [0, 1e-20]]), ["a", "b"])
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.array([[0.6, 0.8], [0, 1]]), rtol=1e-6)


def test_very_large_values_do_not_overflow() -> None:
    """The squares of large float32 numbers are summed in float64."""
    got = checked_vectors(Plain(np.full((1, 2), 3e38, np.float32)), ["a"])
    np.testing.assert_allclose(got[0], np.array([0.5**0.5, 0.5**0.5]), rtol=1e-6)


def test_no_texts_give_no_rows() -> None:
    """An empty batch has the right width."""
    assert checked_vectors(Plain([]), []).shape == (0, 2)


@pytest.mark.parametrize("answer", [[[1, 2, 3]], [[1, 2], [3, 4]], [1, 2], []])
def test_a_wrong_shape_is_refused(answer: Any) -> None:
    """The error names the embedder, what it returned and what was expected."""
    with pytest.raises(InvalidInput, match=r"'plain' returned an array of shape .* for 1 texts; expected \(1, 2\)"):
        checked_vectors(Plain(answer), ["a"])


def test_an_answer_of_no_numbers_is_refused() -> None:
    """So is what numpy cannot read."""
    with pytest.raises(InvalidInput, match="no array of numbers"):
        checked_vectors(Plain([["x", "y"]]), ["a"])


@pytest.mark.parametrize(
    ("bad", "words"), [([0, 0], "only zeros"), ([np.nan, 1], "not finite"), ([np.inf, 0], "not finite")]
)
def test_a_vector_without_direction_is_refused(bad: list[float], words: str) -> None:
    """The error names the index of the text and what to do."""
    with pytest.raises(InvalidInput, match=f"{words}.*index 1.*Leave that text out") as raised:
        checked_vectors(Plain([[1, 0], bad]), ["a", "b"])
    assert raised.value.details == {"embedder": "plain", "index": 1}


def test_a_question_goes_the_way_of_questions() -> None:
    """`embed_query` is used where there is one, and its answer is normalised too."""
    np.testing.assert_array_equal(query_vector(Asking([[1, 0]]), "a"), [0, 1])


def test_a_question_is_a_text_to_a_plain_embedder() -> None:
    """Without `embed_query` the question is embedded as any text."""
    np.testing.assert_array_equal(query_vector(Plain([[2, 0]]), "a"), [1, 0])


def test_a_question_vector_of_another_shape_is_refused() -> None:
    """The answer of `embed_query` is held to the dimension."""
    asking = Asking([])
    asking.dimension = 3
    with pytest.raises(InvalidInput, match=re.escape("(1, 2)")):
        query_vector(asking, "a")


def test_identity_holds_what_must_agree() -> None:
    """Without a fingerprint it is empty; with one it is part of the identity."""
    plain = Plain([])
    assert identity(plain) == EmbedderIdentity("plain", 2, "")
    plain.fingerprint = "abc"  # type: ignore[attr-defined]  # given to the instance on purpose
    assert identity(plain).fingerprint == "abc"
