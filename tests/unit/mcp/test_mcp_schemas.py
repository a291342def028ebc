"""The schemas of tools and the check of arguments against them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_desk import Desk, memories_in_memory

from retentive.errors import InvalidInput
from retentive.mcp import schemas
from retentive.mcp.schemas import checked, read_moment
from retentive.mcp.toolbox import Tool

UNDERSTOOD = {"type", "description", "enum", "properties", "required", "additionalProperties", "items", "minimum"}
UNDERSTOOD |= {"maximum", "format", "$schema"}


def all_tools() -> tuple[Tool, ...]:
    return Desk(memories_in_memory(), erase=True).box.tools


def words_of(schema: Any) -> set[str]:
    """Return every keyword a schema uses, however deep."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for inner in schema.get("properties", {}).values():
        found |= words_of(inner)
    return found | words_of(schema.get("items"))


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_schemas_use_only_what_is_checked(tool: Tool) -> None:
    """A keyword that the check does not know would be a promise to the model that nobody keeps."""
    assert words_of(tool.arguments) | words_of(tool.result) <= UNDERSTOOD
    assert tool.arguments["type"] == "object"
    assert tool.result["type"] == "object"


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_schemas_are_valid(tool: Tool) -> None:
    """Both schemas are JSON Schema, as a full validator understands it."""
    jsonschema = pytest.importorskip("jsonschema")
    for schema in (tool.arguments, tool.result):
        jsonschema.Draft202012Validator.check_schema(schema)


SAMPLE = schemas.record(
    {
        "query": schemas.text("words"),
        "limit": schemas.whole("how many", 1, 50),
        "weight": schemas.number("how much", 0, 1),
        "deep": schemas.flag("whether"),
        "tags": schemas.texts("labels"),
        "kind": schemas.choice("which", ["fact", "event"]),
        "kinds": schemas.choices("which", ["fact", "event"]),
        "where": schemas.anything("entries"),
        "pairs": schemas.rows(schemas.record({"a": schemas.text("one")}, required=["a"]), "pairs"),
    },
    required=["query"],
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-60, 60) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["fact", "event", "x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)  # fmt: skip
NAMES = st.sampled_from([*SAMPLE["properties"], "other"])


@given(st.dictionaries(NAMES, JSON, max_size=5), st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
def test_the_check_agrees_with_a_full_validator(arguments: dict[str, Any], asked: bool) -> None:
    """What the published schema allows is accepted, and nothing else."""
    jsonschema = pytest.importorskip("jsonschema")
    value = {**({"query": "which?"} if asked else {}), **arguments}
    valid = jsonschema.Draft202012Validator(SAMPLE).is_valid(value)
    try:
        checked(value, SAMPLE, "recall")
    except InvalidInput:
        assert not valid, value
    else:
        assert valid, value


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "recall lacks 'query'; it takes query, limit"),
        ({"query": 7}, "recall.query = 7 is not a string; pass e.g."),
        ({"query": "x", "limit": "five"}, "limit = 'five' is not a whole number; pass a whole number from 1 to 50"),
        ({"query": "x", "limit": 51}, "recall.limit = 51 is out of bounds; pass a whole number from 1 to 50"),
        ({"query": "x", "limit": True}, "recall.limit = True is not a whole number"),
        ({"query": "x", "weight": 8}, "recall.weight = 8 is out of bounds; pass a number from 0 to 1"),
        ({"query": "x", "kind": "fakt"}, "value of recall.kind 'fakt'. Did you mean 'fact'? Known: event, fact."),
        ({"query": "x", "kind": 3}, "recall.kind = 3 is not a string; pass one of fact, event"),
        ({"query": "x", "tags": "db"}, "recall.tags = 'db' is not a list; pass e.g."),
        ({"query": "x", "pairs": [{"a": "1"}, {}]}, "recall.pairs[1] lacks 'a'; it takes a"),
        ({"query": "x", "lmit": 5}, "Unknown argument of recall 'lmit'. Did you mean 'limit'?"),
        ({"query": "x", "space": "acme/bob"}, "recall takes no 'space': whose memories these are is said by the"),
        ({"query": "x", "tags": ["y" * 200, 3]}, "recall.tags[1] = 3 is not a string"),
        ({"query": "x", "deep": "y" * 200}, "y…"),
        ({"query": "x", "kind": "y" * 200}, "y…"),
    ],
)
def test_a_refusal_names_the_place_the_value_and_the_remedy(arguments: dict[str, Any], said: str) -> None:
    """It is read by a model that has nothing else to go by."""
    with pytest.raises(InvalidInput) as caught:
        checked(arguments, SAMPLE, "recall")
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("yesterday", "since = 'yesterday' is not a moment in ISO 8601; pass e.g. 2026-05-01T12:00:00Z."),
        ("2026-05-01", "since = '2026-05-01' has no time zone; pass 2026-05-01T00:00:00Z for UTC."),
        ("2026-05-01T10:00", "since = '2026-05-01T10:00' has no time zone; pass 2026-05-01T10:00Z for UTC."),
    ],
)
def test_a_moment_needs_its_zone(value: str, said: str) -> None:
    """Guessing it would reorder memories."""
    with pytest.raises(InvalidInput) as caught:
        read_moment(value, "since")
    assert caught.value.message == said
