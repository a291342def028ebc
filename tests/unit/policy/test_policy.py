"""Policies are frozen values: made by `replace`, written as TOML, and checked where they are made."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import InvalidInput, NotFound
from retentive.policy import Policy, PolicyWarning, Selection, SignalSpec, Sources
from retentive.policy import presets as policies
from retentive.policy.policy import advice

PRESETS = {
    "stream": ((1, 1, 1), 3),
    "blend": ((1, 1, 1), 5),
    "assistant": ((1.5, 1, 1), 5),
    "support": ((1, 1.5, 1), 5),
    "coding": ((0.5, 1, 1.5), 5),
    "planning": ((1, 1, 1), 5),
}


@pytest.mark.parametrize("name", PRESETS)
def test_the_blended_presets_have_the_weights_of_the_contract(name: str) -> None:
    """Recency, importance and similarity weigh what policy.md §5 says, and the limit is its own."""
    weights, limit = PRESETS[name]
    policy = policies.get(name)
    assert tuple(policy.weights[signal] for signal in ("recency", "importance", "similarity")) == weights
    assert policy.selection.limit == limit


@pytest.mark.parametrize(
    ("name", "days"), [("blend", 14), ("assistant", 7), ("support", 30), ("coding", 90), ("planning", 30)]
)
def test_half_lives_are_those_of_the_contract(name: str, days: float) -> None:
    """Each blended preset forgets at its own pace."""
    assert policies.get(name).signals["recency"].options["half_life_days"] == days


def test_stream_is_the_paper_s() -> None:
    """Hourly base .995, constant columns to 0, everything returned is touched at once."""
    stream = policies.stream
    assert stream.signals["recency"].options["hourly_base"] == 0.995
    assert {spec.constant for spec in stream.signals.values()} == {0.0}
    assert stream.reinforcement.refresh_floor_seconds == 0
    assert stream.sources.whole_space_up_to == 2_000


def test_one_keyword_changes_the_hourly_base() -> None:
    """The common port's .99 is `stream.replace(hourly_base=0.99)`."""
    assert policies.stream.replace(hourly_base=0.99).signals["recency"].options["hourly_base"] == 0.99


def test_focus_and_operational_weigh_raw_signals() -> None:
    """Their scores are absolute, so that a floor has a meaning."""
    for policy in (policies.focus, policies.operational):
        assert {spec.normalise for spec in policy.signals.values()} == {"none"}
        assert sum(policy.weights.values()) == pytest.approx(1.0)
    assert policies.focus.selection.floor == 0.35


@pytest.mark.parametrize("name", policies.names())
def test_toml_round_trips_every_preset(name: str) -> None:
    """What `dump` writes, `parse` reads back to an equal value with an equal hash."""
    policy = policies.get(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)
        again = Policy.parse(policy.dump())
    assert again == policy
    assert hash(again) == hash(policy)


@given(
    weight=st.floats(-10, 10), days=st.floats(7, 30), limit=st.integers(1, 10_000), floor=st.none() | st.floats(-1, 1)
)
def test_toml_round_trips_variants(weight: float, days: float, limit: int, floor: float | None) -> None:
    """Any legal numbers survive the file."""
    policy = policies.blend.replace(weights={"recency": weight}, half_life_days=days, limit=limit, floor=floor)
    assert Policy.parse(policy.dump()) == policy


@given(st.text(min_size=1).filter(lambda name: name.isprintable()))
def test_toml_round_trips_any_name(name: str) -> None:
    """A name with quotes or backslashes does not break the file."""
    policy = policies.blend.replace(name=name)
    assert Policy.parse(policy.dump()) == policy


def test_a_file_may_start_from_a_preset(tmp_path: Path) -> None:
    """`base` takes a preset; the file says only what differs."""
    path = tmp_path / "p.toml"
    path.write_text('base = "blend"\nname = "mine"\n[selection]\nlimit = 9\n[signals.recency]\nweight = 2.0\n')
    policy = Policy.load(path)
    assert policy == policies.blend.replace(name="mine", limit=9, weights={"recency": 2.0})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('nam = "x"', ["'nam'", "'name'"]),
        ('base = "blnd"', ["'blnd'", "'blend'"]),
        ("limit = 3", ["'limit'"]),
        ("x = ", ["not valid TOML"]),
        ('base = "blend"\n[selection]\nlimt = 3', ["'limt'", "'limit'", "[selection]"]),
        ('base = "blend"\n[selection]\nlimit = 0', ["limit=0", "1..10000"]),
        ('base = "blend"\n[selection]\nlimit = "many"', ["limit", "'many'"]),
        ('base = "blend"\n[sources]\nchannels = ["vektor"]', ["'vektor'", "'vector'"]),
        ('base = "blend"\n[signals.recency]\nhalf_life = 3', ["'half_life'", "'half_life_days'"]),
        ('base = "blend"\n[signals.recency]\nweight = "big"', ["'big'"]),
        ('base = "blend"\n[signals.rescency]\nweight = 1', ["'rescency'", "'recency'"]),
        ('base = "blend"\n[signals.recency]\nnormalise = "z"', ["'z'", "minmax"]),
        ('base = "blend"\n[signals.recency]\nhalf_life_days = 0', ["half_life_days", "above 0"]),
        ('base = "blend"\nsignals = 3', ["[signals]"]),
        ('base = "blend"\nselection = 3', ["[selection]"]),
        ('base = "blend"\n[signals.similarity]\nlow = 0.9\nhigh = 0.1', ["low=0.9"]),
        ('base = "freshness"\n[signals.freshness]\ntau_days = { fact = 0 }', ["tau_days", "above 0"]),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_remedy(text: str, words: list[str]) -> None:
    """The message holds the file, the value, and the nearest known name or the allowed range."""
    with pytest.raises(InvalidInput) as raised:
        Policy.parse(text, "mine.toml")
    for word in ["mine.toml", *words]:
        assert word in str(raised.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """A path that is not there is NotFound, with the path."""
    with pytest.raises(NotFound, match=r"gone\.toml"):
        Policy.load(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    "changes",
    [{"limits": 3}, {"weights": {"recensy": 1}}, {"limit": 0}, {"pool": 0}, {"combine": "mean"}, {"channels": "vector"},
     {"channels": ()}, {"name": ""}, {"touch": 1}, {"half_life_days": "week"}, {"balance": float("nan")},
     {"selection": Sources()}],
)  # fmt: skip
def test_replace_refuses_what_cannot_work(changes: dict[str, object]) -> None:
    """Unknown names and impossible values are refused where they are written."""
    with pytest.raises(InvalidInput):
        policies.blend.replace(**changes)


def test_replace_takes_sections_and_specs() -> None:
    """Whole sections and whole signals can be given as values."""
    policy = policies.blend.replace(
        selection=Selection(limit=2),
        signals={"similarity": SignalSpec(), "recency": {"weight": 2, "half_life_days": 9}},
    )
    assert policy.selection == Selection(limit=2)
    assert policy.signals["recency"].options == {"half_life_days": 9}


def test_a_policy_is_frozen() -> None:
    """Two recalls at once cannot disturb each other through a shared policy."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        policies.blend.name = "other"  # type: ignore[misc]  # the point of the test
    with pytest.raises(TypeError):
        policies.blend.signals["recency"] = SignalSpec()  # type: ignore[index]  # the point of the test
    with pytest.raises(TypeError):
        policies.blend.signals["recency"].options["half_life_days"] = 1  # type: ignore[index]  # the point of the test


@pytest.mark.parametrize("days", [1.0, 6.9, 31.0, 400.0])
def test_a_half_life_off_the_band_warns_of_the_cliff(days: float) -> None:
    """Outside 7-30 days the warning says what becomes of last month's memories."""
    with pytest.warns(PolicyWarning, match="last month"):
        policies.blend.replace(half_life_days=days)


@pytest.mark.parametrize("days", [7.0, 14.0, 30.0])
def test_a_half_life_within_the_band_does_not_warn(days: float) -> None:
    """Warnings are errors in this suite, so silence is the promise."""
    assert advice(policies.blend.replace(half_life_days=days)) == []


def test_unknown_presets_list_the_known_ones() -> None:
    """A typo gets the nearest name."""
    with pytest.raises(InvalidInput, match="Did you mean 'operational'"):
        policies.get("operatonal")
    assert policies.names()[0] == "retentive"


def test_rotation_without_a_ledger_is_advised_against() -> None:
    """What rotates is read from the ledger; `policy check` says that there is none."""
    silent = policies.retentive.replace(ledger=False)
    assert any("ledger" in sentence for sentence in advice(silent))
    assert advice(policies.retentive) == []


def test_a_product_takes_no_negative_weight() -> None:
    """There a weight is an exponent: a factor of 0 would make a score of infinity."""
    with pytest.raises(InvalidInput, match="'freshness' is -1"):
        policies.freshness.replace(weights={"freshness": -1.0})
