"""A moved space answers in the language of its source."""

from __future__ import annotations

from datetime import UTC, datetime

from retentive import Retentive
from retentive.stores.memory import MemoryStore
from retentive.testing.fakes import HashEmbedder
from retentive.text.tokens import query_terms
from retentive.transfer.moving import move_spaces
from retentive.types import Gate

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATH = "acme/alice"


def found(store: MemoryStore, word: str, language: str) -> int:
    space = store.open(PATH)
    return len(space.matching(query_terms(word, language=language), Gate(true_at=NOW), 10).rows)


def test_the_index_is_moved_in_its_language_and_follows_a_change() -> None:
    """Moved again after the source changed its language, what is there already is indexed anew."""
    source, target = MemoryStore(), MemoryStore()
    home = Retentive(store=source, embedder=HashEmbedder(16), clock=lambda: NOW)
    home.language = "german"
    space = home.space(PATH)
    space.remember("Die Rechnungen wurden bezahlt")
    move_spaces(source, target)
    moved = Retentive(store=target, embedder=HashEmbedder(16), clock=lambda: NOW).space(PATH)
    assert moved.language() == "german"
    assert found(target, "Rechnung", "german") == 1
    space.set_language("none")
    move_spaces(source, target)
    assert moved.language() == "none"
    assert (found(target, "Rechnung", "german"), found(target, "Rechnungen", "none")) == (0, 1)
