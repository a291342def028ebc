"""``reflect``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.rating import priced
from retentive.cli.session import Session, progress_bar, talk
from retentive.cli.shapes import columns, memory_shape, plain, seen

if TYPE_CHECKING:
    from retentive.reflect.outcome import Reflection, Shaken


@command(
    "reflect",
    examples=[
        "retentive reflect",
        "retentive reflect --dry-run",
        "retentive reflect --force --budget 50",
        "retentive reflect --method extractive",
        "retentive reflect --later",
        "retentive reflect --shaken",
    ],
)
@click.option("--force", is_flag=True, help="Do not wait until the budget is reached.")
@click.option("--budget", type=float, metavar="POINTS", help="How much importance brings it on; kept by the space.")
@click.option(
    "--method", type=click.Choice(["questions", "flat", "extractive"]), help="How; the first two ask a language model."
)
@click.option("--later", is_flag=True, help="Put it on the queue; `retentive jobs run` does it.")
@click.option("--dry-run", is_flag=True, help="Only say whether it is due, and what it would cost.")
@click.option("--shaken", is_flag=True, help="Only list the insights whose evidence no longer stands.")
def reflect(session: Session, *, shaken: bool, dry_run: bool, **options: Any) -> None:
    """Draw insights from what was remembered lately, once enough importance has gathered since the last time.

    With a language model: questions, a recall for each, and what follows from it; or all in one call (--method flat).
    Without one the reflection is extractive: themes that several memories share, each quoted from one.
    """
    space = session.space()
    if shaken:
        found = space.shaken()
        session.emit([_shaken_shape(item) for item in found], lambda: _shaken_table(found))
        return
    with progress_bar("reflecting") as progress:
        told = space.reflect(dry_run=dry_run, progress=progress, **options)
    session.emit(_shape(told), lambda: _insights(told))
    for line in _talk_about(told, dry_run=dry_run):
        talk(line)


def _shape(told: Reflection) -> dict[str, Any]:
    shape: dict[str, Any] = plain(told)
    return {
        **shape,
        "insights": [memory_shape(memory) for memory in told.insights],
        "shaken": [_shaken_shape(item) for item in told.shaken],
    }


def _shaken_shape(item: Shaken) -> dict[str, Any]:
    return {"memory": memory_shape(item.memory), "reason": item.reason}


def _insights(told: Reflection) -> str:
    return columns([(memory.id, f"{len(memory.derived_from)} memories", seen(memory.text)) for memory in told.insights])


def _shaken_table(found: list[Shaken]) -> str:
    return columns([(item.memory.id, seen(item.reason), seen(item.memory.text)) for item in found])


def _talk_about(told: Reflection, *, dry_run: bool) -> list[str]:
    gathered = f"{told.pressure:g} of {told.budget:g} points"
    if dry_run:
        cost = told.cost
        lines = [f"{told.reason} ({gathered}). It would take {priced(cost) if cost.calls else 'no model'}."]
    elif told.fired:
        lines = [f"{len(told.insights)} insights ({told.method}), {len(told.refused)} refused, at {gathered}."]
    else:
        lines = [f"Nothing to do: {told.reason}."]
    lines += [f"refused: {seen(item.text)} ({item.reason})" for item in told.refused]
    lines += [seen(note) for note in told.notes]
    if told.shaken:
        lines.append(f"{len(told.shaken)} insights are shaken; `retentive reflect --shaken` lists them.")
    return lines
