"""A conversation that is measured is kept whole: nothing noticed on writing may take a turn away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from retentive import Retentive
from retentive.evaluate.datasets import Conversation, Item
from retentive.evaluate.ingest import ingested
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = ("Thanks!", "I live in Rome", "Thanks!", "I live in Oslo now", "I no longer live in Rome", "Thanks!")


def test_turns_that_repeat_and_deny_are_kept() -> None:
    """With and without sessions: every turn is listed, and nothing was retired or merged."""
    for session in ("s1", None):
        items = tuple(
            Item(id=f"t{n}", text=text, at=NOW + timedelta(minutes=n), speaker="Ann", session=session)
            for n, text in enumerate(SAID)
        )
        with Retentive(":memory:", embedder=HashEmbedder()) as home:
            space = ingested(home.space("a"), Conversation(space="a", items=items, questions=()))
            assert len(space.list(limit=99)) == len(SAID)
            assert space.repetitions() == []
            assert space.conflicts(status="applied") == []
