"""``spaces`` and ``drop``."""

from __future__ import annotations

import click

from retentive.cli.options import command
from retentive.cli.session import Session, confirm, talk
from retentive.cli.shapes import columns, seen
from retentive.errors import NotFound, unknown_name


@command(
    "spaces",
    space=False,
    examples=["retentive spaces", "retentive spaces --store ./memories --json", "retentive spaces --dropped"],
)
@click.option("--dropped", is_flag=True, help="List the certificates of spaces that were dropped instead.")
def spaces(session: Session, *, dropped: bool) -> None:
    """List the spaces of the store."""
    if dropped:
        certificates = [one.as_dict() for one in session.memories().certificates()]
        session.emit(certificates, lambda: columns([tuple(map(_told, one.values())) for one in certificates]))
        return
    found = session.memories().spaces()
    session.emit(found, "\n".join(map(seen, found)))
    if not found:
        talk(f"There is no space yet in {session.config.store}.")


@command("drop", space=False, examples=["retentive drop acme/old --yes"])
@click.argument("path", metavar="SPACE")
@click.option("--reason", default="", metavar="TEXT", help="Why, for the certificate.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(session: Session, path: str, *, reason: str, yes: bool) -> None:
    """Remove a space with everything in it. This cannot be undone.

    A certificate is left that names the space by a digest alone: `retentive spaces --dropped`.
    """
    memories = session.memories()
    known = memories.spaces()
    if path not in known:
        nearest = unknown_name("space", path, known).message if known else f"There is no space {path!r}."
        raise NotFound(f"{nearest} Nothing was dropped.", space=path)
    confirm(f"Drop space {path!r} with everything in it?", yes=yes)
    dropped = memories.drop(path, reason=reason)
    session.emit({"space": path, "dropped": dropped}, "")
    talk(f"{path} is gone." if dropped else f"{path} was gone already.")


def _told(value: object) -> str:
    return "-" if value in {None, ""} else seen(str(value))
