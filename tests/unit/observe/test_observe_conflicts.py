"""What a conversation states denies what an earlier one stated; the turns themselves stay as they were said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from retentive import Retentive
from retentive.testing.fakes import HashEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_later_statement_retires_an_earlier_one() -> None:
    """Liked in January, disliked in February: one preference stands, both turns do."""
    with Retentive(":memory:", embedder=HashEmbedder(), clock=lambda: NOW + timedelta(days=60)) as home:
        alice = home.space("acme/alice")
        for day, text in ((0, "I like horror movies."), (31, "I don't like horror movies.")):
            alice.observe([{"role": "user", "content": text}], session=f"s{day}", at=NOW + timedelta(days=day))
        assert [memory.text for memory in alice.list(kinds=["preference"])] == ["I don't like horror movies"]
        (found,) = alice.conflicts(status="applied")
        assert found.older.text == "I like horror movies"
        assert len(alice.list(kinds=["episode"])) == 2
