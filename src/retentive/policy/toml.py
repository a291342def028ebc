"""Policies as TOML, both ways. Reading starts from ``base`` (a preset) where given, and says where a mistake is."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput, NotFound, unknown_name
from retentive.policy.policy import Fusion, Modifiers, Policy, Reinforcement, Selection, Sources, as_spec, warn

_SECTIONS: Final[dict[str, type]] = {
    "sources": Sources,
    "fusion": Fusion,
    "modifiers": Modifiers,
    "selection": Selection,
    "reinforcement": Reinforcement,
}
_TOP: Final = ("name", "base", "combine", "signals", *_SECTIONS)


def load_policy(path: Path) -> Policy:
    """Read a policy file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"No policy file at {str(path)!r}.", path=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read the policy file {str(path)!r}: {error}.", path=str(path)) from error
    return parse_policy(text, str(path))


def parse_policy(text: str, source: str) -> Policy:
    """Read a policy from TOML text, and warn of what is likely not meant."""
    policy = restored_policy(text, source)
    if "half_life_days" in tomllib.loads(text).get("signals", {}).get("recency", {}):
        warn(policy)
    return policy


def restored_policy(text: str, source: str) -> Policy:
    """Read a policy that was kept: whoever wrote it has been warned."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{source} is not valid TOML: {error}.", source=source) from error
    try:
        return _policy(data)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error.message}", source=source, **error.details) from error


def _policy(data: Mapping[str, Any]) -> Policy:
    for key in data:
        if key not in _TOP:
            raise unknown_name("key", key, _TOP)
    base = _base(data)
    changes: dict[str, Any] = {key: data[key] for key in ("name", "combine") if key in data}
    for name in _SECTIONS:
        if name in data:
            changes[name] = _section(name, getattr(base, name), data[name])
    changes["signals"] = _signals(base, data.get("signals", {}))
    return dataclasses.replace(base, **changes)


def _base(data: Mapping[str, Any]) -> Policy:
    if "base" in data:
        from retentive.policy import presets  # noqa: PLC0415 - presets are built from the values this module reads

        return presets.get(data["base"])
    if "name" not in data:
        raise InvalidInput("a policy file needs `name`, or `base` to start from a preset.")
    return Policy(data["name"])


def _section(name: str, base: Any, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"[{name}] must be a table, got {value!r}.")
    known = {item.name for item in dataclasses.fields(base)}
    for key in value:
        if key not in known:
            raise unknown_name(f"key in [{name}]:", key, known)
    plain = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return dataclasses.replace(base, **{key: None if item == "none" and _optional(base, key) else item
                                        for key, item in plain.items()})  # fmt: skip


def _optional(base: Any, key: str) -> bool:
    """TOML has no null: the word "none" stands for it where a field may be absent."""
    return any(item.name == key and "None" in str(item.type) for item in dataclasses.fields(base))


def _signals(base: Policy, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"[signals] must hold one table per signal, got {value!r}.")
    specs: dict[str, Any] = dict(base.signals)
    for name, table in value.items():
        if not isinstance(table, Mapping):
            raise InvalidInput(f"[signals.{name}] must be a table, got {table!r}.")
        start = _flat(specs[name]) if name in specs else {}
        specs[name] = as_spec(name, {**start, **table})
    return specs


def _flat(spec: Any) -> dict[str, Any]:
    plain = {item.name: getattr(spec, item.name) for item in dataclasses.fields(spec) if item.name != "options"}
    return {**plain, **spec.options}


def dump_policy(policy: Policy) -> str:
    """Write a policy as TOML with every field, so that the file does not change when a preset does."""
    lines = [f"name = {_value(policy.name)}", f"combine = {_value(policy.combine)}"]
    for name in _SECTIONS:
        section = getattr(policy, name)
        lines += ["", f"[{name}]"]
        lines += [f"{item.name} = {_value(getattr(section, item.name))}" for item in dataclasses.fields(section)]
    for name, spec in policy.signals.items():
        lines += ["", f"[signals.{_key(name)}]"]
        lines += [f"{key} = {_value(item)}" for key, item in _flat(spec).items() if item is not None]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _value(name)


def _value(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return _text(str(value))


def _text(value: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"'}
    return '"' + "".join(escapes.get(c, c if c.isprintable() else _escaped(c)) for c in value) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
