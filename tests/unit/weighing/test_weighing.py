"""Features, points, calibration and collapse, as plain values."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.testing.store_samples import sample
from retentive.types import Memory
from retentive.weighing.calibrate import (
    BINS,
    KEPT,
    LEAST,
    Spread,
    collapse_of,
    importance_of,
    read_spread,
    write_spread,
)
from retentive.weighing.features import features, weighed
from retentive.weighing.offline import points_of
from retentive.weighing.words import GROUPS, counted, words_of

POINTS = st.floats(-20, 40)


def memory(text: str, **fields: Any) -> Memory:
    return sample("m", text=text, **fields)


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("own", "That is mine"),
        ("commitment", "She promised to send it"),
        ("decision", "They decided against it"),
        ("rule", "Never touch the valve"),
        ("correction", "He no longer lives there"),
        ("preference", "Prefers tea"),
        ("profile", "Works as a nurse"),
        ("feeling", "She is worried"),
        ("life", "They got married"),
        ("health", "Allergic to nuts"),
        ("stakes", "The password leaked"),
        ("grave", "The accident was fatal"),
        ("moment", "It starts at 14:30"),
        ("number", "There are 12"),
        ("money", "It costs 40 euros"),
        ("question", "Is it so?"),
        ("greeting", "hello there"),
        ("passing", "The weather was nice"),
    ],
)
def test_each_feature_hears_what_it_is_for(feature: str, text: str) -> None:
    """And is silent about a text that has nothing of it."""
    assert getattr(features(text, 0), feature) > 0
    assert getattr(features("Oslo", 0), feature) == 0


def test_names_and_length_count() -> None:
    """More names and more words say more, with less and less effect."""
    assert [features("x", names).names for names in (0, 1, 2)] == [0, 0.5, 0.75]
    assert features("one two three", 0).length < features("one two three four five six", 0).length


@given(st.text(max_size=300), st.integers(0, 40))
def test_features_are_bounded(text: str, names: int) -> None:
    """Whatever the text: each 0..1, and the same every time."""
    found = features(text, names)
    assert all(0 <= value <= 1 for value in astuple(found))
    assert weighed(found) == weighed(features(text, names))


def test_a_document_is_looked_at_in_part() -> None:
    """A page costs no more than its head."""
    assert features("never " * 100_000, 0).rule == pytest.approx(1.0)
    assert features("x" * 4_000 + " never", 0).rule == 0


def test_phrases_and_beginnings() -> None:
    """A phrase speaks as a whole; a beginning for all its words; an apostrophe however it is curled."""
    assert counted(words_of("passed away"))["life"] == 1
    assert counted(words_of("away passed"))["life"] == 0
    assert counted(words_of("diagnoses"))["health"] == 1
    assert counted(words_of("i\u2019ve"))["own"] == 1
    assert set(counted([])) == set(GROUPS)


def test_what_matters_outweighs_small_talk() -> None:
    """The ends of the scale, and the middle between them."""
    texts = ["thanks, bye!", "It was a bit windy.", "Works as a baker in Graz.", "I am allergic to bee stings."]
    points = [points_of(memory(text)) for text in texts]
    assert points == sorted(points)
    assert len(set(points)) == 4


def test_kind_speaker_and_novelty_count() -> None:
    """A decision weighs more than an episode, who speaks is not somebody named, what was said before weighs less."""
    text = "The order service uses events"
    assert points_of(memory(text, kind="decision")) > points_of(memory(text)) > points_of(memory(text, kind="episode"))
    assert points_of(memory("x", entities=("anna",), speaker="Anna")) < points_of(memory("x", entities=("anna",)))
    assert points_of(memory(text), 0.0) == points_of(memory(text), 1.0) - 1 == points_of(memory(text)) - 1


@given(st.lists(POINTS, max_size=60), POINTS)
def test_importance_is_bounded(points: list[float], value: float) -> None:
    """Whatever the points and the spread."""
    assert LEAST <= importance_of(value, Spread().with_points(points)) <= 1


@given(st.lists(POINTS, max_size=60), POINTS, POINTS)
def test_more_points_are_never_less_important(points: list[float], one: float, two: float) -> None:
    """In the same space."""
    spread = Spread().with_points(points)
    low, high = sorted((one, two))
    assert importance_of(low, spread) <= importance_of(high, spread)


def test_ratings_spread_where_points_do_not() -> None:
    """In a space whose points lie close together, calibration draws them apart."""
    points = [5 + number / 20 for number in range(40)]
    spread = Spread().with_points(points)
    given = [importance_of(value, spread) for value in points]
    assert max(given) - min(given) > 2 * (max(points) - min(points)) / 10


def test_the_first_memory_has_its_plain_points() -> None:
    """Nobody to be compared with: the scale alone, nearly."""
    assert importance_of(6.0, Spread()) == 0.6
    assert Spread().below(3.0) == 0.5


def test_a_spread_follows_its_space() -> None:
    """Old counts fade, so that it never grows beyond a bound."""
    spread = Spread().with_points([2.0] * KEPT)
    for _ in range(3):
        spread = spread.with_points([9.0] * KEPT)
    assert spread.total <= KEPT
    assert spread.below(5.0) < 0.2


def test_a_spread_survives_writing() -> None:
    """And anything unreadable counts as none."""
    spread = Spread().with_points([1.0, 5.5, 99.0, -3.0])
    assert read_spread(write_spread(spread)) == spread
    for broken in (None, 1, {}, {"counts": [1]}, {"counts": ["x"] * BINS}, {"counts": [-1] * BINS}):
        assert read_spread(broken) == Spread()


def test_collapse() -> None:
    """One value for most, or all close together; too few, or spread, is none."""
    crowd = collapse_of([0.7] * 30 + [0.2] * 10)
    assert crowd is not None
    assert (crowd.value, crowd.share, crowd.count) == (0.7, 0.75, 40)
    assert crowd.sentence == "75% of 40 memories have the importance 0.7"
    narrow = collapse_of([0.6 + number / 1000 for number in range(100)])
    assert narrow is not None
    assert "within 0.03 of its mean" in narrow.sentence
    assert collapse_of([0.7] * 19) is None
    assert collapse_of([number / 40 for number in range(40)]) is None
