"""Reinforcement: being returned to a caller counts, once, bounded, and only where it should."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from facade_making import CUE, NOW, Clock, Opening, by_similarity, cosines, ids

from retentive import Retentive, Space, policies
from retentive.errors import Forbidden, StoreBusy, StoreFull
from retentive.policy import Reinforcement
from retentive.recall.reinforce import touched
from retentive.testing.fakes import HashEmbedder
from retentive.types import ACCESS_HISTORY, Access

FLOOR = by_similarity(refresh_floor_seconds=60.0)
SECOND = by_similarity(refresh_on="second", refresh_floor_seconds=60.0, second_within_hours=24.0)


def access(space: Space, name: str = "tea") -> Access:
    return space.get(name, touch=False).access


def filled(opening: Opening, clock: Clock) -> Space:
    space = opening(clock=clock).space("a")
    space.remember("tea", id="tea", at=NOW - timedelta(days=10))
    return space


def test_only_what_was_returned_is_touched(opening: Opening) -> None:
    """Candidates that were scored and cut, and the pinned core, are as they were."""
    wanted = {f"m{n}": 0.9 - n / 10 for n in range(6)}
    clock = Clock()
    space = opening(embedder=cosines(wanted), clock=clock).space("a")
    for name in wanted:
        space.remember(name, id=name)
    space.remember("rule", id="rule", pinned=True)
    shown = ids(space.recall(CUE, policy=by_similarity(limit=2)))
    assert {name for name in (*wanted, "rule") if access(space, name).count} == set(shown) == {"m0", "m1"}


def test_scores_come_first_and_touching_after(opening: Opening) -> None:
    """A hit shows the memory as it was scored; the store has it as it is now."""
    space = filled(opening, Clock())
    hit = space.recall("tea", policy=FLOOR)[0]
    assert hit.memory.access.count == 0
    assert access(space) == Access(NOW, 1.0, (NOW,), None)


def test_within_the_refresh_floor_nothing_moves(opening: Opening) -> None:
    """A hot loop changes neither last access nor count; at the floor it counts."""
    clock = Clock()
    space = filled(opening, clock)
    space.recall("tea", policy=FLOOR)
    first = access(space)
    for _ in range(59):
        clock.tick(seconds=1)
        space.recall("tea", policy=FLOOR)
    assert access(space) == first
    clock.tick(seconds=1)
    space.recall("tea", policy=FLOOR)
    assert access(space).last_at == NOW + timedelta(seconds=60)
    assert access(space).count == pytest.approx(2.0, abs=1e-4)


def test_without_a_floor_every_recall_counts(opening: Opening) -> None:
    """The stream touches each time, even twice at one moment."""
    space = filled(opening, Clock())
    for _ in range(3):
        space.recall("tea", policy="stream")
    assert access(space).count == 3.0


def test_counts_fade_by_themselves(opening: Opening) -> None:
    """0.99 a day, worked out when read: a once-hot memory cannot stay hot."""
    clock = Clock()
    space = filled(opening, clock)
    for _ in range(10):
        space.recall("tea", policy="stream")
    clock.tick(days=100)
    stored = access(space)
    assert stored.count == 10.0
    frequency = space.recall("tea", policy="operational", touch=False)[0].signals["frequency"].raw
    import numpy as np

    assert frequency == pytest.approx(0.1 * np.log2(1 + 10 * 0.99**100))
    space.get("tea")
    assert access(space).count == pytest.approx(10 * 0.99**100 + 1)


def test_the_history_keeps_the_latest_moments(opening: Opening) -> None:
    """Sixteen of them, newest last."""
    clock = Clock()
    space = filled(opening, clock)
    moments = []
    for _ in range(ACCESS_HISTORY + 4):
        moments.append(clock.tick(hours=1))
        space.recall("tea", policy=FLOOR)
    assert access(space).recent == tuple(moments[-ACCESS_HISTORY:])


def test_a_clock_that_runs_backwards_moves_nothing(opening: Opening) -> None:
    """Last access never goes back, by recall or by fetch."""
    clock = Clock()
    space = filled(opening, clock)
    space.recall("tea", policy=FLOOR)
    before = access(space)
    clock.tick(days=-5)
    space.recall("tea", policy=FLOOR)
    space.recall("tea", policy="stream")
    assert access(space) == before
    assert space.get("tea").access.last_at == before.last_at


def test_a_single_scan_warms_nothing(opening: Opening) -> None:
    """In second-touch mode the first recall leaves a mark; the second within the window counts as one access."""
    clock = Clock()
    space = filled(opening, clock)
    space.recall("tea", policy=SECOND)
    assert access(space) == Access(pending_at=NOW)
    clock.tick(hours=23)
    space.recall("tea", policy=SECOND)
    assert access(space) == Access(clock.now, 1.0, (clock.now,), None)


def test_a_second_touch_too_late_is_a_first(opening: Opening) -> None:
    """After the window the mark begins anew."""
    clock = Clock()
    space = filled(opening, clock)
    space.recall("tea", policy=SECOND)
    clock.tick(hours=24, seconds=1)
    space.recall("tea", policy=SECOND)
    assert access(space) == Access(pending_at=clock.now)


def test_a_hot_loop_does_not_push_its_mark_along(opening: Opening) -> None:
    """Asked every half minute, the memory is in use: it counts once the floor after the first touch has passed."""
    clock = Clock()
    space = filled(opening, clock)
    for _ in range(3):
        space.recall("tea", policy=SECOND)
        clock.tick(seconds=30)
    assert access(space).count == 1.0


@pytest.mark.parametrize("refresh_on", ["first", "second"])
def test_touching_is_monotone(refresh_on: str) -> None:
    """Whatever the clock does, last access and the kept moments never go back, and the count stays finite."""
    import random

    rng = random.Random(5)
    rule = Reinforcement(refresh_floor_seconds=60, refresh_on=refresh_on)
    state, now = Access(), NOW
    for _ in range(500):
        now += timedelta(seconds=rng.choice([-86_400, -10, 0, 5, 59, 60, 61, 4_000, 90_000]))
        after = touched(state, now, rule)
        assert state.last_at is None or (after.last_at is not None and after.last_at >= state.last_at)
        assert list(after.recent) == sorted(after.recent)
        assert 0 <= after.count <= state.count + 1
        state = after


def everything_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")  # locks of the moment, no data
    }


@pytest.mark.parametrize("preset", policies.names())
def test_reading_without_touch_leaves_no_trace_in_the_bytes(tmp_path: Path, preset: str) -> None:
    """`touch=False`: not a byte of the store's files changes, by recall, fetch, list, history or chain."""
    with Retentive(tmp_path, embedder=HashEmbedder(), clock=Clock()) as home:
        space = home.space("a")
        space.remember_many([{"text": f"tea {n}", "id": f"m{n}", "tags": ["t"]} for n in range(20)])
        space.recall("tea", policy=preset, tags=["t"])
    before = everything_in(tmp_path)
    with Retentive(tmp_path, embedder=HashEmbedder(), clock=Clock()) as home:
        space = home.space("a")
        assert len(space.recall("tea 7 yesterday", policy=preset, tags=["t"], touch=False)) > 0
        space.get("m1", touch=False)
        space.list(tags=["t"], hidden=True)
        space.history("m1")
        space.chain("m1")
        space.journal()
    assert everything_in(tmp_path) == before


class Unwritable:
    """A store whose transactions fail as a busy, full or read-only one does."""

    def __init__(self, inner: Any, error: Exception) -> None:
        self._inner, self._error = inner, error

    def open(self, space: str, *, create: bool = True) -> Any:
        return Unwritable(self._inner.open(space, create=create), self._error)

    def transaction(self) -> Any:
        raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.mark.parametrize("error", [StoreBusy("held by another"), StoreFull("no room"), Forbidden("read-only")])
def test_an_answer_is_not_lost_because_it_cannot_be_written_down(opening: Opening, error: Exception) -> None:
    """A busy, full or read-only store still answers, and fetches; a note says that it was not written back."""
    home = opening()
    space = home.space("a")
    space.remember("tea", id="tea")
    expected = space.recall("tea", policy="blend", touch=False)
    stuck = Retentive(store=Unwritable(home.store, error), embedder=HashEmbedder(), clock=Clock()).space("a")
    recall = stuck.recall("tea", policy="blend")
    assert [hit.score for hit in recall] == [hit.score for hit in expected]
    assert recall.trace.notes == (f"not written back: {error}",)
    assert stuck.get("tea").text == "tea"
    with pytest.raises(type(error)):
        stuck.remember("rice")
    with pytest.raises(type(error)):
        recall.feedback(used=["tea"])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom file modes hold back")
def test_a_read_only_folder_answers(tmp_path: Path) -> None:
    """The same on a real disk."""
    with Retentive(tmp_path, embedder=HashEmbedder(), clock=Clock()) as home:
        home.space("a").remember("tea", id="tea")
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with Retentive(tmp_path, embedder=HashEmbedder(), clock=Clock()) as home:
            recall = home.space("a").recall("tea", policy="blend")
            assert ids(recall) == ["tea"]
            assert recall.trace.notes[0].startswith("not written back")
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755)


def test_unrelated_questions_do_not_poison_later_answers(opening: Opening) -> None:
    """A stream of questions with write-back on leaves the default's answers where they were."""
    names = [
        f"{who} keeps {what} in {where}"
        for who in ("Ann", "Ben", "Cid")
        for what in ("tea", "salt", "rope", "ink")
        for where in ("Oslo", "Rome")
    ]
    clock = Clock()
    space = opening(clock=clock).space("a")
    for n, text in enumerate(names):
        space.remember(text, at=NOW - timedelta(days=n))
    policy = policies.retentive.replace(floor=None)
    quiet = {text: ids(space.recall(text, policy=policy, touch=False))[0] for text in names}
    for round_ in range(3):
        for text in names:
            clock.tick(minutes=1 + round_)
            space.recall(text, policy=policy)
    busy = {text: ids(space.recall(text, policy=policy, touch=False))[0] for text in names}
    assert busy == quiet
