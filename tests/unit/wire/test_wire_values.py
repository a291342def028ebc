"""Values go over the wire and come back the same; what does not fit is said, with where and why."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive import errors
from retentive.errors import RetentiveError
from retentive.testing.strategies import memories
from retentive.types import Memory
from retentive.wire.problems import STATUS, error_of, problem_of, status_of
from retentive.wire.values import WireError, read, schema_of, written


@dataclass(frozen=True)
class Part:
    """A part."""

    name: str
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Whole:
    """A whole.

    With more to say.
    """

    at: datetime
    parts: tuple[Part, ...]
    kind: Literal["a", "b"] = "a"
    number: int | str | None = None
    flags: frozenset[str] = frozenset()
    anything: Any = None
    rows: list[int] = field(default_factory=list)
    best: float | None = None


WHOLE = Whole(
    at=datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))),
    parts=(Part("x", {"recency": 0.5}), Part("y")),
    kind="b",
    number="seven",
    flags=frozenset({"b", "a"}),
    anything={"deep": [1, None]},
    rows=[1, 2],
)


def test_a_value_comes_back_the_same() -> None:
    """Through JSON text; times in UTC."""
    told = json.loads(json.dumps(written(WHOLE)))
    assert told["at"] == "2026-05-01T10:00:00+00:00"
    assert told["flags"] == ["a", "b"]
    assert read(Whole, told) == WHOLE


def test_versions_may_differ() -> None:
    """What is missing takes its default; what is unknown is passed over."""
    told = {"at": "2026-05-01T10:00:00+00:00", "parts": [{"name": "x", "new": 1}], "later": True}
    assert read(Whole, told) == Whole(datetime(2026, 5, 1, 10, tzinfo=UTC), (Part("x"),))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"at": "2026-05-01T10:00:00"}, "no time zone"),
        ({"at": 7}, "Whole"),
        ({"parts": "x"}, "list was expected"),
        ({"parts": [{"name": 7}]}, "str was expected"),
        ({"parts": [{}]}, "name"),
        ({"kind": "c"}, "one of"),
        ({"rows": [True]}, "int was expected"),
        ({"number": []}, "str was expected"),
    ],
)
def test_what_does_not_fit_is_said(change: dict[str, Any], said: str) -> None:
    """As an error of the wire, not of the caller."""
    with pytest.raises(WireError, match=said):
        read(Whole, {**written(WHOLE), **change})


def test_numbers_and_things_json_has_not() -> None:
    """A number that is none is null; numpy's are plain; anything else is its text."""
    assert written([math.nan, math.inf, 1.5]) == [None, None, 1.5]
    assert math.isnan(read(float, None))
    assert written({"a": np.float64(0.5), "b": np.arange(3), "c": Path("x"), "d": np.int64(2)}) == {
        "a": 0.5,
        "b": [0, 1, 2],
        "c": "x",
        "d": 2,
    }


@given(memories("acme/alice"))
def test_any_memory_comes_back_the_same(memory: Memory) -> None:
    """Whatever it says, with the same version."""
    back = read(Memory, json.loads(json.dumps(written(memory))))
    assert back == memory
    assert back.version == memory.version


def test_a_schema_says_what_is_written() -> None:
    """By name, by type, nullable where it may be null; records are shared."""
    shared: dict[str, Any] = {}
    assert schema_of(Whole, shared) == {"$ref": "#/components/schemas/Whole"}
    whole = shared["Whole"]
    assert whole["description"] == "A whole."
    assert whole["properties"]["number"] == {"type": ["integer", "string", "null"]}
    assert whole["properties"]["kind"] == {"enum": ["a", "b"]}
    assert whole["properties"]["parts"] == {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}
    assert whole["properties"]["anything"] == {}
    assert set(whole["required"]) == set(whole["properties"])
    assert schema_of(Part)["properties"]["weights"]["type"] == "object"


@given(st.sampled_from(sorted(STATUS, key=lambda kind: kind.__name__)), st.text(min_size=1), st.integers())
def test_an_error_comes_back_as_it_was(kind: type[RetentiveError], message: str, fact: int) -> None:
    """Class, message and facts; its status is its class's."""
    told = problem_of(kind(message, fact=fact), instance="r1")
    back = error_of(told["status"], told)
    assert type(back) is kind
    assert (back.message, back.details["fact"]) == (message, fact)
    assert told["status"] == status_of(back)


def test_an_inner_error_is_told_as_the_public_one() -> None:
    """Of a class that the package does not show, the nearest that it does."""

    class Inner(errors.InvalidInput):
        """Not for users."""

    assert problem_of(Inner("no"))["error"] == "InvalidInput"
    assert type(error_of(500, {"error": "ValueError", "detail": "x"})) is RetentiveError
    assert type(error_of(404, None)) is errors.NotFound
