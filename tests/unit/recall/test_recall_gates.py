"""Gates come before limits: a filtered recall is never under-filled, and nothing passes that should not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening, by_similarity, ids, openings, unhindered

from retentive import AgentState, Space, policies
from retentive.errors import InvalidInput
from retentive.policy import Selection

FILTERS: dict[str, dict[str, Any]] = {
    "kinds": {"kinds": ["decision"]},
    "tags": {"tags": ["rare"]},
    "where": {"where": {"ticket": 7}},
    "since": {"since": NOW - timedelta(days=400), "until": NOW - timedelta(days=300)},
    "as_of": {"as_of": NOW - timedelta(days=300)},
    "all": {"kinds": ["decision"], "tags": ["rare"], "where": {"ticket": 7}, "until": NOW - timedelta(days=300)},
}


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def crowd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """Six memories worded unlike the cue, old and unimportant, among three hundred that every channel prefers.

    Made once and only read: every recall of it is without a trace.
    """
    making = openings(request.param, tmp_path_factory.mktemp("crowd"))
    space = next(making)().space("a")
    rare = [
        {
            "text": f"Zebra crossing {word}",
            "id": f"rare{n}",
            "kind": "decision",
            "tags": ["rare", "task"],
            "metadata": {"ticket": 7},
            "at": NOW - timedelta(days=350 + n),
            "importance": 0.1,
        }
        for n, word in enumerate(["red", "green", "blue", "white", "black", "grey"])
    ]
    common = [
        {"text": f"Alice deploys tea {n} now", "importance": 0.9, "tags": ["task"], "at": NOW - timedelta(hours=n)}
        for n in range(300)
    ]
    space.remember_many([*rare, *common])
    yield space
    next(making, None)


@pytest.mark.parametrize("preset", policies.names())
@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
def test_a_filtered_recall_is_never_under_filled(crowd: Space, preset: str, filters: dict[str, Any]) -> None:
    """Five are wanted and five come, though three hundred others lie nearer by every channel."""
    asked = {"tags": ["task"], **filters}
    policy = unhindered(policies.get(preset), limit=5)
    recall = crowd.recall("Alice deploys tea currently", policy=policy, touch=False, **asked)
    assert len(recall) == 5
    assert all(name.startswith("rare") for name in ids(recall))


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
def test_recall_and_list_agree_on_what_passes(crowd: Space, filters: dict[str, Any]) -> None:
    """What recall may find without any limit is exactly what a listing shows."""
    policy = by_similarity(pool=1_000, limit=1_000)
    assert set(ids(crowd.recall("zebra", policy=policy, touch=False, **filters))) == {
        m.id for m in crowd.list(limit=1_000, **filters)
    }


def test_as_of_moves_both_axes(opening: Opening) -> None:
    """Known then and true then: later sayings, supersessions and ends of validity had not happened."""
    clock = Clock()
    space = opening(clock=clock).space("a")
    day = timedelta(days=1)
    space.remember("Tea one", id="old", key="k", at=NOW)
    space.remember("Tea two", id="new", key="k", at=NOW + 10 * day)
    space.remember("Tea for a week", id="week", at=NOW, valid_until=NOW + 7 * day)
    clock.tick(days=20)
    seen = {
        days: sorted(ids(space.recall("Tea", policy=by_similarity(), as_of=NOW + days * day, touch=False)))
        for days in (-1, 0, 5, 7, 10, 20)
    }
    assert seen == {-1: [], 0: ["old", "week"], 5: ["old", "week"], 7: ["old"], 10: ["new"], 20: ["new"]}


def test_pinned_memories_are_in_the_core_and_never_among_the_hits(space: Space) -> None:
    """The core block has them whatever the recall was narrowed to; what is hidden or not true is not in it."""
    space.remember("Tea rule", id="rule", pinned=True, kind="procedure", tags=["x"])
    space.remember("Old tea rule", id="gone", pinned=True)
    space.remember("Tea rule of last year", id="ended", pinned=True, valid_until=NOW)
    space.forget("gone")
    space.remember("Tea", id="plain", tags=["t"])
    narrowed: list[dict[str, Any]] = [{}, {"kinds": ["fact"]}, {"tags": ["t"]}, {"since": NOW}, {"where": None}]
    for filters in narrowed:
        recall = space.recall("Tea rule", policy=by_similarity(), **filters)
        assert [memory.id for memory in recall.core] == ["rule"]
        assert ids(recall) == ["plain"]


def test_planning_asks_for_a_tag(space: Space) -> None:
    """Without a tag it is an error, from whichever side; an agent's state may bring the tags."""
    space.remember("Tea plan", tags=["trip"], id="a")
    space.remember("Tea elsewhere", tags=["other"], id="b")
    untagged: list[dict[str, Any]] = [{}, {"tags": []}, {"state": AgentState(goal="plan tea")}]
    for asked in untagged:
        with pytest.raises(InvalidInput, match=re.escape("Policy 'planning' recalls within a task and needs its tags")):
            space.recall("tea", policy="planning", **asked)
    assert ids(space.recall("tea", policy="planning", tags=["trip"])) == ["a"]
    assert ids(space.recall(state=AgentState(goal="plan tea", tags=["trip"]), policy="planning")) == ["a"]


def test_tags_that_are_said_beat_those_of_the_state(space: Space) -> None:
    """`tags=` of the call stands in the place of the state's."""
    space.remember("Tea plan", tags=["trip"], id="a")
    space.remember("Tea elsewhere", tags=["other"], id="b")
    state = AgentState(goal="plan tea", tags=["trip"])
    assert ids(space.recall(state=state, tags=["other"], policy=by_similarity())) == ["b"]


def test_a_gate_removes_and_a_weight_does_not(space: Space) -> None:
    """A weight of 0 or below leaves the candidates as many as they were."""
    for n in range(4):
        space.remember(f"Tea {n}", importance=n / 10)
    for weight in (0, -1, 5):
        policy = policies.blend.replace(weights={"importance": weight, "similarity": 0, "recency": 0})
        assert len(space.recall("Tea", policy=policy)) == 4


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_the_limit_is_the_length(space: Space, limit: int) -> None:
    """`limit=` over the policy's own, as long as there is enough; nothing else of the policy changes."""
    space.remember_many([f"Tea {n}" for n in range(20)])
    recall = space.recall("Tea", policy=by_similarity(), limit=limit)
    assert len(recall) == min(limit, 20)
    assert recall.policy.selection == Selection(limit=limit)


@pytest.mark.parametrize("limit", [0, -1, 10_001, 2.5, True])
def test_a_limit_beside_its_range_is_refused(space: Space, limit: Any) -> None:
    """Zero hits is no answer one asks for."""
    with pytest.raises(InvalidInput, match="limit"):
        space.recall("Tea", limit=limit)
