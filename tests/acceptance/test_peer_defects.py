"""Defects that users reported of other memory layers, each as a test that would show it in ours.

The mechanism is named in every docstring, because the test only makes sense beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/facade"))  # the façade's tests are made from the same parts

from facade_making import CUE, NOW, Clock, Opening, by_similarity, cosines, ids, only, openings

from retentive import Policy, Space, policies
from retentive.errors import InvalidInput
from retentive.policy import SignalSpec
from retentive.scoring.decay import hourly_base
from retentive.text.temporal import temporal_intent
from retentive.types import Access

AGES = (1, 5, 20, 60, 200)  # days


@pytest.fixture(params=["memory", "sqlite"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opening]:
    yield from openings(request.param, tmp_path)


def aged(opening: Opening, cosine: float = 0.5) -> Space:
    """Return a space of memories that differ in their age alone."""
    space = opening(embedder=cosines({f"d{days}": cosine for days in AGES})).space("acme/alice")
    space.remember_many([{"text": f"d{days}", "id": f"d{days}", "at": NOW - timedelta(days=days)} for days in AGES])
    return space


@pytest.mark.parametrize("policy", ["stream", "blend", "assistant", "coding", "focus", "freshness"])
def test_newer_is_never_worth_less(opening: Opening, policy: str) -> None:
    """A port took the *rank* by recency for the score, so that the oldest won: all else equal, newest first."""
    chosen = policies.get(policy).replace(limit=len(AGES), near_duplicate=None)
    answer = aged(opening).recall(CUE, policy=chosen, touch=False)
    assert ids(answer) == [f"d{days}" for days in AGES[: len(answer)]]
    assert len(answer) >= 3


def test_decay_is_the_base_to_the_hours() -> None:
    """A retriever documents ``(1 - rate)^hours`` and is configured with the base: 0.995 then forgets within an hour."""
    assert hourly_base(24.0, 0.995) == pytest.approx(0.8867, abs=5e-5)
    assert hourly_base(1.0, 0.995) == pytest.approx(0.995)
    with pytest.raises(ValueError, match="base"):
        hourly_base(1.0, 1.0)


def test_an_hour_costs_half_a_percent_through_a_recall(opening: Opening) -> None:
    """The same through the whole engine, where hours are made of times: a day leaves 0.8867, a week 0.4308."""
    space = opening(embedder=cosines({"day": 0.5, "week": 0.5})).space("a")
    space.remember("day", id="day", at=NOW - timedelta(days=1))
    space.remember("week", id="week", at=NOW - timedelta(days=7))
    hits = {hit.memory.id: hit.signals["recency"].raw for hit in space.recall(CUE, policy="stream", touch=False)}
    assert hits == {"day": pytest.approx(0.8867, abs=5e-5), "week": pytest.approx(0.4308, abs=5e-5)}


def test_what_was_fetched_and_not_returned_is_not_touched(opening: Opening) -> None:
    """A retriever touched all it over-fetched, before it scored: what nobody saw stayed fresh for ever."""
    wanted = {f"m{n}": 0.9 - n / 50 for n in range(20)}
    space = opening(embedder=cosines(wanted)).space("a")
    space.remember_many([{"text": name, "id": name, "at": NOW - timedelta(days=9)} for name in wanted])
    shown = ids(space.recall(CUE, policy=by_similarity(limit=2, over_fetch=5.0)))
    assert [name for name in wanted if space.get(name, touch=False).access.count] == shown == ["m0", "m1"]


def test_an_empty_answer_does_not_widen_the_scope(opening: Opening) -> None:
    """A store dropped the namespace and searched everything when nothing was found in it."""
    home = opening()
    home.space("acme/bob").remember("the vault code is 4711", id="secret")
    alice = home.space("acme/alice")
    assert len(alice.recall("the vault code is 4711", policy=by_similarity())) == 0
    alice.remember("tea", tags=["drink"])
    assert len(alice.recall("the vault code is 4711", tags=["nothing"], policy=by_similarity())) == 0
    assert "secret" not in ids(alice.recall("the vault code is 4711", policy=by_similarity()))


@pytest.mark.parametrize("other", ["acme-corp", "acme_corp", "acmecorp", "acme/alice2", "ACME", "acme/alice/work"])
def test_scopes_are_segments_and_no_prefixes(opening: Opening, other: str) -> None:
    """Stores that match scopes with ``LIKE 'acme%'`` read ``acme-corp`` for ``acme``."""
    home = opening()
    home.space(other).remember("the vault code is 4711", id="secret")
    for path in ("acme", "acme/alice"):
        space = home.space(path)
        space.remember("tea with milk", id="tea")
        assert ids(space.recall("the vault code is 4711", policy=by_similarity())) == ["tea"]
        assert [memory.id for memory in space.list(hidden=True)] == ["tea"]


def test_concurrent_recalls_do_not_share_a_policy(opening: Opening) -> None:
    """A server kept one mutable settings object; a request that set a limit changed everybody's answers."""
    wanted = {f"m{n}": 0.9 - n / 50 for n in range(12)}
    space = opening(embedder=cosines(wanted)).space("a")
    space.remember_many([{"text": name, "id": name} for name in wanted])
    policy = by_similarity()

    def ask(limit: int) -> tuple[int, int]:
        return limit, len(space.recall(CUE, policy=policy, limit=limit, touch=False))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, [1 + n % 9 for n in range(90)]))
    assert all(limit == found for limit, found in answers)
    assert policy == by_similarity()


def test_a_policy_cannot_be_changed_in_place() -> None:
    """What is shared must be frozen to the last mapping."""
    with pytest.raises(AttributeError):
        policies.blend.signals["recency"].weight = 5.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        policies.blend.signals["recency"] = SignalSpec()  # type: ignore[index]
    with pytest.raises(TypeError):
        policies.blend.signals["recency"].options["half_life_days"] = 1.0  # type: ignore[index]


def test_no_caller_pins_the_filters_of_the_next(opening: Opening) -> None:
    """A retriever cached on first use closed over the first caller's filter and applied it to all who came after."""
    home = opening()
    space = home.space("a")
    space.remember("tea in the morning", id="tea", kind="preference", tags=["drink"], metadata={"n": 1})
    space.remember("tea on the shelf", id="shelf", kind="fact", tags=["house"], metadata={"n": 2})
    policy = by_similarity()
    assert ids(space.recall("tea", policy=policy, tags=["drink"])) == ["tea"]
    assert set(ids(space.recall("tea", policy=policy))) == {"tea", "shelf"}
    assert ids(space.recall("tea", policy=policy, where={"n": 2})) == ["shelf"]
    assert ids(space.recall("tea", policy=policy, kinds=["preference"])) == ["tea"]
    assert set(ids(home.space("a").recall("tea", policy=policy))) == {"tea", "shelf"}


def test_naive_times_are_refused_and_zones_agree(opening: Opening) -> None:
    """Naive local times read as UTC moved memories by hours and reordered a day."""
    naive = datetime(2026, 2, 1, 12)  # noqa: DTZ001 - that is the point
    space = opening().space("a")
    with pytest.raises(InvalidInput, match="time zone"):
        space.remember("tea", at=naive)
    with pytest.raises(InvalidInput, match="time zone"):
        space.recall("tea", now=naive)
    with pytest.raises(InvalidInput, match="time zone"):
        opening(clock=lambda: naive).space("a").remember("tea")
    east = datetime(2026, 2, 1, 23, 30, tzinfo=timezone(timedelta(hours=13)))  # 10:30 in UTC
    assert space.remember("earlier", at=east).created_at == datetime(2026, 2, 1, 10, 30, tzinfo=UTC)


def test_a_year_is_a_whole_year() -> None:
    """A parser read "2023" as 1 January and put everything of that year into the future of the question, reversed."""
    for text in ("what happened in 2023?", "the trip in 2023"):
        intent = temporal_intent(text, datetime(2025, 6, 1, tzinfo=UTC))
        assert intent is not None
        assert intent.start == datetime(2023, 1, 1, tzinfo=UTC)
        assert intent.end == datetime(2024, 1, 1, tzinfo=UTC)


def test_asking_about_a_year_keeps_the_order_of_fit(opening: Opening) -> None:
    """All of 2023 lies within "in 2023": the better match stands first, in January or in December."""
    clock = Clock(datetime(2025, 6, 1, tzinfo=UTC))
    home = opening(clock=clock)
    for month, other in ((1, 12), (12, 1)):
        space = home.space(f"m{month}")
        space.remember("the boat trip to the island", id="right", at=datetime(2023, month, 20, tzinfo=UTC))
        space.remember("boat paint", id="paint", at=datetime(2023, other, 20, tzinfo=UTC))
        assert ids(space.recall("the boat trip to the island in 2023"))[0] == "right"


def test_boosts_do_not_crush_relevance(opening: Opening) -> None:
    """Additive bonuses for tags, recency and use outgrew the cosine: the popular crowd hid the one right answer.

    The default must not. `coding`, `focus` and the other blends weigh importance and recency as their definition says.
    """
    wanted = {"right": 0.75} | {f"hot{n}": 0.3 for n in range(30)}  # above the floor, which would settle it by itself
    clock = Clock()
    space = opening(embedder=cosines(wanted), clock=clock).space("a")
    space.remember("right", id="right", importance=0.3, at=NOW - timedelta(days=200))
    for n in range(30):
        space.remember(f"hot{n}", id=f"hot{n}", importance=1.0, tags=["hot"], at=NOW)
    for _ in range(40):
        clock.tick(minutes=2)
        for n in range(0, 30, 10):
            space.get(f"hot{n}")
    answer = ids(space.recall(CUE, touch=False))
    assert answer[0] == "right"
    assert len(answer) > 1


def test_a_boost_is_bounded_by_its_formula(opening: Opening) -> None:
    """A million reads are worth what the logarithm says, on every policy that counts them."""
    clock = Clock()
    space = opening(embedder=cosines({"hot": 0.2, "right": 0.8}), clock=clock).space("a")
    space.remember("hot", id="hot")
    space.remember("right", id="right")
    store = space.store
    with store.transaction() as tx:
        tx.set_access({"hot": Access(NOW, 1e6, (NOW,), None)})
    policy: Policy = only("similarity", "frequency")
    hits = {hit.memory.id: hit for hit in space.recall(CUE, policy=policy, touch=False)}
    assert hits["hot"].signals["frequency"].raw == 1.0
    assert np.isfinite(hits["hot"].score)
