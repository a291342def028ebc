"""``demo``."""

from __future__ import annotations

from retentive.cli.options import command
from retentive.cli.session import Session


@command("demo", store=False, space=False, examples=["retentive demo"])
def demo(_session: Session) -> None:
    """See in seconds, offline, what a policy changes: plain vectors against it, decay, rotation, the prompt."""
    from rich.console import Console

    from retentive.cli.demo import run_demo

    run_demo(Console())
