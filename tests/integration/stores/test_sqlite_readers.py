"""Readers do not wait for writers: neither in this process nor in another, whatever is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from retentive import Retentive, Space
from retentive.stores.sqlite import SqliteStore
from retentive.testing.fakes import HashEmbedder
from retentive.testing.store_samples import NOW, SPACE

TEXTS = ("The deploy failed with E4012", "Anna prefers Postgres", "The standup is at nine")
READS: dict[str, Callable[[Space], object]] = {
    "recall": lambda space: [hit.memory.id for hit in space.recall("deploy E4012", touch=False).hits],
    "list": lambda space: [memory.id for memory in space.list()],
    "get": lambda space: space.get(space.list()[0].id, touch=False),
    "history": lambda space: space.history(space.list()[0].id),
    "journal": lambda space: space.journal(),
    "recalls": lambda space: space.recalls(),
    "conflicts": lambda space: space.conflicts(),
    "why_not": lambda space: space.why_not(space.list()[0].id, "standup"),
    "policy": lambda space: space.policy_in_force(),
    "jobs": lambda space: space.jobs(),
}


def opened(folder: Path) -> Retentive:
    store = SqliteStore(folder, busy_timeout=0)  # whoever had to wait would fail
    return Retentive(store=store, embedder=HashEmbedder(32), clock=lambda: NOW)


@pytest.mark.parametrize("name", READS)
def test_a_writer_of_this_process_is_not_waited_for(folder: Path, name: str) -> None:
    """Its half-done work is not seen either."""
    with opened(folder) as memories:
        space = memories.space(SPACE)
        space.remember_many(TEXTS)
        before = READS[name](space)
        with space.store.transaction() as tx:
            for memory in space.list():
                tx.replace(memory.changed(superseded_at=NOW))
            assert READS[name](space) == before


def test_a_writer_of_another_process_is_not_waited_for(
    folder: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """A recall that cannot be noted answers all the same, and says so."""
    with opened(folder) as memories:
        space = memories.space(SPACE)
        space.remember_many(TEXTS)
        before = {name: read(space) for name, read in READS.items()}
        process = start("hold", folder)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert {name: read(space) for name, read in READS.items()} == before
        answer = space.recall("deploy E4012", now=NOW + timedelta(days=1))
        assert [hit.memory.id for hit in answer.hits] == before["recall"]
        assert any(note.startswith("not written back") for note in answer.trace.notes)
        process.communicate("\n", timeout=60)
