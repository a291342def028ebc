"""The bundled embedder: static vectors, no surprises."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.embedders import (
    Calibrated,
    Embedder,
    Fingerprinted,
    QueryEmbedder,
    QueryTokenEmbedder,
    TokenEmbedder,
    checked_vectors,
    potion,
    query_tokens,
    query_vector,
)
from retentive.embedders.potion import BLOCK, PotionEmbedder, load_potion
from retentive.errors import EmbedderFailed, MissingExtra

pytest.importorskip("retentive_potion", reason="the data wheel retentive-potion is not installed")
PAIRS = [line.split("\t") for line in (Path(__file__).parent / "pairs.tsv").read_text("utf-8").splitlines()]
MODEL = load_potion(None)


def test_potion_has_every_power() -> None:
    """It embeds, knows questions and tokens, and tells its fingerprint and its band."""
    for protocol in (Embedder, QueryEmbedder, TokenEmbedder, QueryTokenEmbedder, Fingerprinted, Calibrated):
        assert isinstance(MODEL, protocol)
    assert (MODEL.id, MODEL.dimension) == ("potion-base-8M-int8", 256)


def test_vectors_are_those_of_the_published_model() -> None:
    """The fingerprint of the weights is frozen: other weights need another id."""
    assert MODEL.fingerprint == "399c6b8c97ce7a45edefb1325ba88e3796729c084779c8e544fac509aea74327"


def test_a_related_text_is_nearer() -> None:
    """Meaning counts, without a shared word."""
    dog, puppy, taxes = MODEL.embed(["I love my dog", "My puppy is great", "Quarterly tax filing"])
    assert dog @ puppy > 0.5
    assert dog @ taxes < 0.2


def test_the_band_is_what_the_pairs_say() -> None:
    """`lo` is the mean cosine of unrelated pairs, `hi` the median of related ones."""
    left = np.array([query_vector(MODEL, question) for question, _ in PAIRS])
    cosines = left @ checked_vectors(MODEL, [passage for _, passage in PAIRS]).T
    unrelated = cosines[~np.eye(len(PAIRS), dtype=bool)]
    assert (unrelated.mean(), np.median(np.diag(cosines))) == pytest.approx(MODEL.band, abs=0.01)


def test_the_same_text_has_the_same_vector_in_any_company() -> None:
    """To the bit, alone or in a batch, early or late, as a question or as a passage."""
    texts = [f"text number {at} about {'cats and ' * (at % 40)} dogs" for at in range(300)]
    together = MODEL.embed(texts)
    for at in range(0, 300, 7):
        np.testing.assert_array_equal(together[at], MODEL.embed([texts[at]])[0])
        np.testing.assert_array_equal(together[at], MODEL.embed_query(texts[at]))


@pytest.mark.parametrize("text", ["", " ", "\x00", "🎉", "🎉🎉 ꙮ", "\ud800", "...", "[UNK]", "\u200b", "ꙮ" * 5000])
def test_a_text_without_words_has_a_direction(text: str) -> None:
    """No text is a vector of zeros, for passages, questions and tokens."""
    for rows in (MODEL.embed([text]), MODEL.embed_query(text)[None], MODEL.embed_tokens(text)):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_wordless_texts_do_not_resemble_each_other() -> None:
    """Different emoji are no near-duplicates, with a punctuation mark or without; the same ones are equal."""
    party, rocket, loud, same = MODEL.embed(["🎉", "🚀", "🚀!", "🎉"])
    assert abs(party @ rocket) < 0.3
    assert rocket @ loud < 0.95
    np.testing.assert_array_equal(party, same)


def test_unknown_words_beside_known_ones_are_left_out() -> None:
    """An emoji does not move a text that has words."""
    with_emoji, plain = MODEL.embed(["great job ꙮꙮ", "great job"])
    np.testing.assert_array_equal(with_emoji, plain)


def test_a_long_text_is_read_to_its_end() -> None:
    """A megabyte has the direction of all its words, not of the first block."""
    words = ("database " * 3 + "holiday ") * 35_000
    assert len(words) > 1_000_000
    short, long = MODEL.embed(["database database database holiday", words])
    assert short @ long == pytest.approx(1, abs=1e-4)


def test_tokens_of_a_long_text_are_bounded() -> None:
    """A megabyte of text gives each distinct token once."""
    assert len(MODEL.embed_tokens("red blue green " * 70_000)) == 3


def test_tokens_are_unit_rows_in_order() -> None:
    """One row per token, the first word first."""
    rows = MODEL.embed_tokens("red fox red")
    assert rows.shape == (3, 256)
    np.testing.assert_array_equal(rows[0], rows[2])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_telling_words_of_a_question_weigh_more() -> None:
    """The rows' lengths are weights that sum to one, and a rare word outweighs an article."""
    the, orchid = np.linalg.norm(MODEL.embed_query_tokens("the orchid")[[0, -1]], axis=1)
    assert orchid > 4 * the
    weights = np.linalg.norm(query_tokens(MODEL, "How often should I water the orchid?"), axis=1)
    assert weights.sum() == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_rows() -> None:
    """An empty batch has the right width."""
    assert MODEL.embed([]).shape == (0, 256)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="ab !é東🎉", max_size=30), max_size=12), st.integers(1, 20))
def test_blocks_do_not_show(texts: list[str], block: int) -> None:
    """However the tokens are cut into blocks, the vectors are the same but for rounding."""
    expected = MODEL.embed(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(potion, "BLOCK", block)
        np.testing.assert_allclose(MODEL.embed(texts), expected, atol=1e-5)
    assert potion.BLOCK == BLOCK


def test_missing_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without wheel and models folder the error has both commands."""
    monkeypatch.setattr(potion, "DATA_PACKAGE", "no_such_package_here")
    with pytest.raises(MissingExtra, match=r"pip install retentive-potion.*retentive models fetch potion"):
        load_potion(tmp_path)


def test_the_models_folder_serves_without_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetched folder is as good as the installed wheel."""
    data: Any = sys.modules["retentive_potion"]
    (tmp_path / "potion").symlink_to(data.path, target_is_directory=True)
    monkeypatch.setattr(potion, "DATA_PACKAGE", "no_such_package_here")
    np.testing.assert_array_equal(load_potion(tmp_path).embed(["a"]), MODEL.embed(["a"]))


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    """A folder without its facts says what to run."""
    with pytest.raises(EmbedderFailed, match="retentive models fetch potion"):
        PotionEmbedder(tmp_path)


def test_its_repr_is_short() -> None:
    """It shows the model, not the weights."""
    assert repr(MODEL) == "PotionEmbedder(256 dimensions, 399c6b8c97ce)"
