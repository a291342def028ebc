"""Whatever a space holds and whatever is asked: scores explain themselves, limits hold, and answers repeat."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive import Policy, Recall, Retentive, Space, policies
from retentive.policy import Modifiers, Selection, SignalSpec, Sources
from retentive.scoring.signals import SIGNALS
from retentive.testing.fakes import HashEmbedder
from retentive.types import CHANNELS, KINDS

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EMBEDDER = HashEmbedder(16)
WORDS = ("tea", "rice", "Oslo", "Rome", "Liv", "Kim", "E4012", "deploy", "three", "monday")
some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ago = st.floats(-50, 900, allow_nan=False).map(lambda days: NOW - timedelta(days=days))
unit = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])

memory_items = st.fixed_dictionaries(
    {
        "text": some_words,
        "kind": st.sampled_from(KINDS),
        "importance": unit,
        "trust": unit,
        "at": ago,
        "tags": st.lists(st.sampled_from(["t", "u"]), max_size=2).map(lambda tags: ["all", *tags]),
        "session": st.none() | st.sampled_from(["s1", "s2"]),
        "speaker": st.none() | st.sampled_from(["Liv", "user"]),
        "permanent": st.booleans(),
        "pinned": st.booleans(),
        "key": st.none() | st.none() | st.sampled_from(["k1", "k2"]),
        "recurs": st.none() | st.none() | st.just("yearly"),
        "valid_until": st.none() | st.none() | ago,
    }
)
cues = st.builds(
    lambda words, ending: f"{words}{ending}",
    some_words,
    st.sampled_from(["", "?", " currently?", " yesterday", " last year", " and where does Kim live in Rome now?"]),
)
numbers = st.floats(-2, 2, allow_nan=False)
specs = st.builds(
    SignalSpec, weight=numbers, normalise=st.sampled_from(["minmax", "population", "band", "none"]), constant=unit
)


def made(combine: str, signals: dict[str, SignalSpec], **sections: Any) -> Policy:
    """A product takes no negative weight: there it is an exponent."""
    if combine == "product":
        signals = {name: dataclasses.replace(spec, weight=abs(spec.weight)) for name, spec in signals.items()}
    return Policy(combine=combine, signals=signals, **sections)


custom = st.builds(
    made,
    name=st.just("custom"),
    sources=st.builds(
        Sources,
        channels=st.lists(st.sampled_from(CHANNELS), min_size=1, unique=True).map(tuple),
        pool=st.integers(1, 30),
        neighbours=st.integers(0, 2),
        whole_space_up_to=st.sampled_from([0, 100]),
    ),
    signals=st.dictionaries(st.sampled_from(sorted(SIGNALS)), specs, max_size=5),
    combine=st.sampled_from(["sum", "product"]),
    modifiers=st.builds(
        Modifiers,
        past_intent=st.sampled_from(["zero", "invert"]),
        window_bonus=unit,
        rotation=st.sampled_from(["off", "any", "similar"]),
        tiers=st.booleans(),
        succession=unit,
    ),
    selection=st.builds(
        Selection,
        limit=st.integers(1, 12),
        floor=st.none() | numbers,
        floor_on=st.sampled_from(["score", "relevance"]),
        diversity=st.sampled_from(["none", "mmr", "quota", "balanced"]),
        balance=unit,
        near_duplicate=st.none() | st.floats(-1, 1),
    ),
)
any_policy = st.sampled_from([policies.get(name) for name in policies.names()]) | custom
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def told(items: list[dict[str, Any]]) -> Space:
    space = Retentive(":memory:", embedder=EMBEDDER, clock=lambda: NOW).space("s")
    space.remember_many([{**item, "id": f"m{n}"} for n, item in enumerate(items)])
    return space


def ask(space: Space, cue: str, policy: Policy, **more: Any) -> Recall:
    return space.recall(cue, policy=policy, tags=["all"], session="s1", **more)


@few
@given(st.lists(memory_items, max_size=25), cues, any_policy)
def test_every_score_is_reproduced_by_its_explanation(items: list[dict[str, Any]], cue: str, policy: Policy) -> None:
    """To the last bit, whatever signals, normalisers, multipliers and late terms came together, and over again."""
    space = told(items)
    for minute in range(2):
        recall = ask(space, cue, policy, now=NOW + timedelta(minutes=minute))
        for hit in recall:
            assert np.isfinite(hit.score)
            assert hit.reproduced() == hit.score
        json.dumps(recall.as_dict(), allow_nan=False)


@few
@given(st.lists(memory_items, max_size=25), cues, any_policy)
def test_an_answer_keeps_to_limit_gate_and_order(items: list[dict[str, Any]], cue: str, policy: Policy) -> None:
    """At most the limit, each memory once, none pinned, hidden, or no longer true; the floor holds for every hit."""
    space = told(items)
    recall = ask(space, cue, policy)
    selection = policy.selection
    visible = {memory.id for memory in space.list(limit=100) if not memory.pinned}
    found = [hit.memory.id for hit in recall]
    assert len(found) == len(set(found)) <= selection.limit
    assert set(found) <= visible
    assert {memory.id for memory in recall.core} == {memory.id for memory in space.list(limit=100) if memory.pinned}
    if selection.floor is not None and policy.modifiers.rotation == "off":
        assert all((hit.score if selection.floor_on == "score" else hit.relevance) >= selection.floor for hit in recall)
    if selection.diversity == "none":
        assert [hit.score for hit in recall] == sorted((hit.score for hit in recall), reverse=True)
    named = set(found) | {cut.id for cut in recall.trace.cut}
    assert recall.trace.work.candidates_scored >= len(named)


@few
@given(st.lists(memory_items, max_size=20), st.lists(cues, min_size=1, max_size=4), any_policy)
def test_a_replayed_history_gives_the_same_bytes(items: list[dict[str, Any]], asked: list[str], policy: Policy) -> None:
    """Same memories, questions and clock: the same answers, recall ids and traces included."""

    def story() -> str:
        space = told(items)
        return json.dumps([ask(space, cue, policy).as_dict() for cue in asked])

    assert story() == story()


@few
@given(st.lists(memory_items, max_size=20), cues, any_policy)
def test_reading_without_touch_changes_nothing(items: list[dict[str, Any]], cue: str, policy: Policy) -> None:
    """Asked twice without a trace, the answer is the same, and so is everything in the space."""
    space = told(items)
    before = ([memory.access for memory in space.list(hidden=True, limit=100)], space.store.read_ledger())
    answers = [ask(space, cue, policy, touch=False).as_dict() for _ in range(2)]
    assert answers[0] == answers[1]
    assert ([memory.access for memory in space.list(hidden=True, limit=100)], space.store.read_ledger()) == before


@few
@given(st.lists(memory_items, min_size=1, max_size=25), cues)
def test_similarity_alone_is_brute_force(items: list[dict[str, Any]], cue: str) -> None:
    """Zero weights elsewhere: the order of the exact cosines, ties by newer, then id."""
    space = told(items)
    policy = Policy(
        name="vectors",
        sources=Sources(channels=("vector", "recent"), pool=50),
        signals={"similarity": SignalSpec(1.0, "none"), "recency": SignalSpec(0.0), "importance": SignalSpec(0.0)},
        selection=Selection(limit=50),
        modifiers=Modifiers(temporal_intent=False),
    )
    trusted = [memory for memory in space.list(limit=100) if not memory.pinned]
    vectors = space.store.vectors([memory.id for memory in trusted])
    asked = EMBEDDER.embed([cue])[0].astype(np.float64)
    cosine = {name: float((row.astype(np.float64) * asked).sum()) for name, row in vectors.items()}
    expected = sorted(trusted, key=lambda m: (-cosine[m.id] * m.trust, -m.created_at.timestamp(), m.id))
    recall = ask(space, cue, policy)
    assert [hit.memory.id for hit in recall] == [memory.id for memory in expected]


@few
@given(st.lists(memory_items, min_size=1, max_size=15), cues, any_policy, st.integers(150, 3_000))
def test_a_token_budget_loses_nobody(items: list[dict[str, Any]], cue: str, policy: Policy, budget: int) -> None:
    """Whole or in the block, in the order of the free answer."""
    space = told(items)
    free = ask(space, cue, policy.replace(token_budget=None), touch=False)
    tight = ask(space, cue, policy.replace(token_budget=budget), touch=False)
    named = [hit.memory.id for hit in tight] + list(tight.compacted.ids if tight.compacted else ())
    assert named == [hit.memory.id for hit in free]
