"""``adapt``: let a space's weights follow feedback, look at what they learnt, take it back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import command
from retentive.cli.session import Session
from retentive.cli.shapes import columns, seen, when

if TYPE_CHECKING:
    from retentive.adaptive.book import Adaptation

SHOWN = 10


@command(
    "adapt",
    examples=["retentive adapt", "retentive adapt --on", "retentive adapt --off", "retentive adapt --reset --json"],
)
@click.option("--on/--off", "on", default=None, help="Let weights follow feedback from now on, or stop it.")
@click.option("--reset", is_flag=True, help="Forget all that was learnt.")
@click.option("--undo", type=click.IntRange(min=1), metavar="N", help="Take back the latest N steps.")
def adapt(session: Session, *, on: bool | None, reset: bool, undo: int | None) -> None:
    """Show how a space's weights have followed feedback; switch that on or off, or take steps back.

    It is off until it is switched on. Each step is small, all steps together are bounded, and what is learnt fades.
    """
    space = session.space()
    present = space.adaptation()
    if on is not None or reset or undo:
        present = space.adapt(on=present.on if on is None else on, reset=reset, undo=undo or 0)
    session.emit(present.as_dict(), lambda: _text(present))


def _text(present: Adaptation) -> str:
    head = "Weights follow feedback here." if present.on else "Weights do not adapt here; --on lets them."
    if present.learnt is None or not present.learnt.moves:
        return f"{head}\nNothing has been learnt."
    known, bent = present.learnt, present.learnt.bent()
    weights = [
        ("signal", known.policy, "in force"),
        *((n, f"{w:.4g}", f"{bent[n]:.4g}") for n, w in known.weights.items()),
    ]
    steps = [("step", "why", "moved"), *(_step(move) for move in reversed(known.moves[-SHOWN:]))]
    return "\n\n".join([f"{head} {known.answers} answers taught something.", columns(weights), columns(steps)])


def _step(move: Any) -> tuple[str, str, str]:
    moved = ", ".join(f"{name} {amount:+.3f}" for name, amount in move.moved.items())
    return (when(datetime.fromtimestamp(move.at, UTC)), seen(move.why), moved)
