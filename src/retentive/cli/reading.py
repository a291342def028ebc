"""``get``, ``list`` and ``history``."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import as_of, command, filters, given
from retentive.cli.session import Session, on_terminal, talk
from retentive.cli.shapes import (
    changes,
    columns,
    memory_card,
    memory_shape,
    memory_table,
    plain,
    seen,
    space_journal_table,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retentive.types import Memory


@command("get", examples=["retentive get db-choice", "retentive get db-choice --no-touch --json"])
@click.argument("id")
@click.option("--no-touch", is_flag=True, help="Do not count this as a use of the memory.")
@as_of
def get(session: Session, id: str, *, no_touch: bool, **moments: Any) -> None:  # noqa: A002 -- the argument's name in the help
    """Show one memory, whether recall may return it or not; with --as-of as it was known then."""
    memory = session.space().get(id, touch=not no_touch, **given(moments))
    session.emit(memory_shape(memory), lambda: memory_card(memory))


@command(
    "list",
    examples=[
        "retentive list --kind preference --limit 5",
        "retentive list --where ticket=7 --since 2026-01-01T00:00Z --json",
        "retentive list --hidden --all",
        "retentive list --pinned",
    ],
)
@filters
@click.option("--pinned/--unpinned", default=None, help="Only pinned memories, or only the others.")
@click.option("--hidden", is_flag=True, help="Also superseded, forgotten and no longer valid ones.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many.")
@click.option("--all", "everything", is_flag=True, help="All of them, however many.")
@click.option("--cursor", help="Go on where an earlier list ended.")
def list_(session: Session, *, everything: bool, cursor: str | None, **options: Any) -> None:
    """List memories, newest first."""
    space = session.space()
    chosen = given(options)
    page = space.list(**chosen, cursor=cursor)
    found: list[Memory] = list(page)
    while everything and page.cursor is not None:
        page = space.list(**chosen, cursor=page.cursor)
        found += page
    width = shutil.get_terminal_size().columns if on_terminal() else None
    session.emit([memory_shape(memory) for memory in found], lambda: memory_table(found, width=width))
    if page.cursor is not None:
        talk(f"There are more: add --cursor {page.cursor} to go on, or --all.")
    elif not found:
        talk("Nothing here passes these filters." if options["kinds"] else "Nothing is remembered here.")


@command(
    "history",
    examples=[
        "retentive history db-choice",
        "retentive history db-choice --json",
        "retentive history --after 120 --limit 50",
    ],
)
@click.argument("id", required=False)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="LINE", help="Of the space: behind this line.")
@click.option("--limit", type=click.IntRange(min=1), metavar="NUMBER", help="Of the space: so many lines at most.")
def history(session: Session, id: str | None, *, after: int, limit: int | None) -> None:  # noqa: A002 -- as in the help
    """Show every state that a memory had, oldest first: when, what was done, by whom, why.

    Without an ID the journal of the whole space, with the certificates of what was erased.
    """
    if id is None:
        lines = session.space().journal(after=after, limit=limit)
        session.emit([plain(line) for line in lines], lambda: space_journal_table(lines))
        return
    if after or limit:
        raise click.UsageError("--after and --limit are for the journal of the space; leave the ID out.")
    versions = session.space().history(id)
    session.emit([plain(version) for version in versions], lambda: _versions(versions))


def _versions(versions: Sequence[Any]) -> str:
    rows, before = [], None
    for version in versions:
        after: Mapping[str, Any] = plain(version.memory)
        told = " · ".join(part for part in (seen(version.reason), changes(before, after)) if part)
        rows.append((when(version.at), seen(version.action), seen(version.actor or "-"), told))
        before = after
    return columns(rows)
