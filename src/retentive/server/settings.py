"""How a server is set up: where it listens, whom it believes, and how much it takes on."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from retentive.config import Config

HOST: Final = "127.0.0.1"
PORT: Final = 7677
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What an operator decides; every default is safe to leave."""

    host: str = HOST
    port: int = PORT
    hosts: tuple[str, ...] = ()  # names it answers to, beside this machine's own and plain addresses
    origins: tuple[str, ...] = ()  # web pages from elsewhere that may call it
    threads: int = 8  # requests worked on at the same time
    queue: int = 256  # requests that may wait for a thread; one more is told to come back
    max_body: int = 16 * 1024 * 1024  # bytes of one request
    max_import: int = 4 * 1024 * 1024 * 1024  # bytes of one import
    max_batch: int = 1_000  # memories in one request
    timeout: float = 30.0  # seconds for an answer
    slow_timeout: float = 600.0  # seconds for export, import, maintenance, reflection
    body_timeout: float = 30.0  # seconds in which the next part of a body has to arrive
    rate: float = 6_000.0  # requests a minute of one key, or of one address
    drain: float = 30.0  # seconds that requests under way get when the server is told to stop
    log_text: bool = False  # whether cues go into the log
    worker: bool = True  # whether maintenance, reflection and jobs run beside the server
    maintain_every: float = 86_400.0  # seconds; 0: never
    reflect_every: float = 3_600.0
    jobs_every: float = 30.0

    @property
    def loopback(self) -> bool:
        """Whether it listens to this machine only."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own and nobody else's."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Whether a host is a plain address: those cannot be rebound, for no name server is asked."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def settings_of(config: Config) -> ServeSettings:
    """Return what the configuration says."""
    return ServeSettings(**config.serving())


def key_file(config: Config) -> Path:
    """Return where keys are kept: where it was said, else beside the spaces of an embedded store, else in user data."""
    if config.serve_keys is not None:
        return config.serve_keys
    embedded = "://" not in config.store and not config.store.startswith(":")
    return (Path(config.store) if embedded else config.models.parent) / ".server" / "keys.json"
