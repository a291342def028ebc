"""Hold a value to a small schema: mend what is plainly meant, drop what is not, and say what cannot be used."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from retentive.llm.protocol import Schema

LONGEST: Final = 100_000  # characters of a string, whatever the schema says: nobody's answer to a question of ours
_FIRST_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


class Misshapen(ValueError):
    """A value does not have the shape that was asked for, nor one that could be read as it.

    ``what`` says so in words of ours alone, for the model; ``quoting`` adds what the answer said, for people.
    """

    def __init__(self, what: str, quoting: str = "") -> None:
        super().__init__(what + quoting)
        self.what = what


class Shaper:
    """Shapes one answer; ``dropped`` counts the elements of arrays that were of no use."""

    def __init__(self) -> None:
        self.dropped = 0

    def shaped(self, value: Any, schema: Schema, place: str = "the answer") -> Any:
        """Return the value in the schema's shape, or raise `Misshapen`."""
        readers = {
            "object": self._object, "array": self._array, "string": _string,
            "integer": _integer, "number": _number, "boolean": _boolean,
        }  # fmt: skip
        reader = readers.get(str(schema.get("type", "")))
        found = value if reader is None else reader(value, schema, place)
        choices = schema.get("enum")
        return found if choices is None else _choice(found, choices, place)

    def _object(self, value: Any, schema: Schema, place: str) -> dict[str, Any]:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if not isinstance(value, Mapping):
            value = {_only_array(properties, value, place): value}
        found: dict[str, Any] = {}
        for name, inner in properties.items():
            if name in value:
                self._member(found, value, name, inner, place, needed=name in schema.get("required", ()))
        missing = [name for name in schema.get("required", ()) if name not in found]
        if missing:
            raise Misshapen(f"{place} lacks {', '.join(missing)}")
        return found

    def _member(
        self, found: dict[str, Any], value: Mapping[str, Any], name: str, inner: Schema, place: str, *, needed: bool
    ) -> None:
        try:
            found[name] = self.shaped(value[name], inner, f"{place}.{name}")
        except Misshapen:
            if needed:
                raise

    def _array(self, value: Any, schema: Schema, place: str) -> list[Any]:
        if isinstance(value, Mapping) and len(value) == 1 and isinstance(next(iter(value.values())), list):
            value = next(iter(value.values()))
        if not isinstance(value, list):
            value = [value]
        found = []
        for at, item in enumerate(value):
            try:
                found.append(self.shaped(item, schema.get("items", {}), f"{place}[{at}]"))
            except Misshapen:
                self.dropped += 1
        if len(found) < schema.get("minItems", 0):
            raise Misshapen(f"{place} has {len(found)} usable elements; at least {schema['minItems']}")
        return found[: schema.get("maxItems")]


def _only_array(properties: Mapping[str, Schema], value: Any, place: str) -> str:
    """Return the one array property that a bare list can only mean."""
    arrays = [name for name, inner in properties.items() if inner.get("type") == "array"]
    if not isinstance(value, list) or len(arrays) != 1:
        raise Misshapen(f"{place} is no object but {type(value).__name__}")
    return arrays[0]


def _string(value: Any, schema: Schema, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Misshapen(f"{place} is no text but {type(value).__name__}")
    text = str(value).strip()[: min(schema.get("maxLength", LONGEST), LONGEST)]
    if len(text) < schema.get("minLength", 0):
        raise Misshapen(f"{place} is too short")
    return text


def _number(value: Any, schema: Schema, place: str) -> float:
    """Read a number, also one that a text begins with ("8/10", "8 - important"); clamp it to its bounds."""
    if isinstance(value, str) and (found := _FIRST_NUMBER.search(value[:40])):
        value = float(found[0])
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Misshapen(f"{place} is no number")
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    return float(min(max(value, low), high))


def _integer(value: Any, schema: Schema, place: str) -> int:
    return round(_number(value, schema, place))


def _boolean(value: Any, _schema: Schema, place: str) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    if not isinstance(value, bool):
        raise Misshapen(f"{place} is neither true nor false")
    return value


def _choice(value: Any, choices: Any, place: str) -> Any:
    for choice in choices:
        if value == choice or (isinstance(choice, str) and str(value).strip().lower() == choice.lower()):
            return choice
    raise Misshapen(f"{place} is none of {', '.join(map(repr, choices))}", f" but {str(value)[:40]!r}")
