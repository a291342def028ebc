"""From what `Retentive` is given to the store that it works on, and the clock it reads."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from retentive.config import Config
from retentive.errors import InvalidInput
from retentive.stores.locations import store_for
from retentive.stores.protocol import Store


def system_clock() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


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
        location, busy_timeout=config.busy_timeout, durability="full" if config.durability == "full" else "normal"
    )
