"""Two time axes: when something is true, and when it was known; each asked alone, or both at once."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from facade_making import NOW, Clock

from retentive import Retentive, Space
from retentive.errors import InvalidInput, NotFound
from retentive.testing.fakes import HashEmbedder
from retentive.types import AsOf


def at(days: float) -> datetime:
    return NOW + timedelta(days=days)


@pytest.fixture
def moves(space: Space) -> Space:
    """She lives in Porto until day 2 and in Lisbon from then on; that is known since day -6 and since day -4."""
    space.remember("She lives in Porto", id="porto", at=at(-6), valid_until=at(2))
    space.remember("She lives in Lisbon", id="lisbon", at=at(-4), valid_from=at(2))
    return space


CASES = {
    "now": (None, {"porto"}),
    "both": (at(-5), {"porto"}),
    "before anybody knew": (at(-7), set()),
    "the future, as known now": (AsOf(true=at(3)), {"lisbon"}),
    "the future, as known then": (AsOf(true=at(3), known=at(-5)), set()),
    "now, as known then": (AsOf(known=at(-5)), {"porto"}),
    "today, before anybody knew": (AsOf(known=at(-7)), set()),
}


@pytest.mark.parametrize("case", CASES)
def test_recall_list_and_export(moves: Space, tmp_path: Path, case: str) -> None:
    """All three ask the same gate."""
    as_of, expected = CASES[case]
    assert {memory.id for memory in moves.list(as_of=as_of)} == expected
    recalled = moves.recall("Where does she live?", as_of=as_of, touch=False, policy="blend")
    assert {hit.memory.id for hit in recalled} == expected
    if as_of is not None:
        assert moves.export(tmp_path / "then.jsonl", as_of=as_of) == len(expected)
        lines = [json.loads(line) for line in (tmp_path / "then.jsonl").read_text("utf-8").splitlines()]
        assert {line["id"] for line in lines if line["type"] == "memory"} == expected
        assert {line["type"] for line in lines} <= {"header", "memory", "end"}


@pytest.mark.parametrize("case", CASES)
def test_get(moves: Space, case: str) -> None:
    """By its id as well; what was not known or not true then is not found."""
    as_of, expected = CASES[case]
    for memory_id in ("porto", "lisbon") if as_of is not None else ():
        if memory_id in expected:
            assert moves.get(memory_id, as_of=as_of).id == memory_id
        else:
            with pytest.raises(NotFound, match="not yet known, or not true"):
                moves.get(memory_id, as_of=as_of)
    assert [memory.access.count for memory in moves.list(hidden=True)] == [0, 0]


def test_what_was_changed_since_is_shown_as_it_was(home: Retentive) -> None:
    """Text, importance and emptied fields of then, in get, list, recall and export; the text of now stays."""
    clock = home.clock
    assert isinstance(clock, Clock)
    space = home.space("acme/alice")
    space.remember("The rent is 900", id="rent", importance=0.9)
    clock.tick(days=2)
    space.update("rent", text="The rent is 950", importance=0.4, source="letter")
    then = NOW + timedelta(days=1)
    for memory in (
        space.get("rent", as_of=then),
        space.list(as_of=then)[0],
        space.recall("the rent", as_of=then)[0].memory,
    ):
        assert (memory.text, memory.importance, memory.source) == ("The rent is 900", 0.9, None)
    answer = space.recall("the rent", as_of=then)
    assert "found by what they say now, shown as they were known then: rent" in answer.trace.notes
    assert space.get("rent", as_of=NOW + timedelta(days=2)).text == "The rent is 950"
    assert space.get("rent").text == "The rent is 950"


def test_a_backfill_was_known_from_when_it_was_said(home: Retentive) -> None:
    """Told later than it was said: its first state counts from the saying on."""
    space = home.space("acme/alice")
    space.remember("The contract was signed", id="contract", at=at(-30))
    assert space.get("contract", as_of=at(-20)).text == "The contract was signed"
    with pytest.raises(NotFound):
        space.get("contract", as_of=at(-31))


def test_what_was_superseded_since(space: Space) -> None:
    """As of before, the old one stands and does not know of its successor."""
    space.remember("The tariff is 20", id="old", key="tariff", at=at(-9))
    space.remember("The tariff is 25", id="new", key="tariff", at=at(-3))
    assert [memory.id for memory in space.list(as_of=at(-5))] == ["old"]
    assert space.get("old", as_of=at(-5)).superseded_at is None


def test_an_export_of_a_moment_can_be_imported(home: Retentive, tmp_path: Path) -> None:
    """Into another space; a text that was changed since gets the vector of the text it had."""
    clock = home.clock
    assert isinstance(clock, Clock)
    space = home.space("acme/alice")
    space.remember("The rent is 900", id="rent")
    clock.tick(days=2)
    space.update("rent", text="The rent is 950")
    space.export(tmp_path / "then.jsonl", as_of=NOW + timedelta(days=1))
    other = home.space("acme/then")
    assert other.import_(tmp_path / "then.jsonl") == 1
    assert other.get("rent").text == "The rent is 900"
    with Retentive(":memory:", embedder=HashEmbedder()) as fresh:
        wanted = fresh.space("s").remember("The rent is 900", id="rent")
        vector = fresh.space("s").store.vectors([wanted.id])["rent"]
    assert other.store.vectors(["rent"])["rent"] == pytest.approx(vector)


def test_no_moment_and_naive_ones_are_refused() -> None:
    """AsOf() asks nothing, and a moment without a zone could be any."""
    with pytest.raises(InvalidInput, match="names no moment"):
        AsOf()
    with pytest.raises(InvalidInput, match="time zone"):
        AsOf(true=datetime(2026, 1, 1))  # noqa: DTZ001 # that is what is refused
