"""`why_not` names what kept a memory out, and what it says would let it in does let it in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from facade_making import CUE, NOW, Clock, cosines

from retentive import AgentState, Policy, Retentive, Space, policies
from retentive.errors import InvalidInput, NotFound
from retentive.policy import Selection, SignalSpec, Sources

NEAR = Policy(
    name="near",
    sources=Sources(pool=20),
    signals={"similarity": SignalSpec(1.0, "none")},
    selection=Selection(limit=2),
)


def line(count: int = 6, **options: Any) -> Space:
    """Return a space with m0, m1, … each a little further from the cue than the one before."""
    wanted = {f"text {i}": 0.9 - 0.1 * i for i in range(count)}
    space = Retentive(":memory:", embedder=cosines(wanted, CUE), clock=Clock(), policy=NEAR).space("acme/alice")
    for i, text in enumerate(wanted):
        space.remember(text, id=f"m{i}", at=NOW - timedelta(days=i), **options)
    return space


def test_a_hit_was_not_kept_out() -> None:
    """What came back has its place among the hits and no reason."""
    why = line().why_not("m1", CUE)
    assert (why.returned, why.rank, why.reasons, why.kept_out_by) == (True, 2, (), None)
    assert "came back: it is hit 2" in why.explain()


def test_the_limit() -> None:
    """Its rank, and how far it stands behind the last hit; with that limit it comes back."""
    space = line()
    why = space.why_not("m4", CUE)
    assert why.kept_out_by == "limit"
    assert (why.rank, why.reasons[0].remedy) == (5, "a limit of 5")
    assert why.behind == pytest.approx({"similarity": 0.3}, abs=1e-6)
    assert "0.3000 behind the last hit" in why.explain()
    assert space.why_not("m4", CUE, limit=5).returned


def test_the_rank_is_known_beyond_the_cuts_that_are_shown() -> None:
    """A recall's trace names fifty cuts; this one stands behind them."""
    wanted = {f"text {i}": 0.9 - 0.01 * i for i in range(80)}
    home = Retentive(":memory:", embedder=cosines(wanted, CUE), clock=Clock(), policy=NEAR.replace(pool=100))
    space = home.space("acme/alice")
    space.remember_many([{"text": text, "id": f"m{i}"} for i, text in enumerate(wanted)])
    assert space.why_not("m70", CUE).rank == 71


def test_the_floor() -> None:
    """The value that missed it; a floor there lets it in."""
    space = line()
    why = space.why_not("m4", CUE, policy=NEAR.replace(floor=0.6, limit=9))
    assert why.kept_out_by == "floor"
    assert why.reasons[0].says == "score 0.500 < 0.6"
    assert space.why_not("m4", CUE, policy=NEAR.replace(floor=0.499, limit=9)).returned


def test_a_pool_that_is_too_small() -> None:
    """Its rank in the channel; a pool of that size brings it."""
    space = line()
    why = space.why_not("m4", CUE, policy=NEAR.replace(pool=3))
    assert why.kept_out_by == "channel"
    assert (why.places[0].channel, why.places[0].rank, why.places[0].bound) == ("vector", 5, 3)
    assert why.hit is None
    assert why.similarity == pytest.approx(0.5, abs=1e-6)
    assert why.reasons[0].remedy == "a pool of 5"
    assert space.why_not("m4", CUE, policy=NEAR.replace(pool=5)).kept_out_by == "limit"


def test_a_channel_that_the_policy_does_not_ask() -> None:
    """What would have found it is named."""
    wanted = {"something near": 0.9, "something nearer": 0.95, "it failed with E4012": 0.1}
    home = Retentive(":memory:", embedder=cosines(wanted, "find E4012"), clock=Clock())
    space = home.space("acme/alice")
    for i, text in enumerate(wanted):
        space.remember(text, id=f"m{i}")
    why = space.why_not("m2", "find E4012", policy=NEAR.replace(pool=2))
    assert why.kept_out_by == "channel"
    assert "ask the channel 'lexical' too (it stands 1. there)" in why.reasons[0].remedy
    both = NEAR.replace(pool=2, channels=("vector", "lexical"), limit=3)
    assert space.why_not("m2", "find E4012", policy=both).returned


def test_rank_fusion_cuts_candidates() -> None:
    """Found by a channel, and not among the best of the joint list."""
    wanted = {f"text {i}": 0.9 - 0.1 * i for i in range(6)}
    space = Retentive(":memory:", embedder=cosines(wanted, CUE), clock=Clock()).space("acme/alice")
    for i, text in enumerate(wanted):
        space.remember(text, id=f"m{i}", importance=i / 10)
    policy = NEAR.replace(channels=("vector", "important"), pool=3, method="rrf")
    why = space.why_not("m2", CUE, policy=policy)
    assert (why.kept_out_by, why.reasons[0].remedy) == ("fusion", "a pool above 3")
    assert space.why_not("m2", CUE, policy=policy.replace(pool=6, limit=6)).returned


GATES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "kind": ({"kind": "event"}, {"kinds": ["fact"]}, "its kind is event, and only fact was asked for"),
    "tag": ({"tags": ["a"]}, {"tags": ["b"]}, "it has not the tag 'b' (its tags: a)"),
    "metadata": ({"metadata": {"n": 1}}, {"where": {"n": 2}}, "its metadata 'n' is 1, not 2"),
    "no metadata": ({}, {"where": {"n": 2}}, "its metadata 'n' is not set, not 2"),
    "since": ({}, {"since": NOW - timedelta(days=1)}, "it was said on 2026-02-26 12:00, before since=2026-02-28 12:00"),
    "until": ({}, {"until": NOW - timedelta(days=9)}, "it was said on 2026-02-26 12:00, not before until="),
    "as_of": ({}, {"as_of": NOW - timedelta(days=9)}, "it was said on 2026-02-26 12:00: it was not known"),
    "not yet": ({"valid_from": NOW + timedelta(days=1)}, {}, "it is true only from 2026-03-02 12:00"),
    "expired": ({"valid_until": NOW}, {}, "it expired on 2026-03-01 12:00"),
    "pinned": ({"pinned": True}, {}, "it is pinned"),
}


@pytest.mark.parametrize("gate", GATES)
def test_every_gate(gate: str) -> None:
    """The gate that is closed, and nothing else."""
    facts, asked, says = GATES[gate]
    space = Retentive(":memory:", embedder="hash", clock=Clock()).space("acme/alice")
    space.remember("The deploy failed", id="m", at=NOW - timedelta(days=3), **facts)
    why = space.why_not("m", "the deploy failed", **asked)
    assert [reason.says.startswith(says) for reason in why.reasons] == [True]
    assert why.kept_out_by == ("pinned" if gate == "pinned" else "gate")
    assert says in " ".join(why.explain().split())


def test_all_closed_gates_are_named() -> None:
    """One reason must not hide another: whoever lifts the first would ask again."""
    space = line(kind="event")
    space.forget("m2", reason="asked to")
    why = space.why_not("m2", CUE, kinds=["fact"], tags=["b"])
    assert [reason.stage for reason in why.reasons] == ["gate"] * 3
    assert "forgotten on 2026-03-01 12:00: asked to" in why.reasons[2].says


def test_superseded() -> None:
    """By which, and when; asked as of before, it was no reason yet."""
    space = line()
    space.remember("text 0 is over", id="new", supersedes=["m1"])
    assert "superseded on 2026-03-01 12:00 by new" in space.why_not("m1", CUE).reasons[0].says
    assert space.why_not("m1", CUE, as_of=NOW - timedelta(hours=1)).returned


def test_pruned() -> None:
    """The reason that the journal gives, with the way back."""
    clock = Clock()
    space = Retentive(":memory:", embedder="hash", clock=clock).space("acme/alice")
    space.remember("The deploy failed", id="m", kind="event", at=NOW - timedelta(days=1000))
    space.maintain()
    reason = space.why_not("m", "the deploy").reasons[0]
    assert "taken out on 2026-03-01 12:00: pruned: age 1000 days > 365" in reason.says
    assert "fetch it by its id" in reason.remedy


def test_a_near_duplicate() -> None:
    """Which one speaks for it."""
    space = line(2)
    why = space.why_not("m1", CUE, policy=NEAR.replace(near_duplicate=0.7))
    assert (why.kept_out_by, why.reasons[0].says) == ("near-duplicate", "says what m0 says")
    assert space.why_not("m1", CUE).returned


def test_diversity() -> None:
    """What gave way to another kind."""
    wanted = {f"text {i}": 0.9 - 0.1 * i for i in range(4)}
    space = Retentive(":memory:", embedder=cosines(wanted, CUE), clock=Clock()).space("acme/alice")
    for i, text in enumerate(wanted):
        space.remember(text, id=f"m{i}", kind="event" if i == 3 else "fact")
    policy = NEAR.replace(diversity="quota")
    why = space.why_not("m1", CUE, policy=policy)
    assert (why.kept_out_by, why.reasons[0].says) == ("diversity", "gave way under quota")
    behind = space.why_not("m2", CUE, policy=policy)
    assert behind.kept_out_by == "limit"
    assert "the last hit stands there for diversity" in behind.reasons[0].says


def test_rotation() -> None:
    """Shown within the hour, and pushed below the limit by that alone."""
    space = line()
    policy = NEAR.replace(rotation="any", limit=1)
    assert space.recall(CUE, policy=policy)[0].memory.id == "m0"
    why = space.why_not("m0", CUE, policy=policy)
    assert why.kept_out_by == "rotation"
    assert "shown 0 min ago" in why.reasons[0].says
    assert "× 0.500 rotation" in why.explain()


def test_the_token_budget() -> None:
    """What was compacted is named as such, with its place."""
    space = Retentive(":memory:", embedder="hash", clock=Clock()).space("acme/alice")
    for i in range(4):
        space.remember(f"The deploy number {i} failed because " + "of a long story " * 40, id=f"m{i}")
    asked: dict[str, Any] = {"policy": NEAR.replace(limit=4), "token_budget": 300}
    answer = space.recall("the deploy failed", touch=False, **asked)
    assert answer.compacted is not None
    why = space.why_not(answer.compacted.ids[-1], "the deploy failed", **asked)
    assert why.kept_out_by == "budget"
    assert "300 tokens" in why.reasons[0].says


def test_words_that_were_not_compared() -> None:
    """The default policy reads the best sixty-four closely; one beyond says so."""
    space = Retentive(":memory:", embedder="potion", clock=Clock()).space("acme/alice")
    space.remember_many([{"text": f"The deploy number {i} failed", "id": f"m{i}"} for i in range(80)])
    told = [space.why_not(f"m{i}", "Which deploy failed?").notes for i in range(80)]
    assert sum(bool(notes) for notes in told) == 80 - 64


def test_it_leaves_no_trace() -> None:
    """Nothing is touched, noted or journalled."""
    space = line()
    before = (space.journal(), space.store.read_ledger(), space.list())
    space.why_not("m0", CUE)
    assert (space.journal(), space.store.read_ledger(), list(space.list())) == (*before[:2], list(before[2]))


def test_who_is_not_there() -> None:
    """An id that nobody knows is not found; a question that is none is refused as in recall."""
    space = line()
    with pytest.raises(NotFound):
        space.why_not("m99", CUE)
    with pytest.raises(InvalidInput, match="Nothing was asked"):
        space.why_not("m0")
    with pytest.raises(InvalidInput, match="needs its tags"):
        space.why_not("m0", CUE, policy="planning")


@pytest.fixture(scope="module")
def mixed() -> Space:
    """Forty memories of several kinds, ages and fates."""
    space = Retentive(":memory:", embedder="hash", clock=Clock()).space("acme/alice")
    for i in range(40):
        kind = ("fact", "event", "decision", "preference")[i % 4]
        text = f"Note {i} on the {('deploy', 'budget', 'team', 'garden')[i % 3]} by {('Ada', 'Boris')[i % 2]}"
        space.remember(text, id=f"m{i}", kind=kind, tags=["t"], at=NOW - timedelta(days=3 * i), pinned=i == 7)
    space.forget("m5")
    space.recall("the deploy by Ada")
    return space


@pytest.mark.parametrize("name", ["retentive", "stream", "blend", "focus", "operational", "planning", "freshness"])
def test_it_agrees_with_recall(mixed: Space, name: str) -> None:
    """Whatever the policy: returned exactly where recall returns it, and otherwise with a reason at least."""
    asked: dict[str, Any] = {"policy": name, "tags": ["t"], "session": "s"}
    hits = [hit.memory.id for hit in mixed.recall("the deploy by Ada", touch=False, **asked)]
    for i in range(40):
        why = mixed.why_not(f"m{i}", "the deploy by Ada", **asked)
        assert why.returned == (f"m{i}" in hits)
        assert why.returned == (not why.reasons)
        assert not why.returned or why.rank == hits.index(f"m{i}") + 1
        assert why.as_dict()["kept_out_by"] == why.kept_out_by


def test_it_takes_the_agents_state(mixed: Space) -> None:
    """The cue may be a state, as in recall."""
    why = mixed.why_not("m0", state=AgentState(goal="deploy", step="ask Ada"), utterance="the deploy by Ada")
    assert why.trace.cue == "ask Ada. deploy"
    refused: Callable[..., Any] = mixed.why_not
    with pytest.raises(InvalidInput):
        refused("m0", "deploy", kinds=["fcat"])
    assert policies.blend.name == "blend"
