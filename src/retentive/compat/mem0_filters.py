"""mem0's metadata filters: equality, comparison and text operators, ``*``, and AND, OR, NOT over lists of filters."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from retentive.errors import InvalidInput, unknown_name
from retentive.integrations.filters import equal, ordered, split

_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS: Final = ("eq", "ne", "in", "nin", *_ORDERS, "contains", "icontains")
LOGICAL: Final = ("AND", "OR", "NOT")


def passes(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether metadata has every entry of a filter."""
    return all(_entry(metadata, name, condition) for name, condition in wanted.items())


def _entry(metadata: Mapping[str, Any], name: str, condition: Any) -> bool:
    if name in LOGICAL:
        found = [passes(metadata, part) for part in _parts(name, condition)]
        return all(found) if name == "AND" else any(found) if name == "OR" else not any(found)
    if condition == "*":
        return name in metadata
    if isinstance(condition, Mapping):
        return all(_applied(metadata.get(name), each, operand) for each, operand in condition.items())
    return name in metadata and equal(metadata[name], condition)


def _parts(name: str, condition: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(condition, list | tuple) or not all(isinstance(part, Mapping) for part in condition):
        raise InvalidInput(f"{name}={condition!r} is not a list of filters.", value=condition)
    return condition


def _applied(value: Any, name: str, operand: Any) -> bool:
    if name in _ORDERS:
        return ordered(_ORDERS[name], value, operand)
    if name in {"eq", "ne"}:
        return equal(value, operand) == (name == "eq")
    if name in {"in", "nin"}:
        return any(equal(value, each) for each in operand) == (name == "in")
    if name in {"contains", "icontains"}:
        text, part = str("" if value is None else value), str(operand)
        return part in text if name == "contains" else part.casefold() in text.casefold()
    raise unknown_name("filter operator", name, OPERATORS)


def parted(wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part a filter into what the metadata index answers and what each memory is looked at for."""
    odd = {name: condition for name, condition in wanted.items() if name in LOGICAL or condition == "*"}
    plain, rest = split({name: condition for name, condition in wanted.items() if name not in odd})
    return plain, {**rest, **odd}
