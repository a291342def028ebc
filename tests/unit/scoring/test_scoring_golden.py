"""Every golden vector, to 1e-9. The file is a copy of the one the policy contract was written with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive.scoring.arrays import FloatArray
from retentive.scoring.combine import weighted_sum
from retentive.scoring.counts import decayed_count, frequency
from retentive.scoring.decay import ebbinghaus, half_life, hourly_base
from retentive.scoring.freshness import TAU_DAYS, access_boost, effective_freshness, freshness, tau_for
from retentive.scoring.fusion import reciprocal_rank
from retentive.scoring.importance import IMPORTANCE_HALF_LIFE_DAYS, decayed_importance, importance_half_life
from retentive.scoring.normalise import minmax

GOLDEN: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "scoring.json").read_text(encoding="utf-8")
)
WORKED: Mapping[str, Any] = GOLDEN["worked_recall"]
CHECKED = {
    "half_life",
    "hourly_base",
    "ebbinghaus",
    "tau_days",
    "freshness",
    "access_boost",
    "effective_freshness",
    "freshness_weight",
    "importance_half_life_days",
    "importance_decay",
    "frequency",
    "count_decay",
    "recurring",
    "minmax",
    "rrf",
    "worked_recall",
}


def column(table: str, name: str) -> FloatArray:
    return np.array([row[name] for row in GOLDEN[table]], dtype=np.float64)


def assert_golden(actual: FloatArray, table: str) -> None:
    np.testing.assert_allclose(actual, column(table, "value"), rtol=1e-9, atol=1e-9)


def test_every_table_of_the_file_is_checked() -> None:
    """A table added to the golden file is not silently ignored."""
    assert set(GOLDEN) == CHECKED


def test_half_life() -> None:
    """2^(-age/h) as printed."""
    assert_golden(half_life(column("half_life", "age_hours"), column("half_life", "half_life_hours")), "half_life")


@pytest.mark.parametrize("row", GOLDEN["hourly_base"], ids=lambda row: f"{row['base']}-{row['age_hours']}h")
def test_hourly_base(row: dict[str, float]) -> None:
    """b^hours as printed."""
    assert float(hourly_base(row["age_hours"], row["base"])) == pytest.approx(row["value"], abs=1e-9)


def test_ebbinghaus() -> None:
    """The strengthened forgetting curve as printed (every row has gain 0.5)."""
    table = "ebbinghaus"
    assert set(column(table, "gain")) == {0.5}
    ages, lives = column(table, "age_hours"), column(table, "half_life_hours")
    assert_golden(ebbinghaus(ages, lives, column(table, "count"), gain=0.5), table)


def test_tau_days() -> None:
    """The half-lives of freshness by kind."""
    assert dict(TAU_DAYS) == GOLDEN["tau_days"]


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.2])
def test_freshness(floor: float) -> None:
    """The floored half-life by kind, at every floor."""
    rows = [row for row in GOLDEN["freshness"] if row["floor"] == floor]
    assert rows
    actual = freshness([row["age_days"] for row in rows], [tau_for(row["kind"]) for row in rows], floor)
    np.testing.assert_allclose(actual, [row["value"] for row in rows], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("row", GOLDEN["access_boost"], ids=lambda row: f"n{row['count']}-k{row['k']}")
def test_access_boost(row: dict[str, float]) -> None:
    """1 + k·ln(1 + n) as printed."""
    assert float(access_boost(row["count"], row["k"])) == pytest.approx(row["value"], abs=1e-9)


def test_effective_freshness() -> None:
    """Floor, then boost."""
    table = "effective_freshness"
    taus = [tau_for(row["kind"]) for row in GOLDEN[table]]
    assert_golden(effective_freshness(column(table, "age_days"), taus, column(table, "count")), table)


def test_freshness_weight() -> None:
    """A base score times effective freshness, the permanent memory included."""
    table = "freshness_weight"
    taus = [tau_for(row["kind"]) for row in GOLDEN[table]]
    permanent = [row.get("permanent", False) for row in GOLDEN[table]]
    fresh = effective_freshness(column(table, "age_days"), taus, column(table, "count"), permanent=permanent)
    assert_golden(column(table, "base") * fresh, table)


def test_importance_half_lives() -> None:
    """The half-lives of importance by kind."""
    assert dict(IMPORTANCE_HALF_LIFE_DAYS) == GOLDEN["importance_half_life_days"]


def test_importance_decay() -> None:
    """Floored importance by kind and dormancy."""
    table = "importance_decay"
    lives = [importance_half_life(row["kind"]) for row in GOLDEN[table]]
    assert_golden(decayed_importance(column(table, "importance"), column(table, "dormant_days"), lives), table)


def test_frequency() -> None:
    """min(0.1·log2(1 + n), 1) as printed."""
    assert_golden(frequency(column("frequency", "count")), "frequency")


def test_count_decay() -> None:
    """0.99 a day as printed."""
    assert_golden(decayed_count(column("count_decay", "count"), column("count_decay", "days")), "count_decay")


def test_recurring() -> None:
    """Nearness to an occurrence lifts freshness and never lowers it."""
    table = "recurring"
    base = column(table, "base_freshness")
    ages = -180.0 * np.log2(base)
    distances = column(table, "days_to_nearest")
    assert_golden(effective_freshness(ages, 180.0, 0.0, occurrence_distance_days=distances), table)


@pytest.mark.parametrize("row", GOLDEN["minmax"])
def test_minmax(row: dict[str, Any]) -> None:
    """Columns with and without spread, for both constants."""
    np.testing.assert_allclose(minmax(row["x"], row["constant"]), row["value"], atol=1e-9)


@pytest.mark.parametrize("row", GOLDEN["rrf"], ids=lambda row: f"k{row['k']}")
def test_rrf(row: dict[str, Any]) -> None:
    """Reciprocal rank fusion of two lists."""
    assert reciprocal_rank(row["lists"], row["k"]) == pytest.approx(row["value"], abs=1e-9)


def worked(name: str) -> FloatArray:
    return np.array(WORKED["candidates"][name], dtype=np.float64)


def expected(policy: str) -> list[float]:
    scores: dict[str, list[float]] = {row["policy"]: row["score"] for row in WORKED["policies"]}
    return scores[policy]


@pytest.mark.parametrize(
    ("policy", "half_life_days", "weights"),
    [
        ("blend", 14, (1.0, 1.0, 1.0)),
        ("assistant", 7, (1.5, 1.0, 1.0)),
        ("support", 30, (1.0, 1.5, 1.0)),
        ("coding", 90, (0.5, 1.0, 1.5)),
    ],
)
def test_worked_recall_of_the_blend_family(
    policy: str, half_life_days: float, weights: tuple[float, float, float]
) -> None:
    """Recency, boosted importance and cosine, each min-max normalised with constant 0.5, weighted and added."""
    raw = [
        half_life(worked("hours_since_access"), 24.0 * half_life_days),
        worked("importance") + 0.05 * np.log1p(worked("count")),
        worked("cosine"),
    ]
    score = weighted_sum([minmax(signal, 0.5) for signal in raw], weights)
    np.testing.assert_allclose(score, expected(policy), rtol=0, atol=1e-9)


def test_worked_recall_of_stream() -> None:
    """Park et al.: hourly recency, importance as rated and cosine, equal weights, constant 0."""
    raw = [hourly_base(worked("hours_since_access")), worked("importance"), worked("cosine")]
    score = weighted_sum([minmax(signal, 0.0) for signal in raw], [1.0, 1.0, 1.0])
    np.testing.assert_allclose(score, expected("stream"), rtol=0, atol=1e-9)


def test_worked_recall_of_focus() -> None:
    """Raw signals with fixed weights, so that a floor has a meaning."""
    raw = [worked("cosine"), half_life(worked("hours_since_access") / 24.0, 7.0), worked("importance")]
    np.testing.assert_allclose(weighted_sum(raw, [0.6, 0.25, 0.15]), expected("focus"), rtol=0, atol=1e-9)


def test_worked_recall_of_operational() -> None:
    """Raw cosine, recency, decayed importance of a preference, and frequency."""
    hours = worked("hours_since_access")
    raw = [
        worked("cosine"),
        half_life(hours, 168.0),
        decayed_importance(worked("importance"), hours / 24.0, importance_half_life("preference")),
        frequency(worked("count")),
    ]
    score = weighted_sum(raw, [0.45, 0.25, 0.20, 0.10])
    np.testing.assert_allclose(score, expected("operational"), rtol=0, atol=1e-9)


def test_the_worked_policies_are_all_checked() -> None:
    """A policy added to the worked recall is not silently ignored."""
    known = {"blend", "assistant", "support", "coding", "stream", "focus", "operational"}
    assert {row["policy"] for row in WORKED["policies"]} == known
