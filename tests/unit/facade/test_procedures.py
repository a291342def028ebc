"""Procedures are strengthened when they work and weakened when they fail, and are rendered apart."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest
from facade_making import by_similarity, ids

from retentive import Policy, Space, policies

CUE = "restart the export worker"


@pytest.fixture
def taught(space: Space) -> Space:
    """Three procedures with the same words, and a fact with them as well: only ids tell them apart."""
    for name in ("p1", "p2", "p3"):
        space.remember("Restart the export worker", kind="procedure", id=name)
    space.remember("Restart the export worker", kind="fact", id="fact")
    return space


def plain() -> Policy:
    return by_similarity(track_record=0.25)


def judged(space: Space, name: str, outcome: str, times: int = 1) -> None:
    for _ in range(times):
        space.recall(CUE, policy=plain()).feedback(used=[name], outcome=outcome)


def order(space: Space, policy: Policy | None = None) -> list[str]:
    return ids(space.recall(CUE, policy=policy or plain(), touch=False))


def test_what_worked_goes_first_and_what_failed_last(taught: Space) -> None:
    """Of procedures that answer alike; a fact in between is where it was."""
    assert order(taught) == ["fact", "p1", "p2", "p3"]
    judged(taught, "p3", "good")
    judged(taught, "p1", "bad")
    assert order(taught) == ["p3", "fact", "p2", "p1"]
    judged(taught, "p1", "good", times=3)
    judged(taught, "p3", "bad", times=2)
    assert order(taught) == ["p1", "fact", "p2", "p3"]


def test_the_default_policy_ranks_by_it(taught: Space) -> None:
    """Without anybody asking for it."""
    policy = policies.retentive.replace(near_duplicate=None, rotation="off", floor=None)
    judged(taught, "p2", "good", times=2)
    judged(taught, "p1", "bad", times=2)
    found = [name for name in order(taught, policy) if name != "fact"]
    assert (found[0], found[-1]) == ("p2", "p1")


def test_a_policy_may_leave_it_out(taught: Space) -> None:
    """Then only importance has moved."""
    judged(taught, "p3", "good", times=5)
    assert order(taught, by_similarity()) == ["fact", "p1", "p2", "p3"]


def test_the_score_says_why(taught: Space) -> None:
    """As a modifier with the record in words, and the arithmetic holds."""
    judged(taught, "p2", "good", times=3)
    judged(taught, "p2", "bad")
    hit = next(hit for hit in taught.recall(CUE, policy=plain(), touch=False) if hit.memory.id == "p2")
    (modifier,) = hit.modifiers
    assert (modifier.name, modifier.reason) == ("track record", "worked 3 of 4 times")
    assert modifier.factor == pytest.approx(1 + 0.25 * (2 * 4 / 6 - 1) * 4 / 7)
    assert hit.reproduced() == hit.score


def test_only_procedures_have_a_record(taught: Space) -> None:
    """And only an outcome counts; being used says nothing about how it went."""
    taught.recall(CUE, policy=plain()).feedback(used=["fact", "p1"], outcome="good")
    taught.recall(CUE, policy=plain()).feedback(used=["p2"])
    kept = {memory.id: dict(memory.metadata) for memory in taught.list()}
    assert kept == {"fact": {}, "p1": {"record": {"worked": 1, "failed": 0}}, "p2": {}, "p3": {}}
    assert [line.reason for line in taught.journal("p1") if line.action == "feedback"] == ["good"]


def test_importance_moves_by_five_per_cent_all_the_same(taught: Space) -> None:
    """The bound of policy.md holds for procedures too, and the record goes on where importance cannot."""
    taught.update("p1", importance=1.0)
    judged(taught, "p1", "good", times=2)
    memory = taught.get("p1", touch=False)
    assert (memory.importance, memory.metadata["record"]) == (1.0, {"worked": 2, "failed": 0})


def test_procedures_are_rendered_apart_with_their_record(taught: Space) -> None:
    """In every format: a block of their own, and how they did."""
    judged(taught, "p1", "good")
    recall = taught.recall(CUE, policy=plain(), touch=False)
    tree = ET.fromstring(str(recall.render("xml")))  # noqa: S314 - our own output
    assert [node.get("id") for node in tree.iterfind("memories/memory")] == ["fact"]
    shown = {node.get("id"): node.get("record") for node in tree.iterfind("procedures/memory")}
    assert shown == {"p1": "worked 1 of 1 times", "p2": None, "p3": None}
    assert "### Procedures: 3" in recall.render("markdown")
    assert "worked 1 of 1 times" in recall.render("markdown")
    data = json.loads(recall.render("json"))
    assert [item["id"] for item in data["procedures"]["items"]] == ["p1", "p2", "p3"]
    assert data["procedures"]["items"][0]["metadata"] == {"record": {"worked": 1, "failed": 0}}
