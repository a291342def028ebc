"""``language``."""

from __future__ import annotations

import click

from retentive.cli.options import command
from retentive.cli.session import Session, progress_bar, talk


@command("language", examples=["retentive language", "retentive language none"])
@click.argument("name", required=False)
def language(session: Session, *, name: str | None) -> None:
    """Say in which language a space's words are stemmed, or stem them in another one from now on.

    With a name the word index is written anew, in one transaction: recall goes on meanwhile, writers wait. Languages
    other than English come with `pip install 'retentive[languages]'`; "none" stems nothing.
    """
    space = session.space()
    if name is None:
        session.emit({"language": space.language()}, space.language())
        return
    with progress_bar("indexing") as progress:
        done = space.set_language(name, progress=progress)
    session.emit({"language": name, "indexed": done}, name)
    talk(f"{done} memories were indexed anew.")
