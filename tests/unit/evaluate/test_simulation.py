"""The simulated user: what adapts follows a change of habits, and costs a user who is served well no more than said."""

from __future__ import annotations

import numpy as np

from retentive.adaptive.decide import BOUND
from retentive.evaluate.simulation import ADAPTIVE, USERS, by_creation, live, simulate
from retentive.policy import presets


def test_it_follows_a_drifting_user_better_than_any_fixed_preset() -> None:
    """Three habits one after the other: the best fixed preset, chosen in hindsight, does worse."""
    row = simulate(["drifting"], seeds=1, steps=120)[0]
    assert set(row.means) - {ADAPTIVE} == {
        name for name in presets.names() if presets.get(name).combine == "sum" and name != "planning"
    }
    assert row.over_best > 0.02
    assert row.over_base > 0.05


def test_it_costs_a_served_user_no_more_than_the_bound() -> None:
    """The preset is what this user wants: nothing can be gained, and little is lost."""
    base = by_creation(presets.get("blend"))
    user = USERS["stable, served by the preset"]
    fixed, adaptive = (
        float(np.mean(live(user, base, adapts=adapts, base="blend", seed=1, steps=150))) for adapts in (False, True)
    )
    assert fixed > 0.85
    assert adaptive > fixed - BOUND


def test_a_life_is_reproducible() -> None:
    """The same seed lives the same life; another one another."""
    base = by_creation(presets.get("blend"))
    lives = [live(USERS["drifting"], base, adapts=True, base="blend", seed=seed, steps=30) for seed in (5, 5, 6)]
    assert lives[0] == lives[1] != lives[2]
