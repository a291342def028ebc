"""Token estimates and extractive shortening."""

from __future__ import annotations

import pytest

from retentive.text.budget import count_tokens, squeeze

STORY = (
    "I went to the shop. We paid 42 dollars to Anna Smith. It was nice. The weather was nice. Bob called about GPUs."
)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("Hello, world!", 4), ("internationalization", 3), ("123456", 2), ("今天天气", 4),
     ("a\n\nb", 3), ("😀", 2)],
)  # fmt: skip
def test_words_signs_digits_and_ideographs_are_counted(text: str, count: int) -> None:
    """The estimate is a plain rule."""
    assert count_tokens(text) == count


def test_a_text_that_fits_is_left_alone() -> None:
    """Nothing is lost without need."""
    assert squeeze(STORY, 100) == STORY


def test_the_telling_sentences_stay_in_order() -> None:
    """Numbers and names outlive small talk; an ellipsis says that something went."""
    assert squeeze(STORY, 14) == "We paid 42 dollars to Anna Smith. Bob called about GPUs.…"


def test_what_the_cue_asks_for_stays() -> None:
    """A sentence that shares the cue's terms comes first."""
    assert squeeze(STORY, 8, cue_terms=["weather"]) == "The weather was nice.…"


def test_a_long_sentence_is_cut_between_words() -> None:
    """One sentence over the budget still yields its beginning."""
    assert squeeze("word " * 100, 4) == "word word word…"


@pytest.mark.parametrize("tokens", range(12))
def test_a_budget_is_kept(tokens: int) -> None:
    """Never one token more than asked for."""
    assert count_tokens(squeeze(STORY, tokens)) <= tokens


def test_a_negative_budget_is_refused() -> None:
    """The message says what would be accepted."""
    with pytest.raises(ValueError, match=r"tokens=-1 is negative; pass .* 0 or more"):
        squeeze("x", -1)
