"""The one seam where PostgreSQL's errors become ours. `tests/integration/postgres` proves the map."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retentive.errors import Forbidden, InvalidInput, RetentiveError, StoreBusy, StoreCorrupt, StoreFull

LOST = "the server could not be reached or closed the connection; nothing was half-written, try again"
BUSY = "another process or thread is writing to it; try again, or raise busy_timeout"
INTERNAL = "this is a mistake in Retentive; please report it"
REFUSED = "a value is too large or of a kind that PostgreSQL cannot hold"
RIGHTS = "the role may not do this; grant it, or let a role that may run `retentive postgres plan` (docs/postgres.md)"

# By SQLSTATE, whole or its class (the first two characters); the longest that fits counts.
FAULTS: dict[str, tuple[type[RetentiveError], str]] = {
    "": (RetentiveError, INTERNAL),
    "08": (StoreBusy, LOST),
    "22": (InvalidInput, REFUSED),
    "23": (StoreCorrupt, "a rule of its schema was broken; look at it with `retentive doctor`"),
    "25006": (Forbidden, "it is read-only (a standby?); connect to the primary"),
    "28": (Forbidden, "the server does not let this user in; check user, password and pg_hba.conf"),
    "3D000": (Forbidden, "there is no such database; create it, then CREATE EXTENSION vector in it"),
    "40": (StoreBusy, "the server undid the transaction in favour of another one; try again"),
    "42501": (Forbidden, RIGHTS),
    "53100": (StoreFull, "the server's disk is full; the change was rolled back, free some space and try again"),
    "53": (StoreBusy, "the server is out of memory or connections; try again, or give it more"),
    "54": (InvalidInput, REFUSED),
    "55P03": (StoreBusy, BUSY),
    "57": (StoreBusy, "the server is starting, stopping, or gave the statement up; try again"),
    "58": (StoreCorrupt, "the server's disk could not be read or written; see its log"),
    "XX001": (StoreCorrupt, "the server found a damaged page; see its log, restore a backup"),
    "XX002": (StoreCorrupt, "the server found a damaged index; run REINDEX"),
}

# Who is not let in gets no SQLSTATE from libpq, only the server's words (English where nobody changed `lc_messages`; in
# another language it reads as a lost connection, with those words in the message).
REFUSALS = (
    (re.compile(r"database .* does not exist"), "3D000"),
    (re.compile(r"role .* does not exist|authentication failed|pg_hba\.conf|no password supplied"), "28000"),
    (re.compile(r"too many (clients|connections)|remaining connection slots"), "53300"),
)

LOST_STATES = ("08", "57P")
RETRIED = ("40001", "40P01")


def state_of(error: BaseException | None) -> str | None:
    """Return the SQLSTATE of an error; None is a connection that went, or never was."""
    state: str | None = getattr(error, "sqlstate", None)
    if state is None and isinstance(error, _operational()):
        return next((known for words, known in REFUSALS if words.search(str(error))), None)
    return state


def fault_of(state: str | None) -> tuple[type[RetentiveError], str]:
    """Return which error of ours a SQLSTATE is, with its remedy; none at all is a connection that went."""
    if state is None:
        return FAULTS["08"]
    return FAULTS.get(state) or FAULTS.get(state[:2]) or FAULTS[""]


def is_lost(error: BaseException | None) -> bool:
    """Say whether an error means that the connection is gone."""
    state = state_of(error)
    return isinstance(error, _operational()) and (state is None or state.startswith(LOST_STATES))


def is_passing(error: BaseException | None) -> bool:
    """Say whether the same work may well succeed when done again."""
    return is_lost(error) or state_of(error) in RETRIED


def _operational() -> type[BaseException]:
    from psycopg import OperationalError  # noqa: PLC0415 # whoever asks has it

    return OperationalError


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise our errors in the place of the driver's; the message names the store, the cause and the remedy."""
    from psycopg import Error, InterfaceError  # noqa: PLC0415 # whoever asks has it
    from psycopg_pool import PoolClosed, PoolTimeout  # noqa: PLC0415

    try:
        yield
    except PoolTimeout as error:
        raise StoreBusy(f"{place}: no connection within busy_timeout: {LOST}.", place=place) from error
    except (PoolClosed, InterfaceError) as error:
        raise StoreBusy(f"{place}: {error}: {LOST}.", place=place) from error
    except Error as error:
        raise translate(error, place) from error


def translate(error: Any, place: str) -> RetentiveError:
    """Return our error for one of the driver's."""
    state = state_of(error)
    kind, remedy = fault_of(state)
    told = " ".join(str(error).split())
    return kind(f"{place}: {told}: {remedy}.", place=place, sqlstate=state, error=type(error).__name__)
