"""``remember``, ``update`` and ``forget``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import MOMENT, command, details, given, importance_of, kind
from retentive.cli.schedule import SPAN
from retentive.cli.session import Session, confirm, talk, warn
from retentive.cli.shapes import memory_shape, seen
from retentive.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retentive.maintain.forget import Forgotten

CLEARABLE = ("key", "tags", "source", "metadata", "recurs", "valid-from", "valid-until")


@command(
    "remember",
    examples=[
        'retentive remember "Prefers Postgres for relational work" --kind preference --rating 9 --key database',
        'retentive remember "Deploy failed with E4012" --kind event --at 2026-05-01T09:30Z --metadata ticket=7',
        'echo "Gates are checked before tiers move" | retentive remember - --kind procedure --tag migration',
    ],
)
@click.argument("text", required=False)
@kind
@details
@click.option("--at", type=MOMENT, help="When it was said or happened; now, if not given.")
@click.option("--speaker", help="Who said it.")
@click.option("--session", help="The conversation it belongs to.")
@click.option("--supersedes", metavar="ID", multiple=True, help="It takes the place of this one.")
@click.option("--pin", "pinned", is_flag=True, help="Always in the prompt's core block.")
@click.option("--permanent", is_flag=True, help="Never fades.")
@click.option("--id", metavar="ID", help="Its id, if you have one to give.")
@click.option("--ttl", type=SPAN, metavar="SPAN", help="True for so long from when it was said: 30m, 6h, 90d.")
def remember(session: Session, /, text: str | None, importance: Any, rating: Any, **options: Any) -> None:
    """Remember TEXT; `-` (or nothing, in a pipe) reads it from stdin."""
    chosen = given({**options, "importance": importance_of(importance, rating)})
    said = _text(text)
    memory = session.space(create=True).remember(said, **chosen)
    session.emit(memory_shape(memory), memory.id)


def _text(text: str | None) -> str:
    """Return the text given, or the one that stdin holds, without the line end that a shell adds."""
    if text not in (None, "-"):
        return str(text)
    if text is None and sys.stdin.isatty():
        raise click.UsageError('What is to be remembered? Give a text, e.g. retentive remember "Likes tea".')
    try:
        return sys.stdin.read().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"stdin is not valid {error.encoding} ({error.reason}); convert it first.") from error


@command(
    "update",
    examples=[
        'retentive update db-choice --text "Prefers Postgres 18 for relational work" --reason "said so today"',
        "retentive update db-choice --tag stack --tag storage --importance 0.8 --pin",
        "retentive update db-choice --clear valid-until --no-pin",
    ],
)
@click.argument("id")
@click.option("--text", help="The new words.")
@kind
@details
@click.option("--pin/--no-pin", "pinned", default=None, help="Always in the prompt's core block, or no longer.")
@click.option("--permanent/--no-permanent", default=None, help="Never fades, or fades again.")
@click.option("--clear", type=click.Choice(CLEARABLE), multiple=True, help="Empty this field; may be given again.")
@click.option("--reason", help="Why, for the journal.")
def update(session: Session, id: str, clear: Any, importance: Any, rating: Any, **options: Any) -> None:  # noqa: A002 -- the argument's name in the help
    """Change a memory; what is not named stays. Tags and metadata are replaced as a whole."""
    changes = given({**options, "importance": importance_of(importance, rating)})
    for name in clear:
        changes[name.replace("-", "_")] = {"tags": [], "metadata": {}}.get(name)
    if not changes.keys() - {"reason"}:
        raise click.UsageError(
            "What is to change? Name it, e.g. --importance 0.8; `retentive update --help` lists all."
        )
    memory = session.space().update(id, **changes)
    session.emit(memory_shape(memory), memory.id)


@command(
    "forget",
    examples=[
        'retentive forget db-choice --reason "no longer true"',
        "retentive forget db-choice gates --erase --derived --yes",
        "retentive forget --source chat:7 --dry-run",
    ],
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--source", help="Everything that comes from this source, e.g. chat:7.")
@click.option("--person", help="Everything that names this person.")
@click.option("--erase", is_flag=True, help="Remove its text and vector from every file; this cannot be undone.")
@click.option("--derived", is_flag=True, help="Also what was concluded from it, or says the same word for word.")
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@click.option("--reason", default="", help="Why, for the journal.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
def forget(session: Session, ids: tuple[str, ...], *, erase: bool, dry_run: bool, yes: bool, **options: Any) -> None:
    """Hide memories from recall, or with --erase remove every word of them: by ID, by source, or by person."""
    space = session.space()
    asked = {**options, "erase": erase}

    def carry_out(*, dry: bool) -> Forgotten:
        return space.forget(ids or None, **asked, dry_run=dry)

    if erase and not dry_run:
        confirm(f"Erase {_counted(carry_out(dry=True).ids)} of space {space.path!r}?", yes=yes)
    told = carry_out(dry=dry_run)
    session.emit(told.as_dict(), "\n".join(map(seen, told.ids)) if dry_run else "")
    _talk_about(told)


def _counted(ids: Sequence[str]) -> str:
    return f"memory {ids[0]!r}" if len(ids) == 1 else f"{len(ids)} memories"


def _talk_about(told: Forgotten) -> None:
    many = len(told.ids) != 1
    them = f"{len(told.ids)} memories" if many else seen(told.ids[0])
    verb = "are" if many else "is"
    if told.dry_run:
        talk(f"{them} would be {'erased' if told.erased else 'hidden'}; nothing was changed.")
    elif told.erased:
        talk(f"{them} {verb} erased: {told.lines} journal lines and the questions of {told.recalls} recalls are empty.")
    else:
        shown = "`retentive list --hidden` still shows them" if many else f"`retentive get {them}` still shows it"
        talk(f"{them} {verb} hidden from recall; {shown}.")
    if told.left:
        names = ", ".join(map(seen, told.left[:5])) + (" …" if len(told.left) > 5 else "")
        talk(f"Concluded from it or saying the same, and left: {names}. Add --derived to take them along.")
    for place in map(seen, told.remains):
        warn(f"copies may be in {place}.")
    if not told.complete and not told.remains:
        warn("the files may hold copies until nobody reads an old state any more; `retentive maintain` cleans up.")
