"""``why-not``: what kept a memory out of an answer."""

from __future__ import annotations

from typing import Any

import click

from retentive.cli.options import command
from retentive.cli.recalling import asked_with, asking
from retentive.cli.session import Session


@command(
    "why-not",
    examples=[
        'retentive why-not db-choice "Why did the deploy fail?"',
        'retentive why-not failure "What database does she like?" --kind preference --json',
    ],
)
@click.argument("id")
@click.argument("cue", required=False)
@asking
def why_not(session: Session, id: str, cue: str | None, **options: Any) -> None:  # noqa: A002 -- the argument's name in the help
    """Say what kept memory ID out of the answer to CUE: which gate, channel, floor, rotation, rank or budget.

    It takes the options of `recall`, asks the same and leaves no trace.
    """
    asked = asked_with(cue, options)
    why = session.space().why_not(id, **asked)
    session.emit(why.as_dict(), why.explain)
