"""Each defect of a peer, built into ours for a moment: the regression test that stands against it has to fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_peer_defects as tests
from facade_making import Opening, openings

from retentive import Space, recalling, types
from retentive.paths import space_path
from retentive.policy.policy import Policy
from retentive.recall.reinforce import touched
from retentive.scoring import decay
from retentive.scoring.signals import SIGNALS, Pool
from retentive.text import windows
from retentive.types import Floats, Gate

Patch = pytest.MonkeyPatch


def inverted_by_rank(patch: Patch) -> None:
    """The position by age is taken for the score: the oldest, last in the list, gets most."""
    sound = SIGNALS["recency"]

    @wraps(sound)
    def recency(pool: Pool, **options: Any) -> Floats:
        return np.asarray(np.argsort(np.argsort(-sound(pool, **options))) / len(pool.columns.ids), dtype=np.float64)

    patch.setitem(SIGNALS, "recency", recency)


def rate_for_base(patch: Patch) -> None:
    """What is documented as a rate is raised to the hours: (1 - 0.995)^24 is nothing."""
    patch.setattr(decay, "hourly_base", lambda hours, base=0.995: np.power(1.0 - base, hours))


def touches_what_it_fetched(patch: Patch) -> None:
    """Everything that was fetched counts as recalled, shown or not."""
    sound = recalling._accesses

    def accesses(tx: Any, question: Any, outcome: Any) -> dict[str, types.Access]:
        rule = question.policy.reinforcement
        unseen = {one.id: touched(tx.get(one.id).access, question.now, rule) for one in outcome.trace.cut}
        return sound(tx, question, outcome) | unseen

    patch.setattr(recalling, "_accesses", accesses)


def widens_when_empty(patch: Patch) -> None:
    """Nothing found in the scope: search without it."""
    sound = Space.recall

    def recall(self: Space, *asked: Any, **how: Any) -> Any:
        answer = sound(self, *asked, **how)
        return answer if len(answer) else sound(self._home.space("acme/bob"), *asked, policy=how.get("policy"))

    patch.setattr(Space, "recall", recall)


def matches_scopes_by_prefix(patch: Patch) -> None:
    """`acme` and all that begins like it are one."""
    sound = space_path
    patch.setattr("retentive.memory.space_path", lambda path: sound(path).split("-")[0])


def shares_one_mutable_policy(patch: Patch) -> None:
    """What a request asks for is written into the settings that all share."""
    sound = Policy.replace

    def replace(self: Policy, **changes: Any) -> Policy:
        if changes.keys() != {"limit"}:
            return sound(self, **changes)
        object.__setattr__(self.selection, "limit", changes["limit"])
        return self

    patch.setattr(Policy, "replace", replace)


def pins_the_first_filter(patch: Patch) -> None:
    """What was built for the first caller, its filter within, serves all who come after."""
    first: list[Gate] = []

    def gate_of(filters: recalling.Filters, now: datetime, **more: Any) -> Gate:
        first.append(sound(filters, now, **more))
        return first[0]

    sound = recalling.gate_of
    patch.setattr(recalling, "gate_of", gate_of)


def takes_naive_for_utc(patch: Patch) -> None:
    """A time without a zone is taken for UTC, and the zone of any other is dropped."""
    sound = types.aware
    for module in [module for name, module in sys.modules.items() if name.startswith("retentive")]:
        if getattr(module, "aware", None) is sound:
            patch.setattr(module, "aware", lambda moment, _name: moment.replace(tzinfo=UTC))


def reads_a_year_as_its_first_day(patch: Patch) -> None:
    """ "2023" is 1 January 2023, and everything else of that year lies outside."""
    sound = windows.months

    def months(year: int, month: int, count: int = 1) -> Any:
        return windows.exact_day(year, 1, 1) if count == 12 else sound(year, month, count)

    patch.setattr(windows, "months", months)


def adds_boosts_that_outgrow_relevance(patch: Patch) -> None:
    """Bonuses for importance and for use are added without a bound."""
    importance, frequency = SIGNALS["importance"], SIGNALS["frequency"]
    grown = wraps(importance)(lambda pool, **options: 40.0 * importance(pool, **options))
    unbounded = wraps(frequency)(lambda pool, **_: np.asarray(pool.columns.count, dtype=np.float64))
    patch.setitem(SIGNALS, "importance", grown)
    patch.setitem(SIGNALS, "frequency", unbounded)


Check = Callable[[Opening], object]
DEFECTS: list[tuple[Callable[[Patch], None], Check]] = [
    (inverted_by_rank, lambda opening: tests.test_newer_is_never_worth_less(opening, "blend")),
    (rate_for_base, tests.test_an_hour_costs_half_a_percent_through_a_recall),
    (touches_what_it_fetched, tests.test_what_was_fetched_and_not_returned_is_not_touched),
    (widens_when_empty, tests.test_an_empty_answer_does_not_widen_the_scope),
    (matches_scopes_by_prefix, lambda opening: tests.test_scopes_are_segments_and_no_prefixes(opening, "acme-corp")),
    (shares_one_mutable_policy, tests.test_concurrent_recalls_do_not_share_a_policy),
    (pins_the_first_filter, tests.test_no_caller_pins_the_filters_of_the_next),
    (takes_naive_for_utc, tests.test_naive_times_are_refused_and_zones_agree),
    (reads_a_year_as_its_first_day, lambda _opening: tests.test_a_year_is_a_whole_year()),
    (adds_boosts_that_outgrow_relevance, tests.test_boosts_do_not_crush_relevance),
    (adds_boosts_that_outgrow_relevance, tests.test_a_boost_is_bounded_by_its_formula),
]


@pytest.mark.parametrize(
    ("defect", "check"), DEFECTS, ids=[f"{at}-{defect.__name__}" for at, (defect, _) in enumerate(DEFECTS)]
)
def test_the_defect_is_caught(
    defect: Callable[[Patch], None], check: Check, tmp_path: Path, monkeypatch: Patch
) -> None:
    """Sound, the check passes; with the defect inside it fails, and by what it asserts: it does not merely crash."""
    with contextmanager(openings)("memory", tmp_path / "sound") as opening:
        check(opening)
    with contextmanager(openings)("memory", tmp_path / "broken") as opening, monkeypatch.context() as patch:
        defect(patch)
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            check(opening)


def test_every_defect_of_the_list_is_there() -> None:
    """Ten of them; one is caught in two ways."""
    assert len({defect for defect, _ in DEFECTS}) == 10
