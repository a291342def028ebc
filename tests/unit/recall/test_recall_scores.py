"""Scores: the formulas of the presets worked by hand, ties, floors, trust and tiers."""

from __future__ import annotations

import json
from datetime import timedelta
from math import log
from typing import Any

import numpy as np
import pytest
from facade_making import CUE, NOW, Clock, Opening, by_similarity, cosines, ids, only, unhindered

from retentive import AgentState, Policy, Space, policies
from retentive.policy import SignalSpec
from retentive.testing.fakes import HashEmbedder


def remember(space: Space, name: str, days: float = 0.0, **more: Any) -> None:
    space.remember(name, id=name, at=NOW - timedelta(days=days), **more)


def scores(space: Space, policy: Any, **asked: Any) -> dict[str, float]:
    return {hit.memory.id: hit.score for hit in space.recall(CUE, policy=policy, touch=False, **asked)}


def test_focus_is_a_sum_of_raw_numbers(opening: Opening) -> None:
    """0.6·cosine + 0.25·2^(-age/7 d) + 0.15·importance, with a floor of 0.35."""
    space = opening(embedder=cosines({"a": 0.9, "b": 0.2})).space("s")
    remember(space, "a", days=7, importance=0.4)
    remember(space, "b", days=70, importance=1.0)
    got = scores(space, "focus")
    assert got == {"a": pytest.approx(0.6 * 0.9 + 0.25 * 0.5 + 0.15 * 0.4, abs=1e-6)}


def test_blend_normalises_over_the_candidates(opening: Opening) -> None:
    """Min-max of three columns; a column without spread is 0.5, so a lone memory scores 1.5."""
    space = opening(embedder=cosines({"a": 0.9, "b": 0.5, "c": 0.1})).space("s")
    remember(space, "a", days=28, importance=0.2)
    assert scores(space, "blend") == {"a": 1.5}
    remember(space, "b", days=14, importance=0.6)
    remember(space, "c", days=0, importance=0.4)
    assert scores(space, "blend") == {
        "a": pytest.approx(0 + 0 + 1, abs=1e-6),
        "b": pytest.approx((0.5 - 0.25) / 0.75 + 1 + 0.5, abs=1e-6),
        "c": pytest.approx(1 + 0.5 + 0, abs=1e-6),
    }


def test_a_constant_column_is_nothing_in_the_stream(opening: Opening) -> None:
    """There a lone memory scores 0: the paper's own normalisation."""
    space = opening(embedder=cosines({"a": 0.9})).space("s")
    remember(space, "a", days=3)
    assert scores(space, "stream") == {"a": 0.0}


def test_operational_sums_four_raw_numbers(opening: Opening) -> None:
    """0.45·cosine + 0.25·2^(-age/168 h) + 0.20·decayed importance + 0.10·frequency."""
    clock = Clock()
    space = opening(embedder=cosines({"a": 0.8}), clock=clock).space("s")
    remember(space, "a", days=90, kind="decision", importance=0.8)
    raw = 0.45 * 0.8 + 0.25 * 2 ** (-90 / 7) + 0.20 * 0.4
    assert scores(space, "operational") == {"a": pytest.approx(raw, abs=1e-6)}
    space.get("a")
    clock.tick(days=7)
    count = 0.99**7
    raw = 0.45 * 0.8 + 0.25 * 0.5 + 0.20 * 0.8 * 2 ** (-7 / 90) + 0.10 * min(0.1 * np.log2(1 + count), 1)
    assert scores(space, "operational") == {"a": pytest.approx(raw, abs=1e-6)}


def test_freshness_multiplies_fusion_and_freshness(opening: Opening) -> None:
    """RRF over both channels times fresh·(1 + ln(1+n)): the first of both is 2/61."""
    space = opening(embedder=cosines({"a": 0.8})).space("s")
    remember(space, "a", days=180)
    got = space.recall("a what about it", policy="freshness", touch=False)[0]
    assert got.channels == ("vector", "lexical")
    assert got.score == pytest.approx(2 / 61 * 0.5, abs=1e-12)
    space.get("a")
    assert space.recall("a what about it", policy="freshness")[0].score == pytest.approx(2 / 61 * 0.5 * (1 + log(2)))


def test_planning_prefers_the_old_of_earlier_sessions(opening: Opening) -> None:
    """Recency is turned round for memories of the task's earlier sessions."""
    space = opening(embedder=cosines({"old": 0.5, "older": 0.5, "today": 0.5})).space("s")
    remember(space, "older", days=60, session="s1", tags=["t"])
    remember(space, "old", days=30, session="s1", tags=["t"])
    remember(space, "today", days=1, session="s2", tags=["t"])
    recall = space.recall(CUE, policy="planning", tags=["t"], session="s2", touch=False)
    raw = {hit.memory.id: hit.signals["recency"].raw for hit in recall}
    assert raw == {
        "older": pytest.approx(0.75),
        "old": pytest.approx(0.5),
        "today": pytest.approx(2 ** (-1 / 30)),
    }
    by_state = space.recall(CUE, policy="planning", state=AgentState(goal="x", session="s2", tags=["t"]), touch=False)
    assert ids(by_state) == ids(recall)


@pytest.mark.parametrize("preset", [name for name in policies.names() if "similarity" in policies.get(name).signals])
def test_similarity_alone_is_a_vector_store(opening: Opening, preset: str) -> None:
    """With every other weight 0 and no modifiers the order is the cosines', whatever else memories are."""
    rng = np.random.default_rng(7)
    wanted = {f"m{n:02}": float(c) for n, c in enumerate(rng.uniform(-0.9, 0.99, 40))}
    space = opening(embedder=cosines(wanted)).space("s")
    for name in wanted:
        days, importance = float(rng.uniform(0, 500)), float(rng.uniform())
        space.remember(name, id=name, at=NOW - timedelta(days=days), importance=importance, tags=["t"])
        for _ in range(int(rng.integers(0, 3))):
            space.get(name)
    policy = policies.get(preset)
    policy = unhindered(policy, weights={name: float(name == "similarity") for name in policy.signals})
    policy = policy.replace(
        temporal_intent=False,
        rotation="off",
        window_bonus=0.0,
        succession=0.0,
        tiers=False,
        neighbours=0,
        pool=100,
        limit=40,
    )
    recall = space.recall(CUE, policy=policy, tags=["t"], touch=False)
    assert ids(recall) == sorted(wanted, key=lambda name: -wanted[name])


@pytest.mark.parametrize("dimension", [3, 8, 64, 256, 1024])
def test_equal_vectors_tie_and_the_newer_goes_first(opening: Opening, dimension: int) -> None:
    """Wherever they lie in the matrix, equal vectors score alike; ties go to the newer, then by id."""

    class Same(HashEmbedder):
        def embed(self, texts: Any) -> Any:
            return super().embed(["cue" if text == CUE else "the same" for text in texts])

    space = opening(embedder=Same(dimension)).space("s")
    moments = [(n * 5) % 7 for n in range(21)]
    for n, days in enumerate(moments):
        space.remember(f"text {n}", id=f"m{n:02}", at=NOW - timedelta(days=days))
    recall = space.recall(CUE, policy=by_similarity(limit=21))
    assert len({hit.score for hit in recall}) == 1
    assert ids(recall) == [f"m{n:02}" for n in sorted(range(21), key=lambda n: (moments[n], n))]


def test_every_candidate_has_its_exact_cosine(opening: Opening) -> None:
    """Whatever channel found it: lexical, recent, important, entity, temporal."""
    wanted = {"Zoe one E4012": 0.1, "two": -0.5, "three": 0.3, "four": 0.9}
    space = opening(embedder=cosines(wanted, "Zoe E4012 yesterday")).space("s")
    for n, text in enumerate(wanted):
        space.remember(text, at=NOW - timedelta(days=n), importance=n / 4)
    channels = ("lexical", "entity", "temporal", "recent", "important")
    recall = space.recall("Zoe E4012 yesterday", policy=only("importance", channels=channels))
    assert {hit.memory.text: hit.similarity for hit in recall} == pytest.approx(wanted, abs=1e-6)
    assert not any("vector" in hit.channels for hit in recall)


@pytest.mark.parametrize("preset", policies.names())
def test_explained_numbers_are_the_score(opening: Opening, preset: str) -> None:
    """Contributions and multipliers give the score to the last bit, weights times normalised give contributions."""
    space = opening().space("s")
    rng = np.random.default_rng(3)
    words = "tea rice Oslo deploy label paper light stone".split()
    for n in range(40):
        remember(
            space, " ".join(rng.choice(words, 4)) + f" {n}", days=float(rng.uniform(0, 300)), tags=["t"],
            importance=float(rng.uniform()), trust=float(rng.choice([1.0, 0.7, 0.3])), session=f"s{n % 3}",
            kind=str(rng.choice(["fact", "event", "reflection"])),
        )  # fmt: skip
    for cue in ("tea in Oslo last month", "current label and also the deploy paper light", "stone"):
        recall = space.recall(cue, policy=preset, tags=["t"], session="s1")
        assert len(recall) > 0
        for hit in recall:
            assert hit.reproduced() == hit.score
            for signal in hit.signals.values():
                assert signal.contribution == signal.weight * signal.normalised


@pytest.mark.parametrize("preset", policies.names())
def test_an_answer_is_plain_json(opening: Opening, preset: str) -> None:
    """`as_dict` holds nothing but JSON's own values: no numpy number, no NaN, no proxy."""
    space = opening().space("s")
    space.remember_many([{"text": f"Tea {n} in Oslo", "tags": ["t"], "metadata": {"n": n}} for n in range(30)])
    space.remember("Pinned", pinned=True, tags=["t"])
    recall = space.recall("tea in Oslo yesterday", policy=preset, tags=["t"], token_budget=300)
    data = json.loads(json.dumps(recall.as_dict(), allow_nan=False))
    assert [hit["memory"]["id"] for hit in data["hits"]] == ids(recall)
    assert data["trace"]["now"] == NOW.isoformat()


def test_trust_multiplies_and_says_so(opening: Opening) -> None:
    """A doubtful source counts for less; a trusted one has no multiplier at all."""
    space = opening(embedder=cosines({"a": 0.9, "b": 0.6, "c": 0.8})).space("s")
    remember(space, "a", trust=0.5)
    remember(space, "b")
    remember(space, "c", trust=0.0)
    recall = space.recall(CUE, policy=by_similarity())
    assert ids(recall) == ["b", "a", "c"]
    assert [hit.score for hit in recall] == pytest.approx([0.6, 0.45, 0.0], abs=1e-6)
    assert [modifier.name for modifier in recall[1].modifiers] == ["trust"]
    assert recall[0].modifiers == ()


def test_tiers_weigh_by_kind(opening: Opening) -> None:
    """Facts weigh similarity × 1.25, reflections importance × 1.25, others neither; off unless asked for."""
    space = opening(embedder=cosines({"fact": 0.5, "reflection": 0.5, "event": 0.5})).space("s")
    for kind in ("fact", "reflection", "event"):
        remember(space, kind, kind=kind, importance=0.4)
    plain = only("similarity", "importance")
    assert scores(space, plain) == pytest.approx({"fact": 0.9, "reflection": 0.9, "event": 0.9}, abs=1e-6)
    tiered = scores(space, plain.replace(tiers=True))
    assert tiered == pytest.approx({"fact": 0.625 + 0.4, "reflection": 0.5 + 0.5, "event": 0.9}, abs=1e-6)


def test_a_floor_on_the_score_empties_an_irrelevant_answer(opening: Opening) -> None:
    """What reaches the floor stays, what lies below is cut with its number, and an empty answer says why."""
    space = opening(embedder=cosines({"a": 0.75, "b": 0.5, "c": 0.25})).space("s")
    for name in "abc":
        remember(space, name)
    recall = space.recall(CUE, policy=by_similarity(floor=0.5))
    assert ids(recall) == ["a", "b"]
    assert [(cut.id, cut.stage, cut.reason) for cut in recall.trace.cut] == [("c", "floor", "score 0.250 < 0.5")]
    empty = space.recall(CUE, policy=by_similarity(floor=0.9))
    assert (ids(empty), len(empty.trace.cut)) == ([], 3)
    assert "nothing reached the score floor of 0.9: the answer is empty" in empty.trace.notes


def test_a_floor_on_relevance_reads_the_embedders_band(opening: Opening) -> None:
    """Relevance is where the cosine lies in the band measured for the embedder, whatever the score is made of."""
    embedder = cosines({"near": 0.5, "far": 0.15})
    embedder.band = (0.1, 0.6)  # type: ignore[attr-defined]  # calibrated: an optional power of embedders
    space = opening(embedder=embedder).space("s")
    remember(space, "near", importance=0.0)
    remember(space, "far", importance=1.0)
    policy = only("importance", floor=0.5, floor_on="relevance")
    recall = space.recall(CUE, policy=policy)
    assert {hit.memory.id: hit.relevance for hit in recall} == pytest.approx({"near": 0.8}, abs=1e-6)


def test_shared_words_are_relevance_too(opening: Opening) -> None:
    """An exact identifier is relevant though its vector is not: words count on an absolute scale."""
    embedder = cosines({"see E4012 for it": 0.0, "other": 0.0, "more": 0.0}, "E4012")
    space = opening(embedder=embedder).space("s")
    for text in ("see E4012 for it", "other", "more"):
        remember(space, text)
    policy = only("similarity", channels=("vector", "lexical"), floor=0.2, floor_on="relevance")
    assert ids(space.recall("E4012", policy=policy)) == ["see E4012 for it"]


def test_a_clock_that_runs_backwards_raises_nothing(opening: Opening) -> None:
    """Memories of the future and accesses of the future have age 0, not a negative one."""
    clock = Clock()
    space = opening(embedder=cosines({"now": 0.5, "future": 0.5}), clock=clock).space("s")
    remember(space, "now")
    space.remember("future", id="future", at=NOW + timedelta(days=300))
    space.get("now")
    clock.tick(days=-30)
    recall = space.recall(CUE, policy=only("recency", "novelty", "frequency", "freshness"), touch=False)
    for hit in recall:
        assert (hit.signals["recency"].raw, hit.signals["novelty"].raw) == (1.0, 1.0)
        assert np.isfinite(hit.score)


def test_a_policy_without_signals_orders_by_age(opening: Opening) -> None:
    """All scores are 0 and reproduce as 0, summed or multiplied; the newer go first."""
    space = opening().space("s")
    for n in range(4):
        remember(space, f"m{n}", days=n)
    for combine in ("sum", "product"):
        recall = space.recall(CUE, policy=by_similarity(signals={}, combine=combine))
        assert ids(recall) == ["m0", "m1", "m2", "m3"]
        assert [(hit.score, hit.reproduced()) for hit in recall] == [(0.0, 0.0)] * 4


def test_population_bounds_make_scores_comparable_between_recalls(opening: Opening) -> None:
    """Normalised over all gated rows, a candidate keeps its value when the pool around it changes."""
    wanted = {f"m{n}": n / 10 for n in range(10)}
    space = opening(embedder=cosines(wanted)).space("s")
    for name in wanted:
        remember(space, name)
    policy = by_similarity(signals={"similarity": SignalSpec(1.0, "population")})
    narrow = scores(space, policy.replace(pool=2, limit=2))
    wide = scores(space, policy.replace(pool=10))
    assert narrow == pytest.approx({name: wide[name] for name in narrow}, abs=1e-6)
    assert wide["m9"] == pytest.approx(1.0)
    assert wide["m0"] == pytest.approx(0.0)


@pytest.mark.filterwarnings("ignore::retentive.policy.PolicyWarning")  # some presets lie outside the advised band
def test_a_policy_from_toml_scores_as_the_value_does(opening: Opening) -> None:
    """Data, not code: dumped and parsed it answers the same, byte for byte."""
    space = opening().space("s")
    for n in range(12):
        remember(space, f"tea {n}", days=n, tags=["t"])
    for name in policies.names():
        policy = policies.get(name)
        first, second = (
            space.recall("tea 3", policy=each, tags=["t"], touch=False)
            for each in (policy, Policy.parse(policy.dump()))
        )
        assert json.dumps(first.as_dict()) == json.dumps(second.as_dict())
