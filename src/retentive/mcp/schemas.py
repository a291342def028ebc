"""The JSON schemas of tools, and the check of arguments against them.

The vocabulary is small on purpose: what `checked` understands is all that may be written (a test holds both to that,
and to a full validator). Our own check, because what a model gets back has to name the value and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, Final, TypeAlias

from retentive.errors import InvalidInput, unknown_name

Schema: TypeAlias = Mapping[str, Any]

SHOWN: Final = 80
"""How many characters of a refused value an error repeats."""

_TYPES: Final[Mapping[str, tuple[type | tuple[type, ...], str]]] = {
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
}


def text(meaning: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a string."""
    return {"type": "string", "description": meaning, **more}


def texts(meaning: str) -> dict[str, Any]:
    """Return the schema of a list of strings."""
    return {"type": "array", "items": {"type": "string"}, "description": meaning}


def moment(meaning: str) -> dict[str, Any]:
    """Return the schema of a moment."""
    return text(f"{meaning} ISO 8601 with its zone, e.g. 2026-05-01T12:00:00Z.", format="date-time")


def number(meaning: str, low: float, high: float) -> dict[str, Any]:
    """Return the schema of a number between two others."""
    return {"type": "number", "minimum": low, "maximum": high, "description": meaning}


def whole(meaning: str, low: int, high: int) -> dict[str, Any]:
    """Return the schema of a whole number between two others."""
    return {"type": "integer", "minimum": low, "maximum": high, "description": meaning}


def flag(meaning: str) -> dict[str, Any]:
    """Return the schema of a yes or no."""
    return {"type": "boolean", "description": meaning}


def choice(meaning: str, options: Sequence[str]) -> dict[str, Any]:
    """Return the schema of one word out of some."""
    return text(meaning, enum=list(options))


def choices(meaning: str, options: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a list of words out of some."""
    return {"type": "array", "items": {"type": "string", "enum": list(options)}, "description": meaning}


def anything(meaning: str) -> dict[str, Any]:
    """Return the schema of an object with names and values of the caller's own."""
    return {"type": "object", "description": meaning}


def rows(schema: Schema, meaning: str) -> dict[str, Any]:
    """Return the schema of a list of one kind of thing."""
    return {"type": "array", "items": schema, "description": meaning}


def record(properties: Mapping[str, Schema], *, required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def given(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments that were given: many a model writes null for what it leaves out."""
    return {name: value for name, value in (arguments or {}).items() if value is not None}


def checked(value: Any, schema: Schema, place: str, *, lenient: bool = False) -> None:
    """Refuse a value that does not fit, naming where, what, and what would; ``lenient`` steps over unknown names."""
    _check_type(value, schema, place)
    if "enum" in schema and value not in schema["enum"]:
        raise unknown_name(f"value of {place}", value if len(str(value)) <= SHOWN else shown(value), schema["enum"])
    if isinstance(value, dict) and "properties" in schema:
        _check_members(value, schema, place, lenient=lenient)
    elif isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            checked(item, schema["items"], f"{place}[{at}]", lenient=lenient)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_bounds(value, schema, place)


def _check_type(value: Any, schema: Schema, place: str) -> None:
    if "type" not in schema:
        return
    kind, words = _TYPES[schema["type"]]
    whole_float = schema["type"] == "integer" and isinstance(value, float) and value.is_integer()
    wrong = not isinstance(value, kind) and not whole_float
    if wrong or (isinstance(value, bool) and schema["type"] != "boolean"):
        raise InvalidInput(f"{place} = {shown(value)} is not {words}; pass {_example(schema)}.", value=value)


def _check_members(value: dict[str, Any], schema: Schema, place: str, *, lenient: bool) -> None:
    properties: Mapping[str, Schema] = schema["properties"]
    for name, item in value.items():
        if name in properties:
            checked(item, properties[name], f"{place}.{name}", lenient=lenient)
        elif not lenient and schema.get("additionalProperties") is False:
            raise _unknown(name, properties, place)
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        raise InvalidInput(f"{place} lacks {', '.join(map(repr, missing))}; it takes {_taken(properties)}.")


def _unknown(name: str, properties: Mapping[str, Schema], place: str) -> InvalidInput:
    if name in {"space", "user", "user_id", "agent_id", "tenant"}:
        return InvalidInput(
            f"{place} takes no {name!r}: whose memories these are is said by the server's configuration or key, never "
            f"by an argument. Leave it out; there are {_taken(properties)}.",
            value=name,
        )
    return unknown_name(f"argument of {place}", name, properties)


def _taken(properties: Mapping[str, Schema]) -> str:
    return ", ".join(properties) or "no arguments"


def _check_bounds(value: float, schema: Schema, place: str) -> None:
    low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    if not isfinite(value) or not low <= value <= high:
        raise InvalidInput(f"{place} = {shown(value)} is out of bounds; pass {_example(schema)}.", value=value)


def _example(schema: Schema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    bounds = f" from {schema['minimum']:g} to {schema['maximum']:g}" if "minimum" in schema else ""
    examples = {
        "string": 'e.g. "…"',
        "integer": f"a whole number{bounds}",
        "number": f"a number{bounds}",
        "boolean": "true or false",
        "array": 'e.g. ["…"]',
        "object": 'e.g. {"name": "…"}',
    }
    return examples[schema["type"]]


def shown(value: Any) -> str:
    """Return a value for an error's text, not all of a long one."""
    words = repr(value)
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}…"


def read_moment(value: str, place: str) -> datetime:
    """Read a moment; a naive one is refused, for guessing its zone would reorder memories."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"{place} = {shown(value)} is not a moment in ISO 8601; pass e.g. 2026-05-01T12:00:00Z.", value=value
        ) from None
    if found.tzinfo is None:
        whole_day = value if "T" in value or " " in value else f"{value}T00:00:00"
        raise InvalidInput(f"{place} = {shown(value)} has no time zone; pass {whole_day}Z for UTC.", value=value)
    return found
