"""The record of a procedure, as plain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.scoring.track_record import Record, noted, proven, record_of

counts = st.integers(0, 1000)


@pytest.mark.parametrize(
    ("worked", "failed", "factor"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0208333),  # 1 + 0.25 · (2·2/3 - 1) · 1/4
        (0, 1, 0.9791667),
        (3, 0, 1.075),  # 1 + 0.25 · (2·4/5 - 1) · 3/6
        (5, 5, 1.0),
        (9, 1, 1.1282051),  # 1 + 0.25 · (2·10/12 - 1) · 10/13
    ],
)
def test_what_a_record_is_worth(worked: int, failed: int, factor: float) -> None:
    """By hand, with a reach of 0.25."""
    assert proven(Record(worked, failed), 0.25) == pytest.approx(factor, abs=1e-6)


@given(counts, counts, st.floats(0, 0.5))
def test_bounded_and_monotone(worked: int, failed: int, reach: float) -> None:
    """Within the reach; working never lowers it, failing never raises it, and no outcome moves it by five per cent."""
    now = proven(Record(worked, failed), reach)
    better, worse = proven(Record(worked + 1, failed), reach), proven(Record(worked, failed + 1), reach)
    assert 1 - reach <= worse <= now + 1e-12 <= better + 2e-12 <= 1 + reach + 3e-12 or reach == 0
    if reach <= 0.25:
        assert max(better - now, now - worse) < 0.05 * now


def test_outcomes_are_counted() -> None:
    """Beside whatever else the metadata says."""
    one = noted({"ticket": 7}, "good")
    assert one == {"ticket": 7, "record": {"worked": 1, "failed": 0}}
    assert record_of(noted(one, "bad")) == Record(1, 1)
    assert record_of(noted(one, "used")) == Record(1, 0)
    assert str(Record(3, 1)) == "worked 3 of 4 times"


@pytest.mark.parametrize(
    "junk", [None, 7, "good", [], {"worked": "1"}, {"worked": True, "failed": -3}, {"worked": 1.5}]
)
def test_junk_is_no_record(junk: object) -> None:
    """Metadata is the user's: what cannot be a record counts as none."""
    assert record_of({"record": junk}) == Record()  # type: ignore[dict-item]
