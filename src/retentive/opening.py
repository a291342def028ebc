"""From what `Retentive` is given to the store that it works on, and the clock it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from retentive.config import Config
from retentive.errors import InvalidInput
from retentive.stores.locations import store_for
from retentive.stores.protocol import Store


def system_clock() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


def is_remote(location: str | Path | None, config: Config | None) -> bool:
    """Whether memories live on a server that is asked over HTTP."""
    where = location if location is not None else config.store if config else None
    return isinstance(where, str) and where.startswith(("http://", "https://"))


def become_remote(home: object, location: str | Path | None, **given: Any) -> None:
    """Make a place of memories one that asks a server.

    That kind stands further out than the place itself, so it is found by name. The object changes its class rather than
    `__new__` choosing one, so that signature and help of the class stay those of its constructor.
    """
    kind = import_module("retentive.client.home").RemoteRetentive
    if type(home) not in kind.__bases__:
        raise InvalidInput(f"{type(home).__name__} is a kind of its own; derive it from RemoteRetentive for a server.")
    home.__class__ = kind
    kind.__init__(home, location, **given)


def store_of(location: str | Path | None, store: Store | None, config: Config | None) -> Store:
    """Return the store given, or the one at the location given or configured."""
    if store is not None and location is None:
        return store
    if location is None and config is not None:
        location = config.store
    if location is None or store is not None:
        raise InvalidInput(
            "Say where memories live: Retentive('./memories'), Retentive(':memory:') or Retentive(store=...)."
        )
    if config is None:
        return store_for(location)
    return store_for(
        location,
        busy_timeout=config.busy_timeout,
        durability="full" if config.durability == "full" else "normal",
        keys=config.encryption_keys,
    )
