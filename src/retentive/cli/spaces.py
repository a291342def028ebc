"""``spaces`` and ``drop``."""

from __future__ import annotations

import click

from retentive.cli.options import command
from retentive.cli.session import Session, confirm, talk
from retentive.cli.shapes import seen
from retentive.errors import NotFound, unknown_name


@command("spaces", space=False, examples=["retentive spaces", "retentive spaces --store ./memories --json"])
def spaces(session: Session) -> None:
    """List the spaces of the store."""
    found = session.memories().spaces()
    session.emit(found, "\n".join(map(seen, found)))
    if not found:
        talk(f"There is no space yet in {session.config.store}.")


@command("drop", space=False, examples=["retentive drop acme/old --yes"])
@click.argument("path", metavar="SPACE")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(session: Session, path: str, *, yes: bool) -> None:
    """Remove a space with everything in it. This cannot be undone."""
    memories = session.memories()
    known = memories.spaces()
    if path not in known:
        nearest = unknown_name("space", path, known).message if known else f"There is no space {path!r}."
        raise NotFound(f"{nearest} Nothing was dropped.", space=path)
    confirm(f"Drop space {path!r} with everything in it?", yes=yes)
    dropped = memories.drop(path)
    session.emit({"space": path, "dropped": dropped}, "")
    talk(f"{path} is gone." if dropped else f"{path} was gone already.")
