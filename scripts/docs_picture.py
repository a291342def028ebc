"""The picture of one explained recall in README.md: a real recall from a small history, drawn by rich."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from io import StringIO

from rich.console import Console
from rich.terminal_theme import MONOKAI

from retentive import Recall, Retentive
from retentive.explain import rich_table

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
CUE = "What did we decide about the billing database?"
HISTORY = (  # text, kind, importance, days ago, key
    ("Decided in March: the billing service gets its own Postgres cluster", "decision", 0.9, 41, "billing-db"),
    ("We will put billing on the shared MySQL server", "decision", 0.6, 230, "billing-db"),
    ("Alice prefers Postgres for relational work", "preference", 0.8, 120, None),
    ("The billing service times out when invoices are closed at month end", "event", 0.5, 3, None),
    ("MySQL replication broke on the shared server during the spring sale", "event", 0.7, 33, None),
    ("Before a migration, take a snapshot and run it in one transaction", "procedure", 0.8, 75, None),
    ("Bob is on call this week", "fact", 0.3, 1, None),
    ("The team has lunch together on Thursdays", "fact", 0.2, 12, None),
)
_FONTS = re.compile(r"@font-face\s*{[^}]*}\s*", re.DOTALL)


def recall() -> Recall:
    """Write the history and ask the question."""
    with Retentive(":memory:", clock=lambda: NOW) as memories:
        alice = memories.space("acme/alice")
        for text, kind, importance, days, key in reversed(HISTORY):
            alice.remember(text, kind=kind, importance=importance, key=key, at=NOW - timedelta(days=days))
        return alice.recall(CUE, limit=3)


def svg() -> str:
    """Draw it; the fonts that rich would load from elsewhere are left out."""
    console = Console(record=True, width=104, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(f"[green]$ retentive recall --space acme/alice {CUE!r}[/]\n")
    console.print(rich_table(recall()))
    drawn = console.export_svg(title="one explained recall", theme=MONOKAI, unique_id="recall")
    return _FONTS.sub("", drawn).replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas")


def words(drawn: str) -> str:
    """Return what a drawing says, without where it says it."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", drawn)
    return " ".join(" ".join(text.replace("&#160;", " ") for text in texts).split())
