"""Temporal intent: what a cue says about time bends weights, finds candidates and adds a bonus; all of it shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from facade_making import NOW, Opening, by_similarity, cosines, ids, only

from retentive import Space, policies
from retentive.conflicts.settings import EVERYTHING_KEPT


@pytest.fixture(autouse=True)
def kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every text as it is told: what is read into two of them is not the matter here."""
    monkeypatch.setattr("retentive.memory.NOTICING", EVERYTHING_KEPT)


TIMED = only("similarity", "recency", "importance", temporal_intent=True)


def remember(space: Space, text: str, days: float, **more: Any) -> None:
    space.remember(text, id=text, at=NOW - timedelta(days=days), **more)


@pytest.mark.parametrize(
    ("cue", "factor"),
    [
        ("What did we decide yesterday?", 0.0),
        ("what was said three months ago", 0.0),
        ("where did she live originally", 0.0),
        ("in May 2023", 0.0),
        ("Where does she live currently?", 2.0),
        ("the latest price", 2.0),
        ("Where does she live now?", 2.0),
        ("Where does she live?", 1.0),
    ],
)
def test_the_weight_of_recency_follows_the_cue(space: Space, cue: str, factor: float) -> None:
    """Past: 0; current: doubled; neither: as it was. The trace has the weights in force and the phrase."""
    remember(space, "Tea", 3)
    recall = space.recall(cue, policy=TIMED)
    assert recall.trace.weights == {"similarity": 1.0, "recency": factor, "importance": 1.0}
    assert recall[0].signals["recency"].weight == factor
    assert (recall.trace.intent is None) is (factor == 1.0)


def test_intent_is_off_by_parameter(space: Space) -> None:
    """A policy may ignore what the cue says about time."""
    remember(space, "Tea", 3)
    recall = space.recall("yesterday's latest tea", policy=TIMED.replace(temporal_intent=False))
    assert (recall.trace.intent, recall.trace.weights["recency"]) == (None, 1.0)


def test_the_past_may_turn_recency_round_instead(opening: Opening) -> None:
    """`past_intent="invert"`: the older, the better, at full weight."""
    space = opening(embedder=cosines({"old": 0.5, "new": 0.5}, "originally?")).space("a")
    remember(space, "old", 280)
    remember(space, "new", 0)
    recall = space.recall("originally?", policy=only("recency", temporal_intent=True, past_intent="invert"))
    assert ids(recall) == ["old", "new"]
    assert [hit.signals["recency"].raw for hit in recall] == pytest.approx([1.0, 0.0], abs=1e-5)
    assert recall.trace.weights["recency"] == 1.0


def test_current_prefers_the_newest(opening: Opening) -> None:
    """A doubled recency decides between like memories that it would not decide alone."""
    wanted = {"lives in Rome": 0.66, "lives in Oslo": 0.60}
    space = opening(embedder=cosines(wanted, "Where does Liv live?", "Where does Liv currently live?")).space("a")
    remember(space, "lives in Rome", 300)
    remember(space, "lives in Oslo", 0)
    policy = TIMED.replace(weights={"recency": 0.04, "importance": 0})
    assert ids(space.recall("Where does Liv live?", policy=policy, touch=False))[0] == "lives in Rome"
    assert ids(space.recall("Where does Liv currently live?", policy=policy))[0] == "lives in Oslo"


def test_the_temporal_channel_finds_what_no_other_does(opening: Opening) -> None:
    """The decision of three months ago among two hundred fresher and nearer memories."""
    cue = "what did we decide three months ago?"
    noise = {f"noise {n}": 0.6 for n in range(200)}
    space = opening(embedder=cosines({"the old decision": 0.1, **noise}, cue)).space("a")
    remember(space, "the old decision", 91)
    space.remember_many([{"text": text, "at": NOW - timedelta(days=n % 20)} for n, text in enumerate(noise)])
    policy = TIMED.replace(channels=("vector", "recent", "temporal"), pool=20, limit=5, window_bonus=1.0)
    recall = space.recall(cue, policy=policy, touch=False)
    assert ids(recall)[0] == "the old decision"
    assert recall[0].channels == ("temporal",)
    assert (recall[0].signals["window"].raw, recall[1].signals["window"].raw) == (1.0, 0.0)
    without = space.recall(cue, policy=policy.replace(channels=("vector", "recent")))
    assert "the old decision" not in ids(without)


def test_the_window_bonus_is_one_more_term(opening: Opening) -> None:
    """It adds its weight inside the window and nothing outside, and only where a window is named."""
    cue = "what happened in May 2023?"
    space = opening(embedder=cosines({"inside": 0.2, "outside": 0.5}, cue, "originally?")).space("a")
    space.remember("inside", at=datetime(2023, 5, 31, 23, 59, 59, tzinfo=UTC))
    space.remember("outside", at=datetime(2023, 6, 1, tzinfo=UTC))
    policy = by_similarity(temporal_intent=True, window_bonus=0.25)
    got = {hit.memory.text: hit.score for hit in space.recall(cue, policy=policy)}
    assert got == pytest.approx({"inside": 0.45, "outside": 0.5}, abs=1e-6)
    unnamed = space.recall("originally?", policy=policy)
    assert all("window" not in hit.signals for hit in unnamed)
    assert all(hit.reproduced() == hit.score for hit in space.recall(cue, policy=policy))


def test_a_window_is_a_bonus_and_not_a_gate(space: Space) -> None:
    """Memories outside the named time stay candidates."""
    remember(space, "Tea", 3)
    assert ids(space.recall("tea in May 2023", policy=policies.blend)) == ["Tea"]


@pytest.mark.parametrize(("cue", "expected"), [("before June 2025", "2025-05"), ("since June 2025", "2025-12")])
def test_an_open_span_asks_for_the_side_it_names(opening: Opening, cue: str, expected: str) -> None:
    """The channel looks at the year beside the one end, not at the middle of all time."""
    space = opening(embedder=cosines({}, cue)).space("a")
    for year in (1990, 2010, 2024, 2025, 2026):
        for month in (1, 5, 12):
            at = datetime(year, month, 1, tzinfo=UTC)
            if at < NOW:
                space.remember(f"said {at:%Y-%m}", at=at)
    policy = only("similarity", temporal_intent=True, channels=("temporal",), pool=4)
    found = {hit.memory.text.removeprefix("said ") for hit in space.recall(cue, policy=policy)}
    assert expected in found
    assert not found & {"1990-01", "1990-05", "1990-12", "2010-01", "2010-05", "2010-12"}


def test_now_is_the_callers(space: Space) -> None:
    """`now=` moves ages, validity and the reading of "yesterday" for this recall, and what is written back."""
    remember(space, "Tea", 30)
    then = NOW - timedelta(days=29)
    recall = space.recall(
        "what happened yesterday?", policy=by_similarity(temporal_intent=True, window_bonus=1.0), now=then
    )
    assert recall[0].signals["window"].raw == 1.0
    assert recall.trace.now == then
    assert space.get("Tea", touch=False).access.last_at == then


def test_a_zone_moves_yesterday(opening: Opening) -> None:
    """In Tokyo it is tomorrow already: the window is the caller's day, not that of UTC."""
    from zoneinfo import ZoneInfo

    space = opening().space("a")
    space.remember("noon tea", at=datetime(2026, 2, 28, 16, tzinfo=UTC))  # 01:00 of 1 March in Tokyo
    policy = by_similarity(temporal_intent=True, window_bonus=1.0)
    utc = datetime(2026, 3, 1, 18, tzinfo=UTC)
    tokyo = utc.astimezone(ZoneInfo("Asia/Tokyo"))  # 03:00 of 2 March
    windows = [space.recall("yesterday", policy=policy, now=now)[0].signals["window"].raw for now in (utc, tokyo)]
    assert windows == [1.0, 1.0]
    early = datetime(2026, 2, 28, 14, tzinfo=UTC)  # 23:00 of 28 February in Tokyo, 27th is yesterday there
    space.remember("early tea", id="early", at=early - timedelta(hours=24))
    shown = space.recall("yesterday", policy=policy, now=tokyo)
    assert {hit.memory.id: hit.signals["window"].raw for hit in shown}["early"] == 0.0
