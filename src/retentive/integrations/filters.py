"""Filters of LangGraph's stores over JSON values: equality, nested mappings, lists, and the operators with a dollar."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from retentive.errors import unknown_name

_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS: Final = ("$eq", "$ne", *_ORDERS)


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether a value has every entry of a filter; an absent entry counts as null."""
    return all(_entry(value.get(name), condition) for name, condition in wanted.items())


def _entry(value: Any, condition: Any) -> bool:
    if not isinstance(condition, Mapping):
        return equal(value, condition)
    if any(str(name).startswith("$") for name in condition):
        return all(_applied(value, name, operand) for name, operand in condition.items())
    return isinstance(value, Mapping) and matches(value, condition)


def _applied(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return equal(value, operand)
    if name == "$ne":
        return not equal(value, operand)
    if name not in _ORDERS:
        raise unknown_name("filter operator", name, OPERATORS)
    return ordered(_ORDERS[name], value, operand)


def equal(one: Any, other: Any) -> bool:
    """Compare as JSON does: numbers by value, true is not 1, lists item by item, mappings by all their entries."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if _listed(one) and _listed(other):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    return bool(one == other)


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def ordered(order: Callable[[Any, Any], bool], one: Any, other: Any) -> bool:
    """Compare numbers (also such as are written as strings) or strings; anything else is never in order."""
    if isinstance(one, str) and isinstance(other, str):
        return order(one, other)
    numbers = (_number(one), _number(other))
    return None not in numbers and order(*numbers)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def split(wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part a filter into what a store's own index answers (plain equalities of scalars) and the rest."""
    plain: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, condition in wanted.items():
        lone = isinstance(condition, Mapping) and set(condition) == {"$eq"}
        value = condition["$eq"] if lone else condition
        indexed = isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))
        (plain if indexed else rest)[name] = value if indexed else condition
    return plain, rest
