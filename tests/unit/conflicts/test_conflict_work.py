"""Writing stays cheap: one search and a handful of texts for a statement, whatever the size of the space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from retentive import Retentive
from retentive.conflicts.find import NAMED, NEAREST
from retentive.stores.memory_space import MemorySpace
from retentive.testing.fakes import HashEmbedder


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is asked of the store, and how many rows' texts and memories are read."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> None:
        original = getattr(MemorySpace, name)

        def asked(self: MemorySpace, *given: Any, **more: Any) -> Any:
            counted[name] += len(given[0]) if name in {"texts", "memories"} else 1
            return original(self, *given, **more)

        monkeypatch.setattr(MemorySpace, name, asked)

    for name in ("nearest", "mentioning", "matching", "texts", "memories", "page", "count"):
        counting(name)
    return counted


def remembered(texts: Sequence[str], work: Counter[str], size: int, **more: Any) -> Counter[str]:
    with Retentive(":memory:", embedder=HashEmbedder()) as home:
        home.rater = "flat"
        space = home.space("a")
        space.remember_many([{"text": f"Crate {n} came from Ann", "session": f"s{n // 9}"} for n in range(size)])
        work.clear()
        for text in texts:
            space.remember(text, **more)
        return Counter(work)


@pytest.mark.parametrize("size", [30, 300])
def test_the_work_of_a_statement_is_bounded(work: Counter[str], size: int) -> None:
    """One search, at most so many texts, rows only of what conflicts; what says it changed asks once more."""
    told = remembered(["Ben lives in Rome", "Ben no longer lives in Rome"], work, size)
    assert (told["nearest"], told["mentioning"], told["matching"], told["page"], told["count"]) == (2, 1, 0, 0, 0)
    assert told["texts"] <= 2 * NEAREST + NAMED
    assert told["memories"] == 1


def test_a_turn_costs_nothing(work: Counter[str]) -> None:
    """Records are not looked at."""
    assert remembered(["Ben no longer lives in Rome"], work, 30, session="s") == Counter()
