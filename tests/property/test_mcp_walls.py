"""No tool argument, resource address or cursor reads or writes another space than the access names."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_desk import Desk, memories_in_memory

from retentive.errors import RetentiveError
from retentive.mcp.resources import OWN, resource_at
from retentive.mcp.toolbox import Tool

MARK = "xyzzyplugh"  # stands in every memory of the other spaces, and in nothing that is asked
OTHERS = ("acme", "acme/bob", "acme/alice/deep", "acme/alicex", "acme-corp")


def furnished() -> tuple[Desk, dict[str, Any]]:
    """Return Alice's desk in a store of neighbours, and what somebody may know of those: ids, cursors, recalls."""
    memories = memories_in_memory()
    known: dict[str, Any] = {"ids": [], "cursors": [], "recalls": [], "paths": list(OTHERS)}
    for path in OTHERS:
        neighbour = Desk(memories, path)
        for number in range(3):
            said = {"text": f"deploy gates {number} {MARK}", "key": f"k{number}", "tags": ["stack"], "pinned": True}
            kept = neighbour.call("remember", **said)
            known["ids"].append(kept.data["id"])
        known["cursors"].append(neighbour.call("list_memories", limit=1).data["cursor"])
        known["recalls"].append(neighbour.call("recall", query="deploy gates").data["recall_id"])
    desk = Desk(memories, erase=True)
    for number in range(3):
        desk.call("remember", text=f"Alice's deploy gates {number}", key=f"k{number}", tags=["stack"])
    return desk, known


DESK, KNOWN = furnished()
STRANGE = st.one_of(
    st.sampled_from([*KNOWN["ids"], *KNOWN["cursors"], *KNOWN["recalls"], *KNOWN["paths"]]),
    st.sampled_from(["deploy gates", "k1", "..", "../bob", "*"]),
    st.sampled_from([f"retentive://{quote(path, safe='')}/core" for path in OTHERS]),
)
JSON = st.one_of(STRANGE, st.integers(-2, 60), st.booleans(), st.none(), st.lists(STRANGE, max_size=2))
VALUES = JSON | st.dictionaries(STRANGE, JSON, max_size=2)


def neighbours() -> str:
    """Return everything the other spaces hold, with how it was read and what was noted."""
    spaces = [DESK.memories.space(path) for path in OTHERS]
    return repr([(list(space.list(hidden=True, limit=100)), space.journal()) for space in spaces])


BEFORE = neighbours()


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Return values that a schema allows, made of what somebody may know of the neighbours."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    plain: dict[str, st.SearchStrategy[Any]] = {
        "string": STRANGE,
        "boolean": st.booleans(),
        "integer": st.just(20),
        "number": st.just(0.5),
        "object": st.dictionaries(STRANGE, STRANGE, min_size=1, max_size=1),
    }
    if schema["type"] == "array":
        return st.lists(fitting(schema["items"]), min_size=1, max_size=2)
    return plain[schema["type"]]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    tool = draw(st.sampled_from(DESK.box.tools))
    properties = tool.arguments["properties"]
    required = {name: draw(fitting(properties[name])) for name in tool.arguments["required"]}
    optional = draw(st.lists(st.sampled_from(sorted(set(properties) - {"limit"})), max_size=2))
    arguments = {**required, **{name: draw(fitting(properties[name])) for name in optional}}
    if draw(st.integers(0, 4)) == 0:  # and now and then something that no schema has
        arguments[draw(st.sampled_from(["space", "shared", "path", "store", *properties]))] = draw(VALUES)
    return tool.name, arguments


def said_by(name: str, arguments: dict[str, Any]) -> str:
    """Return all that a call says, its refusal included."""
    try:
        answer = DESK.call(name, **arguments)
    except RetentiveError as error:
        return error.message
    return answer.text + json.dumps(answer.data)


@given(calls())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_argument_reaches_another_space(call: tuple[str, dict[str, Any]]) -> None:
    """Whatever is asked for, with ids, cursors and recalls of the neighbours in hand."""
    name, arguments = call
    assert MARK not in said_by(name, arguments)
    assert neighbours() == BEFORE


def shaped(schema: Any, value: str) -> Any:
    """Return a value in the shape that a schema wants, where it takes words at all."""
    if schema["type"] == "array":
        return [value]
    return {value: value} if schema["type"] == "object" else value


@pytest.mark.parametrize("tool", DESK.box.tools, ids=lambda tool: tool.name)
def test_no_name_in_any_argument_reaches_another_space(tool: Tool) -> None:
    """Each argument with each thing that somebody may know of a neighbour: path, id, cursor, recall."""
    names = [*KNOWN["paths"], *KNOWN["ids"][::3], *KNOWN["cursors"], *KNOWN["recalls"]]
    for name, schema in tool.arguments["properties"].items():
        for value in names:
            required = dict.fromkeys(tool.arguments["required"], "deploy gates")
            if "query" in tool.arguments["properties"]:
                required["query"] = "deploy gates"
            assert MARK not in said_by(tool.name, {**required, name: shaped(schema, value)}), (name, value)
    assert neighbours() == BEFORE


@given(st.sampled_from([*OTHERS, "acme/alice/../bob", "acme/alice/core?x=", "*", ""]), st.booleans(), st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_address_reaches_another_space(path: str, encoded: bool, core: bool) -> None:
    """Addresses of other spaces, however they are spelt, are no resources here."""
    uri = f"retentive://{quote(path, safe='') if encoded else path}/{'core' if core else 'recent'}"
    with pytest.raises(RetentiveError, match="There is no resource"):
        resource_at(uri, OWN, DESK.access)


def test_addresses_name_ones_own_space() -> None:
    """Any spelling of one's own address leads to one's own space, and an odd name comes through."""
    memories = memories_in_memory()
    for path in ("acme/alice", "Acme Corp/é?#%2F", "a b/100%"):
        desk = Desk(memories, path)
        desk.call("remember", text=f"Pinned in {path}", pinned=True)
        for resource in OWN:
            address = resource.uri(desk.access)
            found = resource_at(address.replace("%C3", "%c3"), OWN, desk.access)
            assert "Pinned in" in found.read(desk.access)
