"""From an address with options behind its question mark to the terms of a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from retentive.errors import InvalidInput

SCHEMES = ("postgresql", "postgres")
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Terms:
    """How a store was asked to connect."""

    url: str
    schema: str = "retentive"
    pool_size: int = 10
    busy_timeout: float = 5.0
    prepare: bool = True
    exact_up_to: int = 20_000


def _truth(text: str) -> bool:
    return TRUTH[text.lower()]


OPTIONS: dict[str, Callable[[str], Any]] = {
    "schema": str,
    "pool_size": int,
    "busy_timeout": float,
    "prepare": _truth,
    "exact_up_to": int,
}


def resolved(terms: Terms) -> Terms:
    """Return terms with the options that stand in the address, and the address without them."""
    parts = urlsplit(terms.url)
    if parts.scheme not in SCHEMES:
        raise InvalidInput("The address of a PostgreSQL store begins with postgresql://.", scheme=parts.scheme)
    given = parse_qsl(parts.query, keep_blank_values=True)
    options = {name: _read(name, text) for name, text in given if name in OPTIONS}
    rest = urlencode([(name, text) for name, text in given if name not in OPTIONS])
    changed = replace(terms, url=urlunsplit(parts._replace(query=rest)), **options)
    _require(changed)
    return changed


def _read(name: str, text: str) -> Any:
    try:
        return OPTIONS[name](text)
    except (ValueError, KeyError):
        raise InvalidInput(f"The option {name}={text!r} of the store's address cannot be read.", value=text) from None


def _require(terms: Terms) -> None:
    if terms.pool_size < 2:
        raise InvalidInput(
            f"pool_size={terms.pool_size!r} is too small: who reads while writing needs 2.", value=terms.pool_size
        )
    if not 0 < len(terms.schema.encode()) <= 63:
        raise InvalidInput(f"schema={terms.schema!r} is no name of 1 to 63 bytes.", value=terms.schema)
    for name in (field.name for field in fields(terms) if field.name in ("busy_timeout", "exact_up_to")):
        if getattr(terms, name) < 0:
            raise InvalidInput(f"{name}={getattr(terms, name)!r} is below 0.", value=getattr(terms, name))
