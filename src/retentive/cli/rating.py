"""``rate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from retentive.cli.options import command
from retentive.cli.session import Session, progress_bar, talk
from retentive.cli.shapes import plain

if TYPE_CHECKING:
    from retentive.reflect.outcome import Cost
    from retentive.thinking.again import Rerated


@command("rate", examples=["retentive rate", "retentive rate --rater offline --dry-run"])
@click.option(
    "--rater",
    type=click.Choice(["auto", "flat", "offline", "llm"]),
    help="Another rater than the configured one, this time.",
)
@click.option("--dry-run", is_flag=True, help="Only say how many would be rated, and what a model would cost.")
def rate(session: Session, *, rater: str | None, dry_run: bool) -> None:
    """Rate anew how important memories are: those nobody rated, those a rater rated, and a collapsed crowd.

    What somebody stated stays. With `--rater llm` the work goes on the queue, and `retentive jobs run` does it.
    """
    with progress_bar("rating") as progress:
        told = session.space().rate(rater=rater, dry_run=dry_run, progress=progress)
    session.emit(plain(told), "")
    for line in _lines(told):
        talk(line)


def _lines(told: Rerated) -> list[str]:
    would = "would be " if told.dry_run else ""
    lines = [f"{told.collapse.sentence}: that tells nothing apart."] if told.collapse is not None else []
    if told.cost.calls:
        lines.append(f"{told.queued} of {told.looked_at} memories {would}put on the queue: {priced(told.cost)}.")
    else:
        lines.append(f"{told.changed} of {told.looked_at} memories {would}given another importance.")
    return lines


def priced(cost: Cost) -> str:
    """Say what asking a model takes at most, and its price where one is known."""
    said = f"{cost.calls} calls of the model, about {cost.tokens_in:,} tokens in and at most {cost.tokens_out:,} out"
    return f"{said}, {cost.price:.2f} by the configured prices" if cost.price else said
