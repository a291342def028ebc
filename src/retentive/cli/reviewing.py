"""``conflicts`` and ``repetitions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.session import Session, progress_bar, talk
from retentive.cli.shapes import columns, memory_shape, plain, seen, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retentive.review import Conflict, Repetition

_FATES = {"applied": "merged", "undone": "kept apart", "dismissed": "erased"}
_STATES = ("open", "applied", "accepted", "dismissed", "all")


@click.group("conflicts", short_help="List, accept and dismiss memories that deny older ones.")
def conflicts() -> None:
    """Memories that deny older ones: the sure ones were applied when they were written, the others wait here."""


@command(
    "list",
    examples=[
        "retentive conflicts list",
        "retentive conflicts list --status applied",
        "retentive conflicts list --json",
    ],
)
@click.option("--status", type=click.Choice(_STATES), default="open", show_default=True, help="What became of them.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many.")
def list_(session: Session, status: str, limit: int) -> None:
    """List conflicts, newest first: those that wait for a decision, unless asked otherwise."""
    found = session.space().conflicts(status=None if status == "all" else status, limit=limit)
    _show(session, found)


@command("accept", examples=['retentive conflicts accept 5c207515fbabbf83 --reason "asked her"'])
@click.argument("id")
@click.option("--reason", default="", help="Why, for the journal.")
def accept(session: Session, id: str, reason: str) -> None:  # noqa: A002 -- the argument's name in the help
    """Let the newer memory supersede the older."""
    decided = session.space().accept(id, reason=reason)
    session.emit(_shape(decided), "")
    talk(f"{seen(decided.older.id)} is superseded by {seen(decided.newer.id)}.")


@command("dismiss", examples=['retentive conflicts dismiss 5c207515fbabbf83 --reason "both are true"'])
@click.argument("id")
@click.option("--reason", default="", help="Why, for the journal.")
def dismiss(session: Session, id: str, reason: str) -> None:  # noqa: A002 -- as above
    """Say that it is no conflict; a memory that was retired for it comes back."""
    decided = session.space().dismiss(id, reason=reason)
    session.emit(_shape(decided), "")
    both = "both are recalled" if decided.older.retrievable and decided.newer.retrievable else "nothing else changes"
    talk(f"No conflict between {seen(decided.older.id)} and {seen(decided.newer.id)}: {both}.")


@command("find", examples=["retentive conflicts find", "retentive conflicts find --limit 500"])
@click.option("--limit", type=click.IntRange(min=1), default=10_000, show_default=True, help="Memories to look at.")
def find(session: Session, limit: int) -> None:
    """Look for conflicts among the newest memories that are there already, as after an import; nothing is applied."""
    with progress_bar("reading") as progress:
        found = session.space().find_conflicts(limit=limit, progress=progress)
    _show(session, found)


@command("judge", examples=["retentive conflicts judge --dry-run --llm openai:gpt-4o-mini"])
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many.")
@click.option("--dry-run", is_flag=True, help="Only say how many there are, and what asking would take.")
@click.option("--llm", help="The language model to ask.")
def judge(session: Session, *, limit: int, dry_run: bool, llm: str | None) -> None:
    """Have the language model decide conflicts that wait; where it is unsure or fails, nothing changes."""
    if llm is not None:
        session.arguments["llm"] = llm
    with progress_bar("judging") as progress:
        told = session.space().judge_conflicts(limit=limit, dry_run=dry_run, progress=progress)
    shape = {
        **plain(told),
        "accepted": list(map(_shape, told.accepted)),
        "dismissed": list(map(_shape, told.dismissed)),
    }
    session.emit(shape, lambda: "\n\n".join(map(_card, (*told.accepted, *told.dismissed))))
    use = told.usage
    took = f"{use.calls} calls, {use.input_tokens} tokens in, {use.output_tokens} out"
    if dry_run:
        talk(f"{told.left} wait. Asking would take about {took}.")
    else:
        counts = (
            f"{len(told.accepted)} accepted, {len(told.dismissed)} dismissed, {told.left} left, {told.failed} failed"
        )
        talk(f"{counts}; {took}.")


def _show(session: Session, found: Sequence[Conflict]) -> None:
    session.emit([_shape(conflict) for conflict in found], lambda: "\n\n".join(map(_card, found)))
    waiting = sum(conflict.status == "open" for conflict in found)
    if waiting:
        talk(f"{waiting} to decide: `retentive conflicts accept ID` or `retentive conflicts dismiss ID`.")


def _shape(conflict: Conflict) -> dict[str, Any]:
    shape: dict[str, Any] = plain(conflict)
    return {**shape, "newer": memory_shape(conflict.newer), "older": memory_shape(conflict.older)}


def _card(conflict: Conflict) -> str:
    head = f"{conflict.id}  {conflict.status}  {conflict.confidence:.2f}  {conflict.reason}"
    sides = (("newer", conflict.newer), ("older", conflict.older))
    rows = [(f"  {name}", seen(memory.id), when(memory.created_at), seen(memory.text)) for name, memory in sides]
    return head + "\n" + columns(rows)


@click.group("repetitions", short_help="List what was said again, and take it apart again.")
def repetitions() -> None:
    """What was said again: it reinforced the memory it repeats, and was not kept beside it."""


@command("list", examples=["retentive repetitions list", "retentive repetitions list --of db-choice"])
@click.option("--of", "memory", metavar="ID", help="Of one memory.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many.")
def list_repetitions(session: Session, memory: str | None, limit: int) -> None:
    """List repetitions, newest first, with what each said otherwise."""
    found = session.space().repetitions(memory, limit=limit)
    session.emit([_repetition_shape(each) for each in found], lambda: columns([_row(each) for each in found]))


@command("separate", examples=['retentive repetitions separate 200f92e08af72f7e --reason "another project"'])
@click.argument("id")
@click.option("--reason", default="", help="Why, for the journal.")
def separate(session: Session, id: str, reason: str) -> None:  # noqa: A002 -- as above
    """Keep a repetition as a memory of its own after all; prints its id."""
    memory = session.space().separate(id, reason=reason)
    session.emit(memory_shape(memory), memory.id)


def _repetition_shape(each: Repetition) -> dict[str, Any]:
    shape: dict[str, Any] = plain(each)
    return {**shape, "memory": memory_shape(each.memory)}


def _row(each: Repetition) -> tuple[str, ...]:
    said = str(each.said.get("text", each.memory.text))
    source = str(each.said.get("source") or "-")
    return (
        each.id,
        _FATES.get(each.status, each.status),
        when(each.at),
        seen(each.memory.id),
        seen(source),
        seen(said),
    )


for each in (list_, accept, dismiss, find, judge):
    conflicts.add_command(each)
for each in (list_repetitions, separate):
    repetitions.add_command(each)
