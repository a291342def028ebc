"""WordPiece gives the ids of Hugging Face's `tokenizers`, in bounded memory."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.embedders import wordpiece
from retentive.embedders.wordpiece import LONGEST_WORD, WordPiece, slices
from retentive.errors import InvalidInput

VOCABULARY = ["[UNK]", "un", "##aff", "##able", "a", "##a", "b", "!", "[", "]", "sep", "σ", "ο", "東", "cafe"]
GOLDEN = json.loads((Path(__file__).parent / "wordpiece_golden.json").read_text("utf-8"))


@pytest.fixture
def tokens() -> WordPiece:
    return WordPiece(VOCABULARY)


@pytest.fixture(scope="module")
def potion_tokens() -> WordPiece:
    data = pytest.importorskip("retentive_potion", reason="the data wheel retentive-potion is not installed")
    return WordPiece((data.path / "vocab.txt").read_text("utf-8").splitlines())


@pytest.mark.parametrize(("text", "ids"), GOLDEN)
def test_ids_are_those_of_the_reference(potion_tokens: WordPiece, text: str, ids: list[int]) -> None:
    """Texts of many scripts come out as `tokenizers` 0.23.3 encoded them (with encode_special_tokens)."""
    assert potion_tokens.encode(text) == ids


def test_longest_piece_first(tokens: WordPiece) -> None:
    """A word is cut greedily from the left."""
    assert tokens.encode("unaffable") == [1, 2, 3]


def test_a_word_with_a_gap_is_unknown_as_a_whole(tokens: WordPiece) -> None:
    """One piece that is not in the vocabulary makes the whole word unknown."""
    assert tokens.encode("unaffzz a") == [tokens.unknown, 4]


def test_case_and_accents_are_dropped(tokens: WordPiece) -> None:
    """Upper case and accents, composed or not, do not change the ids."""
    assert tokens.encode("CAFÉ") == tokens.encode("cafe\u0301") == tokens.encode("cafe")


def test_a_final_sigma_is_an_ordinary_sigma(tokens: WordPiece) -> None:
    """Characters are lowered one by one, as the reference does."""
    assert tokens.words("ΟΣ") == ["οσ"]


def test_ideographs_and_punctuation_stand_alone(tokens: WordPiece) -> None:
    """Each is a word of its own without white space around it."""
    assert tokens.words("a東b!a") == ["a", "東", "b", "!", "a"]


def test_control_characters_vanish_and_join(tokens: WordPiece) -> None:
    """A control character separates nothing, in ASCII text and in other text alike."""
    assert tokens.words("a\x00b\x1fc") == ["abc"]
    assert tokens.words("é\x00b\u200bc") == ["ebc"]


def test_special_tokens_in_a_text_are_text(tokens: WordPiece) -> None:
    """A memory cannot smuggle a control token into the model."""
    assert tokens.words("[SEP]") == ["[", "sep", "]"]


def test_the_longest_word_is_read_and_a_longer_one_is_unknown(tokens: WordPiece) -> None:
    """The limit of 100 characters is inclusive."""
    assert len(tokens.encode("a" * LONGEST_WORD)) == LONGEST_WORD
    assert tokens.encode("a" * (LONGEST_WORD + 1)) == [tokens.unknown]


def test_limit_cuts_the_ids(tokens: WordPiece) -> None:
    """`limit` returns the first ids and no more."""
    assert tokens.encode("a b a b", 3) == [4, 6, 4]


def test_the_word_cache_is_bounded(tokens: WordPiece, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many words come, the cache forgets them in time, and the ids stay right."""
    monkeypatch.setattr(wordpiece, "CACHED_WORDS", 10)
    words = [f"w{at}" for at in range(100)]
    assert tokens.encode(" ".join(words)) == [tokens.unknown] * 100
    assert len(tokens._pieces) <= 10


def test_the_character_cache_is_bounded(tokens: WordPiece, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with every character there is does not keep them all."""
    monkeypatch.setattr(wordpiece, "CACHED_CHARACTERS", 10)
    tokens.encode("".join(map(chr, range(0x400, 0x500))))
    assert len(tokens._characters) <= 10


def test_a_vocabulary_without_unknown_is_refused() -> None:
    """The error says which token is missing and where to get it."""
    with pytest.raises(InvalidInput, match=r"'\[UNK\]'.*vocab\.txt"):
        WordPiece(["a", "b"])


@given(st.text(alphabet="ab!é東 \n\x00", max_size=200), st.integers(1, 40))
def test_slicing_a_text_does_not_change_its_words(text: str, size: int) -> None:
    """A long text cut into slices gives the words of the whole."""
    tokens = WordPiece(VOCABULARY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wordpiece, "SLICE", size)
        parts = list(slices(text))
        assert "".join(parts) == text
        assert [word for part in parts for word in tokens.words(part)] == tokens.words(text)


@given(st.text())
def test_any_text_has_ids(text: str) -> None:
    """Nothing that a string can hold makes the tokenizer fail."""
    tokens = WordPiece(VOCABULARY)
    assert all(0 <= at < len(VOCABULARY) for at in tokens.encode(text))


def test_a_lone_surrogate_is_dropped(tokens: WordPiece) -> None:
    """Half a character, as broken JSON brings it, is no character."""
    assert tokens.words("a\ud800b") == ["ab"]
