"""``migrate``: from one store to another."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retentive.cli.options import command
from retentive.cli.session import Session, progress_bar, talk
from retentive.errors import InvalidInput

if TYPE_CHECKING:
    from retentive.stores.protocol import Store


@command(
    "migrate",
    space=False,
    examples=[
        "retentive migrate --to ./elsewhere",
        "retentive migrate --from ./memories --to postgresql://app@db.example/memories",
        "retentive migrate --from postgresql://app@db.example/memories --to ./memories --space acme/alice",
    ],
)
@click.option("--from", "source", metavar="STORE", help="The store to move; default: the one of --store.")
@click.option("--to", "target", metavar="STORE", required=True, help="Where to: a folder, or postgresql://….")
@click.option("--space", "spaces", metavar="PATH", multiple=True, help="Only this space; may be given again.")
def migrate(session: Session, source: str | None, target: str, spaces: tuple[str, ...]) -> None:
    """Move spaces from one store to another, of whatever kind, and verify them by count and digest.

    Everything comes along: memories with vectors and accesses, journal, recalls, findings, jobs, settings. The source
    is only read and stays in use; what is written meanwhile is caught up. At the end of each space its writers wait,
    and those who waited too long are told that it is busy. Interrupted, give the same command again: what is there is
    stepped over. Given again later, it takes over what the source got since.
    """
    from retentive.transfer.moving import move_spaces

    begin, end = source or str(session.config.store), target
    _require_two(begin, end)
    here, there = _opened(begin), _opened(end)
    chosen = _known(here, begin, spaces)
    with progress_bar("moving") as progress:
        moved = move_spaces(here, there, spaces=chosen, progress=progress)
    session.emit([dataclasses.asdict(one) for one in moved], "")
    for one in moved:
        talk(f"{one.space}: {one.memories} memories, sha256 {one.digest[:16]} on both sides, {one.written} written.")


def _opened(location: str) -> Store:
    from retentive.stores.locations import store_for

    store = store_for(location)
    click.get_current_context().call_on_close(store.close)
    return store


def _known(store: Store, location: str, spaces: tuple[str, ...]) -> list[str] | None:
    known = store.spaces()
    if not known:
        raise InvalidInput(f"There is no space in the store to move; is --from {_shown(location)!r} right?")
    if strangers := [path for path in spaces if path not in known]:
        raise InvalidInput(f"There is no space {strangers[0]!r} in the store to move.", space=strangers[0])
    return list(spaces) or None


def _require_two(source: str, target: str) -> None:
    from retentive.stores.locations import EPHEMERAL

    for location in (source, target):
        if location == EPHEMERAL:
            raise InvalidInput(f"A store {EPHEMERAL!r} ends with this command; name a folder or postgresql://….")
    if _place(source) == _place(target):
        raise InvalidInput(f"--from and --to are the same store, {_shown(target)!r}.")


def _place(location: str) -> str:
    return location if "://" in location else str(Path(location).expanduser().resolve())


def _shown(location: str) -> str:
    """Return a location without its password."""
    scheme, separator, rest = location.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}" if separator else location
