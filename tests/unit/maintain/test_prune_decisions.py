"""The five conditions of pruning, decided without a store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import InvalidInput
from retentive.maintain.decide import PruneRules, active, judge
from retentive.types import Access, Memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def aged(days: float = 1000, **fields: Any) -> Memory:
    return Memory("m", "a", "text", ago(days), ago(days), **{"kind": "event", **fields})


def failing(memory: Memory, rules: PruneRules | None = None, evidence: tuple[str, ...] = ()) -> list[str]:
    verdict = judge(memory, rules or PruneRules(), NOW, evidence)
    return [condition.name for condition in verdict.conditions if not condition.holds]


def test_all_five_together_prune() -> None:
    """Old, idle, weak, never read and evidence of nothing: out, with every number in the reason."""
    verdict = judge(aged(), PruneRules(), NOW)
    assert verdict.prune
    assert verdict.reason.startswith("age 1000 days > 365; never used, said 1000 days ago > 180; strength")


@pytest.mark.parametrize(
    ("memory", "evidence", "name"),
    [
        (aged(365), (), "old"),
        (aged(superseded_at=ago(400), access=Access(ago(180), 1.0)), (), "idle"),
        (aged(590, kind="fact"), (), "weak"),
        (aged(access=Access(ago(500), 1.0)), (), "replaced or unread"),
        (aged(superseded_at=ago(365), access=Access(ago(500), 1.0)), (), "replaced or unread"),
        (aged(), ("r1",), "no evidence"),
    ],
)
def test_each_alone_is_not_enough(memory: Memory, evidence: tuple[str, ...], name: str) -> None:
    """One condition that fails, at its very limit, keeps a memory, and the reason is that condition alone."""
    assert failing(memory, evidence=evidence) == [name]
    verdict = judge(memory, PruneRules(), NOW, evidence)
    assert not verdict.prune
    assert verdict.reason == next(item.says for item in verdict.conditions if item.name == name)


@pytest.mark.parametrize("marks", [{"pinned": True}, {"permanent": True}, {"recurs": "yearly"}])
def test_some_are_spared(marks: dict[str, Any]) -> None:
    """Pinned, permanent and recurring memories stay whatever the conditions say."""
    verdict = judge(aged(**marks), PruneRules(), NOW)
    assert not verdict.prune
    assert verdict.reason in {"pinned", "permanent", "recurring"}


def test_strength_has_no_floor() -> None:
    """The floor of freshness is 0.1; here the value goes on falling below it, or nothing would ever be weak."""
    assert failing(aged(598.1, kind="fact")) == []  # 2^(-598.1/180) = 0.09993
    assert failing(aged(597.8, kind="fact")) == ["weak"]  # 0.10005


def test_use_makes_strong_and_fades() -> None:
    """The boost is of the count as it has decayed since: a thousand reads years ago are no reads."""
    often = aged(700, kind="fact", access=Access(ago(181), 1000.0), superseded_at=ago(400))
    assert failing(often) == ["weak"]
    assert failing(often.changed(created_at=ago(2400), access=Access(ago(1100), 1000.0))) == []


def test_every_limit_can_be_moved() -> None:
    """Each rule alone turns its own condition round."""
    young = aged(100, access=Access(ago(20), 3.0))
    assert failing(young) == ["old", "idle", "weak", "replaced or unread"]
    assert "old" not in failing(young, PruneRules(age_days=99))
    assert "idle" not in failing(young, PruneRules(idle_days=19))
    assert "weak" not in failing(young, PruneRules(strength=0.5))
    assert "weak" not in failing(young, PruneRules(tau_days={"event": 1}))
    assert "weak" not in failing(young, PruneRules(boost=0))
    assert "replaced or unread" not in failing(young, PruneRules(superseded_days=None))
    assert failing(aged(), PruneRules(evidence_kinds=("fact",)), ("x",)) == ["no evidence"]


@pytest.mark.parametrize(
    "rules",
    [
        {"age_days": -1},
        {"idle_days": float("nan")},
        {"strength": "weak"},
        {"superseded_days": True},
        {"boost": None},
        {"evidence_kinds": "relation"},
        {"tau_days": {"fact": 0}},
        {"tau_days": {"fact": "long"}},
    ],
)
def test_bad_rules_are_refused(rules: dict[str, Any]) -> None:
    """A limit that is no number from 0 up is named, where it is given."""
    with pytest.raises(InvalidInput, match=next(iter(rules))):
        PruneRules(**rules)


@given(age=st.floats(0, 5000), idle=st.floats(0, 5000), count=st.floats(0, 1e6), by=st.floats(0, 2000))
def test_time_alone_never_brings_back(age: float, idle: float, count: float, by: float) -> None:
    """What may be pruned today may be pruned on any later day if nothing happens to it."""
    memory = aged(age, access=Access(ago(min(age, idle)), count), superseded_at=ago(min(age, idle)))
    if judge(memory, PruneRules(), NOW).prune:
        assert judge(memory, PruneRules(), NOW + timedelta(days=by)).prune


def test_active() -> None:
    """A memory counts where recall may return it and it is true now."""
    assert active(aged(), NOW)
    assert active(aged(valid_from=NOW, valid_until=NOW + timedelta(seconds=1)), NOW)
    ways: list[dict[str, Any]] = [{"suppressed_at": NOW}, {"superseded_at": NOW}, {"valid_until": NOW}]
    ways.append({"valid_from": ago(-1)})
    for gone in ways:
        assert not active(aged(**gone), NOW)
