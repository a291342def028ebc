"""What requests look like: JSON schemas, and the check of a value against one.

One schema serves the OpenAPI document and the check, so that what is documented is what is accepted. Only the words of
JSON schema are known here that our requests use. Moments come out as aware datetimes; the façade checks the rest.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from retentive.errors import InvalidInput, unknown_name
from retentive.types import aware

Schema = dict[str, Any]

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_NAMES: Final = {
    "string": "a string",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_BOUNDS: Final[tuple[tuple[str, str, Callable[[float, float], bool]], ...]] = (
    ("minimum", "at least", operator.ge),
    ("maximum", "at most", operator.le),
    ("exclusiveMinimum", "more than", operator.gt),
)
_SHOWN: Final = 100


def text(about: str, **more: Any) -> Schema:
    """Return the schema of a string."""
    return {"type": "string", "description": about, **more}


def moment(about: str, **more: Any) -> Schema:
    """Return the schema of a moment."""
    return {"type": "string", "format": "date-time", "description": about, "maxLength": 64, **more}


def number(about: str, **more: Any) -> Schema:
    """Return the schema of a number."""
    return {"type": "number", "description": about, **more}


def whole(about: str, **more: Any) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": about, **more}


def flag(about: str, **more: Any) -> Schema:
    """Return the schema of a yes or no."""
    return {"type": "boolean", "description": about, **more}


def texts(about: str, **more: Any) -> Schema:
    """Return the schema of a list of strings."""
    return {"type": "array", "items": {"type": "string", "maxLength": 1000}, "description": about, **more}


def record(
    about: str, fields: Mapping[str, Schema], required: Sequence[str] = (), *, nulls: bool = True, **more: Any
) -> Schema:
    """Return the schema of an object with these fields and no others; null is "not given" unless ``nulls`` is False."""
    shown = {name: schema if name in required or not nulls else optional(schema) for name, schema in fields.items()}
    shape = {"type": "object", "description": about, "properties": shown, "additionalProperties": False}
    return {**shape, **({"required": list(required)} if required else {}), **more}


def optional(schema: Schema) -> Schema:
    """Return the same schema with null allowed."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*kinds, *(["null"] if "null" not in kinds else [])]}


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that were given: null says that one was not."""
    return {name: value for name, value in fields.items() if value is not None}


def checked(schema: Schema, value: Any, where: str) -> Any:
    """Return a value that fits a schema, moments read; anything else is `InvalidInput` that says where and why."""
    kind = _kind_of(schema, value, where)
    if "enum" in schema and value not in schema["enum"]:
        raise unknown_name(where, value, [str(choice) for choice in schema["enum"] if choice is not None])
    if kind == "object":
        return _checked_object(schema, value, where)
    if kind == "array":
        return _checked_array(schema, value, where)
    if kind in {"integer", "number"}:
        return _checked_number(schema, value, where)
    return _checked_text(schema, value, where) if kind == "string" else value


def _kind_of(schema: Schema, value: Any, where: str) -> str | None:
    """Return which of the schema's types a value has."""
    allowed = schema.get("type")
    if allowed is None:
        return None
    names = [allowed] if isinstance(allowed, str) else allowed
    for name in names:
        if isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
            return str(name)
    expected = " or ".join(_NAMES[name] for name in names)
    raise InvalidInput(f"{where}={_short(value)} is not {expected}.", field=where)


def _checked_object(schema: Schema, value: dict[str, Any], where: str) -> dict[str, Any]:
    fields: Mapping[str, Schema] = schema.get("properties", {})
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        raise InvalidInput(f"{where} lacks {missing[0]!r}.", field=f"{where}.{missing[0]}")
    if len(value) > schema.get("maxProperties", len(value)):
        raise InvalidInput(f"{where} has {len(value)} entries; at most {schema['maxProperties']}.", field=where)
    if schema.get("additionalProperties", True) is False:
        for name in value:
            if name not in fields:
                raise unknown_name(f"field of {where}", name, fields)
    return {
        name: checked(fields[name], part, f"{where}.{name}") if name in fields else part for name, part in value.items()
    }


def _checked_array(schema: Schema, value: list[Any], where: str) -> list[Any]:
    least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not least <= len(value) <= most:
        raise InvalidInput(f"{where} has {len(value)} entries; allowed are {least} to {most}.", field=where)
    items = schema.get("items", {})
    return [checked(items, part, f"{where}[{at}]") for at, part in enumerate(value)]


def _checked_number(schema: Schema, value: float, where: str) -> float:
    for name, words, holds in _BOUNDS:
        if name in schema and not holds(value, schema[name]):
            raise InvalidInput(f"{where}={value!r} must be {words} {schema[name]}.", field=where)
    return value


def _checked_text(schema: Schema, value: str, where: str) -> Any:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if len(value) < least:
        raise InvalidInput(f"{where}={value!r} is too short; at least {least} characters.", field=where)
    if most is not None and len(value) > most:
        raise InvalidInput(f"{where} has {len(value):,} characters; at most {most:,}.", field=where)
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise InvalidInput(f"{where}={_short(value)} does not match {schema['pattern']}.", field=where)
    return _moment(value, where) if schema.get("format") == "date-time" else value


def _moment(value: str, where: str) -> datetime:
    try:
        return aware(datetime.fromisoformat(value), where)
    except InvalidInput:
        raise
    except ValueError:
        raise InvalidInput(
            f"{where}={value!r} is not a moment in ISO 8601; write e.g. 2026-05-01T12:00:00Z.", field=where
        ) from None


def from_query(schema: Schema, given: Sequence[str], where: str) -> Any:
    """Return what stands in a query string as a value of a schema: numbers and flags are spelt, lists repeated."""
    kind = schema.get("type")
    if kind == "array":
        return checked(schema, [from_query(schema["items"], [part], where) for part in given], where)
    if len(given) > 1:
        raise InvalidInput(f"{where} is given {len(given)} times; give it once.", field=where)
    return checked(schema, _read_text(str(kind), given[0], where), where)


def _read_text(kind: str, value: str, where: str) -> Any:
    if kind == "boolean" and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if kind == "object":
        return parsed(value, where)
    if kind in {"integer", "number"}:
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value  # the check says what is wrong with it
    return value


def parsed(source: str | bytes, where: str) -> Any:
    """Parse JSON strictly: no NaN, no name twice, no nesting that would exhaust the stack."""
    try:
        return json.loads(source, parse_constant=_refuse_constant, object_pairs_hook=_distinct)
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} is not JSON: {error}.", field=where, malformed=True) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that comes twice: two readers would take different values for it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"The name {twice!r} comes twice in one object.", field=twice, malformed=True)
    return found


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
