"""The contract of the queue: jobs, their order, what is due, and what erasure takes along."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from retentive.errors import InvalidInput
from retentive.stores.protocol import SpaceStore, Store
from retentive.testing.store_samples import HOSTILE, NOW, add, at, sample
from retentive.types import Job


def job(job_id: str = "j", *, kind: str = "rate", days: float = 0, **fields: object) -> Job:
    """Return a job that is due some days after the samples' now."""
    return replace(Job(job_id, kind, NOW, at(days)), **fields)  # type: ignore[arg-type] # a sample: fields by name


def put(space: SpaceStore, *jobs: Job) -> None:
    """Keep jobs in one transaction."""
    with space.transaction() as transaction:
        for one in jobs:
            transaction.put_job(one)


def due(space: SpaceStore, days: float = 0, kinds: tuple[str, ...] = ("rate",), limit: int = 99) -> list[str]:
    """Return the ids of what was due by then."""
    with space.transaction() as transaction:
        return [one.id for one in transaction.due_jobs(at(days), kinds, limit)]


class JobsContract:
    """What the queue promises."""

    def test_a_job_comes_back_whole(self, space: SpaceStore) -> None:
        """Every field survives, inside the transaction and outside."""
        one = job(
            memories=("m1", "m2"),
            payload={"n": [1, None, {"é": 1.5}]},
            state="running",
            attempts=3,
            lease="token",
            error="because",
        )
        put(space, one)
        assert space.jobs() == [one]
        with space.transaction() as transaction:
            assert transaction.job("j") == one
            assert transaction.job("nobody") is None

    def test_a_job_is_overwritten_whole_and_keeps_its_place(self, space: SpaceStore) -> None:
        """The same id again replaces every field; the order of jobs is that of their first putting."""
        put(space, job("a", memories=("m",), payload={"n": 1}), job("b"), job("c"))
        after = job("a", kind="reflect", days=3, state="dead", error="no")
        put(space, after)
        assert [one.id for one in space.jobs()] == ["a", "b", "c"]
        assert space.jobs()[0] == after
        with space.transaction() as transaction:
            transaction.erase("m")
        assert [one.id for one in space.jobs()] == ["a", "b", "c"]

    def test_jobs_are_listed_by_state_and_kind(self, space: SpaceStore) -> None:
        """Either, both, or all; a limit keeps the first put."""
        put(space, job("a"), job("b", state="dead"), job("c", kind="reflect"), job("d", kind="reflect", state="dead"))
        assert [one.id for one in space.jobs(state="dead")] == ["b", "d"]
        assert [one.id for one in space.jobs(kind="reflect")] == ["c", "d"]
        assert [one.id for one in space.jobs(state="waiting", kind="reflect")] == ["c"]
        assert [one.id for one in space.jobs(limit=2)] == ["a", "b"]
        assert space.jobs(limit=0) == []
        assert space.jobs(kind="\ud800") == []

    def test_what_is_due(self, space: SpaceStore) -> None:
        """Waiting and running jobs whose moment came, of the kinds asked for; never the dead. Earliest due first."""
        put(space, job("late", days=2), job("b", days=1), job("a", days=1), job("first", days=-1))
        put(space, job("dead", days=-9, state="dead"), job("other", kind="reflect", days=-9))
        put(space, job("lapsed", days=0, state="running", lease="x"))
        assert due(space, 1) == ["first", "lapsed", "b", "a"]
        assert due(space, 1, limit=2) == ["first", "lapsed"]
        assert due(space, 1, ("reflect", "rate"), 1) == ["other"]
        assert due(space, -2) == []
        assert due(space, 9, ()) == []
        assert due(space, 9, limit=0) == []

    def test_the_moment_itself_is_due(self, space: SpaceStore) -> None:
        """A job is due from its moment on, to the microsecond."""
        put(space, job("a", days=1))
        with space.transaction() as transaction:
            assert transaction.due_jobs(at(1), ["rate"], 1)
            assert not transaction.due_jobs(at(1 - 1 / 86_400_000_000), ["rate"], 1)

    def test_dropping_a_job(self, space: SpaceStore) -> None:
        """It is gone, once; its id may be put again, behind the others."""
        put(space, job("a", memories=("m",)), job("b"))
        with space.transaction() as transaction:
            assert transaction.drop_job("a")
            assert not transaction.drop_job("a")
            assert not transaction.drop_job("nobody")
            assert not transaction.drop_job("\ud800")
            assert transaction.job("a") is None
        put(space, job("a"))
        assert [one.id for one in space.jobs()] == ["b", "a"]

    def test_erasing_a_memory_erases_the_jobs_about_it(self, space: SpaceStore) -> None:
        """All of them, whatever else they are about and whatever their state; other jobs stay."""
        add(space, sample("m"), sample("n"))
        put(space, job("a", memories=("m",)), job("b", memories=("n", "m"), state="dead", error="m said so"))
        put(space, job("c", memories=("n",)), job("d"))
        with space.transaction() as transaction:
            transaction.erase("m")
            assert transaction.job("a") is None
        assert [one.id for one in space.jobs()] == ["c", "d"]

    def test_a_job_may_come_before_its_memory(self, space: SpaceStore) -> None:
        """Jobs name memories that need not be there; erasing such an id takes the job all the same."""
        put(space, job("a", memories=("to-come", "to-come")))
        assert space.jobs()[0].memories == ("to-come", "to-come")
        with space.transaction() as transaction:
            assert not transaction.erase("to-come")
        assert space.jobs() == []

    def test_a_rolled_back_job(self, space: SpaceStore) -> None:
        """A transaction that fails leaves the queue as it was."""
        put(space, job("a"))

        def fail() -> None:
            with space.transaction() as transaction:
                transaction.put_job(job("b"))
                transaction.drop_job("a")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert [one.id for one in space.jobs()] == ["a"]

    def test_jobs_of_other_spaces(self, store: Store, space: SpaceStore) -> None:
        """No job is seen, claimed, dropped or erased from another space; dropping a space drops its jobs."""
        put(space, job("a", memories=("m",)))
        other = store.open("other")
        assert other.jobs() == []
        with other.transaction() as transaction:
            assert transaction.job("a") is None
            assert transaction.due_jobs(at(9), ["rate"], 9) == []
            assert not transaction.drop_job("a")
            transaction.erase("m")
        assert [one.id for one in space.jobs()] == ["a"]
        store.drop(space.path)
        assert store.open(space.path).jobs() == []

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_in_jobs(self, space: SpaceStore, text: str) -> None:
        """Any string is stored as it is, and found again by it."""
        one = job("j" + text, kind=text, memories=(text,), payload={text: text}, lease=text, error=text)
        put(space, one)
        assert space.jobs(kind=text) == [one]
        with space.transaction() as transaction:
            assert transaction.due_jobs(NOW, [text], 1) == [one]
            transaction.erase(text)
        assert space.jobs() == []

    @pytest.mark.parametrize("name", ["id", "kind", "lease", "error"])
    def test_a_broken_string_in_a_job_is_refused(self, space: SpaceStore, name: str) -> None:
        """A lone surrogate is refused by name, and nothing is kept; so is a payload that is no JSON."""
        with pytest.raises(InvalidInput, match=name):
            put(space, job(**{"job_id" if name == "id" else name: "\ud800"}))  # type: ignore[arg-type] # by name
        with pytest.raises(InvalidInput, match="memories"):
            put(space, job(memories=("\ud800",)))
        with pytest.raises(InvalidInput, match="payload"):
            put(space, job(payload={"n": float("nan")}))
        assert space.jobs() == []

    def test_each_job_is_claimed_once(self, space: SpaceStore) -> None:
        """However many take what is due at once, a transaction that reads and overwrites claims a job alone."""
        put(space, *(job(f"j{number}") for number in range(24)))
        claimed: list[str] = []
        started = threading.Barrier(4)

        def claim() -> None:
            started.wait()
            while True:
                with space.transaction() as transaction:
                    found = transaction.due_jobs(NOW, ["rate"], 2)
                    for one in found:
                        transaction.put_job(replace(one, state="running", due_at=at(1)))
                if not found:
                    return
                claimed.extend(one.id for one in found)

        threads = [threading.Thread(target=claim) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(claimed) == sorted(f"j{number}" for number in range(24))
        assert {one.state for one in space.jobs()} == {"running"}
