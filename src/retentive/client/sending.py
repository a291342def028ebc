"""Arguments as JSON for a request: what was not given is left out, moments must have their zone."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from retentive.errors import InvalidInput
from retentive.policy.policy import Policy
from retentive.types import AgentState, AsOf, Draft, Moment, aware
from retentive.writing import as_draft, writable

PRINTED: Final = "".join(map(chr, range(0x21, 0x7F)))
"""What a header can carry as it is; anything else is percent-encoded."""
_DEFAULTS = {item.name: item.default for item in dataclasses.fields(Draft) if item.name != "text"}


def plain(value: Any, name: str) -> Any:
    """Return an argument as JSON data; anything that is none is refused here, before it is sent."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return writable(value, name)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        return aware(value, name).isoformat()
    if isinstance(value, Mapping):
        return {_name(key, name): plain(part, name) for key, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plain(part, name) for part in value]
    raise InvalidInput(f"{name}={value!r} cannot be sent as JSON.", value=value)


def _name(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"{where} must map strings to JSON values; {key!r} is no string.", value=key)
    return writable(key, where)


def fields_of(**given: Any) -> dict[str, Any]:
    """Return the fields that were given."""
    return {name: plain(_listed(value, name), name) for name, value in given.items() if value is not None}


def moments(as_of: Moment | None) -> dict[str, Any]:
    """Return a moment of the past as the server takes it: one, or one on each of the two time axes."""
    if isinstance(as_of, AsOf):
        return fields_of(true_as_of=as_of.true, known_as_of=as_of.known)
    return fields_of(as_of=as_of)


def _listed(value: Any, name: str) -> Any:
    """Refuse a lone string where a list belongs, as the façade does."""
    lists = {"kinds", "tags", "used", "supersedes", "derived_from"}
    if name in lists and (isinstance(value, str | bytes) or not isinstance(value, Iterable)):
        raise InvalidInput(f"{name}={value!r} is no list; pass a list of strings, e.g. [{value!r}].", value=value)
    return value


def keyed(once: str | None = None, version: str | None = None) -> dict[str, str]:
    """Return the headers of a write: it happens once, however often the request has to be sent."""
    headers = {"Idempotency-Key": quote(once, safe=PRINTED) if once is not None else uuid.uuid4().hex}
    return headers if version is None else {**headers, "If-Match": f'"{version}"'}


def draft_data(item: str | Mapping[str, Any] | Draft) -> dict[str, Any]:
    """Return what is to be remembered, without what is as it is anyway."""
    draft = as_draft(item)
    data = {name: getattr(draft, name) for name in _DEFAULTS}
    told = {name: value for name, value in data.items() if value is not None and not _as_usual(name, value)}
    if not isinstance(draft.text, str):
        raise InvalidInput(f"A memory's text must be a string, got {type(draft.text).__name__}.", value=draft.text)
    return {"text": writable(draft.text, "text"), **fields_of(**told)}


def _as_usual(name: str, value: Any) -> bool:
    if name == "metadata":
        return isinstance(value, Mapping) and not value
    default = _DEFAULTS[name]
    return type(value) is type(default) and bool(value == default)


def state_data(state: AgentState | None) -> dict[str, Any] | None:
    """Return where an agent stands."""
    if state is None:
        return None
    if not isinstance(state, AgentState):
        raise InvalidInput(f"state={state!r} is no AgentState; pass AgentState(goal=..., step=...).", value=state)
    return fields_of(**{item.name: getattr(state, item.name) for item in dataclasses.fields(state)})


def policy_data(policy: Policy | str | None) -> dict[str, str]:
    """Return which policy to ask under: a name, or the whole of one that lies here."""
    if policy is None:
        return {}
    if isinstance(policy, Policy):
        return {"policy_toml": policy.dump()}
    if not isinstance(policy, str):
        raise InvalidInput(f"policy={policy!r} is no Policy; pass one, a preset's name or a TOML file.", value=policy)
    return {"policy_toml": Policy.load(Path(policy)).dump()} if policy.endswith(".toml") else {"policy": policy}
