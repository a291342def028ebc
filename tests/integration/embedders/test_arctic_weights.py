"""arctic-s with its real weights, where they have been fetched."""

import os
from pathlib import Path

import numpy as np
import pytest

from retentive.embedders import checked_vectors, query_tokens, query_vector
from retentive.embedders.arctic import ArcticEmbedder
from retentive.models.folder import default_models_folder, model_path

PAIRS = Path(__file__).parents[2] / "unit" / "embedders" / "pairs.tsv"


@pytest.fixture(scope="module")
def arctic() -> ArcticEmbedder:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = model_path("arctic-s", default_models_folder(os.environ))
    if path is None:
        pytest.skip("the weights are not here: run `retentive models fetch arctic-s`")
    return ArcticEmbedder(path, threads=2)


def test_the_weights_are_the_pinned_ones(arctic: ArcticEmbedder) -> None:
    """The fingerprint is frozen: other weights need another id."""
    assert arctic.fingerprint == "a94f68b3193344518e8878a7e286c5e0f13ef586de77c7ea0d515245f112d07a"


def test_the_band_is_what_the_pairs_say(arctic: ArcticEmbedder) -> None:
    """`lo` is the mean cosine of unrelated pairs, `hi` the median of related ones."""
    pairs = [line.split("\t") for line in PAIRS.read_text("utf-8").splitlines()]
    left = np.array([query_vector(arctic, question) for question, _ in pairs])
    cosines = left @ checked_vectors(arctic, [passage for _, passage in pairs]).T
    unrelated = cosines[~np.eye(len(pairs), dtype=bool)]
    assert (unrelated.mean(), np.median(np.diag(cosines))) == pytest.approx(arctic.band, abs=0.01)


def test_the_same_text_has_the_same_vector_in_any_company(arctic: ArcticEmbedder) -> None:
    """To the bit: a batch would have shared the scales of the int8 network."""
    texts = ["My cat is a tabby", "short", "The landlord raised our rent " * 20]
    np.testing.assert_array_equal(arctic.embed(texts), np.concatenate([arctic.embed([text]) for text in texts]))


def test_tokens_find_the_passage(arctic: ArcticEmbedder) -> None:
    """MaxSim prefers the passage that answers."""
    rows = query_tokens(arctic, "Which pet do I have?")
    cat, rent = (
        (rows @ arctic.embed_tokens(text).T).max(axis=1).sum()
        for text in ("My cat Miso is a tabby", "The landlord raised our rent")
    )
    assert 1 >= cat > rent
