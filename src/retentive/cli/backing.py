"""``backup`` and ``restore``."""

from __future__ import annotations

from pathlib import Path

import click

from retentive.cli.options import command
from retentive.cli.session import Session, confirm, progress_bar, talk

_FOLDER = click.Path(path_type=Path)
_ONLY = click.option("--only", "spaces", metavar="SPACE", multiple=True, help="Only this space; may be given again.")


@command("backup", space=False, examples=["retentive backup 2026-05-01", "retentive backup alice --only acme/alice"])
@click.argument("folder", type=_FOLDER)
@_ONLY
def backup(session: Session, folder: Path, spaces: tuple[str, ...]) -> None:
    """Copy every space into a new FOLDER while the store is in use; nobody waits for it.

    FOLDER gets its name only when it is whole, and holds a digest of every file.
    """
    with progress_bar("backing up") as progress:
        taken = session.memories().backup(folder, spaces=spaces or None, progress=progress)
    session.emit({"folder": str(folder), **taken.as_dict()}, "")
    size = sum(space.size for space in taken.spaces)
    talk(f"{len(taken.spaces)} spaces ({size:,} bytes) are in {folder}; `retentive restore {folder}` puts them back.")


@command(
    "restore",
    space=False,
    examples=[
        "retentive restore nightly --store ./elsewhere",
        "retentive restore nightly --only acme/alice --replace --yes",
    ],
)
@click.argument("folder", type=_FOLDER)
@_ONLY
@click.option("--replace", is_flag=True, help="Put it in the place of spaces that exist: what they hold now is lost.")
@click.option("--yes", is_flag=True, help="Do not ask before replacing.")
def restore(session: Session, folder: Path, *, spaces: tuple[str, ...], replace: bool, yes: bool) -> None:
    """Put the spaces of a backup back, verified before anything is touched; existing ones are left alone."""
    memories = session.memories()
    if replace:
        confirm(f"Replace the spaces that exist in {session.config.store} by those of {folder}?", yes=yes)
    with progress_bar("restoring") as progress:
        told = memories.restore(folder, spaces=spaces or None, replace=replace, progress=progress)
    session.emit({"folder": str(folder), **told.as_dict()}, "")
    talk(f"{len(told.spaces)} spaces are back as they were at {told.at:%Y-%m-%d %H:%M} UTC.")
