"""Pruning through the façade, over both embedded stores."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Memory, Retentive, Space
from retentive.errors import InvalidInput
from retentive.maintain.decide import PruneRules
from retentive.maintain.prune import PROGRESS_SETTING, prune_space
from retentive.writing import Author


def told(space: Space, text: str, days: float = 1000, **facts: Any) -> Memory:
    return space.remember(text, **{"kind": "event", "at": NOW - timedelta(days=days), **facts})


def hidden(space: Space) -> set[str]:
    return {memory.text for memory in space.list(hidden=True, limit=1000) if memory.suppressed_at is not None}


def test_pruned_memories_are_hidden_and_whole(space: Space) -> None:
    """Out of recall and list, still readable with every field; the ledger of counts says how many."""
    old, new = told(space, "ancient tariff"), told(space, "new tariff", days=3)
    report = space.maintain()
    assert dict(report) == {"re_embedded": 0, "ledger_trimmed": 0, "pruned": 1, "looked_at": 1}
    assert [memory.id for memory in space.list()] == [new.id]
    assert [hit.memory.id for hit in space.recall("ancient tariff", touch=False)] in ([new.id], [])
    assert space.get(old.id, touch=False) == old.changed(suppressed_at=NOW)


def test_a_dry_run_writes_nothing(space: Space) -> None:
    """It says what would be pruned and why, and neither journal nor settings move."""
    old = told(space, "ancient")
    before = space.journal(), space.store.settings()
    report = space.maintain(dry_run=True)
    assert [verdict.id for verdict in report.pruned] == [old.id]
    assert report.dry_run
    assert (space.journal(), space.store.settings()) == before


def test_pruning_can_be_left_out(space: Space) -> None:
    """``pruning=False`` trims the ledger only; other rules count for one run."""
    told(space, "half a year old", days=200)
    assert "pruned" not in space.maintain(pruning=False)
    assert space.maintain()["pruned"] == 0
    assert space.maintain(pruning=PruneRules(age_days=100, idle_days=100))["pruned"] == 1


def test_rules_of_the_home_count_for_fetches_too(opening: Opening) -> None:
    """A fetch brings back by the rules of the home: with no idle limit and reads ignored, it does not."""
    home = opening()
    home.pruning = PruneRules(idle_days=0, strength=10, superseded_days=None)
    space = home.space("acme/alice")
    old = told(space, "ancient")
    space.maintain()
    assert not space.get(old.id).retrievable or hidden(space) == set()
    home.clock.tick(days=1)  # type: ignore[attr-defined] # the tests' clock
    space.maintain()
    assert hidden(space) == {"ancient"}


def test_nothing_to_do_in_a_space_that_is_not(home: Retentive) -> None:
    """Upkeep of a space that does not exist makes none."""
    assert home.space("no/body").maintain()["pruned"] == 0
    assert home.spaces() == []


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_batches_make_no_difference(space: Space, batch: int) -> None:
    """However many at once, ties in time included: all that are ripe, each once."""
    for number in range(7):
        told(space, f"old {number}")
    assert space.maintain(batch=batch)["pruned"] == 7
    assert len(hidden(space)) == 7
    assert [line.action for line in space.journal()].count("suppress") == 7


@pytest.mark.parametrize("batch", [0, -1, True, 1.5])
def test_a_batch_is_a_number(space: Space, batch: Any) -> None:
    """No batch of nothing: it would never end."""
    with pytest.raises(InvalidInput, match="batch"):
        space.maintain(batch=batch)


class Killed(BaseException):
    """What stands for a process that ends."""


def killed_after(space: Space, batches: int, rules: PruneRules | None = None) -> None:
    """Run upkeep in batches of two until it is killed."""

    def watch(done: int, _total: int) -> None:
        if done >= 2 * batches:
            raise Killed

    with pytest.raises(Killed):
        prune_space(space.store, Author("acme/alice", NOW), rules or PruneRules(), batch=2, progress=watch)


def test_a_killed_run_is_taken_up(space: Space) -> None:
    """The next run begins where the last one stopped, and leaves no trace of it when it is through."""
    for number in range(10):
        told(space, f"old {number}", days=900 + number)
    killed_after(space, 3)
    assert len(hidden(space)) == 6
    report = prune_space(space.store, Author("acme/alice", NOW), PruneRules(), batch=2)
    assert report.resumed
    assert (report.looked_at, len(report.pruned)) == (4, 4)
    assert space.store.setting(PROGRESS_SETTING) is None


def test_other_rules_or_a_later_day_begin_anew(space: Space) -> None:
    """Where the rules are others, or it was days ago, or the note is damaged, everything is looked at."""
    for number in range(6):
        told(space, f"old {number}", days=900 + number)
    others, late = PruneRules(age_days=100), Author("acme/alice", NOW + timedelta(days=2))
    killed_after(space, 1)
    assert not prune_space(space.store, Author("acme/alice", NOW), others, batch=2).resumed
    killed_after(space, 1)
    assert prune_space(space.store, late, PruneRules(), batch=2).looked_at == 6
    with space.store.transaction() as tx:
        tx.set_setting(PROGRESS_SETTING, {"rules": PruneRules().as_dict(), "at": NOW.isoformat(), "after": ["?"]})
    assert not prune_space(space.store, Author("acme/alice", NOW), PruneRules()).resumed


def test_what_was_read_meanwhile_stays(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that is fetched after the batch was read and before it is written is not pruned."""
    old = told(space, "just wanted")
    store = space.store
    page = type(store).page

    def read_then_used(self: Any, *args: Any, **more: Any) -> Any:
        found = page(self, *args, **more)
        monkeypatch.undo()
        space.get(old.id)
        return found

    monkeypatch.setattr(type(store), "page", read_then_used)
    assert space.maintain()["pruned"] == 0
    assert hidden(space) == set()


def test_evidence_keeps_until_its_relation_goes(space: Space) -> None:
    """What an active relation was derived from stays; a forgotten, superseded or expired one protects nothing."""
    leant_on = told(space, "they share an office")
    relation = space.remember("Ada works with Boris", kind="relation", derived_from=[leant_on.id])
    space.remember("People like offices", kind="reflection", derived_from=[leant_on.id])
    assert space.maintain()["pruned"] == 0
    space.forget(relation.id)
    assert space.maintain()["pruned"] == 1
    assert hidden(space) == {"they share an office", "Ada works with Boris"}


def test_a_clock_that_jumps_back_prunes_nothing(opening: Opening) -> None:
    """With a clock years behind everything is young."""
    clock = Clock()
    space = opening(clock=clock).space("acme/alice")
    told(space, "old")
    clock.tick(days=-20_000)
    assert space.maintain()["pruned"] == 0


def test_an_age_beyond_all_years_is_an_age(space: Space) -> None:
    """A limit longer than the calendar means never."""
    told(space, "old")
    assert space.maintain(pruning=PruneRules(age_days=1e12))["looked_at"] == 0
