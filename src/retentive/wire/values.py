"""Frozen values as JSON and back, by their type hints: one description for writing, reading and the JSON schema.

Times are ISO 8601 in UTC, tuples are lists, policies are TOML, a number that JSON cannot hold (NaN, infinity) is null.
Reading is for answers of a server: what is missing takes its default, what is unknown is passed over, for the two may
differ in version.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import cache
from math import isfinite
from typing import Any, Final, Literal, TypeVar, cast

from retentive.errors import RetentiveError
from retentive.policy.policy import Policy
from retentive.policy.toml import restored_policy

T = TypeVar("T")
Writer = Callable[[Any], Any]
Reader = Callable[[Any], Any]
Schema = dict[str, Any]


class WireError(RetentiveError):
    """What came over the wire is not what was expected there: the two sides are of different versions."""


def written(value: Any) -> Any:
    """Return any value of ours as JSON data."""
    writer = _WRITERS.get(type(value))
    return writer(value) if writer else _write_other(value)


def _same(value: Any) -> Any:
    return value


def _write_number(value: float) -> float | None:
    return value if isfinite(value) else None


def _write_moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat()


def _write_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): written(part) for name, part in value.items()}


def _write_items(value: Sequence[Any]) -> list[Any]:
    return [written(part) for part in value]


def _write_set(value: AbstractSet[Any]) -> list[Any]:
    return sorted(written(part) for part in value)


_WRITERS: Final[dict[type, Writer]] = {
    type(None): _same,
    bool: _same,
    int: _same,
    str: _same,
    float: _write_number,
    datetime: _write_moment,
    dict: _write_mapping,
    types.MappingProxyType: _write_mapping,
    list: _write_items,
    tuple: _write_items,
    set: _write_set,
    frozenset: _write_set,
}


def _write_other(value: Any) -> Any:
    """Find out once how a type is written, and note it."""
    kind = type(value)
    writer: Writer = str  # paths, and secrets as stars
    if isinstance(value, Policy):
        writer = Policy.dump
    elif dataclasses.is_dataclass(kind):
        writer = _writer_of_record(kind)
    elif isinstance(value, Mapping):
        writer = _write_mapping
    elif isinstance(value, Sequence):
        writer = _write_items
    elif hasattr(value, "tolist"):  # numpy's numbers and arrays
        writer = _write_array
    _WRITERS[kind] = writer
    return writer(value)


def _write_array(value: Any) -> Any:
    return written(value.tolist())


def _writer_of_record(kind: type) -> Writer:
    names = tuple(item.name for item in dataclasses.fields(kind))

    def write(value: Any) -> dict[str, Any]:
        return {name: written(getattr(value, name)) for name in names}

    return write


def read(kind: type[T], data: Any) -> T:
    """Return JSON data as a value of a type; what cannot be one is a `WireError` that says where."""
    try:
        return cast("T", reader_of(cast("Any", kind))(data))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise WireError(
            f"The answer of the server is no {getattr(kind, '__name__', kind)}: {error}. Are client and server of the "
            "same version of Retentive?"
        ) from error


@cache
def reader_of(hint: Any) -> Reader:
    """Return what reads a type hint."""
    if hint in _READERS:
        return _READERS[hint]
    if dataclasses.is_dataclass(hint):
        return _reader_of_record(cast("type", hint))
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    makers: dict[str, Callable[[], Reader]] = {
        "union": lambda: _reader_of_union(parts),
        "choice": lambda: _reader_of_choice(parts),
        "items": lambda: _reader_of_items(origin, parts),
        "mapping": lambda: _reader_of_mapping(parts),
    }
    return makers.get(_sort(origin), lambda: _same)()


def _sort(origin: Any) -> str:
    """Say of what sort a generic type is; empty for one that is taken as it is."""
    if origin in (typing.Union, types.UnionType):
        return "union"
    if origin is Literal:
        return "choice"
    if _is(origin, Mapping):
        return "mapping"
    return "items" if _is(origin, Sequence) or _is(origin, AbstractSet) else ""


def _is(origin: Any, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _read_exactly(*kinds: type) -> Reader:
    def check(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise TypeError(f"{value!r} where {kinds[0].__name__} was expected")
        return value

    return check


def _read_float(value: Any) -> float:
    return float("nan") if value is None else float(_read_exactly(float, int)(value))


def _read_moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return moment.astimezone(UTC)


_READERS: Final[dict[Any, Reader]] = {
    str: _read_exactly(str),
    bool: _read_exactly(bool),
    int: _read_exactly(int),
    float: _read_float,
    datetime: _read_moment,
    type(None): _same,
    Any: _same,
    Policy: lambda text: restored_policy(text, "the server's policy"),
}


def _reader_of_union(parts: tuple[Any, ...]) -> Reader:
    readers = [reader_of(part) for part in parts if part is not type(None)]
    optional = type(None) in parts

    def read_union(value: Any) -> Any:
        if value is None and optional:
            return None
        for reader in readers[:-1]:
            try:
                return reader(value)
            except (TypeError, ValueError):
                continue
        return readers[-1](value)

    return read_union


def _reader_of_choice(parts: tuple[Any, ...]) -> Reader:
    def read_choice(value: Any) -> Any:
        if value not in parts:
            raise ValueError(f"{value!r} where one of {parts} was expected")
        return value

    return read_choice


def _reader_of_items(origin: Any, parts: tuple[Any, ...]) -> Reader:
    items = reader_of(parts[0]) if parts else _same
    made: Callable[[Any], Any] = list if origin is list else frozenset if _is(origin, AbstractSet) else tuple

    def read_items(value: Any) -> Any:
        return made(items(part) for part in _read_exactly(list)(value))

    return read_items


def _reader_of_mapping(parts: tuple[Any, ...]) -> Reader:
    values = reader_of(parts[1]) if len(parts) > 1 else _same

    def read_mapping(value: Any) -> Any:
        return {name: values(part) for name, part in _read_exactly(dict)(value).items()}

    return read_mapping


def _reader_of_record(kind: type) -> Reader:
    hints = typing.get_type_hints(kind)
    readers = {item.name: reader_of(hints[item.name]) for item in dataclasses.fields(kind) if item.init}

    def read_record(value: Any) -> Any:
        known = _read_exactly(dict)(value)
        return kind(**{name: reader(known[name]) for name, reader in readers.items() if name in known})

    return read_record


def schema_of(hint: Any, shared: dict[str, Schema] | None = None) -> Schema:
    """Return the JSON schema of a type hint; records go into ``shared`` under their names where that is given."""
    if hint in _SCHEMAS:
        return dict(_SCHEMAS[hint])
    if dataclasses.is_dataclass(hint):
        return _schema_of_record(cast("type", hint), shared)
    sort, parts = _sort(typing.get_origin(hint)), typing.get_args(hint)
    if sort == "union":
        return _schema_of_union(parts, shared)
    if sort == "choice":
        return {"enum": list(parts)}
    if sort == "items":
        return {"type": "array", "items": schema_of(parts[0], shared) if parts else {}}
    return {"type": "object", "additionalProperties": schema_of(parts[1], shared)} if len(parts) > 1 else {}


_SCHEMAS: Final[dict[Any, Schema]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # one that is not finite is null
    datetime: {"type": "string", "format": "date-time"},
    type(None): {"type": "null"},
    Any: {},
    Policy: {"type": "string", "description": "A policy as TOML."},
}


def _schema_of_union(parts: tuple[Any, ...], shared: dict[str, Schema] | None) -> Schema:
    found = [schema_of(part, shared) for part in parts]
    if {} in found:
        return {}
    names = [schema.get("type") for schema in found]
    if all(isinstance(name, str) and len(schema) == 1 for name, schema in zip(names, found, strict=True)):
        return {"type": names}
    return {"anyOf": found}


def _schema_of_record(kind: type, shared: dict[str, Schema] | None) -> Schema:
    if shared is None:
        return _record(kind, {})
    if kind.__name__ not in shared:
        shared[kind.__name__] = {}  # a record that holds itself ends here
        shared[kind.__name__] = _record(kind, shared)
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _record(kind: type, shared: dict[str, Schema]) -> Schema:
    hints = typing.get_type_hints(kind)
    names = [item.name for item in dataclasses.fields(kind)]
    said = (kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return {
        "type": "object",
        "description": " ".join(said.split()),
        "properties": {name: schema_of(hints[name], shared) for name in names},
        "required": names,
    }
