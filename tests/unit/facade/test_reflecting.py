"""`Space.reflect` and `Space.shaken`, over both embedded stores."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from facade_making import Clock, Opening

from retentive import Memory, Retentive, Space
from retentive.errors import InvalidInput, LlmFailed
from retentive.reflect.decide import LEASE, Insight
from retentive.reflect.outcome import Cost
from retentive.reflect.run import SETTING, Concluded, reflect

ALIKE = (
    "She likes the Postgres database for invoices",
    "Postgres is the database she likes for invoices",
    "For invoices she likes the database Postgres",
)


def filled(space: Space, *, more: int = 3) -> list[Memory]:
    kept = [space.remember(text) for text in ALIKE]
    return kept + [space.remember(f"{word} {word}ly {word}ing") for word in ("xylo", "brum", "quilt")[:more]]


def test_nothing_happens_below_the_budget(space: Space) -> None:
    """And the answer says how far it is."""
    filled(space, more=2)
    told = space.reflect()
    assert (told.fired, told.pressure, told.insights) == (False, 25.0, ())
    assert "25 of 30" in told.reason
    assert len(space.list(kinds=["reflection"])) == 0


def test_a_theme_becomes_an_insight_with_its_evidence(space: Space) -> None:
    """Labelled as extractive, as important as what it rests on, and the counter begins again."""
    kept = filled(space)
    told = space.reflect()
    (insight,) = told.insights
    assert (told.fired, told.method) == (True, "extractive")
    assert set(insight.derived_from) == {memory.id for memory in kept[:3]}
    assert insight.source == "reflection:extractive"
    assert insight.metadata == {"method": "extractive"}
    assert insight.text.startswith("Recurring in 3 memories: “")
    assert space.reflect().pressure == 0
    assert [line.reason for line in space.journal() if line.action == "reflect"] == [
        "extractive: 30 of 30 points of importance, 1 insights"
    ]


def test_the_same_theme_is_not_told_twice(space: Space) -> None:
    """Forced again, nothing new is found: its memories have been reflected on."""
    filled(space)
    assert len(space.reflect().insights) == 1
    again = space.reflect(force=True)
    assert (again.fired, again.insights) == (True, ())


def test_the_budget_is_the_spaces_own(opening: Opening) -> None:
    """Said once, it is kept; another space has its own."""
    alice, bob = opening().space("acme/alice"), opening().space("acme/bob")
    filled(alice), filled(bob)
    assert not alice.reflect(budget=31).fired
    assert alice.reflect().budget == 31
    assert bob.reflect().fired
    with pytest.raises(InvalidInput, match="budget"):
        alice.reflect(budget=0)


def test_a_dry_run_changes_nothing(space: Space) -> None:
    """It says whether it is due and what it would take; a budget tried out is not kept."""
    filled(space)
    before = space.journal()
    told = space.reflect(dry_run=True, budget=10)
    assert (told.fired, told.reason, told.pressure, told.cost) == (False, "due", 30.0, Cost())
    assert space.journal() == before
    assert space.reflect(dry_run=True).budget == 30


def test_it_fires_once_under_concurrency(space: Space) -> None:
    """Eight threads at once: one reflection."""
    filled(space)
    told = []
    barrier = threading.Barrier(8)

    def ask() -> None:
        barrier.wait()
        told.append(space.reflect())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.fired for one in told].count(True) == 1
    assert len(space.list(kinds=["reflection"])) == 1


def test_an_empty_space_has_nothing_to_reflect_on(space: Space) -> None:
    """No error, no insight, and asking does not create the space."""
    assert not space.reflect().fired
    assert space.reflect(force=True).insights == ()


def test_insights_are_trusted_as_their_evidence(space: Space) -> None:
    """The least trusted decides."""
    for text, trust in zip(ALIKE, (1.0, 0.3, 0.9), strict=True):
        space.remember(text, trust=trust)
    assert [memory.trust for memory in space.reflect(force=True).insights] == [0.3]


def test_superseded_evidence_shakes(space: Space) -> None:
    """Listed with the reason, and marked wherever the insight comes up."""
    first = filled(space)[0]
    (insight,) = space.reflect().insights
    assert space.shaken() == []
    newer = space.remember("She likes SQLite for invoices now", supersedes=[first.id])
    (item,) = space.shaken()
    assert item.memory.id == insight.id
    assert item.reason == f"shaken: its evidence {first.id} was superseded by {newer.id}"
    (hit,) = space.recall("database for invoices", kinds=["reflection"])
    assert hit.stale == item.reason
    assert 'stale="shaken' in str(space.recall("database for invoices", kinds=["reflection"]).render())


@pytest.mark.parametrize(("erase", "fate"), [(False, "was forgotten"), (True, "was erased")])
def test_forgotten_evidence_shakes(space: Space, erase: bool, fate: str) -> None:
    """What a person took back no longer supports anything."""
    kept = filled(space)
    space.reflect()
    space.forget(kept[0].id, erase=erase)
    space.forget(kept[1].id, erase=erase)
    (item,) = space.shaken()
    assert fate in item.reason
    assert "1 more of its evidence" in item.reason


def test_pruned_evidence_still_stands(space: Space) -> None:
    """A memory that was hidden for its age alone was never wrong."""
    kept = filled(space)
    space.reflect()
    with space.store.transaction() as tx:
        old = tx.get(kept[0].id)
        assert old is not None
        tx.replace(old.changed(suppressed_at=old.created_at))
    assert space.shaken() == []


def test_a_conclusion_from_a_shaken_one_is_shaken(space: Space) -> None:
    """However long the way; a circle of conclusions ends."""
    ground = space.remember("The bridge is closed")
    first = space.remember("Deliveries are late", kind="reflection", derived_from=[ground.id])
    second = space.remember("Customers complain", kind="reflection", derived_from=[first.id])
    space.remember("Round one", kind="reflection", derived_from=["two"], id="one")
    space.remember("Round two", kind="reflection", derived_from=["one"], id="two")
    assert space.shaken() == []
    space.forget(ground.id)
    found = {item.memory.id: item.reason for item in space.shaken()}
    assert set(found) == {first.id, second.id}
    assert "is in doubt itself" in found[second.id]


def test_names_of_documents_are_no_lost_memories(space: Space) -> None:
    """`derived_from` may name what was never in the space."""
    space.remember("The law changed", kind="reflection", derived_from=["https://example.org/law"])
    assert space.shaken() == []
    assert space.recall("law changed")[0].stale is None


def test_a_fact_with_one_source_left_stands(space: Space) -> None:
    """Only an insight needs all of its evidence."""
    turns = [space.remember(f"turn {at}", kind="episode") for at in range(2)]
    space.remember("Lives in Rome", derived_from=[turn.id for turn in turns])
    space.forget(turns[0].id)
    assert space.recall("Lives in Rome", kinds=["fact"])[0].stale is None
    space.forget(turns[1].id)
    assert "was forgotten" in str(space.recall("Lives in Rome", kinds=["fact"])[0].stale)


def test_what_was_known_then_was_not_shaken(opening: Opening) -> None:
    """`as_of` a moment before the evidence fell shows the insight undoubted."""
    clock = Clock()
    space = opening(clock=clock).space("acme/alice")
    first = filled(space)[0]
    clock.tick(days=1)
    space.reflect()
    before = clock.tick(days=1)
    clock.tick(days=1)
    space.remember("She likes SQLite for invoices now", supersedes=[first.id])
    then = space.recall("database for invoices", kinds=["reflection"], as_of=before)
    assert [hit.stale for hit in then] == [None]


class Told:
    """A way of reflecting that concludes what it was told, or fails."""

    def __init__(self, *insights: Insight, error: Exception | None = None) -> None:
        self._insights, self._error = insights, error
        self.before: list[str] = []

    def conclude(self, memories: Sequence[Memory], progress: object) -> Concluded:
        self.before = [memory.id for memory in memories]
        if self._error:
            raise self._error
        return Concluded("told", self._insights, frozenset(self.before))

    def cost(self, memories: Sequence[Memory]) -> Cost:
        return Cost(1, 2, 3)


def run(space: Space, way: Told) -> object:
    store = space.store
    return reflect(space._keeper(store), space._recall_tools, way, force=True)


def reflected(space: Space, *insights: Insight) -> list[Memory]:
    run(space, Told(*insights))
    return list(space.list(kinds=["reflection"]))


def test_made_up_evidence_is_refused(space: Space) -> None:
    """An insight that rests on nothing that exists is not stored, and the refusal is told."""
    filled(space)
    told = run(space, Told(Insight("The moon is cheese", ("nothing",))))
    assert told.insights == ()  # type: ignore[attr-defined]
    assert [item.reason for item in told.refused] == ["no evidence that exists"]  # type: ignore[attr-defined]


def test_an_earlier_insight_is_not_stored_again(space: Space) -> None:
    """In the same words or nearly so; nor twice in one run."""
    first = filled(space)[0]
    insight = Insight("She is fond of Postgres", (first.id,))
    kept = reflected(space, insight, Insight("she is fond of postgres!", (first.id,)))
    assert [memory.text for memory in kept] == ["She is fond of Postgres"]
    assert len(reflected(space, insight)) == 1


def test_an_insight_takes_the_place_of_its_shaken_like(space: Space) -> None:
    """Concluded anew from evidence that stands, it supersedes the one in doubt."""
    first, second = filled(space)[:2]
    (old,) = reflected(space, Insight("She is fond of Postgres", (first.id,)))
    space.forget(first.id)
    (new,) = reflected(space, Insight("She is fond of Postgres", (second.id,)))
    assert new.supersedes == (old.id,)
    assert space.shaken() == []


def test_evidence_that_goes_meanwhile_supports_nothing(space: Space) -> None:
    """A memory forgotten between reading and writing is no evidence."""
    first = filled(space)[0]

    class Slow(Told):
        def conclude(self, memories: Sequence[Memory], progress: object) -> Concluded:
            found = super().conclude(memories, progress)
            space.forget(first.id)
            return found

    told = run(space, Slow(Insight("She is fond of Postgres", (first.id,))))
    assert [item.reason for item in told.refused] == ["its evidence is gone"]  # type: ignore[attr-defined]


def test_a_failing_model_leaves_the_extractive_way(space: Space) -> None:
    """The reflection takes place, says how and why."""
    filled(space)
    told = run(space, Told(error=LlmFailed("no answer")))
    assert (told.method, len(told.insights)) == ("extractive", 1)  # type: ignore[attr-defined]
    assert "no answer" in told.notes[0]  # type: ignore[attr-defined]


def test_an_error_lets_go_of_the_space(space: Space) -> None:
    """A run that failed keeps nobody waiting, and the counter has not moved."""
    filled(space)
    with pytest.raises(ZeroDivisionError):
        run(space, Told(error=ZeroDivisionError()))
    assert space.reflect().fired


def test_a_run_that_died_is_succeeded_after_its_lease(opening: Opening) -> None:
    """And when it wakes up again it writes nothing."""
    clock = Clock()
    space = opening(clock=clock).space("acme/alice")
    first = filled(space)[0]

    class Sleeper(Told):
        def conclude(self, memories: Sequence[Memory], progress: object) -> Concluded:
            assert not space.reflect(force=True).fired
            clock.tick(seconds=LEASE.total_seconds() + 1)
            assert space.reflect(force=True).fired
            return super().conclude(memories, progress)

    told = run(space, Sleeper(Insight("Late", (first.id,))))
    assert "another run took over" in told.reason  # type: ignore[attr-defined]
    assert [memory.text for memory in space.list(kinds=["reflection"])] != ["Late"]


def test_reflections_feed_later_ones(space: Space) -> None:
    """An earlier insight is among what a run is shown, and may be evidence."""
    first = filled(space)[0]
    (one,) = reflected(space, Insight("She is fond of Postgres", (first.id,)))
    run(space, way := Told(Insight("She is particular about databases", (one.id,))))
    assert one.id in way.before
    assert {memory.derived_from for memory in space.list(kinds=["reflection"])} == {(first.id,), (one.id,)}


def test_another_history_behind_the_mark(opening: Opening, tmp_path: Path) -> None:
    """Imported into a space with a journal of its own, the mark counts by its time."""
    clock = Clock()
    alice, bob = opening(clock=clock).space("acme/alice"), opening(clock=clock).space("acme/bob")
    bob.remember("Something of his own", at=clock.tick(hours=1))
    filled(alice)
    clock.tick(hours=1)
    alice.reflect()
    alice.export(tmp_path / "alice.jsonl")
    bob.import_(tmp_path / "alice.jsonl")
    assert bob.store.setting(SETTING) is not None
    assert bob.reflect().pressure == 0
    clock.tick(hours=1)
    bob.remember("News")
    assert bob.reflect().pressure == 5


def test_spaces_reflect_apart(home: Retentive) -> None:
    """No memory of another space is read, counted or concluded from."""
    filled(home.space("acme/alice"))
    bob = home.space("acme/bob")
    bob.remember("Alone")
    assert bob.reflect().pressure == 5
    assert bob.reflect(force=True).insights == ()


def test_progress_is_told(space: Space) -> None:
    """For the bar of whoever watches."""
    filled(space)
    seen: list[tuple[int, int]] = []
    space.reflect(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1, 1)


def test_a_claim_is_seen_by_others(space: Space) -> None:
    """Reading does not release what another run holds."""
    filled(space)
    with space.store.transaction() as tx:
        tx.set_setting(SETTING, {"claim": {"token": "x", "at": space._keeper(space.store).author.now.isoformat()}})
    told = space.reflect()
    assert (told.fired, told.reason) == (False, "another run is reflecting on this space")
    assert replace(told, shaken=()).insights == ()
