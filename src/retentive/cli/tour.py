"""``demo``."""

from __future__ import annotations

from io import StringIO

from retentive.cli.options import command
from retentive.cli.session import Session


@command("demo", store=False, space=False, examples=["retentive demo"])
def demo(session: Session) -> None:
    """See in seconds, offline, what a policy changes: plain vectors against it, decay, rotation, the prompt."""
    from rich.console import Console

    from retentive.cli.demo import run_demo

    if not session.json:
        run_demo(Console())
        return
    shown = StringIO()
    run_demo(Console(file=shown, width=100))
    session.emit({"text": shown.getvalue()})
