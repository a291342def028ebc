"""The queue of a space: `enqueue`, `jobs`, `run_jobs`, `retry_jobs`, `drop_jobs`, over both embedded stores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from facade_making import Clock, Opening

from retentive import Retentive, Space
from retentive.errors import InvalidInput, LlmFailed, NotFound
from retentive.jobs import Desk, Handler, Ran, Worked, enqueue
from retentive.jobs.decide import ATTEMPTS, LEASE
from retentive.jobs.run import Forecast
from retentive.llm.protocol import Usage
from retentive.stores.protocol import Transaction
from retentive.testing.llm import ScriptedLlm
from retentive.types import Job


@dataclass
class Noting:
    """A handler that notes in a setting which jobs it has finished, and does what it is told to on the way."""

    act: Callable[[Sequence[Job], Desk], Worked | None] = lambda _jobs, _desk: None
    needs_llm: bool = False
    batch: int = 10
    seen: list[list[str]] = field(default_factory=list)

    def work(self, jobs: Sequence[Job], desk: Desk) -> Worked:
        self.seen.append([job.memories[0] for job in jobs])
        return self.act(jobs, desk) or Worked(self.note)

    def note(self, tx: Transaction, job: Job) -> None:
        done = tx.setting("done") or []
        assert isinstance(done, list)
        tx.set_setting("done", [*done, job.memories[0]])


def queued(space: Space, *names: str, kind: str = "note") -> list[Job]:
    """Put a job about each of these."""
    with space.store.transaction() as tx:
        return [enqueue(tx, kind, Clock().now, memories=[name]) for name in names]


def with_handler(home: Retentive, handler: Noting, *names: str) -> Space:
    home.register_job("note", handler)
    space = home.space("acme/alice")
    queued(space, *names)
    return space


def finished(space: Space) -> list[str]:
    done = space.store.setting("done") or []
    assert isinstance(done, list)
    return done


def test_what_is_due_is_done_once(home: Retentive) -> None:
    """In batches, in order; a job that is done is gone."""
    handler = Noting(batch=2)
    space = with_handler(home, handler, "a", "b", "c")
    assert [job.state for job in space.jobs()] == ["waiting"] * 3
    bars: list[tuple[int, int]] = []
    ran = space.run_jobs(progress=lambda done, total: bars.append((done, total)))
    assert (ran.done, ran.left, ran.retried, ran.died) == (3, 0, (), ())
    assert handler.seen == [["a", "b"], ["c"]]
    assert bars == [(2, 3), (3, 3)]
    assert finished(space) == ["a", "b", "c"]
    assert space.jobs() == []
    assert space.run_jobs() == Ran()


def test_the_same_work_is_one_job(space: Space) -> None:
    """Asked for twice it waits once; after a death it begins anew."""
    (first,), (second,) = queued(space, "a"), queued(space, "a")
    assert (first, len(space.jobs())) == (second, 1)
    with space.store.transaction() as tx:
        held = tx.job(first.id)
        assert held is not None
        tx.put_job(replace(held, state="dead", attempts=ATTEMPTS))
    (third,) = queued(space, "a")
    assert (third.state, third.attempts) == ("waiting", 0)


def test_a_limit_and_kinds(home: Retentive) -> None:
    """Only so many, only these."""
    handler = Noting()
    home.register_job("other", handler)
    space = with_handler(home, handler, "a", "b", "c")
    queued(space, "d", kind="other")
    assert space.run_jobs(limit=2).done == 2
    assert finished(space) == ["a", "b"]
    assert space.run_jobs(kinds=["other"]).left == 1
    assert finished(space) == ["a", "b", "d"]
    assert space.run_jobs(kinds=["nobody-knows"]).done == 0


def test_a_failure_is_tried_again_later_and_alone(opening: Opening) -> None:
    """One bad job fails its batch once; then each goes by itself, and only the bad one goes on failing."""

    def choke(jobs: Sequence[Job], _desk: Desk) -> None:
        if any(job.memories[0] == "bad" for job in jobs):
            raise LlmFailed("it choked")

    clock, handler = Clock(), Noting(choke)
    home = opening(clock=clock)
    space = with_handler(home, handler, "a", "bad", "b")
    ran = space.run_jobs()
    assert (ran.done, len(ran.retried), ran.left) == (0, 3, 3)
    assert {job.error for job in space.jobs()} == {"it choked"}
    assert space.run_jobs().done == 0, "not before its pause is over"
    deaths = 0
    for _ in range(ATTEMPTS):
        clock.tick(hours=7)
        deaths += len(space.run_jobs().died)
    assert deaths == 1
    assert sorted(finished(space)) == ["a", "b"]
    assert all(len(batch) == 1 for batch in handler.seen[1:])
    (dead,) = space.jobs(state="dead")
    assert (dead.memories, dead.attempts, dead.error) == (("bad",), ATTEMPTS, "it choked")


def test_a_batch_may_fail_in_part(home: Retentive) -> None:
    """What succeeded is written, what did not is tried again."""
    handler = Noting()
    handler.act = lambda jobs, _desk: Worked(handler.note, {jobs[1].id: "no rating for it"})
    space = with_handler(home, handler, "a", "b", "c")
    ran = space.run_jobs()
    assert (ran.done, [job.error for job in ran.retried]) == (2, ["no rating for it"])
    assert finished(space) == ["a", "c"]


@pytest.mark.parametrize("error", [InvalidInput("never"), NotFound("never")])
def test_what_cannot_be_mended_dies_at_once(home: Retentive, error: Exception) -> None:
    """Trying again would not help; other jobs go on."""

    def fail(jobs: Sequence[Job], _desk: Desk) -> None:
        if jobs[0].memories[0] == "bad":
            raise error

    space = with_handler(home, Noting(fail, batch=1), "bad", "a")
    ran = space.run_jobs()
    assert ([job.error for job in ran.died], ran.done) == (["never"], 1)


def test_a_result_that_cannot_be_written_is_an_attempt(home: Retentive) -> None:
    """Nothing of the batch is written, and the worker goes on."""
    handler = Noting()

    def broken(tx: Transaction, job: Job) -> None:
        handler.note(tx, job)
        if job.memories[0] == "b":
            raise ZeroDivisionError("oops")

    handler.act = lambda _jobs, _desk: Worked(broken)
    space = with_handler(home, handler, "a", "b")
    ran = space.run_jobs()
    assert (ran.done, [job.error for job in ran.retried]) == (0, ["ZeroDivisionError: oops"] * 2)
    assert finished(space) == []


def test_a_job_whose_worker_died_comes_back(opening: Opening) -> None:
    """After its lease another takes it over; what the first one brings then is thrown away."""
    clock = Clock()
    home, handler = opening(clock=clock), Noting()
    rival = opening(clock=clock)
    rival.register_job("note", rivalling := Noting())

    def overtaken(_jobs: Sequence[Job], _desk: Desk) -> None:
        clock.tick(minutes=LEASE.total_seconds() / 60)
        assert rival.space("acme/alice").run_jobs().done == 1

    handler.act = overtaken
    space = with_handler(home, handler, "a")
    assert rival.space("acme/alice").jobs() == space.jobs()
    ran = space.run_jobs()
    assert (ran.done, ran.lost, ran.left) == (0, 1, 0)
    assert rivalling.seen == [["a"]]
    assert finished(space) == ["a"], "written once"


def test_nobody_takes_a_job_that_runs(opening: Opening) -> None:
    """Until the lease ends, which a worker may put off."""
    clock = Clock()
    home, handler = opening(clock=clock), Noting()
    rival = opening(clock=clock)
    rival.register_job("note", rivalling := Noting())

    def slowly(_jobs: Sequence[Job], desk: Desk) -> None:
        for _ in range(3):
            clock.tick(minutes=14)
            assert rival.space("acme/alice").run_jobs().done == 0
            desk.hold()

    handler.act = slowly
    space = with_handler(home, handler, "a")
    assert space.run_jobs().done == 1
    assert rivalling.seen == []


def test_a_worker_that_lost_its_lease_stops(opening: Opening) -> None:
    """`hold` says so, and nothing is written or blamed."""
    handler = Noting()
    home = opening()
    other = opening()

    def dropped(jobs: Sequence[Job], desk: Desk) -> None:
        other.space("acme/alice").drop_jobs(jobs[0].id)
        desk.hold()

    handler.act = dropped
    space = with_handler(home, handler, "a")
    assert space.run_jobs() == Ran(lost=1)
    assert finished(space) == []


def test_a_job_that_kills_its_workers_is_buried(opening: Opening) -> None:
    """Begun five times and never ended, it is not begun again."""
    clock = Clock()

    def die(_jobs: Sequence[Job], _desk: Desk) -> None:
        raise KeyboardInterrupt

    home = opening(clock=clock)
    space = with_handler(home, Noting(die), "a")
    for _ in range(ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            space.run_jobs()
        clock.tick(hours=1)
    ran = space.run_jobs()
    assert [job.error for job in ran.died] == [f"its worker did not come back, {ATTEMPTS} times"]
    assert space.run_jobs().died == ()


def test_erasing_a_memory_erases_its_jobs(home: Retentive) -> None:
    """Also one that runs just then: its result is thrown away."""
    handler = Noting()
    space = home.space("acme/alice")
    memory = space.remember("The secret")

    def erase(_jobs: Sequence[Job], _desk: Desk) -> None:
        space.forget(memory.id, erase=True)

    handler.act = erase
    with_handler(home, handler, memory.id)
    ran = space.run_jobs()
    assert (ran.done, ran.lost, space.jobs()) == (0, 1, [])
    assert finished(space) == []


def test_jobs_that_need_a_model_wait_for_one(opening: Opening) -> None:
    """They are not touched, and the answer says how many."""
    handler = Noting(lambda _jobs, desk: desk.spend(Usage(1, 10, 2, 0.5)), needs_llm=True)
    without = opening()
    space = with_handler(without, handler, "a")
    assert space.run_jobs() == Ran(left=1, waiting_for_llm=1)
    assert space.jobs()[0].attempts == 0
    with_one = opening(llm=ScriptedLlm())
    with_one.register_job("note", handler)
    ran = with_one.space("acme/alice").run_jobs()
    assert (ran.done, ran.usage) == (1, Usage(1, 10, 2, 0.5))


def test_jobs_nobody_can_do_are_left_alone(space: Space) -> None:
    """And named: another installation may know them."""
    queued(space, "a", kind="from-the-future")
    assert space.run_jobs() == Ran(left=1, unknown=("from-the-future",))
    assert space.forecast_jobs() == [Forecast("from-the-future", 1, None)]


def test_retrying_and_dropping(home: Retentive) -> None:
    """Those named, or all the dead; an id that is none is refused."""

    def fail(_jobs: Sequence[Job], _desk: Desk) -> None:
        raise InvalidInput("never")

    handler = Noting(fail)
    space = with_handler(home, handler, "a", "b", "c")
    space.run_jobs()
    first, *_ = space.jobs(state="dead")
    assert [job.id for job in space.retry_jobs(first.id)] == [first.id]
    assert len(space.jobs(state="dead", kind="note")) == 2
    assert len(space.retry_jobs()) == 2
    handler.act = lambda _jobs, _desk: None
    assert space.run_jobs(limit=2).done == 2
    (last,) = space.jobs()
    with pytest.raises(NotFound, match="'nobody'"):
        space.drop_jobs(last.id, "nobody")
    assert space.drop_jobs() == 0
    assert space.drop_jobs(last.id) == 1
    with pytest.raises(NotFound, match="jobs list"):
        space.retry_jobs(last.id)


def test_a_running_job_is_not_retried(home: Retentive) -> None:
    """It is in its worker's hands."""
    handler = Noting()
    space = with_handler(home, handler, "a")
    handler.act = lambda jobs, _desk: None if space.retry_jobs(jobs[0].id) == [] else pytest.fail("it was taken away")
    assert space.run_jobs().done == 1


def test_many_workers_do_each_job_once(opening: Opening) -> None:
    """However many threads of however many openings run at once."""
    homes = [opening() for _ in range(3)]
    for home in homes:
        home.register_job("note", Noting(batch=2))
    space = homes[0].space("acme/alice")
    queued(space, *(f"m{number:02}" for number in range(40)))
    started, done = threading.Barrier(3), []

    def work(home: Retentive) -> None:
        started.wait()
        done.append(home.space("acme/alice").run_jobs().done)

    threads = [threading.Thread(target=work, args=(home,)) for home in homes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 40
    assert sorted(finished(space)) == [f"m{number:02}" for number in range(40)]


def test_every_space_has_its_turn(home: Retentive) -> None:
    """`Retentive.run_jobs` goes through all spaces; each sees its own jobs."""
    home.register_job("note", handler := Noting())
    for path in ("acme/alice", "acme/bob"):
        queued(home.space(path), path)
    told = home.run_jobs()
    assert {path: ran.done for path, ran in told.items()} == {"acme/alice": 1, "acme/bob": 1}
    assert handler.seen == [["acme/alice"], ["acme/bob"]]


def test_bad_arguments_are_refused(home: Retentive) -> None:
    """By name, with what would be right."""
    space = home.space("acme/alice")
    with pytest.raises(InvalidInput, match="'dead'"):
        space.jobs(state="lost")  # type: ignore[arg-type] # what is tested
    with pytest.raises(InvalidInput, match="at least 1"):
        space.run_jobs(limit=0)
    with pytest.raises(InvalidInput, match="slug"):
        home.register_job("Not a slug", Noting())
    with pytest.raises(InvalidInput, match="needs_llm"):
        home.register_job("note", object())  # type: ignore[arg-type] # what is tested
    with pytest.raises(InvalidInput, match="slug"):
        queued(space, "a", kind="Not a slug")
    assert isinstance(Noting(), Handler)


def test_the_queue_of_no_space_is_empty(home: Retentive) -> None:
    """Asking creates nothing."""
    nobody = home.space("nobody")
    assert (nobody.jobs(), nobody.run_jobs(), home.spaces()) == ([], Ran(), [])
